// Limber, through a model file made from the scene, or a shipped one: the way of a user.

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "engine.hpp"
#include "limber/io/model_file.hpp"
#include "limber/simulation/simulation.hpp"

namespace peers {
namespace {

using namespace limber;

std::string body_name(int link) {
    return link == ground ? "ground" : fmt::format("link{}", link);
}

std::string list(const Vec& v, bool is_planar) {
    return is_planar ? fmt::format("[{:.17g}, {:.17g}]", v[0], v[1])
                     : fmt::format("[{:.17g}, {:.17g}, {:.17g}]", v[0], v[1], v[2]);
}

std::string describe(const Solid& solid, const Vec& at) {
    if (solid.kind == Solid::Kind::none) return "";
    const std::string size = solid.kind == Solid::Kind::box ? "size: " + list(2 * solid.half, false)
                                                            : fmt::format("radius: {:.17g}", solid.half[0]);
    return fmt::format(", shapes: [{{{}: {{{}, at: {}}}}}]", solid.kind == Solid::Kind::box ? "box" : "sphere", size,
                       list(at, false));
}

std::string describe(const std::vector<Wall>& walls) {
    if (walls.empty()) return "";
    std::string planes;
    for (const Wall& wall : walls)
        planes += fmt::format("{}{{plane: {{at: {}, z: {}}}}}", planes.empty() ? "" : ", ", list(wall.point, false),
                              list(wall.normal, false));
    return fmt::format(", shapes: [{}]", planes);
}

std::string describe(const Scene& scene) {
    const bool flat = scene.is_planar;
    const Vec down = scene.gravity;
    std::string bodies = "bodies:\n";
    std::string joints;
    std::string forces;
    std::string rates;
    std::vector<std::string> markers(scene.links.size() + 1);
    const auto marker = [&](int link, const Vec& at, const std::string& name) {
        const Vec local = link == ground ? at : at - scene.links[link].pivot;
        markers[link + 1] += fmt::format("{}{}: {}", markers[link + 1].empty() ? "" : ", ", name, list(local, flat));
        return fmt::format("{}.{}", body_name(link), name);
    };
    for (std::size_t i = 0; i < scene.springs.size(); ++i) {
        const Spring& s = scene.springs[i];
        forces += fmt::format("  spring{}: {{spring: [{}, {}], stiffness: {:.17g}, free-length: {:.17g}}}\n", i,
                              marker(s.a, s.point_a, fmt::format("s{}a", i)),
                              marker(s.b, s.point_b, fmt::format("s{}b", i)), s.stiffness, s.length);
    }
    const char* kinds[] = {"revolute", "prismatic", "spherical"};
    for (std::size_t i = 0; i < scene.links.size(); ++i) {
        const Link& l = scene.links[i];
        const auto& j = l.inertia;
        const std::string inertia = flat ? fmt::format("{:.17g}", j[2])
                                         : fmt::format("[{:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}]", j[0],
                                                       j[1], j[2], j[3], j[4], j[5]);
        bodies += fmt::format("  link{}: {{at: {}, mass: {:.17g}, inertia: {}, com: {}, markers: {{{}}}{}}}\n", i,
                              list(l.pivot, flat), l.mass, inertia, list(l.centre - l.pivot, flat), markers[i + 1],
                              describe(l.solid, l.centre - l.pivot));
        if (l.joint == JointKind::free) continue;
        const bool has_axis = !flat && l.joint != JointKind::ball;
        joints +=
            fmt::format("  joint{}: {{{}: [{}, link{}], at: {}{}}}\n", i, kinds[static_cast<int>(l.joint)],
                        body_name(l.parent), i, list(l.pivot, flat), has_axis ? ", axis: " + list(l.axis, false) : "");
        if (l.rate != 0)
            rates += fmt::format("    joint{}.{}: {:.17g}\n", i, l.joint == JointKind::hinge ? "angle" : "displacement",
                                 l.rate);
        if (l.torque != 0)
            forces += fmt::format("  torque{}: {{motor: joint{}.angle, law: {:.17g}}}\n", i, i, l.torque);
    }
    if (!markers[0].empty() || scene.has_contacts())
        bodies += fmt::format("  ground: {{markers: {{{}}}{}}}\n", markers[0], describe(scene.walls));
    for (std::size_t i = 0; i < scene.loops.size(); ++i) {
        const Loop& loop = scene.loops[i];
        const char* kind = loop.kind == Loop::Kind::hinge || flat ? "revolute" : "spherical";
        // In a plane of `b`: in the plane of the model this is a line along x.
        if (loop.kind == Loop::Kind::plane) kind = flat ? "point-on-line" : "point-on-plane";
        joints += fmt::format("  loop{}: {{{}: [{}, {}], at: {}{}}}\n", i, kind, body_name(loop.b), body_name(loop.a),
                              list(loop.point, flat),
                              !flat && loop.kind != Loop::Kind::point ? ", axis: " + list(loop.axis, false) : "");
    }
    std::string text = fmt::format("limber: 1\n{}gravity: {}\n{}", flat ? "plane: xy\n" : "", list(down, flat), bodies);
    if (!joints.empty()) text += "joints:\n" + joints;
    if (scene.has_contacts())
        text += fmt::format("contacts:\n  touch: {{rigid: [all, all], friction: {:.17g}}}\n", scene.friction);
    if (!forces.empty()) text += "forces:\n" + forces;
    if (!rates.empty()) text += "initial:\n  rates:\n" + rates;
    return text;
}

Model make_model(const Case& c) {
    if (!c.model_file.empty()) return read_model_file(std::string(LIMBER_EXAMPLES) + "/" + c.model_file).model;
    return read_model_text(describe(c.scene), c.scene.name).model;
}

class LimberEngine : public Engine {
public:
    LimberEngine(const Case& c, const SimulationOptions& options, double step)
        : is_planar_(c.scene.is_planar), step_(step), simulation_(make_model(c), options) {
        if (is_planar_) {
            find_links<2>(c.scene);
        } else {
            find_links<3>(c.scene);
        }
    }

