// MuJoCo: trees are exact, loops are soft equality constraints and contacts are soft, both here as stiff as the step
// allows.

#include <mujoco/mujoco.h>

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "engine.hpp"

namespace peers {
namespace {

std::string list(const Vec& v) {
    std::ostringstream s;
    s.precision(17);
    s << v[0] << ' ' << v[1] << ' ' << v[2];
    return s.str();
}

// Files in memory: MuJoCo's reader refuses elements nested deeper than about a hundred, so long chains are cut into
// files that include each other.
class Text {
public:
    explicit Text(const Scene& scene, const Setting& setting) : scene_(scene) {
        for (std::size_t i = 0; i < scene.links.size(); ++i)
            children_of(scene.links[i].parent).push_back(static_cast<int>(i));
        std::ostringstream s;
        s.precision(17);
        const Scheme scheme = read_scheme(setting.scheme);
        std::ostringstream stiff;
        stiff.precision(17);
        stiff << "solref='" << scheme.steps_to_close * setting.step << " 1' solimp='" << scheme.impedance << ' '
              << scheme.impedance << " 0.001 0.5 2'";
        s << "<mujoco><compiler angle='radian' inertiafromgeom='false' balanceinertia='true'/><option timestep='"
          << setting.step << "' integrator='" << scheme.integrator << "' gravity='" << list(scene.gravity)
          << "' solver='" << scheme.solver << "' iterations='" << scheme.iterations
          << "' tolerance='1e-14' cone='elliptic'><flag contact='" << (scene.has_contacts() ? "enable" : "disable")
          << "'/></option><size " << sizes() << " nstack='60000000'/><default><equality " << stiff.str()
          << "/><geom condim='3' friction='" << scene.friction << " 0 0' " << stiff.str() << "/></default><worldbody>";
        for (const Wall& wall : scene.walls)
            s << "<geom type='plane' size='0 0 1' pos='" << list(wall.point) << "' zaxis='" << list(wall.normal)
              << "'/>";
        for (std::size_t i = 0; i < scene.springs.size(); ++i)
            if (scene.springs[i].a == ground)
                s << "<site name='a" << i << "' pos='" << list(scene.springs[i].point_a) << "'/>";
        for (const int child : children_of(ground)) s << body(child, 0);
        for (std::size_t i = 0; i < scene.loops.size(); ++i)
            if (scene.loops[i].kind == Loop::Kind::plane) s << slider(static_cast<int>(i));
        s << "</worldbody>" << ends() << "</mujoco>";
        main = s.str();
    }

    std::string main;
    std::vector<std::string> parts;

private:
    struct Scheme {
        std::string integrator, solver = "Newton";
        int iterations = 200;
        double impedance = 0.9999;  // 1 would be rigid
        double steps_to_close = 2;  // time constant, over the step; less is unstable
    };
    // "integrator" or "integrator solver iterations impedance steps-to-close", of which the last may be missing.
    static Scheme read_scheme(const std::string& text) {
        Scheme scheme;
        std::istringstream(text) >> scheme.integrator >> scheme.solver >> scheme.iterations >> scheme.impedance >>
            scheme.steps_to_close;
        return scheme;
    }

    // Room for contacts and for rows of constraints.
    std::string sizes() const {
        if (!scene_.has_contacts()) return "nconmax='0' njmax='5000'";
        const int contacts = 15 * static_cast<int>(scene_.links.size());
        return "nconmax='" + std::to_string(contacts) + "' njmax='" + std::to_string(3 * contacts) + "'";
    }

    static std::string geometry(const Link& l) {
        if (l.solid.kind == Solid::Kind::none) return "";
        return std::string("<geom type='") + (l.solid.kind == Solid::Kind::box ? "box" : "sphere") + "' size='" +
               list(l.solid.half) + "' pos='" + list(l.centre - l.pivot) + "'/>";
    }

    std::vector<int>& children_of(int link) {
        children_.resize(scene_.links.size() + 1);
        return children_[link + 1];
    }

    bool rides_on_slider(int link) const {
        for (const Loop& loop : scene_.loops)
            if (loop.kind == Loop::Kind::plane && loop.a == link) return true;
        return false;
    }

