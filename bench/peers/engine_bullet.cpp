// Bullet's btMultiBody: trees in relative coordinates with semi-implicit Euler steps, loops as rows of its constraint
// solver. For bodies that touch: engine_bullet_contact.cpp.

#include <btBulletDynamicsCommon.h>
// These want the above.
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>

#include <Eigen/Eigenvalues>
#include <stdexcept>

#include "engine_bullet_contact.hpp"

namespace peers {
namespace {

// Bullet's links have principal axes for frames.
struct Principal {
    btMatrix3x3 axes = btMatrix3x3::getIdentity();  // columns, in the world at the start
    btVector3 moments{1e-9, 1e-9, 1e-9};
};

Principal find_principal(const Link& link) {
    const auto& j = link.inertia;
    Eigen::Matrix3d inertia;
    inertia << j[0], j[3], j[4], j[3], j[1], j[5], j[4], j[5], j[2];
    Principal result;
    if (inertia.isDiagonal(1e-12)) {
        result.moments = {j[0] + 1e-9, j[1] + 1e-9, j[2] + 1e-9};
        return result;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(inertia);
    Eigen::Matrix3d axes = solver.eigenvectors();
    if (axes.determinant() < 0) axes.col(2) *= -1;
    for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) result.axes[r][k] = axes(r, k);
    for (int k = 0; k < 3; ++k) result.moments[k] = solver.eigenvalues()[k] + 1e-9;
    return result;
}

class BulletEngine : public Engine {
public:
    BulletEngine(const Case& c, const Setting& setting)
        : scene_(with_rods_as_links(c.scene)), step_(setting.step), states_(c.scene.links.size()) {
        world_.setGravity(to_bullet(scene_.gravity));
        btContactSolverInfo& info = world_.getSolverInfo();
        info.m_numIterations = 200;
        info.m_leastSquaresResidualThreshold = 1e-20;
        info.m_erp = info.m_erp2 = 0.2;
        info.m_globalCfm = 0;
        for (const Link& link : scene_.links) principal_.push_back(find_principal(link));
        places_.resize(scene_.links.size());
        children_.resize(scene_.links.size());
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].parent != ground) children_[scene_.links[i].parent].push_back(static_cast<int>(i));
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].parent == ground) add_tree(static_cast<int>(i));
        for (const Loop& loop : scene_.loops) add_loop(loop);
    }

    ~BulletEngine() override {
        for (const auto& loop : loops_) world_.removeMultiBodyConstraint(loop.get());
        for (const auto& collider : colliders_) world_.removeCollisionObject(collider.get());
        for (const auto& tree : trees_) world_.removeMultiBody(tree.get());
    }

    long advance(double until) override {
        const long steps = std::lround((until - time_) / step_);
        for (long i = 0; i < steps; ++i) {
            apply_forces();
            world_.stepSimulation(step_, 0);
        }
        time_ = until;
        return steps;
    }

    void read(std::vector<LinkState>& states) override {
        btAlignedObjectArray<btQuaternion> turns;
        btAlignedObjectArray<btVector3> points;
        for (const auto& tree : trees_) {
            tree->forwardKinematics(turns, points);
            std::vector<btVector3> spin(tree->getNumLinks() + 1);
            std::vector<btVector3> speed(tree->getNumLinks() + 1);
            tree->compTreeLinkVelocities(spin.data(), speed.data());
            for (std::size_t i = 0; i < states.size(); ++i) {
                if (places_[i].tree != tree.get()) continue;
                const int link = places_[i].link;
                const auto to_world = [&](const btVector3& v) { return tree->localDirToWorld(link, v); };
                states[i].centre = from_bullet(tree->localPosToWorld(link, {0, 0, 0}));
                states[i].velocity = from_bullet(to_world(speed[link + 1]));
                states[i].angular_velocity = from_bullet(to_world(spin[link + 1]));
                for (int k = 0; k < 3; ++k)
                    states[i].axes[k] =
                        from_bullet(to_world(principal_[i].axes[k]));  // row k: axis k of the world in the link
            }
        }
    }

