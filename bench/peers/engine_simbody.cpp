// Simbody: trees in relative coordinates, loops as constraints projected after each step.

#include <Simbody.h>

#include <functional>

#include "engine.hpp"

namespace peers {
namespace {

SimTK::Vec3 to_simbody(const Vec& v) {
    return {v[0], v[1], v[2]};
}
Vec from_simbody(const SimTK::Vec3& v) {
    return {v[0], v[1], v[2]};
}

/// The scene's own forces.
class OwnForces : public SimTK::Force::Custom::Implementation {
public:
    using Read = std::function<void(const SimTK::State&, std::vector<LinkState>&)>;
    OwnForces(const Scene& scene, const std::vector<SimTK::MobilizedBody>& bodies, Read read)
        : scene_(scene), bodies_(bodies), read_(std::move(read)), states_(bodies.size()) {}

    void calcForce(const SimTK::State& state, SimTK::Vector_<SimTK::SpatialVec>& on_bodies,
                   SimTK::Vector_<SimTK::Vec3>&, SimTK::Vector&) const override {
        read_(state, states_);
        loads_.assign(bodies_.size(), {});
        scene_.forces(states_, loads_);
        for (std::size_t i = 0; i < bodies_.size(); ++i) {
            const Vec centre = scene_.links[i].centre - scene_.links[i].pivot;
            bodies_[i].applyForceToBodyPoint(state, to_simbody(centre), to_simbody(loads_[i].force), on_bodies);
            bodies_[i].applyBodyTorque(state, to_simbody(loads_[i].torque), on_bodies);
        }
    }
    // Not asked for: what has forces of its own here is not conservative.
    SimTK::Real calcPotentialEnergy(const SimTK::State&) const override { return 0; }

private:
    const Scene& scene_;
    const std::vector<SimTK::MobilizedBody>& bodies_;
    Read read_;
    mutable std::vector<LinkState> states_;
    mutable std::vector<Load> loads_;
};

class SimbodyEngine : public Engine {
public:
    SimbodyEngine(const Case& c, const Setting& setting) : scene_(c.scene) {
        using namespace SimTK;
        Force::UniformGravity(forces_, matter_, to_simbody(scene_.gravity));
        for (const Link& link : scene_.links) add(link);
        for (const Loop& loop : scene_.loops) add(loop);
        for (const peers::Spring& s : scene_.springs)
            Force::TwoPointLinearSpring(forces_, body(s.a), station(s.a, s.point_a), body(s.b), station(s.b, s.point_b),
                                        s.stiffness, s.length);
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].torque != 0)
                Force::MobilityConstantForce(forces_, bodies_[i], MobilizerUIndex(0), scene_.links[i].torque);
        if (scene_.has_contacts()) add_contacts();
        if (scene_.forces)
            Force::Custom(forces_,
                          new OwnForces(scene_, bodies_, [this](const State& s, std::vector<LinkState>& states) {
                              read_from(s, states);
                          }));
        system_.realizeTopology();
        State state = system_.getDefaultState();
        system_.realizeModel(state);
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].rate != 0) bodies_[i].setOneU(state, 0, scene_.links[i].rate);
        system_.realize(state, Stage::Position);
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].joint == JointKind::free)
                bodies_[i].setUToFitLinearVelocity(state, to_simbody(scene_.links[i].velocity));
        if (setting.scheme == "RungeKuttaMerson") {
            integrator_ = std::make_unique<RungeKuttaMersonIntegrator>(system_);
        } else if (setting.scheme == "CPodes") {
            integrator_ = std::make_unique<CPodesIntegrator>(system_, CPodes::BDF, CPodes::Newton);
        } else if (setting.scheme == "Verlet") {
            integrator_ = std::make_unique<VerletIntegrator>(system_);
        } else {
            integrator_ = std::make_unique<SemiExplicitEulerIntegrator>(system_, setting.step);
        }
        if (setting.step > 0 && setting.scheme != "SemiExplicitEuler") integrator_->setFixedStepSize(setting.step);
        if (setting.tolerance > 0) integrator_->setAccuracy(setting.tolerance);
        integrator_->setConstraintTolerance(setting.tolerance > 0 ? 0.1 * setting.tolerance : 1e-6);
        integrator_->setFinalTime(c.until);
        integrator_->initialize(state);
    }

    long advance(double until) override {
        const int before = integrator_->getNumStepsTaken();
        while (integrator_->getTime() < until - 1e-12)
            if (integrator_->stepTo(until) == SimTK::Integrator::EndOfSimulation) break;
        return integrator_->getNumStepsTaken() - before;
    }

    void read(std::vector<LinkState>& states) override {
        const SimTK::State& state = integrator_->getState();
        system_.realize(state, SimTK::Stage::Velocity);
        read_from(state, states);
    }

