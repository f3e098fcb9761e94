#pragma once
// How large a mechanism is in the three ways of writing its equations that Talaba (2002) compares. With n bodies,
// joints that take C freedoms and leave f_i each, S = 6 (plane: 3) and s = 3 (plane: 2):
//
//   chain      sum f_i joint coordinates;          with the reactions of all joints  sum f_i + C  unknowns
//   bodies     S n coordinates;                    with a multiplier per equation    S n + C
//   particles  s p coordinates of p points;        with multipliers                  s p + (s p - S n) + C
//              s p - S n distances keep the points of each body together
//
// A body has the points that its joints need: the end of a link one (shared by joints that meet there), an axis two, a
// slide two in the plane and three in space; never fewer than two (space: four). Drivers are left out.

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

struct ModelSizes {
    int chain_coordinates = 0, chain_unknowns = 0;
    int body_coordinates = 0, body_unknowns = 0;
    int particles = 0, particle_coordinates = 0, particle_unknowns = 0;
};

/// Points that a joint asks of its first and its second body, and whether the first of them may be one of another
/// joint.
struct JointPoints {
    int first = 1, second = 1;
    bool is_shared = true;
};

struct JointPointsOf {
    bool planar;
    JointPoints operator()(const Revolute&) const { return planar ? JointPoints{} : JointPoints{2, 2}; }
    JointPoints operator()(const Prismatic&) const {
        return planar ? JointPoints{2, 2, false} : JointPoints{3, 3, false};
    }
    JointPoints operator()(const Fixed&) const { return planar ? JointPoints{2, 2} : JointPoints{3, 3}; }
    JointPoints operator()(const Cylindrical&) const { return {2, 2, false}; }
    JointPoints operator()(const Helical&) const { return {2, 2, false}; }
    JointPoints operator()(const Universal&) const { return {2, 2}; }
    JointPoints operator()(const ConstantVelocity&) const { return {2, 2}; }
    JointPoints operator()(const PlanarJoint&) const { return {3, 3, false}; }
    JointPoints operator()(const PointOnLine&) const { return {2, 1}; }
    JointPoints operator()(const PointOnPlane&) const { return {3, 1}; }
    JointPoints operator()(const ParallelAxes&) const { return {2, 2, false}; }
    JointPoints operator()(const PerpendicularAxes&) const { return {2, 2, false}; }
    template <class Other>
    JointPoints operator()(const Other&) const {
        return {};
    }
};

inline JointPoints find_joint_points(const JointType& type, bool planar) {
    return std::visit(JointPointsOf{planar}, type);
}

template <int D>
ModelSizes count_model_sizes(const Model& model, const Mechanism<D>& m) {
    constexpr int freedoms = D == 2 ? 3 : 6;
    const auto bodies = static_cast<int>(m.bodies.size());
    std::vector<std::set<int>> shared(m.bodies.size());  // by the feature of the point
    std::vector<int> points(m.bodies.size(), 0);
    std::vector<int> group(m.bodies.size() + 1);  // of bodies that joints connect; the ground last
    for (std::size_t b = 0; b < group.size(); ++b) group[b] = static_cast<int>(b);
    const auto index = [&](int body) { return body < 0 ? m.bodies.size() : static_cast<std::size_t>(body); };
    int rows = 0;
    int joined = 0;
    for (const ConstraintElement<D>& element : m.elements) {
        if (element.role != ElementRole::joint) continue;
        const Joint& joint = model.joints.get(model.joints.find(element.name));
        if (joint.is_disabled) continue;
        rows += element.row_count;
        if (!element.has_markers) continue;
        ++joined;
        const int from = group[index(element.body_b)];
        const int to = group[index(element.body_a)];
        std::replace(group.begin(), group.end(), from, to);
        const JointPoints needed = find_joint_points(joint.type, D == 2);
        const auto take = [&](int body, int count, int point) {
            if (body < 0) return;
            points[index(body)] += needed.is_shared ? count - 1 : count;
            if (needed.is_shared) shared[index(body)].insert(point);
        };
        take(element.body_a, needed.first, element.a.point);
        take(element.body_b, needed.second, element.b.point);
    }
    const int loose = static_cast<int>(std::set<int>(group.begin(), group.end()).size()) - 1;
    ModelSizes sizes;
    sizes.chain_unknowns = freedoms * (joined + loose);
    sizes.chain_coordinates = sizes.chain_unknowns - rows;
    sizes.body_coordinates = freedoms * bodies;
    sizes.body_unknowns = sizes.body_coordinates + rows;
    for (std::size_t b = 0; b < m.bodies.size(); ++b)
        sizes.particles += std::max(points[b] + static_cast<int>(shared[b].size()), D == 2 ? 2 : 4);
    sizes.particle_coordinates = D * sizes.particles;
    sizes.particle_unknowns = 2 * sizes.particle_coordinates - freedoms * bodies + rows;
    return sizes;
}

inline ModelSizes count_model_sizes(const Model& model) {
    return model.planar ? count_model_sizes(model, make_mechanism<2>(model))
                        : count_model_sizes(model, make_mechanism<3>(model));
}

}  // namespace limber
