#pragma once
// Every force of the model on two moving bodies, in space and in the plane, for checks of stiffness and damping.

#include <string>
#include <vector>

#include "support/joint_cases.hpp"

namespace limber::testing {

struct ForceCase {
    std::string name, force;
};

inline std::vector<ForceCase> force_cases() {
    return {
        {"spring", "{spring: [a.s, b.s], stiffness: 30, damping: 2, preload: 1.5, free-length: 0.4}"},
        {"spring_with_time", "{spring: [a.s, b.s], stiffness: 30 + 5*t, damping: 2 - t, free-length: 0.4}"},
        {"polynomial", "{spring: [a.s, b.s], polynomial: [20, -5, 300], damping: 1, free-length: 0.4}"},
        {"table", "{spring: [a.s, b.s], table: [[-0.5, -9], [-0.1, -1], [0.1, 2], [0.6, 11]], free-length: 0.4}"},
        {"law", "{spring: [a.s, b.s], law: 10*x + 3*v*abs(v) + sin(t)*x^2, free-length: 0.4}"},
        {"law_with_scalars", "{spring: [a.s, b.s], law: 10*x*(1 + j.angle) - 2*j.angle.rate*x + v, free-length: 0.4}"},
        {"torsion_spring", "{torsion-spring: j.angle, stiffness: 4, damping: 0.7, free-value: 0.2}"},
        {"motor", "{motor: j.angle, law: 3*sin(x) - 0.4*v + t}"},
        {"servo", "{servo: j.angle, target: 0.3*sin(4*t), gain: 20, rate-gain: 2}"},
        {"saturated_servo", "{servo: j.angle, target: 3, gain: 200, rate-gain: 2, limit: 5}"},
        {"force_in_world", "{force: b.s, vector: VECTOR}"},
        {"force_in_body", "{force: b.s, vector: VECTOR, frame: body}"},
        {"torque_in_world", "{torque: b.s, vector: TORQUE}"},
        {"torque_in_body", "{torque: b.s, vector: TORQUE, frame: body}"},
        {"force_of_motion", "{force: b.s, vector: MOTION}"},
        {"force_of_motion_in_body", "{force: b.s, vector: MOTION, frame: body}"},
        {"torque_of_motion", "{torque: b.s, vector: TWIST}"},
        {"torque_of_motion_in_body", "{torque: b.s, vector: TWIST, frame: body}"},
        {"bushing", "{bushing: [a.m, b.m], stiffness: BUSH, damping: DAMP}"},
        {"bushing_matrix", "{bushing: [a.s, b.s], stiffness: FULL}"},
        {"drag", "{drag: b.s, linear: 0.4, quadratic: 0.9, medium: MEDIUM}"},
        {"tyre", "{tyre: WHEEL, road: hills, radius: 2, stiffness: 70, damping: 3LATERAL}"},
        {"tyre_without_side_force", "{tyre: WHEEL, road: hills, radius: 2, stiffness: 70, damping: 3}"},
        {"tyre_nearly_on_its_side", "{tyre: b.m, road: hills, radius: 2, stiffness: 70}"},
    };
}

/// The model of a force case: two bodies on a revolute joint.
inline std::string force_model(const ForceCase& force, bool planar) {
    std::string text = force.force;
    const auto replace = [&](const std::string& word, const std::string& with) {
        const auto at = text.find(word);
        if (at != std::string::npos) text.replace(at, word.size(), with);
    };
    replace("VECTOR", planar ? "[2 + t, -3]" : "[2 + t, -3, 1]");
    replace("TORQUE", planar ? "0.7 - t" : "[0.5, 0.7 - t, -0.3]");
    replace("MOTION", std::string("['x*y - 0.3*vx + t', 'sin(j.angle)*vy - 2*x^2 + 0.1*j.angle.rate^2'") +
                          (planar ? "]" : ", 'vz*z + j.angle*x']"));
    replace("TWIST",
            planar ? "'x - 0.4*j.angle.rate + vy*vx'" : "['x - 0.4*j.angle.rate', 'vy*vx + t', 'z*j.angle - 0.2*vz']");
    replace("BUSH", planar ? "[50, 70, 3]" : "[50, 70, 90, 3, 4, 5]");
    replace("DAMP", planar ? "[1, 2, 0.1]" : "[1, 2, 3, 0.1, 0.2, 0.3]");
    replace("LATERAL", planar ? ""
                              : ", lateral: {A0: 26, A1: 1.4, A2: 130, A3: 2.3, A4: 180, B1: -4e-4, B3: 1.2, B4: 2e-7, "
                                "SN: 1.03, AF1: -1.7e-3, AF2: 1.7e-3}");
    replace("WHEEL", planar ? "b.s" : "b.hub");
    replace("MEDIUM", planar ? "[0.5, 0.1]" : "[0.5, 0.1, -0.2]");
    if (planar) {
        replace("FULL", "[9, 1, 2, 1, 8, 0, 2, 0, 3]");
    } else {
        std::string full = "[";
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                full += (i + j > 0 ? ", " : "") + std::to_string(i == j ? 20 - i : (i * j) % 3 - 1);
        replace("FULL", full + "]");
    }
    // The base model's own spring is replaced.
    std::string yaml = planar ? two_planar_bodies("{revolute: [a.m, b.m]}") : two_bodies("{revolute: [a.m, b.m]}");
    yaml += "roads:\n  hills: [{height: 0.2*sin(x)}, {ramp: {from: -2, to: 3, height: 0.5, rounding: 4}}]\n";
    const std::string own = "  k: {spring: [a.s, b.s], stiffness: 15, free-length: 0.4}\n";
    yaml.replace(yaml.find(own), own.size(), "  k: " + text + "\n");
    return yaml;
}

}  // namespace limber::testing