private:
    void read_from(const SimTK::State& state, std::vector<LinkState>& states) const {
        for (std::size_t i = 0; i < states.size(); ++i) {
            const SimTK::MobilizedBody& b = bodies_[i];
            const SimTK::Vec3 centre = to_simbody(scene_.links[i].centre - scene_.links[i].pivot);
            states[i].centre = from_simbody(b.findStationLocationInGround(state, centre));
            states[i].velocity = from_simbody(b.findStationVelocityInGround(state, centre));
            states[i].angular_velocity = from_simbody(b.getBodyAngularVelocity(state));
            for (int k = 0; k < 3; ++k) states[i].axes[k] = from_simbody(SimTK::Vec3(b.getBodyRotation(state).col(k)));
        }
    }

    SimTK::MobilizedBody& body(int link) { return link == ground ? matter_.updGround() : bodies_[link]; }
    SimTK::Vec3 station(int link, const Vec& at) const {
        return to_simbody(link == ground ? at : at - scene_.links[link].pivot);
    }

    void add(const Link& l) {
        using namespace SimTK;
        const SimTK::Vec3 centre = to_simbody(l.centre - l.pivot);
        const auto& j = l.inertia;
        const Inertia central(j[0], j[1], j[2], j[3], j[4], j[5]);
        const Body::Rigid solid(MassProperties(l.mass, centre, central.shiftFromMassCenter(-centre, l.mass)));
        const SimTK::Vec3 at = station(l.parent, l.pivot);
        MobilizedBody& parent = body(l.parent);
        if (l.joint == JointKind::hinge) {
            const Rotation turn(UnitVec3(to_simbody(l.axis)), ZAxis);
            bodies_.push_back(MobilizedBody::Pin(parent, Transform(turn, at), solid, Transform(turn)));
        } else if (l.joint == JointKind::slide) {
            const Rotation turn(UnitVec3(to_simbody(l.axis)), XAxis);
            bodies_.push_back(MobilizedBody::Slider(parent, Transform(turn, at), solid, Transform(turn)));
        } else if (l.joint == JointKind::ball) {
            bodies_.push_back(MobilizedBody::Ball(parent, Transform(at), solid, Transform()));
        } else {
            bodies_.push_back(MobilizedBody::Free(parent, Transform(at), solid, Transform()));
        }
    }

    void add(const Loop& loop) {
        using namespace SimTK;
        const SimTK::Vec3 on_a = station(loop.a, loop.point);
        const SimTK::Vec3 on_b = station(loop.b, loop.point);
        if (loop.kind == Loop::Kind::plane) {
            const UnitVec3 normal(to_simbody(loop.axis));
            Constraint::PointInPlane(body(loop.b), normal, dot(normal, on_b), body(loop.a), on_a);
            return;
        }
        if (loop.kind == Loop::Kind::rod || loop.kind == Loop::Kind::crank) {
            Constraint::Rod(body(loop.b), station(loop.b, loop.other), body(loop.a), on_a,
                            norm(loop.point - loop.other));
            if (loop.kind == Loop::Kind::rod) return;
            const UnitVec3 axis(to_simbody(loop.axis));
            Constraint::PointInPlane(body(loop.b), axis, dot(axis, on_b), body(loop.a), on_a);
            return;
        }
        if (scene_.is_planar) {
            // Two equations instead of three, the third of which would be redundant.
            Constraint::PointInPlane(body(loop.b), UnitVec3(1, 0, 0), on_b[0], body(loop.a), on_a);
            Constraint::PointInPlane(body(loop.b), UnitVec3(0, 1, 0), on_b[1], body(loop.a), on_a);
        } else {
            Constraint::Ball(body(loop.b), on_b, body(loop.a), on_a);
        }
        if (loop.kind != Loop::Kind::hinge) return;
        const UnitVec3 axis(to_simbody(loop.axis));
        for (const UnitVec3& across : {axis.perp(), UnitVec3(axis % axis.perp())})
            Constraint::ConstantAngle(body(loop.b), across, body(loop.a), axis, Pi / 2);
    }

    // Compliant spheres, after Hertz, Hunt and Crossley: it has no rigid contact.
    void add_contacts() {
        using namespace SimTK;
        constexpr double stiffness = 1e7, dissipation = 1, slip_speed = 1e-3;
        contacts_ = std::make_unique<GeneralContactSubsystem>(system_);
        const ContactSetIndex set = contacts_->createContactSet();
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            contacts_->addBody(set, bodies_[i], ContactGeometry::Sphere(scene_.links[i].solid.half[0]),
                               Transform(to_simbody(scene_.links[i].centre - scene_.links[i].pivot)));
        for (const Wall& wall : scene_.walls)  // a half space is where x > 0
            contacts_->addBody(set, matter_.updGround(), ContactGeometry::HalfSpace(),
                               Transform(Rotation(UnitVec3(-to_simbody(wall.normal)), XAxis), to_simbody(wall.point)));
        HuntCrossleyForce force(forces_, *contacts_, set);
        for (int i = 0; i < contacts_->getNumBodies(set); ++i)
            force.setBodyParameters(ContactSurfaceIndex(i), stiffness, dissipation, scene_.friction, scene_.friction,
                                    0);
        force.setTransitionVelocity(slip_speed);
    }

    static double dot(const SimTK::UnitVec3& a, const SimTK::Vec3& b) { return ~SimTK::Vec3(a) * b; }

    Scene scene_;
    SimTK::MultibodySystem system_;
    SimTK::SimbodyMatterSubsystem matter_{system_};
    SimTK::GeneralForceSubsystem forces_{system_};
    std::unique_ptr<SimTK::GeneralContactSubsystem> contacts_;
    std::vector<SimTK::MobilizedBody> bodies_;
    std::unique_ptr<SimTK::Integrator> integrator_;
};

}  // namespace

