#include "cases.hpp"

#include <numbers>
#include <stdexcept>

#include "contact_cases.hpp"
#include "iltis.hpp"

namespace peers {
namespace {

using std::numbers::pi;

// References: adaptive integration of order 8 of the reduced equations at tolerance 3e-14, independent of any engine.

Case double_pendulum() {
    Case c;
    c.scene.is_planar = true;
    c.scene.links = {point_mass(ground, {0, 0, 0}, {1, 0, 0}, 1), point_mass(0, {1, 0, 0}, {1, -1, 0}, 1)};
    c.error = [](const auto& s) {
        return std::hypot(s[1].centre[0] + 0.691313859947, s[1].centre[1] + 0.389344827301);
    };
    c.criterion = "tip within 1e-4 m at 10 s";
    c.largest_error = 1e-4;
    return c;
}

Case slider_crank() {
    const double h = std::sqrt(0.5);
    Case c;
    c.scene.is_planar = true;
    c.scene.links = {point_mass(ground, {0, 0, 0}, {h, h, 0}, 1), point_mass(0, {h, h, 0}, {2 * h, 0, 0}, 1)};
    c.scene.loops = {{Loop::Kind::plane, 1, ground, {2 * h, 0, 0}, {0, 1, 0}}};
    c.error = [](const auto& s) { return std::abs(s[1].centre[0] - 1.975881094673); };
    c.criterion = "slider within 1e-4 m at 10 s, through the singular position";
    c.largest_error = 1e-4;
    return c;
}

Case chain(int n) {
    Case c;
    c.scene.is_planar = true;
    for (int i = 0; i < n; ++i) c.scene.links.push_back(rod(i - 1, {1.0 * i, 0, 0}, {i + 1.0, 0, 0}));
    // Few steps of long chains: what is asked is the cost of one.
    c.until = n <= 40 ? 1 : (n <= 640 ? 0.1 : 0.02);
    c.criterion = "steps of 1 ms";
    return c;
}

Case n_four_bar(int n) {
    Case c;
    c.scene.is_planar = true;
    for (int i = 0; i <= n; ++i) {
        const double x = i;
        const int crank = static_cast<int>(c.scene.links.size());
        c.scene.links.push_back(rod(ground, {x, 0, 0}, {x, 1, 0}));
        c.scene.links.back().rate = -1;
        if (i > 0) c.scene.loops.push_back({Loop::Kind::point, crank - 1, crank, {x, 1, 0}, {}});
        if (i == n) break;
        c.scene.links.push_back(rod(crank, {x, 1, 0}, {x + 1, 1, 0}));
        c.scene.links.back().rate = 1;
    }
    c.criterion = "energy within 0.1 J over 10 s, through all singular positions";
    c.largest_drift = 0.1;
    return c;
}

// Seven bodies driven by a constant torque (Schiehlen 1990; Hairer and Wanner; IFToMM A03).
Case andrews() {
    Case c;
    c.scene.is_planar = true;
    c.scene.gravity = {0, 0, 0};
    c.until = 0.03;
    const double beta = -0.0617138900142764496, gamma = 0.455279819163070380, phi = 0.222668390165885885,
                 delta = 0.487364979543842550, epsilon = 1.23054744454982119;
    const Vec a{-0.06934, -0.00227, 0}, b{-0.03635, 0.03273, 0}, spring_end{0.014, 0.072, 0};
    const auto at = [](const Vec& origin, double angle, double x, double y) {
        return origin + Vec{x * std::cos(angle) - y * std::sin(angle), x * std::sin(angle) + y * std::cos(angle), 0};
    };
    const auto link = [&](int parent, const Vec& pivot, double mass, double inertia, const Vec& centre) {
        Link l = point_mass(parent, pivot, centre, mass);
        l.inertia = {inertia, inertia, inertia, 0, 0, 0};
        c.scene.links.push_back(l);
        return static_cast<int>(c.scene.links.size()) - 1;
    };
    const Vec o{0, 0, 0}, f = at(o, beta, 0.007, 0);
    const Vec g = at(a, delta, 0.04, 0), h = at(a, epsilon, 0, -0.04);
    const int k1 = link(ground, o, 0.04325, 2.194e-6, at(o, beta, 0.00092, 0));
    const int k2 = link(k1, f, 0.00365, 4.410e-7, at(f, beta, -0.0115, 0));
    const int k3 = link(ground, b, 0.02373, 5.255e-6, at(b, gamma, 0.01043, -0.01874));
    const int k5 = link(ground, a, 0.07050, 1.169e-5, at(a, delta, 0.02308, 0.00916));
    const int k4 = link(k5, g, 0.00706, 5.667e-7, at(g, phi + delta, 0, -0.00579));
    const int k7 = link(ground, a, 0.05498, 1.912e-5, at(a, epsilon, 0.00449, -0.01228));
    const int k6 = link(k7, h, 0.00706, 5.667e-7, at(h, epsilon - phi, 0.00579, 0));
    c.scene.links[k1].torque = 0.033;
    const Vec e = at(f, beta, -0.028, 0);
    for (const int other : {k3, k4, k6}) c.scene.loops.push_back({Loop::Kind::point, k2, other, e, {}});
    c.scene.springs = {{ground, k3, spring_end, at(b, gamma, 0.02, -0.018), 4530, 0.07785}};
    c.is_conservative = false;
    c.error = [beta](const auto& s) {
        const double turned = std::atan2(s[0].axes[0][1], s[0].axes[0][0]);
        return std::abs(std::remainder(turned - (15.810771195153 - beta), 2 * pi));
    };
    c.criterion = "angle of the crank within 1e-5 at 0.03 s";
    c.largest_error = 1e-5;
    return c;
}

// Five rods and six hinges along the edges of a cube: overconstrained, one degree of freedom.
Case bricard() {
    Case c;
    const Vec p[] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    const Vec axis[] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    for (int i = 0; i < 5; ++i) c.scene.links.push_back(rod(i - 1, p[i], p[i + 1], axis[i]));
    c.scene.loops = {{Loop::Kind::hinge, 4, ground, p[5], axis[5]}};
    c.criterion = "energy within 1e-4 J over 10 s, overconstrained";
    c.largest_drift = 1e-4;
    return c;
}

// A platform on six legs, each a tube in a tube: 13 bodies, six loops, released and sinking under spring legs.
Case six_legs() {
    Case c;
    c.scene.gravity = {0, 0, -9.81};
    Link platform;
    platform.joint = JointKind::free;
    platform.mass = 20;
    platform.centre = platform.pivot = {0, 0, 1};
    platform.inertia = {0.6, 0.6, 1.2, 0, 0, 0};
    c.scene.links.push_back(platform);
    for (int i = 0; i < 6; ++i) {
        const double below = pi / 3 * i + (i % 2 ? -0.15 : 0.15), above = pi / 3 * i + (i % 2 ? -0.4 : 0.4);
        const Vec foot{0.8 * std::cos(below), 0.8 * std::sin(below), 0};
        const Vec head{0.4 * std::cos(above), 0.4 * std::sin(above), 1};
        const Vec along = (1 / norm(head - foot)) * (head - foot);
        Link lower = rod(ground, foot, foot + 0.5 * (head - foot));
        lower.joint = JointKind::ball;
        for (int k = 0; k < 3; ++k) lower.inertia[k] += 1e-3;
        const int at = static_cast<int>(c.scene.links.size());
        c.scene.links.push_back(lower);
        Link upper = rod(at, foot + 0.5 * (head - foot), head, along);
        upper.joint = JointKind::slide;
        for (int k = 0; k < 3; ++k) upper.inertia[k] += 1e-3;
        c.scene.links.push_back(upper);
        c.scene.loops.push_back({Loop::Kind::point, at + 1, 0, head, {}});
        c.scene.springs.push_back({ground, 0, foot, head, 2000, norm(head - foot) + 0.01 * (i - 2)});
    }
    c.until = 5;
    c.criterion = "energy within 1e-3 J over 5 s";
    c.largest_drift = 1e-3;
    return c;
}

// About thirty bodies on a floating base, thrown and flailing: trunk of six, head, two arms of six, two legs of five.
Case humanoid() {
    Case c;
    c.scene.gravity = {0, 0, -9.81};
    Link pelvis;
    pelvis.joint = JointKind::free;
    pelvis.mass = 10;
    pelvis.centre = pelvis.pivot = {0, 0, 1};
    pelvis.inertia = {0.1, 0.08, 0.1, 0, 0, 0};
    c.scene.links.push_back(pelvis);
    const Vec axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int count = 0;
    const auto limb = [&](int parent, Vec from, const Vec& step, int pieces, double mass) {
        for (int i = 0; i < pieces; ++i) {
            Link l = rod(parent, from, from + step, axes[(count + i) % 3]);
            l.mass = mass;
            for (double& j : l.inertia) j *= mass;
            for (int k = 0; k < 3; ++k) l.inertia[k] += 2e-3 * mass;
            l.rate = 1.5 * std::sin(1.0 + 2.0 * count + i);
            parent = static_cast<int>(c.scene.links.size());
            from = from + step;
            c.scene.links.push_back(l);
        }
        count += pieces;
        return parent;
    };
    const int chest = limb(0, {0, 0, 1.1}, {0, 0, 0.1}, 5, 3);
    limb(chest, {0, 0, 1.6}, {0, 0, 0.12}, 2, 2);
    for (const double side : {-1.0, 1.0}) {
        limb(chest, {0, 0.2 * side, 1.55}, {0, 0.03 * side, -0.12}, 6, 0.8);
        limb(0, {0, 0.1 * side, 0.95}, {0, 0, -0.16}, 5, 2);
    }
    c.until = 2;
    c.criterion = "energy within 1e-3 J over 2 s";
    c.largest_drift = 1e-3;
    return c;
}

}  // namespace

std::vector<std::string> case_names() {
    return {"double-pendulum", "slider-crank",   "chain-10",    "chain-40",     "chain-160",
            "chain-640",       "chain-2500",     "chain-10000", "n-four-bar-1", "n-four-bar-5",
            "n-four-bar-40",   "n-four-bar-200", "andrews",     "bricard",      "six-legs",
            "humanoid",        "iltis",          "bricks",      "spheres-27",   "spheres-125"};
}

Case make_case(const std::string& name) {
    const auto number = [&](const std::string& prefix) { return std::stoi(name.substr(prefix.size())); };
    Case c;
    if (name == "double-pendulum") {
        c = double_pendulum();
    } else if (name == "slider-crank") {
        c = slider_crank();
    } else if (name.starts_with("chain-")) {
        c = chain(number("chain-"));
    } else if (name.starts_with("n-four-bar-")) {
        c = n_four_bar(number("n-four-bar-"));
    } else if (name == "andrews") {
        c = andrews();
    } else if (name == "bricard") {
        c = bricard();
    } else if (name == "six-legs") {
        c = six_legs();
    } else if (name == "humanoid") {
        c = humanoid();
    } else if (name == "iltis") {
        c = iltis();
    } else if (name == "bricks") {
        c = bricks();
    } else if (name.starts_with("spheres-")) {
        c = spheres(number("spheres-"));
    } else {
        throw std::invalid_argument("there is no case " + name);
    }
    c.scene.name = name;
    return c;
}

}  // namespace peers
