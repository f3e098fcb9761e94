// How an assembly finds the forces that hold its components together, and when they are good enough.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "limber/modular/assembly.hpp"

namespace limber {
namespace {

constexpr double tiny_acceleration = 1e-12;
// Forces to this part pass positions in which links fold.
constexpr double strict_tolerance = 1e-8;
// Passes that push velocities or accelerations onto the joints, and the part of the error that one may leave.
constexpr int max_pushes = 12;
constexpr double gluing_falls_enough = 0.5;
// Of joints at the end of a step, over the length scale: as undivided mechanisms have it.
constexpr double closed_interface = 1e-9;
// An iteration that leaves more than this part of the error needs tangents from here.
constexpr double slow_gluing = 0.1;

}  // namespace

template <int D>
bool ModularAssembly<D>::settles(double correction) const {
    // Where nothing acts, forces cannot be compared with themselves.
    const double tiny =
        has_accelerations() ? tiny_acceleration : rounding * distance_ / (matrix_.reach().position * h_ * h_);
    return correction <= options_.tolerance * largest(multipliers_) || report_.residual <= tiny;
}

// Eq. (28) of Joli 2008 for what is still to be corrected, but not over the multipliers themselves: where links fold,
// those without effect grow without bounds, and a part of them would be no measure of anything. Over the forces that
// would move each row alone as much as they do.
template <int D>
bool ModularAssembly<D>::does_residual_settle() {
    if (report_.residual <= tiny_acceleration) return true;
    const double force = matrix_.find_largest_force(multipliers_);
    late_correction_ = -residual_;
    matrix_.solve_joints(late_correction_);
    const double left = largest(late_correction_);
    if (options_.tolerance <= strict_tolerance || left > options_.tolerance * force)
        return left <= options_.tolerance * force;
    // Errors that a loose tolerance leaves in the joints turn, where links fold, into the direction in which forces
    // hardly move them. There they must be as much smaller: by the weakest admittance, of which the correction has a
    // part, over the largest.
    double strongest = 0;
    for (int r = 0; r < joints_->row_count(); ++r) strongest = std::max(strongest, matrix_.admittance().diagonal(r));
    weakest_ = late_correction_;
    matrix_.solve_joints(weakest_);
    const double weakest = late_correction_.norm() / weakest_.norm();
    return left <= std::max(strict_tolerance, options_.tolerance * std::min(1.0, weakest / strongest)) * force;
}

template <int D>
bool ModularAssembly<D>::forces_settle(double change) {
    if (!iterates_forces()) return true;
    std::array<double, 2> sizes{0, matrix_.force_sensitivity()};
    for (const int p : team_.exchange().own_ports()) sizes[0] = std::max(sizes[0], largest(wrenches_[p]));
    team_.exchange().find_largest(sizes);
    // At rest forces that cannot be compared with themselves are what rounding of the motion makes of them.
    return change <= std::max(options_.tolerance * sizes[0], rounding * sizes[1]);
}

// Of the forces between components, by the motion shown last.
template <int D>
double ModularAssembly<D>::find_force_change() {
    if (!iterates_forces()) return 0;
    double change = 0;
    for (const int p : team_.exchange().own_ports())
        change = std::max(change, (new_forces_[p] - forces_[p]).template lpNorm<Eigen::Infinity>());
    return find_largest_of_all(change);
}

// As Newton's method of an undivided mechanism decides: linear convergence with rate r leaves about r / (1 - r) of the
// last change.
template <int D>
bool ModularAssembly<D>::has_newton_converged(double& before, bool& is_slow) const {
    const NewtonProgress& all = largest_progress_;
    const double rate = before > 0 ? all.change / before : 0;
    const double left = before > 0 ? all.change * rate / std::max(0.1, 1 - rate) : all.change;
    is_slow = rate > slow_gluing;
    before = all.change;
    // Near the origin of its coordinates a component may know them better than its neighbours know theirs, and so the
    // forces between them.
    return left <= std::max(all.acceptable, rounding * distance_);
}

template <int D>
std::string ModularAssembly<D>::describe_unsettled() const {
    const Mechanism<D>& m = joints_->mechanism();
    Eigen::Index worst = 0;
    if (residual_.size() > 0) residual_.cwiseAbs().maxCoeff(&worst);
    std::string place;
    for (const auto& element : m.elements)
        if (element.first_row <= worst && worst < element.first_row + element.row_count)
            place = fmt::format("; the largest error is at '{}'", element.name);
    const char* advice = method_->uses_whole_matrix() ? "" : "; gluing 'direct' heeds how joints act on each other";
    return fmt::format("the interface forces did not settle in {} questions to the components{}{}",
                       report_.answers + report_.products, place, advice);
}

template <int D>
bool ModularAssembly<D>::glue() {
    if (options_.gluing == Gluing::penalty && h_ > 0) return glue_by_penalty();
    if (!open()) return false;
    if (has_accelerations() && joints_->has_forces()) {
        // The motion is predicted and so are its forces.
        forces_ = new_forces_;
        if (!ask()) return false;
    }
    late_correction_.setZero();
    const AdmittanceProduct product = make_product();
    const double length = joints_->mechanism().length_scale;
    double before = 0;
    bool refresh = true;
    for (int pass = 0;; ++pass) {
        const double change = find_force_change();
        asked_forces_ = forces_;
        if (has_coupled_) {
            if (iterates_forces()) forces_ = new_forces_;
            approach(refresh);
        }
        // Accelerations that settle are told from others by an old matrix just as well.
        if ((matrix_.is_old() && !has_accelerations()) || !matrix_.admittance().is_ready() ||
            (refresh && has_coupled_ && method_->uses_whole_matrix()))
            measure();
        if (!matrix_.is_of_end()) matrix_.assemble(true);
        if (!find_residual()) return false;
        const bool is_balanced = !has_coupled_ || (is_balanced_ && pass > 1);
        if (!has_uncoupled_ && is_balanced && opening_ <= closed_interface * length && forces_settle(change)) break;
        const bool settles_early = has_accelerations() && options_.gluing != Gluing::uzawa && does_residual_settle();
        if (settles_early && forces_settle(change)) break;
        if (matrix_.is_old()) measure();
        if (pass == 0) method_->start(matrix_.admittance());
        if (method_->asks() && !has_coupled_ && !has_accelerations()) {
            correction_ = residual_;
            matrix_.admittance().solve_blocks(correction_);
            if (settles(10 * largest(correction_)) && forces_settle(change)) break;
        }
        if (options_.gluing == Gluing::direct && (has_coupled_ || matrix_.spring_rows() > 0)) {
            // Newton's method of all together: past passes could only spoil it.
            matrix_.solve(residual_, known_, correction_, spring_wrenches_);
        } else if (joints_->row_count() > 0) {
            method_->correct(matrix_.admittance(), product, multipliers_, residual_, correction_);
        }
        late_correction_.setZero();
        const bool rows_settle =
            (!has_accelerations() || options_.gluing == Gluing::uzawa) && settles(largest(correction_));
        if (has_uncoupled_ && is_balanced && rows_settle && forces_settle(change)) break;
        if (!correction_.allFinite() || report_.answers + report_.products > options_.max_questions) {
            failure_ = describe_unsettled();
            return false;
        }
        multipliers_ += correction_;
        if (iterates_forces()) {
            forces_ = new_forces_;
            for (std::size_t p = 0; p < forces_.size() && matrix_.spring_rows() > 0; ++p)
                forces_[p] += spring_wrenches_[p];
        }
        if (!advance()) return false;
        if (!has_coupled_) continue;
        const bool is_close = has_newton_converged(before, refresh);
        if (is_close && (!has_uncoupled_ || rows_settle) && forces_settle(find_force_change())) break;
    }
    return close();
}

// Seguy 2003 eqs. (17), (18), (21), with the inertia that a row meets in place of (15): springs and dampers as stiff as
// the step bears, on the predicted motion. Ten steps per oscillation, as Joli 2008 eq. (11) has it; the three of (17)
// are at the very limit of stability of explicit schemes.
template <int D>
bool ModularAssembly<D>::glue_by_penalty() {
    if (!ask() || !find_residual()) return false;
    if (joints_->has_forces()) forces_ = new_forces_;
    measure();
    const double omega = gain_options_.frequency / h_;
    const double damping = 2 * gain_options_.damping * omega;
    const VecX sums = matrix_.admittance().row_sums();
    for (int r = 0; r < joints_->row_count(); ++r) {
        const double inertia = sums[r] > 0 ? 1 / sums[r] : 0;
        multipliers_[r] = joints_->is_holonomic(r)
                              ? -inertia * (omega * omega * joints_->phi[r] + damping * joints_->rate[r])
                              : -inertia * 0.1 / h_ * joints_->rate[r];
    }
    team_.exchange().share_rows(multipliers_);
    return ask();
}

template <int D>
bool ModularAssembly<D>::push(bool velocities) {
    double before = std::numeric_limits<double>::infinity();
    bool is_fresh = report_.measures > 0;
    const AdmittanceProduct product = make_product();
    known_.assign(known_.size(), TwistVec<D>::Zero());
    if (!matrix_.has_equal_reach() && matrix_.is_of_end()) matrix_.assemble(false);
    for (int pass = 0; pass < max_pushes; ++pass) {
        joints_->update(motion_, t_ + h_);
        rows_ = velocities ? joints_->rate : joints_->acceleration;
        double size = 0;
        for (const int p : team_.exchange().own_ports()) {
            const PortMotion<D>& port = motion_[p];
            size =
                std::max(size, velocities ? std::max(largest(port.state.velocity), largest(port.state.angular_velocity))
                                          : largest(port.rate));
        }
        team_.exchange().share_rows(rows_, {&size, 1});
        const double error = largest(rows_);
        if (!(error > 1e-12 * size)) break;
        if (error > gluing_falls_enough * before) {
            // An admittance of another configuration, unless it is from here: then this is all that rounding allows.
            if (is_fresh) break;
            measure();
            if (!matrix_.has_equal_reach()) matrix_.assemble(false);
            is_fresh = true;
        }
        before = error;
        if (method_->uses_whole_matrix()) {
            matrix_.solve(rows_, known_, correction_, spring_wrenches_);
        } else {
            pusher_->correct(matrix_.admittance(), product, multipliers_, rows_, correction_);
        }
        set_wrenches(correction_, matrix_.spring_rows() > 0 ? &spring_wrenches_ : nullptr, probe_);
        team_.for_all([&](int k) {
            if (velocities) {
                team_[k].push_velocities(team_.part(probe_, k), team_.part(motion_, k));
            } else {
                team_[k].push_accelerations(team_.part(probe_, k), team_.part(motion_, k));
            }
        });
        team_.exchange().share_near(motion_);
        for (std::size_t p = 0; p < probe_.size() && !velocities; ++p) settled_[p] += probe_[p];
        if (velocities) impulses_ += correction_;
        ++report_.products;
    }
    return rows_.allFinite();
}

template class ModularAssembly<2>;
template class ModularAssembly<3>;

}  // namespace limber
