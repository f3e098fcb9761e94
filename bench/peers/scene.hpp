#pragma once
// A mechanism in words that every engine understands: a tree of links, loops that close it, a few forces, and solids
// that touch. All places and directions are those of the world at the start, so that every joint coordinate starts at
// zero and no engine has to be told about frames.

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace peers {

using Vec = std::array<double, 3>;

inline Vec operator+(const Vec& a, const Vec& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Vec operator-(const Vec& a, const Vec& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Vec operator*(double s, const Vec& a) {
    return {s * a[0], s * a[1], s * a[2]};
}
inline double dot(const Vec& a, const Vec& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vec cross(const Vec& a, const Vec& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vec& a) {
    return std::sqrt(dot(a, a));
}

enum class JointKind { hinge, slide, ball, free };

inline constexpr int ground = -1;

/// What a link touches others with: around its centre, along the axes of the world at the start.
struct Solid {
    enum class Kind { none, box, sphere };
    Kind kind = Kind::none;
    Vec half{};  ///< half the edges; the radius of a sphere, three times
};

/// A body and the joint that hangs it on its parent.
struct Link {
    int parent = ground;
    JointKind joint = JointKind::hinge;
    Vec pivot{};
    Vec axis{0, 0, 1};  ///< of a hinge or slide
    double mass = 1;
    Vec centre{};
    std::array<double, 6> inertia{};  ///< about the centre: xx, yy, zz, xy, xz, yz
    double rate = 0;                  ///< of a hinge or slide at the start
    double torque = 0;                ///< constant, about a hinge
    Solid solid;
    Vec velocity{};    ///< of a free link at the start; it does not turn
    std::string name;  ///< of its body in the case's model file, if there is one
};

/// What closes a loop between two links.
struct Loop {
    enum class Kind {
        point,  ///< a point of one link stays on a point of the other
        hinge,  ///< a common axis, besides
        plane,  ///< a point of `a` stays in a plane of `b`
        rod,    ///< a massless rod between a point of `a` and the point `other` of `b`
        crank   ///< a massless rod, which turns about an axis of `b` through `other` and carries a point of `a`
    };
    Kind kind = Kind::point;
    int a = ground, b = ground;
    Vec point{};
    Vec axis{0, 0, 1};  ///< of the hinge or crank, or normal to the plane
    Vec other{};        ///< where a rod or crank is held
};

struct Spring {
    int a = ground, b = ground;
    Vec point_a{}, point_b{};
    double stiffness = 0, length = 0;
};

/// The ground fills the half space behind a wall.
struct Wall {
    Vec point{};
    Vec normal{0, 0, 1};  ///< to the free side
};

/// Where a link is and how it moves.
struct LinkState {
    Vec centre{};
    std::array<Vec, 3> axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  ///< images of the axes of the world at the start
    Vec velocity{}, angular_velocity{};
};

/// On a link: a force through its centre and a torque.
struct Load {
    Vec force{}, torque{};
};

struct Scene {
    std::string name;
    bool is_planar = false;  ///< everything happens in the plane of x and y
    Vec gravity{0, -9.81, 0};
    std::vector<Link> links;
    std::vector<Loop> loops;
    std::vector<Spring> springs;
    std::vector<Wall> walls;
    double friction = 0;  ///< of all solids and walls; their impacts are plastic
    /// Forces beyond the above, for engines that let their users write some: adds to the loads of links that move so.
    std::function<void(const std::vector<LinkState>&, std::vector<Load>&)> forces;

    bool has_contacts() const { return !walls.empty(); }
};

/// A point of a link that was at `start` when everything began.
Vec place_now(const Scene& scene, int link, const LinkState& state, const Vec& start);
/// The velocity of the point of a link that is at a place now.
Vec velocity_at(const LinkState& state, const Vec& place);
double kinetic_energy(const Scene& scene, const std::vector<LinkState>& states);
/// Kinetic and potential energy.
double energy(const Scene& scene, const std::vector<LinkState>& states);
/// How far the loops are open, the worst of them, in metres.
double open_by(const Scene& scene, const std::vector<LinkState>& states);

/// The same scene with light links for massless rods and cranks, for engines that have no such loops.
Scene with_rods_as_links(const Scene& scene);

/// A uniform rod of mass 1 between two points.
Link rod(int parent, const Vec& from, const Vec& to, const Vec& axis = {0, 0, 1});
/// A link whose whole mass is one point.
Link point_mass(int parent, const Vec& pivot, const Vec& at, double mass);

}  // namespace peers
