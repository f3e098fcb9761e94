// The Iltis off-road vehicle (Frik, Leister and Schwartz, Vehicle System Dynamics 22, 1993, 215-253). Springs, dampers
// and tyres are written here a second time, from the data sheet, for engines that let their users write forces of their
// own; Limber runs examples/iltis with elements of its own, so the engines check each other.
//
// Each wheel hangs on an arm, which turns on the chassis, and is held by two rods without mass: the lowest leaf of the
// leaf spring, which turns on the chassis about x, and the tie rod. Wheels do not spin.

#include "iltis.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

namespace peers {
namespace {

using std::numbers::pi;

// Tension is positive in all laws.

/// Of the leaf spring between its abutment and the top of the carrier, with a bump stop.
double leaf_force(double distance) {
    constexpr double stiffness = 35906, free = 0.152, stop = 0.006, stop_stiffness = 1e7;
    const double length = distance - 0.1;
    if (length >= stop) return stiffness * (length - free);
    return stiffness * (stop - free) + stop_stiffness * (length - stop);
}

double shock_force(double length, double rate) {
    const double spring = -4.0092e6 + length * (2.8397e7 + length * (-6.7061e7 + length * 5.2796e7));
    if (rate < -0.2) return spring - 416.42 + 1844.3 * rate;
    if (rate > 0.21) return spring + 1919.1638 + 1634.727 * rate;
    return spring + rate * (9945.627 + rate * (33955.72 + rate * (-59832.25 - rate * 395651.0)));
}

struct Road {
    double height = 0, slope = 0;
};

Road road_at(double x) {
    constexpr double from = 0.97, length = 5, height = 0.2;
    if (x <= from || x >= from + length) return {};
    const double phase = 2 * pi * (x - from) / length;
    return {height / 2 * (1 - std::cos(phase)), height * pi / length * std::sin(phase)};
}

struct Lateral {
    double force = 0, moment = 0;
};

/// Calspan's model.
Lateral lateral_force(double load, double slip, double camber) {
    constexpr double a0 = 2625, a1 = 14.47, a2 = 12930, a3 = 2.29, a4 = 18175;
    constexpr double b1 = -0.464e-4, b3 = 1.216, b4 = 2.18e-11, skid = 1.0274, af1 = -0.171e-4, af2 = 0.171e-4;
    const double friction = (b1 * load + b3 + b4 * load * load) * skid;
    double shift = a2 * a3 * (a4 - a2) / (a0 * a4) * camber;
    double ratio = -a0 / (friction * load) * (slip + shift);
    if (load <= a2) {
        const double cornering = a1 * load * (load - a2) - a0 * a2;
        shift = -a2 * a3 * (a4 - load) * load / (a4 * cornering) * camber;
        ratio = cornering / (a2 * friction * load) * (slip + shift);
    }
    const double shape =
        std::abs(ratio) < 3 ? ratio * (1 - std::abs(ratio) / 3 + ratio * ratio / 27) : std::copysign(1.0, ratio);
    const double force = friction * load * shape;
    return {force, (af1 * load + af2 * std::abs(force)) * force};
}

/// On the wheel, whose axis is y.
Load tyre_load(const LinkState& wheel, double radius) {
    constexpr double stiffness = 460000;
    const Road road = road_at(wheel.centre[0]);
    const double above = wheel.centre[2] - road.height;
    if (above >= radius) return {};
    const double upright = 1 / std::hypot(1.0, road.slope);
    const Vec normal{-road.slope * upright, 0, upright};
    const double load = stiffness * (radius - above) * upright;
    const Vec along = cross(wheel.axes[1], normal);
    const Vec ahead = (1 / norm(along)) * along;
    const Vec left = cross(normal, ahead);
    const double slip = std::atan(dot(wheel.velocity, left) / dot(wheel.velocity, ahead));
    const double camber = std::atan(dot(normal, wheel.axes[1]) / norm(along));
    const Lateral side = lateral_force(load, slip, camber);
    // From the centre to where the wheel's plane meets the road.
    const double height = above * upright;
    const Vec point = height * std::tan(camber) * left - height * normal;
    const Vec force = load * normal + side.force * left;
    return {force, cross(point, force) + side.moment * normal};
}

/// One suspension: its links and, at the start, its points.
struct Corner {
    int arm = 0, hub = 0;
    Vec abutment, carrier_top, shock_top, shock_foot;
    double tyre_radius = 0;
};

constexpr int chassis = 0;

class Vehicle {
public:
    Scene scene;

