#include "limber/modular/gluing_convergence.hpp"

#include <array>

namespace limber {
namespace {

constexpr double tiny_acceleration = 1e-12;
// Forces to this part pass positions in which links fold.
constexpr double strict_tolerance = 1e-8;
// A joint whose force vanishes is compared with this part of the largest force.
constexpr double weakest_force = 1e-2;
// An iteration that leaves more than this part of the error needs tangents from here.
constexpr double slow_gluing = 0.1;

}  // namespace

template <int D>
bool GluingConvergence<D>::is_nothing_left(const InterfaceStep<D>& step) const {
    const double tiny = step.has_accelerations()
                            ? tiny_acceleration
                            : interface_rounding * matrix_.distance() / (matrix_.reach().position * step.h * step.h);
    return step.report.residual <= tiny;
}

template <int D>
bool GluingConvergence<D>::is_correction_small(const InterfaceStep<D>& step, double correction) const {
    return correction <= tolerance_ * largest_entry(step.multipliers) || is_nothing_left(step);
}

template <int D>
bool GluingConvergence<D>::is_each_joint_settled(const InterfaceStep<D>& step, const Mechanism<D>& joints,
                                                 const VecX& correction) const {
    if (is_nothing_left(step)) return true;
    const double least = weakest_force * largest_entry(step.multipliers + correction);
    for (const auto& element : joints.elements) {
        const auto change = correction.segment(element.first_row, element.row_count);
        const double force = largest_entry(step.multipliers.segment(element.first_row, element.row_count) + change);
        if (!(largest_entry(change) <= tolerance_ * std::max(force, least))) return false;
    }
    return true;
}

// Eq. (28) of Joli 2008 for what is still to be corrected, but not over the multipliers themselves: where links fold,
// those without effect grow without bounds, and a part of them would be no measure of anything. Over the forces that
// would move each row alone as much as they do.
template <int D>
bool GluingConvergence<D>::is_residual_small(InterfaceStep<D>& step, const VecX& residual) {
    if (step.report.residual <= tiny_acceleration) return true;
    const double force = matrix_.find_largest_force(step.multipliers);
    step.late_correction = -residual;
    matrix_.solve_joints(step.late_correction);
    const double left = largest_entry(step.late_correction);
    if (tolerance_ <= strict_tolerance || left > tolerance_ * force) return left <= tolerance_ * force;
    // Errors that a loose tolerance leaves in the joints turn, where links fold, into the direction in which forces
    // hardly move them. There they must be as much smaller: by the weakest admittance, of which the correction has a
    // part, over the largest.
    double strongest = 0;
    for (int r = 0; r < residual.size(); ++r) strongest = std::max(strongest, matrix_.admittance().diagonal(r));
    weakest_ = step.late_correction;
    matrix_.solve_joints(weakest_);
    const double weakest = step.late_correction.norm() / weakest_.norm();
    return left <= std::max(strict_tolerance, tolerance_ * std::min(1.0, weakest / strongest)) * force;
}

template <int D>
double GluingConvergence<D>::find_force_change(const InterfaceStep<D>& step) const {
    if (!step.iterates_forces) return 0;
    double change = 0;
    for (const int p : team_.exchange().own_ports())
        change = std::max(change, largest_entry(step.new_forces[p] - step.forces[p]));
    team_.exchange().find_largest({&change, 1});
    return change;
}

template <int D>
bool GluingConvergence<D>::is_force_change_small(const InterfaceStep<D>& step, double change) const {
    if (!step.iterates_forces) return true;
    std::array<double, 2> sizes{0, matrix_.force_sensitivity()};
    for (const int p : team_.exchange().own_ports()) sizes[0] = std::max(sizes[0], largest_entry(step.wrenches[p]));
    team_.exchange().find_largest(sizes);
    // At rest forces that cannot be compared with themselves are what rounding of the motion makes of them.
    return change <= std::max(tolerance_ * sizes[0], interface_rounding * sizes[1]);
}

// As Newton's method of an undivided mechanism decides: linear convergence with rate r leaves about r / (1 - r) of the
// last change.
template <int D>
bool GluingConvergence<D>::has_newton_converged(const NewtonProgress& progress, bool& is_slow) {
    const double rate = change_ > 0 ? progress.change / change_ : 0;
    const double left = change_ > 0 ? progress.change * rate / std::max(0.1, 1 - rate) : progress.change;
    is_slow = rate > slow_gluing;
    change_ = progress.change;
    // Near the origin of its coordinates a component may know them better than its neighbours know theirs, and so the
    // forces between them.
    return left <= std::max(progress.acceptable, interface_rounding * matrix_.distance());
}

template class GluingConvergence<2>;
template class GluingConvergence<3>;

}  // namespace limber