    std::string body(int index, int depth) {
        const Link& l = scene_.links[index];
        const Vec origin = l.parent == ground ? Vec{} : scene_.links[l.parent].pivot;
        std::ostringstream s;
        s.precision(17);
        // Half of a point mass that stays in a plane rides on the body that slides there.
        const double mass = rides_on_slider(index) ? 0.5 * l.mass : l.mass;
        s << "<body name='link" << index << "' pos='" << list(l.pivot - origin) << "'><inertial pos='"
          << list(l.centre - l.pivot) << "' mass='" << mass << "' fullinertia='";
        for (int k = 0; k < 6; ++k) s << (k < 3 ? l.inertia[k] + 1e-9 : l.inertia[k]) << ' ';
        s << "'/>";
        const char* kinds[] = {"hinge", "slide", "ball", "free"};
        s << "<joint name='joint" << index << "' type='" << kinds[static_cast<int>(l.joint)] << "'";
        if (l.joint == JointKind::hinge || l.joint == JointKind::slide) s << " axis='" << list(l.axis) << "'";
        s << "/>" << geometry(l);
        for (std::size_t i = 0; i < scene_.springs.size(); ++i) {
            const Spring& spring = scene_.springs[i];
            if (spring.a == index) s << "<site name='a" << i << "' pos='" << list(spring.point_a - l.pivot) << "'/>";
            if (spring.b == index) s << "<site name='b" << i << "' pos='" << list(spring.point_b - l.pivot) << "'/>";
        }
        std::string inner;
        for (const int child : children_of(index)) inner += body(child, depth + 1);
        if (depth % 40 == 39 && !inner.empty()) {
            parts.push_back("<mujocoinclude>" + inner + "</mujocoinclude>");
            inner = "<include file='part" + std::to_string(parts.size() - 1) + ".xml'/>";
        }
        s << inner << "</body>";
        return s.str();
    }

    std::string slider(int index) const {
        const Loop& loop = scene_.loops[index];
        std::ostringstream s;
        s.precision(17);
        s << "<body name='slider" << index << "' pos='" << list(loop.point) << "'><inertial pos='0 0 0' mass='"
          << 0.5 * scene_.links[loop.a].mass << "' diaginertia='1 1 1'/><joint type='slide' axis='"
          << list(cross(loop.axis, {0, 0, 1})) << "'/></body>";
        return s.str();
    }

    std::string ends() const {
        std::ostringstream s;
        s.precision(17);
        if (!scene_.springs.empty()) s << "<tendon>";
        for (std::size_t i = 0; i < scene_.springs.size(); ++i)
            s << "<spatial stiffness='" << scene_.springs[i].stiffness << "' springlength='" << scene_.springs[i].length
              << "'><site site='a" << i << "'/><site site='b" << i << "'/></spatial>";
        if (!scene_.springs.empty()) s << "</tendon>";
        if (!scene_.loops.empty()) s << "<equality>";
        for (std::size_t i = 0; i < scene_.loops.size(); ++i) {
            const Loop& loop = scene_.loops[i];
            const auto connect = [&](const Vec& at) {
                s << "<connect body1='link" << loop.a << "'";
                if (loop.kind == Loop::Kind::plane) {
                    s << " body2='slider" << i << "'";
                } else if (loop.b != ground) {
                    s << " body2='link" << loop.b << "'";
                }
                s << " anchor='" << list(at - scene_.links[loop.a].pivot) << "'/>";
            };
            connect(loop.point);
            if (loop.kind == Loop::Kind::hinge) connect(loop.point + 0.5 * loop.axis);
        }
        if (!scene_.loops.empty()) s << "</equality>";
        return s.str();
    }

    const Scene& scene_;
    std::vector<std::vector<int>> children_;
};

class MujocoEngine : public Engine {
public:
    MujocoEngine(const Case& c, const Setting& setting)
        : scene_(with_rods_as_links(c.scene)), count_(static_cast<int>(c.scene.links.size())), step_(setting.step) {
        const Text text(scene_, setting);
        const auto files = std::make_unique<mjVFS>();
        mj_defaultVFS(files.get());
        const auto put = [&](const std::string& name, const std::string& content) {
            mj_makeEmptyFileVFS(files.get(), name.c_str(), static_cast<int>(content.size()) + 1);
            const int at = mj_findFileVFS(files.get(), name.c_str());
            std::memcpy(files->filedata[at], content.c_str(), content.size() + 1);
            files->filesize[at] = static_cast<int>(content.size());
        };
        put("main.xml", text.main);
        for (std::size_t i = 0; i < text.parts.size(); ++i) put("part" + std::to_string(i) + ".xml", text.parts[i]);
        char error[400] = "";
        model_ = mj_loadXML("main.xml", files.get(), error, sizeof error);
        mj_deleteVFS(files.get());
        if (model_ == nullptr) throw std::runtime_error(error);
        data_ = mj_makeData(model_);
        copy_ = mj_makeData(model_);
        for (int i = 0; i < count_; ++i) {
            const Link& link = scene_.links[i];
            const int joint = mj_name2id(model_, mjOBJ_JOINT, ("joint" + std::to_string(i)).c_str());
            const int dof = model_->jnt_dofadr[joint];
            if (link.joint == JointKind::hinge || link.joint == JointKind::slide) data_->qvel[dof] = link.rate;
            if (link.joint == JointKind::hinge) data_->qfrc_applied[dof] = link.torque;
            if (link.joint == JointKind::free) mju_copy3(data_->qvel + dof, link.velocity.data());
            body_.push_back(mj_name2id(model_, mjOBJ_BODY, ("link" + std::to_string(i)).c_str()));
        }
        if (!scene_.forces) return;
        states_.resize(count_);
        // It calls one function for all models; there is but one here.
        static MujocoEngine* engine = nullptr;
        engine = this;
        mjcb_passive = [](const mjModel*, mjData* data) { engine->apply_own_forces(data); };
    }
    ~MujocoEngine() override {
        mjcb_passive = nullptr;
        mj_deleteData(copy_);
        mj_deleteData(data_);
        mj_deleteModel(model_);
    }