std::string engine_name() {
    int major = 0;
    int minor = 0;
    int build = 0;
    SimTK_version_simbody(&major, &minor, &build);
    return "Simbody " + std::to_string(major) + "." + std::to_string(minor);
}

std::vector<Setting> settings_for(const Case& c) {
    std::vector<Setting> list;
    const std::string& name = c.scene.name;
    if (c.scene.has_contacts()) {
        // Its contact of boxes is one of meshes.
        if (c.scene.links[0].solid.kind != Solid::Kind::sphere) return {};
        list = {{"SemiExplicitEuler", 2e-4, 0}, {"SemiExplicitEuler", 1e-4, 0}, {"RungeKuttaMerson", 0, 1e-3}};
    } else if (name.rfind("chain-", 0) == 0) {
        list = {{"SemiExplicitEuler", 1e-3, 0}, {"RungeKuttaMerson", 1e-3, 0}};
    } else if (name.rfind("n-four-bar-", 0) == 0 && c.scene.links.size() > 20) {
        list = {{"CPodes", 0, 1e-3}, {"RungeKuttaMerson", 0.01, 0}};
        if (c.scene.links.size() > 100) return {};
    } else if (name == "iltis") {
        list = {{"RungeKuttaMerson", 0, 1e-2},
                {"RungeKuttaMerson", 0, 1e-3},
                {"RungeKuttaMerson", 0, 1e-4},
                {"RungeKuttaMerson", 0, 1e-5},
                {"RungeKuttaMerson", 0.01, 0},
                {"RungeKuttaMerson", 0.005, 0},
                {"CPodes", 0, 1e-2},
                {"CPodes", 0, 1e-3},
                {"CPodes", 0, 1e-4},
                {"Verlet", 0.005, 0},
                {"SemiExplicitEuler", 2e-3, 0},
                {"SemiExplicitEuler", 1e-3, 0}};
    } else if (name == "andrews") {
        list = {{"RungeKuttaMerson", 0, 1e-5}, {"RungeKuttaMerson", 0, 1e-6}, {"RungeKuttaMerson", 0, 1e-7}};
    } else {
        list = {{"RungeKuttaMerson", 0, 1e-4}, {"RungeKuttaMerson", 0, 1e-5}, {"RungeKuttaMerson", 0, 1e-6},
                {"RungeKuttaMerson", 0, 1e-7}, {"RungeKuttaMerson", 0.01, 0}, {"RungeKuttaMerson", 0.001, 0},
                {"CPodes", 0, 1e-5},           {"Verlet", 0.001, 0}};
    }
    return list;
}

std::unique_ptr<Engine> make_engine(const Case& c, const Setting& setting) {
    return std::make_unique<SimbodyEngine>(c, setting);
}

}  // namespace peers
