// DART: trees in relative coordinates with semi-implicit Euler steps, loops and contacts as velocity constraints with
// error reduction.

#include <dart/dart.hpp>
#include <stdexcept>

#include "engine.hpp"

namespace peers {
namespace {

using namespace dart::dynamics;

Eigen::Vector3d to_dart(const Vec& v) {
    return {v[0], v[1], v[2]};
}
Vec from_dart(const Eigen::Vector3d& v) {
    return {v[0], v[1], v[2]};
}

class DartEngine : public Engine {
public:
    DartEngine(const Case& c, const Setting& setting)
        : scene_(with_rods_as_links(c.scene)), step_(setting.step), states_(c.scene.links.size()) {
        dart::constraint::JointConstraint::setErrorReductionParameter(0.2);
        dart::constraint::JointConstraint::setConstraintForceMixing(1e-9);
        world_->setGravity(to_dart(scene_.gravity));
        world_->setTimeStep(step_);
        if (scene_.has_contacts()) set_up_contacts(setting.scheme);
        for (const Link& link : scene_.links) add(link);
        for (const auto& skeleton : skeletons_) {
            skeleton->disableSelfCollisionCheck();
            world_->addSkeleton(skeleton);
        }
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].rate != 0) bodies_[i]->getParentJoint()->setVelocity(0, scene_.links[i].rate);
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].joint == JointKind::free)
                static_cast<FreeJoint*>(bodies_[i]->getParentJoint())
                    ->setLinearVelocity(to_dart(scene_.links[i].velocity));
        for (const Loop& loop : scene_.loops) close(loop);
    }

    long advance(double until) override {
        const long steps = std::lround((until - world_->getTime()) / step_);
        for (long i = 0; i < steps; ++i) {
            apply_forces();
            world_->step();
        }
        return steps;
    }

    void read(std::vector<LinkState>& states) override {
        for (std::size_t i = 0; i < states.size(); ++i) {
            const BodyNode* b = bodies_[i];
            states[i].centre = from_dart(b->getCOM());
            states[i].velocity = from_dart(b->getCOMLinearVelocity());
            states[i].angular_velocity = from_dart(b->getAngularVelocity());
            for (int k = 0; k < 3; ++k)
                states[i].axes[k] = from_dart(Eigen::Vector3d(b->getWorldTransform().linear().col(k)));
        }
    }

