// Bullet's btRigidBody, made for bodies that touch: semi-implicit Euler steps, contacts by sweeps over single impulses.

#include "engine_bullet_contact.hpp"

#include <btBulletDynamicsCommon.h>

#include <cmath>

namespace peers {
namespace {

class BulletContactEngine : public Engine {
public:
    // "sequential impulse SWEEPS".
    BulletContactEngine(const Case& c, const Setting& setting) : scene_(c.scene), step_(setting.step) {
        world_.setGravity(to_bullet(scene_.gravity));
        btContactSolverInfo& info = world_.getSolverInfo();
        info.m_numIterations = std::stoi(setting.scheme.substr(setting.scheme.rfind(' ')));
        info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
        for (const Wall& wall : scene_.walls) add(wall);
        for (const Link& link : scene_.links) add(link);
    }

    ~BulletContactEngine() override {
        for (const auto& body : bodies_) world_.removeRigidBody(body.get());
    }

    long advance(double until) override {
        const long steps = std::lround((until - time_) / step_);
        for (long i = 0; i < steps; ++i) world_.stepSimulation(step_, 0);
        time_ = until;
        return steps;
    }

    void read(std::vector<LinkState>& states) override {
        for (std::size_t i = 0; i < states.size(); ++i) {
            const btRigidBody& body = *bodies_[scene_.walls.size() + i];
            const btTransform& place = body.getWorldTransform();
            states[i].centre = from_bullet(place.getOrigin());
            states[i].velocity = from_bullet(body.getLinearVelocity());
            states[i].angular_velocity = from_bullet(body.getAngularVelocity());
            for (int k = 0; k < 3; ++k) states[i].axes[k] = from_bullet(place.getBasis().getColumn(k));
        }
    }

private:
    void add(const Wall& wall) {
        const bool holds_boxes = scene_.links[0].solid.kind == Solid::Kind::box;
        if (!holds_boxes) {
            const double offset = dot(wall.normal, wall.point);
            put(new btStaticPlaneShape(to_bullet(wall.normal), offset), 0, {}, {});
            return;
        }
        // A plane finds one point of a box in a step, a thick box finds all.
        constexpr double half = 5;
        put(new btBoxShape(btVector3(half, half, half)), 0, wall.point - half * wall.normal, {});
    }

    void add(const Link& link) {
        btCollisionShape* shape = nullptr;
        if (link.solid.kind == Solid::Kind::box) {
            shape = new btBoxShape(to_bullet(link.solid.half));
        } else {
            shape = new btSphereShape(link.solid.half[0]);
        }
        put(shape, link.mass, link.centre, {link.inertia[0], link.inertia[1], link.inertia[2]});
    }

    void put(btCollisionShape* shape, double mass, const Vec& at, const Vec& inertia) {
        shapes_.emplace_back(shape);
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, to_bullet(inertia));
        info.m_startWorldTransform = btTransform(btQuaternion::getIdentity(), to_bullet(at));
        info.m_friction = std::sqrt(scene_.friction);  // of two that touch the product counts
        auto* body = new btRigidBody(info);
        bodies_.emplace_back(body);
        body->setActivationState(DISABLE_DEACTIVATION);
        world_.addRigidBody(body);
    }

    Scene scene_;
    double step_, time_ = 0;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_{&configuration_};
    btDbvtBroadphase broadphase_;
    btSequentialImpulseConstraintSolver solver_;
    btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
    std::vector<std::unique_ptr<btCollisionShape>> shapes_;
    std::vector<std::unique_ptr<btRigidBody>> bodies_;  // first the walls
};

}  // namespace

// Ten sweeps are its default. Its conjugate gradients over the sweeps (btNNCGConstraintSolver) blow the spheres up.
std::vector<Setting> contact_settings() {
    std::vector<Setting> list;
    for (const double step : {5e-3, 2e-3, 1e-3})
        for (const int sweeps : {10, 100, 1000})
            list.push_back({"sequential impulse " + std::to_string(sweeps), step, 0});
    return list;
}

std::unique_ptr<Engine> make_contact_engine(const Case& c, const Setting& setting) {
    return std::make_unique<BulletContactEngine>(c, setting);
}

}  // namespace peers