    Vehicle() {
        scene.gravity = {0, 0, -9.81};
        Link body;
        body.name = "chassis";
        body.joint = JointKind::free;
        body.mass = 1260;
        body.pivot = body.centre = {0, 0, 0.57};
        body.inertia = {130, 1620, 1670, 0, 0, 0};
        body.velocity = {5, 0, 0};
        scene.links.push_back(body);
        for (const int axle : {0, 1})
            for (const int side : {0, 1}) add_corner(axle, side);
        scene.forces = [links = scene, corners = corners_](const auto& states, auto& loads) {
            for (const Corner& corner : corners) load_corner(links, corner, states, loads);
        };
    }

private:
    void add_corner(int axle, int side) {
        const double x = axle == 0 ? 0.97 : -1.047;
        const double outward = axle == 0 ? 1 : -1;  // along the vehicle
        const double left = side == 0 ? 1 : -1;
        const auto at = [&](double along, double across, double up) {
            return Vec{x + outward * along, left * across, up};
        };
        const std::string suffix = std::to_string(axle) + std::to_string(side);
        Corner corner;
        corner.arm = static_cast<int>(scene.links.size());
        corner.hub = corner.arm + 1;
        corner.abutment = at(0, 0.488, 0.707);
        corner.carrier_top = at(0, 0.488, 0.531);
        corner.shock_top = at(0.075, 0.297, 0.632);
        corner.shock_foot = at(0.075, 0.500, 0.241);
        corner.tyre_radius = axle == 0 ? 0.364325 : 0.363812;
        corners_.push_back(corner);

        const Vec inner = at(0, 0.259, 0.302), outer = at(0, 0.572, 0.229);
        Link arm;
        arm.name = "arm" + suffix;
        arm.parent = chassis;
        arm.pivot = inner;
        arm.axis = {1, 0, 0};
        arm.mass = 6;
        arm.centre = 0.5 * (inner + outer);
        // About axes of which y lies along the arm.
        const Vec moments{0.052099, 0.023235, 0.068864};
        const Vec y = (1 / norm(outer - inner)) * (outer - inner);
        arm.inertia = {moments[0],
                       moments[1] * y[1] * y[1] + moments[2] * y[2] * y[2],
                       moments[1] * y[2] * y[2] + moments[2] * y[1] * y[1],
                       0,
                       0,
                       (moments[1] - moments[2]) * y[1] * y[2]};
        scene.links.push_back(arm);

        Link hub;
        hub.name = "hub" + suffix;
        hub.parent = corner.arm;
        hub.joint = JointKind::ball;
        hub.pivot = outer;
        hub.mass = 57.35;
        hub.centre = at(0, 0.615, 0.356);
        hub.inertia = {1.2402, 1.908, 1.2402, 0, 0, 0};
        scene.links.push_back(hub);

        const Vec leaf_pin = at(0, 0.1585, 0.600), rack_end = at(-0.14, 0.070, 0.600),
                  tie_end = at(-0.14, 0.448, 0.531);
        scene.loops.push_back({Loop::Kind::crank, corner.hub, chassis, corner.carrier_top, {1, 0, 0}, leaf_pin});
        scene.loops.push_back({Loop::Kind::rod, corner.hub, chassis, tie_end, {}, rack_end});
    }

    static void load_corner(const Scene& scene, const Corner& corner, const std::vector<LinkState>& states,
                            std::vector<Load>& loads) {
        const auto now = [&](int link, const Vec& start) { return place_now(scene, link, states[link], start); };
        const auto push = [&](int link, const Vec& at, const Vec& force) {
            loads[link].force = loads[link].force + force;
            loads[link].torque = loads[link].torque + cross(at - states[link].centre, force);
        };
        // The abutment slides across the chassis, to stay above the top of the carrier.
        const Vec up = states[chassis].axes[2];
        const Vec top = now(corner.hub, corner.carrier_top);
        const double leaf = leaf_force(dot(up, now(chassis, corner.abutment) - top));
        push(corner.hub, top, leaf * up);
        push(chassis, top, -leaf * up);

        const Vec above = now(chassis, corner.shock_top), below = now(corner.arm, corner.shock_foot);
        const double length = norm(above - below);
        const Vec along = (1 / length) * (above - below);
        const double rate = dot(along, velocity_at(states[chassis], above) - velocity_at(states[corner.arm], below));
        const double shock = shock_force(length, rate);
        push(corner.arm, below, shock * along);
        push(chassis, above, -shock * along);

        const Load tyre = tyre_load(states[corner.hub], corner.tyre_radius);
        push(corner.hub, states[corner.hub].centre, tyre.force);
        loads[corner.hub].torque = loads[corner.hub].torque + tyre.torque;
    }

    std::vector<Corner> corners_;
};

}  // namespace

Case iltis() {
    Case c;
    c.scene = Vehicle().scene;
    c.model_file = "../bench/peers/iltis-bump.yaml";
    c.is_conservative = false;
    c.until = 1.5;
    // Chassis, front left and rear right wheel: Limber's articulated-body with rk4 in steps of 0.05 ms. When tyres
    // still pushed on a line through the centre of their wheel, Simbody at accuracy 1e-9 ended 2e-8 m from there.
    c.error = [](const auto& states) {
        const std::pair<int, Vec> reference[] = {{chassis, {7.176233700, 0, 0.547580247}},
                                                 {2, {8.150822874, 0.615256054, 0.356951993}},
                                                 {8, {6.133861839, -0.621598345, 0.352513211}}};
        double farthest = 0;
        for (const auto& [link, at] : reference) farthest = std::max(farthest, norm(states[link].centre - at));
        return farthest;
    };
    c.error_name = "error (m)";
    c.largest_error = 1e-4;
    c.criterion =
        "from its design position at 5 m/s over a bump of 0.2 m, with springs, dampers and tyres of its own; chassis "
        "and "
        "wheels within 1e-4 m after 1.5 s";
    c.remark =
        "Limber runs `bench/peers/iltis-bump.yaml`, the Iltis with wheels that do not spin; the others evaluate the "
        "same laws, written for all of them "
        "in `bench/peers/iltis.cpp`, in their callbacks or before each step. MuJoCo, DART and Bullet have no rods "
        "without mass: theirs are links of 20 g, which moves "
        "the vehicle by 1e-5 m. More runs of it: [study](studies/iltis.md).";
    return c;
}

}  // namespace peers