    long advance(double until) override {
        const long steps = std::lround((until - data_->time) / step_);
        for (long i = 0; i < steps; ++i) mj_step(model_, data_);
        if (data_->warning[mjWARN_CONTACTFULL].number + data_->warning[mjWARN_CNSTRFULL].number > 0)
            throw std::runtime_error("MuJoCo: no room for all contacts");
        if (data_->warning[mjWARN_BADQACC].number > 0) throw std::runtime_error("MuJoCo: accelerations became huge");
        return steps;
    }

    void read(std::vector<LinkState>& states) override {
        mju_copy(copy_->qpos, data_->qpos, model_->nq);
        mju_copy(copy_->qvel, data_->qvel, model_->nv);
        mj_kinematics(model_, copy_);
        mj_comPos(model_, copy_);
        mj_comVel(model_, copy_);
        read_from(copy_, states);
    }

private:
    void read_from(const mjData* data, std::vector<LinkState>& states) const {
        for (int i = 0; i < count_; ++i) {
            double twist[6];
            mj_objectVelocity(model_, data, mjOBJ_BODY, body_[i], twist, 0);
            LinkState& s = states[i];
            for (int k = 0; k < 3; ++k) {
                s.centre[k] = data->xipos[3 * body_[i] + k];
                s.angular_velocity[k] = twist[k];
                s.velocity[k] = twist[3 + k];
                for (int j = 0; j < 3; ++j) s.axes[j][k] = data->xmat[9 * body_[i] + 3 * k + j];
            }
        }
    }

    void apply_own_forces(mjData* data) {
        read_from(data, states_);
        loads_.assign(count_, {});
        scene_.forces(states_, loads_);
        for (int i = 0; i < count_; ++i)
            mj_applyFT(model_, data, loads_[i].force.data(), loads_[i].torque.data(), states_[i].centre.data(),
                       body_[i], data->qfrc_passive);
    }

    Scene scene_;
    int count_;  // of links, without those that stand for rods
    double step_;
    mjModel* model_ = nullptr;
    mjData *data_ = nullptr, *copy_ = nullptr;
    std::vector<int> body_;
    std::vector<LinkState> states_;
    std::vector<Load> loads_;
};

}  // namespace

std::string engine_name() {
    return std::string("MuJoCo ") + mj_versionString();
}

std::vector<Setting> settings_for(const Case& c) {
    std::vector<Setting> list;
    const auto add = [&](const char* scheme, std::initializer_list<double> steps) {
        for (const double step : steps) list.push_back({scheme, step, 0});
    };
    const std::string& name = c.scene.name;
    if (c.scene.has_contacts()) {
        // Newton's method is its most accurate, but factors a full matrix.
        if (c.scene.links.size() <= 125) add("Euler Newton 20 0.999", {5e-3});
        add("Euler CG 100 0.9999", {5e-3, 2e-3, 1e-3});
        add("Euler CG 100 0.99", {5e-3, 2e-3, 1e-3});
        add("Euler CG 100 0.95 4", {5e-3, 2e-3});
        add("Euler PGS 100 0.99", {5e-3});
    } else if (name.starts_with("chain-")) {
        // Its mass matrix is dense along a branch: longer chains take minutes per step.
        if (c.scene.links.size() > 700) return {};
        add("Euler", {1e-3});
        if (c.scene.links.size() <= 160) add("RK4", {1e-3});
    } else if (name == "iltis") {
        add("RK4", {0.01, 0.005, 0.002, 1e-3, 5e-4, 1e-4});
        add("Euler", {0.005, 0.0025, 0.002, 0.00125, 1e-3, 1e-4});
    } else if (name == "andrews") {
        add("RK4", {1e-4, 1e-5, 1e-6});
    } else if (name == "n-four-bar-200") {
        add("RK4", {0.02, 0.01});
    } else {
        add("RK4", {0.1, 0.05, 0.04, 0.025, 0.02, 1 / 60., 0.0125, 0.01, 0.005, 0.002, 0.001});
        add("Euler", {1e-3, 1e-4});
        add("implicit", {1e-3});
    }
    return list;
}

std::unique_ptr<Engine> make_engine(const Case& c, const Setting& setting) {
    return std::make_unique<MujocoEngine>(c, setting);
}

}  // namespace peers