private:
    struct Place {
        btMultiBody* tree = nullptr;
        int link = -1;  // -1: the base
    };

    // In the axes of a link, from its centre.
    btVector3 local(int link, const Vec& v) const { return principal_[link].axes.transpose() * to_bullet(v); }

    void add_tree(int root) {
        const bool floats = scene_.links[root].joint == JointKind::free;
        std::vector<int> order;
        for (std::vector<int> next{root}; !next.empty();) {
            const int i = next.back();
            next.pop_back();
            order.push_back(i);
            next.insert(next.end(), children_[i].rbegin(), children_[i].rend());
        }
        const Link& l = scene_.links[root];
        auto* tree = new btMultiBody(static_cast<int>(order.size()) - (floats ? 1 : 0), floats ? l.mass : 0,
                                     floats ? principal_[root].moments : btVector3(0, 0, 0), !floats, false);
        trees_.emplace_back(tree);
        tree->setBasePos(to_bullet(floats ? l.centre : l.pivot));
        if (floats) {
            btQuaternion turn;
            principal_[root].axes.getRotation(turn);
            tree->setWorldToBaseRot(turn.inverse());
        }
        tree->setLinearDamping(0);
        tree->setAngularDamping(0);
        tree->setMaxCoordinateVelocity(1e10);
        int next = 0;
        for (const int i : order) {
            places_[i] = {tree, floats && i == root ? -1 : next++};
            if (places_[i].link >= 0) set_up(i);
        }
        tree->finalizeMultiDof();
        tree->setCanSleep(false);
        world_.addMultiBody(tree);
        if (floats) tree->setBaseVel(to_bullet(l.velocity));
        for (const int i : order) {
            const Link& link = scene_.links[i];
            if (places_[i].link >= 0 && (link.joint == JointKind::hinge || link.joint == JointKind::slide))
                tree->setJointVel(places_[i].link, link.rate);
        }
        if (scene_.loops.empty()) return;
        // Its solver only sees trees whose links can collide.
        for (const int i : order) add_collider(tree, places_[i].link);
    }

    void add_collider(btMultiBody* tree, int link) {
        auto* collider = new btMultiBodyLinkCollider(tree, link);
        colliders_.emplace_back(collider);
        collider->setCollisionShape(&dot_);
        collider->setActivationState(DISABLE_DEACTIVATION);
        world_.addCollisionObject(collider, 0, 0);
        if (link < 0) {
            tree->setBaseCollider(collider);
        } else {
            tree->getLink(link).m_collider = collider;
        }
    }

    void set_up(int i) {
        const Link& l = scene_.links[i];
        const Place& at = places_[i];
        const bool on_base_of_ground = l.parent == ground;
        const btMatrix3x3 parent_axes = on_base_of_ground ? btMatrix3x3::getIdentity() : principal_[l.parent].axes;
        btQuaternion turn;
        (principal_[i].axes.transpose() * parent_axes).getRotation(turn);
        const int parent = on_base_of_ground ? -1 : places_[l.parent].link;
        const btVector3 to_pivot =
            on_base_of_ground ? btVector3(0, 0, 0) : local(l.parent, l.pivot - scene_.links[l.parent].centre);
        const btVector3 to_centre = local(i, l.centre - l.pivot);
        const btVector3 axis = local(i, l.axis);
        if (l.joint == JointKind::hinge) {
            at.tree->setupRevolute(at.link, l.mass, principal_[i].moments, parent, turn, axis, to_pivot, to_centre,
                                   true);
        } else if (l.joint == JointKind::slide) {
            at.tree->setupPrismatic(at.link, l.mass, principal_[i].moments, parent, turn, axis, to_pivot, to_centre,
                                    true);
        } else {
            at.tree->setupSpherical(at.link, l.mass, principal_[i].moments, parent, turn, to_pivot, to_centre, true);
        }
    }

    void add_loop(const Loop& loop) {
        if (loop.kind == Loop::Kind::plane) {
            // A body that slides along the plane, with a thousandth of the mass.
            auto* slider = new btMultiBody(1, 0, {0, 0, 0}, true, false);
            trees_.emplace_back(slider);
            slider->setBasePos(to_bullet(loop.point));
            slider->setupPrismatic(0, 1e-3 * scene_.links[loop.a].mass, {1, 1, 1}, -1, btQuaternion::getIdentity(),
                                   to_bullet(cross(loop.axis, {0, 0, 1})), {0, 0, 0}, {0, 0, 0}, true);
            slider->setLinearDamping(0);
            slider->finalizeMultiDof();
            slider->setCanSleep(false);
            world_.addMultiBody(slider);
            add_collider(slider, 0);
            connect(loop.a, loop.point, slider, 0, {0, 0, 0});
            return;
        }
        for (const double along : {0.0, 0.5}) {
            const Vec at = loop.point + along * loop.axis;
            if (loop.b == ground) {
                connect(loop.a, at, nullptr, 0, to_bullet(at));
            } else {
                connect(loop.a, at, places_[loop.b].tree, places_[loop.b].link,
                        local(loop.b, at - scene_.links[loop.b].centre));
            }
            if (loop.kind != Loop::Kind::hinge) break;
        }
    }

    void connect(int link, const Vec& at, btMultiBody* other, int other_link, const btVector3& on_other) {
        const Place& place = places_[link];
        const btVector3 here = local(link, at - scene_.links[link].centre);
        btMultiBodyConstraint* row = nullptr;
        if (other != nullptr) {
            row = new btMultiBodyPoint2Point(place.tree, place.link, other, other_link, here, on_other);
        } else {
            row =
                new btMultiBodyPoint2Point(place.tree, place.link, static_cast<btRigidBody*>(nullptr), here, on_other);
        }
        row->setMaxAppliedImpulse(1e10);
        loops_.emplace_back(row);
        world_.addMultiBodyConstraint(row);
    }

    void apply_forces() {
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].torque != 0) places_[i].tree->addJointTorque(places_[i].link, scene_.links[i].torque);
        for (const Spring& spring : scene_.springs) {
            const auto at = [&](int link, const Vec& start) {
                return link == ground ? to_bullet(start)
                                      : places_[link].tree->localPosToWorld(
                                            places_[link].link, local(link, start - scene_.links[link].centre));
            };
            const btVector3 a = at(spring.a, spring.point_a);
            const btVector3 d = at(spring.b, spring.point_b) - a;
            const double length = d.length();
            push(spring.a, a, spring.stiffness * (length - spring.length) / length * d);
            push(spring.b, a + d, -spring.stiffness * (length - spring.length) / length * d);
        }
        if (!scene_.forces) return;
        read(states_);
        loads_.assign(states_.size(), {});
        scene_.forces(states_, loads_);
        for (std::size_t i = 0; i < states_.size(); ++i)
            push_centre(static_cast<int>(i), to_bullet(loads_[i].force), to_bullet(loads_[i].torque));
    }

    void push(int link, const btVector3& at, const btVector3& force) {
        if (link == ground) return;
        const Place& place = places_[link];
        const btVector3 arm = at - place.tree->localPosToWorld(place.link, {0, 0, 0});
        push_centre(link, force, arm.cross(force));
    }

    void push_centre(int link, const btVector3& force, const btVector3& torque) {
        const Place& place = places_[link];
        if (place.link < 0) {
            place.tree->addBaseForce(force);
            place.tree->addBaseTorque(torque);
        } else {
            place.tree->addLinkForce(place.link, force);
            place.tree->addLinkTorque(place.link, torque);
        }
    }

    Scene scene_;
    double step_, time_ = 0;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_{&configuration_};
    btDbvtBroadphase broadphase_;
    btMultiBodyConstraintSolver solver_;
    btMultiBodyDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
    btSphereShape dot_{1e-3};
    std::vector<Principal> principal_;
    std::vector<Place> places_;
    std::vector<std::vector<int>> children_;
    std::vector<std::unique_ptr<btMultiBody>> trees_;
    std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders_;
    std::vector<std::unique_ptr<btMultiBodyConstraint>> loops_;
    std::vector<LinkState> states_;  // for forces of the scene's own, without links that stand for rods
    std::vector<Load> loads_;
};

}  // namespace

std::string engine_name() {
    return "Bullet " + std::to_string(btGetVersion() / 100) + "." + std::to_string(btGetVersion() % 100);
}

std::vector<Setting> settings_for(const Case& c) {
    if (c.scene.has_contacts()) return contact_settings();
    if (c.scene.name.starts_with("chain-")) return {{"btMultiBody", 1e-3, 0}};
    if (c.scene.name == "iltis") return {{"btMultiBody", 1e-3, 0}, {"btMultiBody", 5e-4, 0}, {"btMultiBody", 2e-4, 0}};
    if (c.scene.name == "andrews") return {{"btMultiBody", 1e-5, 0}, {"btMultiBody", 1e-6, 0}};
    if (c.scene.links.size() > 100) return {{"btMultiBody", 0.005, 0}};
    return {{"btMultiBody", 0.01, 0}, {"btMultiBody", 1e-3, 0}, {"btMultiBody", 1e-4, 0}};
}

std::unique_ptr<Engine> make_engine(const Case& c, const Setting& setting) {
    if (c.scene.has_contacts()) return make_contact_engine(c, setting);
    return std::make_unique<BulletEngine>(c, setting);
}

}  // namespace peers