    long advance(double until) override {
        const long steps = std::lround((until - simulation_.time()) / step_);
        const StepReport report = simulation_.advance(until, step_);
        if (!report.ok) throw std::runtime_error(report.reason);
        return steps;
    }

    void read(std::vector<LinkState>& states) override {
        if (is_planar_) {
            read_as<2>(states);
        } else {
            read_as<3>(states);
        }
    }

private:
    template <int D>
    const MechanismSystem<D>& system_as() const {
        return static_cast<const MechanismSystem<D>&>(simulation_.system());
    }

    template <int D>
    void find_links(const Scene& scene) {
        BodyStates<D> states;
        system_as<D>().export_states(simulation_.state().q, simulation_.state().v, states);
        std::map<std::string, std::size_t> indices;
        const auto& bodies = system_as<D>().mechanism().bodies;
        for (std::size_t b = 0; b < bodies.size(); ++b) indices[bodies[b].name] = b;
        for (std::size_t i = 0; i < scene.links.size(); ++i) {
            const std::string& name = scene.links[i].name;
            Place place;
            place.body = indices.at(name.empty() ? body_name(static_cast<int>(i)) : name);
            place.axes.topLeftCorner<D, D>() = states[place.body].axes;
            places_.push_back(place);
        }
    }

    template <int D>
    void read_as(std::vector<LinkState>& states) {
        BodyStates<D> bodies;
        system_as<D>().export_states(simulation_.state().q, simulation_.state().v, bodies);
        for (std::size_t i = 0; i < states.size(); ++i) {
            const BodyState<D>& body = bodies[places_[i].body];
            const Mat<D> turned = body.axes * places_[i].axes.topLeftCorner<D, D>().transpose();
            states[i] = {};
            for (int k = 0; k < D; ++k) {
                states[i].centre[k] = body.position[k];
                states[i].velocity[k] = body.velocity[k];
                for (int j = 0; j < D; ++j) states[i].axes[k][j] = turned(j, k);
            }
            if constexpr (D == 2) {
                states[i].angular_velocity[2] = body.angular_velocity[0];
            } else {
                for (int k = 0; k < 3; ++k) states[i].angular_velocity[k] = body.angular_velocity[k];
            }
        }
    }

    /// A link's body, and its axes at the start.
    struct Place {
        std::size_t body = 0;
        Mat3 axes = Mat3::Identity();
    };

    bool is_planar_;
    double step_;
    Simulation simulation_;
    std::vector<Place> places_;
};

}  // namespace

std::string engine_name() {
    return "Limber";
}

// "formulation integrator", and options "name=value".
std::vector<Setting> settings_for(const Case& c) {
    std::vector<Setting> list;
    const auto add = [&](const char* scheme, std::initializer_list<double> steps) {
        for (const double step : steps) list.push_back({scheme, step, 0});
    };
    const std::string& name = c.scene.name;
    if (c.scene.has_contacts()) {
        add("global moreau-jean", {5e-3, 2e-3});
    } else if (name.starts_with("chain-")) {
        add("articulated-body semi-implicit-euler", {1e-3});
        add("articulated-body rk4", {1e-3});
        add("hybrid trapezoidal", {1e-3});
        if (c.scene.links.size() <= 640) add("global trapezoidal", {1e-3});
    } else if (name == "iltis") {
        add("hybrid trapezoidal", {0.01, 0.005, 0.0025, 0.002, 0.001});
        add("hybrid trapezoidal tangent=approximate", {0.01, 0.005, 0.0025, 0.002, 0.001});
        add("hybrid higher-order", {0.025, 0.02, 0.0125, 0.01, 0.005, 0.0025, 0.002});
        add("articulated-body rk4", {0.01, 0.005, 0.0025, 0.002, 0.001});
        add("composite-body rk4", {0.01, 0.005, 0.0025, 0.002, 0.001});
        add("augmented-lagrangian rk4", {0.005, 0.0025, 0.001});
        add("global trapezoidal", {0.005, 0.0025, 0.001});
    } else if (name == "andrews") {
        add("articulated-body rk4", {2e-4, 1.25e-4, 1e-4, 5e-5});
        add("null-space rk4", {2e-4, 1e-4, 5e-5});
        add("global trapezoidal", {1e-5});
    } else {
        add("articulated-body rk4", {0.1, 0.05, 0.04, 0.025, 0.02, 1 / 60., 0.0125, 0.01, 0.005, 0.0025, 0.002, 0.001});
        add("augmented-lagrangian rk4", {0.1, 0.05, 0.025, 0.02, 1 / 60., 0.0125, 0.01, 0.005, 0.0025, 0.002});
        add("hybrid higher-order", {0.05, 0.025, 0.02, 1 / 60., 0.0125, 0.01, 0.005});
        add("hybrid trapezoidal", {0.01, 0.001});
        add("global trapezoidal", {0.01, 0.001});
        if (c.scene.links.size() < 100) add("null-space rk4", {0.05, 0.025, 0.01, 0.005, 0.001});
        if (c.scene.loops.empty()) add("articulated-body semi-implicit-euler", {1e-3});
    }
    return list;
}

std::unique_ptr<Engine> make_engine(const Case& c, const Setting& setting) {
    SimulationOptions options;
    std::istringstream words(setting.scheme);
    words >> options.formulation >> options.integrator;
    for (std::string word; words >> word;)
        set_option(options, word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    return std::make_unique<LimberEngine>(c, options, setting.step);
}

}  // namespace peers
