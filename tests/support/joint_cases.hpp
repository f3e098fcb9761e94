#pragma once
// One free-floating spatial mechanism per joint type: two (or more) bodies without ground contact and without gravity,
// so that energy, momentum and angular momentum must be kept, held loosely by a spring so that reactions do real work
// against it.

#include <string>
#include <vector>

namespace limber::testing {

struct JointCase {
    std::string name;
    std::string yaml;
    bool keeps_energy = true;
    bool is_holonomic = true;
};

inline std::string two_bodies(const std::string& joint, const std::string& more = "") {
    return R"(
limber: 1
gravity: none
curves:
  wave: {points: [[-0.6, 0, 0.1], [-0.2, 0.1, 0], [0.2, 0.05, -0.05], [0.6, -0.1, 0.05], [1.0, 0, 0.1]]}
bodies:
  a:
    box: {size: [0.4, 0.3, 0.2], mass: 2}
    xyz: [0.1, 0.2, -0.3]
    velocity: [0.1, -0.2, 0.05]
    angular-velocity: [0.3, -0.5, 0.8]
    markers: {m: {at: [0.3, 0.1, -0.05], z: [0.2, 0.5, 1], x: [1, 0, 0]}, s: [0.1, -0.2, 0.3]}
  b:
    solids: [{box: {size: [0.2, 0.5, 0.3], mass: 1}}, {sphere: {radius: 0.1, mass: 0.5, at: [0.2, 0.1, -0.2]}}]
    at: [0.6, 0.3, 0.1]
    xyz: [-0.2, 0.4, 0.5]
    velocity: [-0.1, 0.3, 0.2]
    angular-velocity: [-0.4, 0.9, 0.6]
    markers:
      m: {at: [-0.2, -0.1, 0.05], z: [-0.1, 0.3, 1], x: [1, 0.5, 0]}
      hub: {at: [0.1, 0, 0], z: [1, 0.2, 0.1], x: [0, 1, 0]}
      s: [0.2, 0.3, -0.1]
joints:
  j: )" + joint +
           R"(
forces:
  k: {spring: [a.s, b.s], stiffness: 15, free-length: 0.4}
)" + more +
           R"(
sensors:
  a: {position: a}
  b: {position: b.s}
  wa: {angular-velocity: a}
  vb: {velocity: b.s}
  ab: {acceleration: b.s}
  r: {reaction: j}
)";
}

/// Three bodies: a carries two shafts b and c on revolute joints.
inline std::string carrier(const std::string& joints, const std::string& more = "") {
    return R"(
limber: 1
gravity: none
bodies:
  a:
    box: {size: [0.6, 0.3, 0.2], mass: 3}
    velocity: [0.1, 0, 0]
    angular-velocity: [0.2, -0.3, 0.1]
    markers: {p: {at: [-0.3, 0, 0.1], z: [0.1, 0, 1]}, q: {at: [0.3, 0, 0.1], z: [0, 0.2, 1]}, s: [0, 0.3, 0]}
  b: {disc: {radius: 0.2, thickness: 0.05, mass: 1}, at: [-0.3, 0, 0.1], angular-velocity: [0, 0, 2], markers: {s: [0.15, 0, 0]}}
  c: {box: {size: [0.3, 0.2, 0.1], mass: 0.7}, at: [0.3, 0, 0.1], markers: {s: [0.1, 0.1, 0]}}
joints:
  hinge: {revolute: [a.p, b]}
)" + joints +
           R"(
forces:
  k: {spring: [a.s, b.s], stiffness: 8, free-length: 0.2}
  l: {spring: [a.s, c.s], stiffness: 12, free-length: 0.3}
)" + more +
           R"(
sensors:
  a: {position: a}
  b: {position: b.s}
  c: {position: c.s}
  r: {reaction: hinge}
  j: {reaction: j}
)";
}

/// Two planar bodies with everything else as above.
inline std::string two_planar_bodies(const std::string& joint, const std::string& more = "") {
    return R"(
limber: 1
plane: xy
gravity: none
curves:
  wave: {points: [[-0.6, 0.1], [-0.2, 0], [0.2, -0.05], [0.6, 0.05], [1.0, 0.1]]}
  ring: {points: [[0.5, 0], [0, 0.4], [-0.5, 0], [0, -0.4]], closed: true}
bodies:
  a:
    box: {size: [0.4, 0.3], mass: 2}
    angle: 0.3
    velocity: [0.1, -0.2]
    angular-velocity: 0.8
    markers: {m: {at: [0.3, 0.1], angle: 0.4}, s: [0.1, -0.2]}
  b:
    solids: [{box: {size: [0.2, 0.5], mass: 1}}, {disc: {radius: 0.1, mass: 0.5, at: [0.2, 0.1]}}]
    at: [0.6, 0.3]
    angle: -0.5
    velocity: [-0.1, 0.3]
    angular-velocity: -0.6
    markers: {m: {at: [-0.2, -0.1], angle: 0.2}, s: [0.2, 0.3]}
joints:
  j: )" + joint +
           R"(