private:
    template <class Joint>
    BodyNode* hang(const SkeletonPtr& skeleton, BodyNode* parent, typename Joint::Properties properties,
                   const Vec& at) {
        properties.mName = "joint" + std::to_string(names_);
        properties.mT_ParentBodyToJoint.translation() = to_dart(at);
        return skeleton
            ->createJointAndBodyNodePair<Joint>(parent, properties,
                                                BodyNode::AspectProperties("body" + std::to_string(names_++)))
            .second;
    }

    void add(const Link& l) {
        SkeletonPtr skeleton;
        if (l.parent == ground) {
            skeleton = Skeleton::create("tree" + std::to_string(skeletons_.size()));
            skeletons_.push_back(skeleton);
        } else {
            skeleton = bodies_[l.parent]->getSkeleton();
        }
        BodyNode* parent = l.parent == ground ? nullptr : bodies_[l.parent];
        const Vec at = l.parent == ground ? l.pivot : l.pivot - scene_.links[l.parent].pivot;
        BodyNode* body = nullptr;
        if (l.joint == JointKind::hinge) {
            RevoluteJoint::Properties properties;
            properties.mAxis = to_dart(l.axis);
            body = hang<RevoluteJoint>(skeleton, parent, properties, at);
        } else if (l.joint == JointKind::slide) {
            PrismaticJoint::Properties properties;
            properties.mAxis = to_dart(l.axis);
            body = hang<PrismaticJoint>(skeleton, parent, properties, at);
        } else if (l.joint == JointKind::ball) {
            body = hang<BallJoint>(skeleton, parent, {}, at);
        } else {
            body = hang<FreeJoint>(skeleton, parent, {}, at);
        }
        dart::dynamics::Inertia inertia;
        const auto& j = l.inertia;
        inertia.setMass(l.mass);
        inertia.setLocalCOM(to_dart(l.centre - l.pivot));
        inertia.setMoment(j[0] + 1e-9, j[1] + 1e-9, j[2] + 1e-9, j[3], j[4], j[5]);
        body->setInertia(inertia);
        bodies_.push_back(body);
        if (l.solid.kind == Solid::Kind::box) {
            give_shape(body, std::make_shared<BoxShape>(to_dart(2 * l.solid.half)), l.centre - l.pivot);
        } else if (l.solid.kind == Solid::Kind::sphere) {
            give_shape(body, std::make_shared<SphereShape>(l.solid.half[0]), l.centre - l.pivot);
        }
    }

    void give_shape(BodyNode* body, const ShapePtr& shape, const Vec& at) {
        auto* node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
        node->setRelativeTranslation(to_dart(at));
        node->getDynamicsAspect()->setFrictionCoeff(scene_.friction);
    }

    // "semi-implicit Euler Dantzig", or "semi-implicit Euler PGS ITERATIONS".
    void set_up_contacts(const std::string& scheme) {
        using namespace dart::constraint;
        ContactConstraint::setErrorReductionParameter(0.2);
        ContactConstraint::setMaxErrorReductionVelocity(1);
        ContactConstraint::setConstraintForceMixing(1e-9);
        if (const std::size_t found = scheme.find("PGS "); found != std::string::npos) {
            const auto pgs = std::make_shared<PgsBoxedLcpSolver>();
            pgs->setOption({std::stoi(scheme.substr(found + 4)), 1e-12, 1e-9});
            world_->setConstraintSolver(std::make_unique<BoxedLcpConstraintSolver>(pgs));
        }
        // Of the detectors that are packaged the only one that finds all points where two boxes touch; it knows no
        // planes.
        world_->getConstraintSolver()->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
        world_->getConstraintSolver()->getCollisionOption().maxNumContacts = 100 * scene_.links.size();
        for (const Wall& wall : scene_.walls) add(wall);
    }

    // A thick box.
    void add(const Wall& wall) {
        constexpr double size = 10;
        const auto skeleton = Skeleton::create("wall" + std::to_string(names_));
        BodyNode* body = hang<WeldJoint>(skeleton, nullptr, {}, wall.point - 0.5 * size * wall.normal);
        give_shape(body, std::make_shared<BoxShape>(Eigen::Vector3d::Constant(size)), {});
        skeleton->setMobile(false);
        world_->addSkeleton(skeleton);
    }

    void close(const Loop& loop) {
        BodyNode* other = loop.b == ground ? nullptr : bodies_[loop.b];
        if (loop.kind == Loop::Kind::plane) {
            // A body that slides along the plane, with a thousandth of the mass.
            auto skeleton = Skeleton::create("slider");
            PrismaticJoint::Properties properties;
            properties.mAxis = to_dart(cross(loop.axis, {0, 0, 1}));
            other = hang<PrismaticJoint>(skeleton, nullptr, properties, loop.point);
            dart::dynamics::Inertia inertia;
            inertia.setMass(1e-3 * scene_.links[loop.a].mass);
            inertia.setMoment(1, 1, 1, 0, 0, 0);
            other->setInertia(inertia);
            skeletons_.push_back(skeleton);
            world_->addSkeleton(skeleton);
        }
        for (const double along : {0.0, 0.5}) {
            const Eigen::Vector3d at = to_dart(loop.point + along * loop.axis);
            if (other != nullptr) {
                world_->getConstraintSolver()->addConstraint(
                    std::make_shared<dart::constraint::BallJointConstraint>(bodies_[loop.a], other, at));
            } else {
                world_->getConstraintSolver()->addConstraint(
                    std::make_shared<dart::constraint::BallJointConstraint>(bodies_[loop.a], at));
            }
            if (loop.kind != Loop::Kind::hinge) break;
        }
    }

    void apply_forces() {
        for (std::size_t i = 0; i < scene_.links.size(); ++i)
            if (scene_.links[i].torque != 0) bodies_[i]->getParentJoint()->setForce(0, scene_.links[i].torque);
        for (const Spring& spring : scene_.springs) {
            const auto at = [&](int link, const Vec& start) {
                return link == ground ? to_dart(start)
                                      : Eigen::Vector3d(bodies_[link]->getWorldTransform() *
                                                        to_dart(start - scene_.links[link].pivot));
            };
            const Eigen::Vector3d d = at(spring.b, spring.point_b) - at(spring.a, spring.point_a);
            const Eigen::Vector3d force = spring.stiffness * (d.norm() - spring.length) * d.normalized();
            if (spring.a != ground)
                bodies_[spring.a]->addExtForce(force, to_dart(spring.point_a - scene_.links[spring.a].pivot), false,
                                               true);
            if (spring.b != ground)
                bodies_[spring.b]->addExtForce(-force, to_dart(spring.point_b - scene_.links[spring.b].pivot), false,
                                               true);
        }
        if (!scene_.forces) return;
        read(states_);
        loads_.assign(states_.size(), {});
        scene_.forces(states_, loads_);
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const Vec centre = scene_.links[i].centre - scene_.links[i].pivot;
            bodies_[i]->addExtForce(to_dart(loads_[i].force), to_dart(centre), false, true);
            bodies_[i]->addExtTorque(to_dart(loads_[i].torque), false);
        }
    }

    Scene scene_;
    double step_;
    dart::simulation::WorldPtr world_ = dart::simulation::World::create();
    std::vector<SkeletonPtr> skeletons_;
    std::vector<BodyNode*> bodies_;
    int names_ = 0;
    std::vector<LinkState> states_;  // for forces of the scene's own, without links that stand for rods
    std::vector<Load> loads_;
};

}  // namespace

std::string engine_name() {
    return "DART " + std::to_string(DART_MAJOR_VERSION) + "." + std::to_string(DART_MINOR_VERSION);
}

std::vector<Setting> settings_for(const Case& c) {
    const std::string scheme = "semi-implicit Euler";
    if (c.scene.has_contacts()) {
        // About 0.4 s per step of the wall, too long for a round.
        if (c.scene.links[0].solid.kind == Solid::Kind::box) return {};
        return {{scheme + " Dantzig", 5e-3, 0}, {scheme + " Dantzig", 2e-3, 0}, {scheme + " PGS 100", 2e-3, 0}};
    }
    if (c.scene.name.starts_with("chain-"))
        return c.scene.links.size() > 700 ? std::vector<Setting>{} : std::vector<Setting>{{scheme, 1e-3, 0}};
    if (c.scene.name == "iltis")
        return {{scheme, 0.01, 0}, {scheme, 0.005, 0}, {scheme, 0.0025, 0}, {scheme, 0.002, 0}, {scheme, 1e-3, 0}};
    if (c.scene.name == "andrews") return {{scheme, 1e-5, 0}, {scheme, 1e-6, 0}};
    if (c.scene.links.size() > 100) return {};
    if (c.scene.links.size() > 60) return {{scheme, 0.005, 0}};
    return {{scheme, 0.01, 0}, {scheme, 1e-3, 0}, {scheme, 1e-4, 0}};
}

std::unique_ptr<Engine> make_engine(const Case& c, const Setting& setting) {
    return std::make_unique<DartEngine>(c, setting);
}

}  // namespace peers
