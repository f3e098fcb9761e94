#include "limber/modular/swing_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/kinematics/mechanism/part.hpp"
#include "limber/modular/interface_step.hpp"

namespace limber {
namespace {

// A swing is opposite to the one before if its direction is, to sixty degrees.
constexpr double opposite = -0.5;
constexpr double much_wider = 1.5;
constexpr int window = 4;
// In a row, of which only a series without limit has more.
constexpr int max_fast = 3;
constexpr int max_wider_windows = 3;
// From window to window, where no single one is much wider.
constexpr double max_growth = 20;
// Swings of forces from step to step that may be noise, over the largest force and over the tolerance.
constexpr double noise = 1e-3;
constexpr double noise_of_tolerance = 10;

bool is_same_step(double a, double b) {
    return std::abs(a - b) < 1e-6 * b;
}

bool is_last_of_window(int step) {
    return step % window == 0;
}

}  // namespace

template <int D>
typename SwingWatch<D>::Port SwingWatch<D>::follow(const Port& port, const TwistVec<D>& force, bool ends_window) const {
    Port next = port;
    next.force = force;
    next.swing = force - port.force;
    next.swing.template tail<angular_size<D>>() /= length_;
    const double size = next.swing.norm();
    const double before = port.swing.norm();
    const bool is_opposite = next.swing.dot(port.swing) < opposite * size * before;
    next.fast = is_opposite && size > much_wider * before ? port.fast + 1 : 0;
    next.widest = std::max(port.widest, size);
    next.opposite += is_opposite ? 1 : 0;
    if (!ends_window) return next;
    // Less than four steps in a swing and back: the step does not resolve it.
    if (2 * next.opposite >= window && next.before > 0 && next.widest > next.before) {
        next.wider_windows = next.widest > much_wider * next.before ? next.wider_windows + 1 : 0;
    } else {
        next.wider_windows = 0;
        next.first = next.widest;
    }
    next.before = next.widest;
    next.widest = next.opposite = 0;
    return next;
}

template <int D>
bool SwingWatch<D>::does_swing_out(int port, const TwistVec<D>& force, double h, double negligible) const {
    if (!force.allFinite()) return true;
    if (!is_same_step(h_, h)) return false;
    const Port next = follow(ports_[port], force, is_last_of_window(steps_ + 1));
    if (next.fast > max_fast) return next.swing.norm() > negligible;
    const bool grows = next.wider_windows > max_wider_windows || next.before > max_growth * next.first;
    return grows && next.before > negligible;
}

template <int D>
void SwingWatch<D>::accept(std::span<const int> ports, std::span<const TwistVec<D>> forces, double h) {
    steps_ = is_same_step(h_, h) ? steps_ + 1 : 0;
    h_ = h;
    for (const int p : ports) {
        if (steps_ > 0) {
            ports_[p] = follow(ports_[p], forces[p], is_last_of_window(steps_));
        } else {
            ports_[p] = {};
            ports_[p].force = forces[p];
        }
    }
}

template <int D>
bool SwingWatch<D>::accept_unless_swinging(InterfaceExchange& exchange, const Mechanism<D>& joints,
                                           std::span<const TwistVec<D>> forces, double h, double tolerance,
                                           double sensitivity) {
    double force = 0;
    for (const int p : exchange.own_ports()) force = std::max(force, largest_entry(forces[p]));
    std::array<double, 2> sizes{std::isfinite(force) ? force : 0, sensitivity};
    exchange.find_largest(sizes);
    const double negligible =
        std::max(std::max(noise, noise_of_tolerance * tolerance) * sizes[0], interface_rounding * sizes[1]);
    double worst = -1;
    for (const int p : exchange.own_ports())
        if (does_swing_out(p, forces[p], h, negligible)) worst = p;
    exchange.find_largest({&worst, 1});
    if (worst < 0) {
        accept(exchange.own_ports(), forces, h);
        return true;
    }
    std::string names;
    for (std::size_t f = 0; f < joints.forces.elements.size(); ++f) {
        const std::vector<int> ports = bodies_of_force(joints, static_cast<int>(f));
        if (std::find(ports.begin(), ports.end(), static_cast<int>(worst)) != ports.end())
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", joints.forces.elements[f].name);
    }
    refused_step_ = h;
    refusal_ = fmt::format(
        "forces between components swing ever wider, most at body '{}': steps of {:.4g} s are too long for {}. Make "
        "the step of the whole smaller, or let components take no steps of their own and iterate the forces",
        joints.bodies[static_cast<std::size_t>(worst)].name, h, names);
    return false;
}

template class SwingWatch<2>;
template class SwingWatch<3>;

}  // namespace limber