forces:
  k: {spring: [a.s, b.s], stiffness: 15, free-length: 0.4}
)" + more +
           R"(
sensors:
  a: {position: a}
  b: {position: b.s}
  wa: {angular-velocity: a}
  vb: {velocity: b.s}
  ab: {acceleration: b.s}
  r: {reaction: j}
)";
}

inline std::vector<JointCase> planar_joint_cases() {
    return {
        {"fixed", two_planar_bodies("{fixed: [a.m, b.m]}")},
        {"revolute", two_planar_bodies("{revolute: [a.m, b.m]}")},
        {"prismatic", two_planar_bodies("{prismatic: [a.m, b.m]}")},
        {"point_on_line", two_planar_bodies("{point-on-line: [a.m, b.m]}")},
        {"distance", two_planar_bodies("{distance: [a.m, b.m], length: 0.35}")},
        {"parallel_axes", two_planar_bodies("{parallel-axes: [a.m, b.m]}")},
        {"perpendicular_axes", two_planar_bodies("{perpendicular-axes: [a.m, b.m]}")},
        {"point_on_curve", two_planar_bodies("{point-on-curve: [a.m, b.m], curve: wave}")},
        {"point_on_ring", two_planar_bodies("{point-on-curve: [a.m, b.m], curve: ring}")},
        {"coupling", two_planar_bodies("{point-on-line: [a.m, b.m]}\n"
                                       "  c: {coupling: {j.displacement: 1, j.angle: 0.3}}")},
        {"rolling_disc", two_planar_bodies("{rolling-disc: [a.m, b.m], radius: 0.3}"), true, false},
        {"skate", two_planar_bodies("{skate: [a.m, b.m]}"), true, false},
        {"velocity",
         two_planar_bodies("{point-on-line: [a.m, b.m]}\n"
                           "  v: {velocity: {j.displacement: 1, j.angle: 0.2*cos(j.displacement)}, equals: 0}"),
         true, false},
        {"driver",
         two_planar_bodies("{revolute: [a.m, b.m]}", "drivers:\n  d: {coordinate: j.angle, follows: 0.3*sin(2*t)}"),
         false},
    };
}

inline std::vector<JointCase> joint_cases() {
    return {
        {"fixed", two_bodies("{fixed: [a.m, b.m]}")},
        {"revolute", two_bodies("{revolute: [a.m, b.m]}")},
        {"prismatic", two_bodies("{prismatic: [a.m, b.m]}")},
        {"cylindrical", two_bodies("{cylindrical: [a.m, b.m]}")},
        {"spherical", two_bodies("{spherical: [a.m, b.m]}")},
        {"universal", two_bodies("{universal: [a.m, b.m]}")},
        {"planar", two_bodies("{planar: [a.m, b.m]}")},
        {"helical", two_bodies("{helical: [a.m, b.m], pitch: 0.3}")},
        {"point_on_line", two_bodies("{point-on-line: [a.m, b.m]}")},
        {"point_on_plane", two_bodies("{point-on-plane: [a.m, b.m]}")},
        {"distance", two_bodies("{distance: [a.m, b.m], length: 0.35}")},
        {"parallel_axes", two_bodies("{parallel-axes: [a.m, b.m]}")},
        {"perpendicular_axes", two_bodies("{perpendicular-axes: [a.m, b.m]}")},
        {"constant_velocity", two_bodies("{constant-velocity: [a.m, b.m]}")},
        {"point_on_curve", two_bodies("{point-on-curve: [a.m, b.m], curve: wave}")},
        {"gear", carrier("  other: {revolute: [a.q, c]}\n  j: {gear: [hinge.angle, other.angle], ratio: -1.5}\n")},
        {"rack_and_pinion", carrier("  other: {prismatic: [a.q, c]}\n  j: {rack-and-pinion: [hinge.angle, "
                                    "other.displacement], radius: 0.1}\n")},
        {"coupling", carrier("  other: {cylindrical: [a.q, c]}\n"
                             "  j: {coupling: {hinge.angle: 1, other.angle: 0.5, other.displacement: -2}}\n")},
        {"rolling_disc", two_bodies("{rolling-disc: [a.m, b.hub], radius: 0.3}"), true, false},
        {"skate", two_bodies("{skate: [a.m, b.m]}"), true, false},
        {"velocity",
         carrier("  other: {cylindrical: [a.q, c]}\n"
                 "  j: {velocity: {hinge.angle: 0.2 + 0.1*cos(other.angle), other.displacement: 1}}\n"),
         true, false},
        {"driver",
         two_bodies("{revolute: [a.m, b.m]}", "drivers:\n  d: {coordinate: j.angle, follows: 0.3 + 0.5*t + 0.4*t^2}"),
         false},
    };
}

}  // namespace limber::testing
