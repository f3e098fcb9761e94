#include "limber/modular/gluing_iteration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace limber {
namespace {

// Of joints at the end of a step, over the length scale: as undivided mechanisms have it.
constexpr double closed_interface = 1e-9;

}  // namespace

template <int D>
GluingIteration<D>::GluingIteration(ComponentTeam<D>& team, ComponentEvaluation<D>& evaluation,
                                    InterfaceMatrix<D>& matrix, const ModularOptions& options,
                                    const FormulationOptions& gains)
    : team_(team),
      evaluation_(evaluation),
      matrix_(matrix),
      options_(options),
      gains_(gains),
      convergence_(team, matrix, options.tolerance),
      rates_(static_cast<std::size_t>(team.port_count()), TwistVec<D>::Zero()) {
    further_ = known_ = evaluated_forces_ = force_changes_ = spring_wrenches_ = rates_;
}

template <int D>
void GluingIteration<D>::connect(InterfaceJoints<D>& joints) {
    joints_ = &joints;
    residual_ = correction_ = rows_ = VecX::Zero(joints.row_count());
    gain_step_ = 0;
    method_ = make_gluing_method(options_, find_rho());
}

template <int D>
VecX GluingIteration<D>::find_rho() const {
    const Mechanism<D>& m = joints_->mechanism();
    VecX rho = VecX::Constant(joints_->row_count(), options_.rho);
    for (const auto& [joint, value] : options_.joint_rho) {
        const auto it = m.element_index.find(joint);
        if (it == m.element_index.end()) continue;
        const ConstraintElement<D>& element = m.elements[it->second];
        rho.segment(element.first_row, element.row_count).setConstant(value);
    }
    return rho;
}

// ---------------------------------------------------------------- evaluations

template <int D>
void GluingIteration<D>::set_wrenches(InterfaceStep<D>& step) const {
    step.wrenches = step.forces;
    joints_->add_wrenches(step.multipliers, step.wrenches);
}

template <int D>
bool GluingIteration<D>::update_joints(InterfaceStep<D>& step, bool has_succeeded) {
    if (!has_succeeded) return false;
    team_.exchange().share_near(step.motion);
    joints_->update(step.motion, step.t + step.h);
    if (joints_->has_forces()) joints_->find_forces(step.new_forces);
    return true;
}

template <int D>
bool GluingIteration<D>::evaluate(InterfaceStep<D>& step) {
    set_wrenches(step);
    ++step.report.evaluations;
    return update_joints(step, evaluation_.evaluate(step.wrenches, step.motion));
}

template <int D>
void GluingIteration<D>::approach(InterfaceStep<D>& step, bool refresh) {
    set_wrenches(step);
    evaluation_.approach(step.wrenches, refresh, rates_);
    for (const int k : team_.own())
        if (evaluation_.is_coupled(k))
            for (TwistVec<D>& rate : team_.part(rates_, k)) rate *= matrix_.reach_share(k);
    ++step.report.evaluations;
}

template <int D>
bool GluingIteration<D>::advance(InterfaceStep<D>& step) {
    if (!evaluation_.has_coupled()) return evaluate(step);
    further_.assign(further_.size(), TwistVec<D>::Zero());
    if (iterates_with_springs(step)) further_ = spring_wrenches_;
    joints_->add_wrenches(correction_, further_);
    if (evaluation_.has_uncoupled()) set_wrenches(step);
    return update_joints(step, evaluation_.advance(further_, step.wrenches, step.motion));
}

template <int D>
void GluingIteration<D>::update_gains(double step) {
    if (step == gain_step_) return;
    gain_step_ = step;
    row_gains_.assign(static_cast<std::size_t>(joints_->row_count()), make_gains(gains_, step));
    if (gains_.joint_frequency.empty() && gains_.joint_damping.empty()) return;
    for (const auto& element : joints_->mechanism().elements)
        for (int r = element.first_row; r < element.first_row + element.row_count; ++r)
            row_gains_[r] = make_gains(gains_, step, element.key());
}

template <int D>
double GluingIteration<D>::find_gain_term(int row) const {
    const Gains& gains = row_gains_[row];
    return joints_->is_holonomic(row) ? gains.position * joints_->phi[row] + gains.rate * joints_->rate[row]
                                      : gains.velocity_row * joints_->rate[row];
}

template <int D>
void GluingIteration<D>::find_perturbations(const InterfaceStep<D>& step, VecX& rows) {
    rows.setZero(joints_->row_count());
    const bool has_springs = options_.gluing == Gluing::penalty;
    if (has_springs) update_gains(step.whole);
    for (const int r : team_.exchange().own_rows())
        rows[r] = has_springs ? find_gain_term(r) : joints_->acceleration[r];
}

template <int D>
bool GluingIteration<D>::find_residual(InterfaceStep<D>& step) {
    const bool has_gains = step.h > 0 && step.coupling == Coupling::acceleration;
    if (has_gains) update_gains(step.whole);
    for (int r = 0; r < joints_->row_count(); ++r) {
        const bool is_holonomic = joints_->is_holonomic(r);
        if (step.has_accelerations()) {
            residual_[r] = joints_->acceleration[r] + (has_gains ? find_gain_term(r) : 0);
        } else {
            residual_[r] = is_holonomic ? joints_->phi[r] / (matrix_.reach().position * step.h * step.h)
                                        : joints_->rate[r] / (matrix_.reach().velocity * step.h);
        }
    }
    auto status = evaluation_.find_own_status();
    double& opening = status.back();
    for (const int r : team_.exchange().own_rows()) opening = std::max(opening, std::abs(residual_[r]));
    opening *= matrix_.reach().position * step.h * step.h;
    if (evaluation_.has_coupled() || iterates_with_springs(step)) {
        find_known_changes(step);
        joints_->multiply(known_, rows_);
        residual_ += rows_;
    }
    team_.exchange().share_rows(residual_, status);
    step.report.residual = largest_entry(residual_);
    opening_ = opening;
    return evaluation_.set_status(status);
}

template <int D>
void GluingIteration<D>::find_known_changes(const InterfaceStep<D>& step) {
    for (const int k : team_.own()) {
        for (int p = team_.first_port(k); p < team_.first_port(k) + team_.port_count(k); ++p) {
            known_[p] = evaluation_.is_coupled(k) ? rates_[p] : TwistVec<D>(TwistVec<D>::Zero());
            force_changes_[p] = step.new_forces[p] - evaluated_forces_[p];
        }
        if (!evaluation_.is_coupled(k) && iterates_with_springs(step)) matrix_.add_answer(k, force_changes_, known_);
    }
    team_.exchange().share_near(known_);
}

// ---------------------------------------------------------------- iteration

template <int D>
std::string GluingIteration<D>::describe_unsettled(const InterfaceStep<D>& step) const {
    Eigen::Index worst = 0;
    if (residual_.size() > 0) residual_.cwiseAbs().maxCoeff(&worst);
    std::string place;
    for (const auto& element : joints_->mechanism().elements)
        if (element.first_row <= worst && worst < element.first_row + element.row_count)
            place = fmt::format("; the largest error is at '{}'", element.name);
    const char* advice = method_->uses_whole_matrix() ? "" : "; gluing 'direct' heeds how joints act on each other";
    return fmt::format("the interface forces did not settle in {} evaluations of the components{}{}",
                       step.report.evaluations + step.report.products, place, advice);
}

template <int D>
bool GluingIteration<D>::solve(InterfaceStep<D>& step) {
    if (options_.gluing == Gluing::penalty && step.h > 0) return solve_by_penalty(step);
    const bool has_coupled = evaluation_.has_coupled(), has_uncoupled = evaluation_.has_uncoupled();
    const bool has_accelerations = step.has_accelerations();
    if (has_coupled) {
        set_wrenches(step);
        if (!update_joints(step, evaluation_.open(step.wrenches, step.motion))) return false;
    } else if (!evaluate(step)) {
        return false;
    }
    if (has_accelerations && joints_->has_forces()) {
        // The motion is predicted and so are its forces.
        step.forces = step.new_forces;
        if (!evaluate(step)) return false;
    }
    step.late_correction.setZero();
    known_.assign(known_.size(), TwistVec<D>::Zero());
    convergence_.begin_newton();
    const double length = joints_->mechanism().length_scale;
    bool refresh = true;
    for (int pass = 0;; ++pass) {
        const double change = convergence_.find_force_change(step);
        evaluated_forces_ = step.forces;
        if (has_coupled) {
            if (step.iterates_forces) step.forces = step.new_forces;
            approach(step, refresh);
        }
        // Accelerations that settle are told from others by an old matrix just as well.
        if ((matrix_.is_old() && !has_accelerations) || !matrix_.admittance().is_ready() ||
            (refresh && has_coupled && method_->uses_whole_matrix()))
            step.report.unit_wrenches = matrix_.measure();
        if (!matrix_.is_of_end()) matrix_.assemble(true);
        if (!find_residual(step)) return false;
        const bool is_balanced = !has_coupled || (evaluation_.is_balanced() && pass > 1);
        if (!has_uncoupled && is_balanced && opening_ <= closed_interface * length &&
            convergence_.is_force_change_small(step, change))
            break;
        const bool settles_early =
            has_accelerations && options_.gluing != Gluing::uzawa && convergence_.is_residual_small(step, residual_);
        if (settles_early && convergence_.is_force_change_small(step, change)) break;
        if (matrix_.is_old()) step.report.unit_wrenches = matrix_.measure();
        if (pass == 0) method_->start(matrix_.admittance());
        if (method_->asks() && !has_coupled && !has_accelerations) {
            correction_ = residual_;
            matrix_.admittance().solve_blocks(correction_);
            if (convergence_.is_correction_small(step, 10 * largest_entry(correction_)) &&
                convergence_.is_force_change_small(step, change))
                break;
        }
        if (options_.gluing == Gluing::direct && (has_coupled || matrix_.spring_rows() > 0)) {
            // Newton's method of all together: past passes could only spoil it.
            matrix_.solve(residual_, known_, correction_, spring_wrenches_);
        } else if (joints_->row_count() > 0) {
            step.report.products +=
                method_->correct(matrix_.admittance(), matrix_.product(), step.multipliers, residual_, correction_);
        }
        step.late_correction.setZero();
        const bool is_uzawa = options_.gluing == Gluing::uzawa;
        const bool rows_settle =
            is_uzawa ? convergence_.is_each_joint_settled(step, joints_->mechanism(), correction_)
                     : !has_accelerations && convergence_.is_correction_small(step, largest_entry(correction_));
        if (has_uncoupled && is_balanced && rows_settle && convergence_.is_force_change_small(step, change)) break;
        if (!correction_.allFinite() || step.report.evaluations + step.report.products > options_.max_evaluations) {
            step.failure = describe_unsettled(step);
            return false;
        }
        step.multipliers += correction_;
        if (step.iterates_forces) {
            step.forces = step.new_forces;
            for (std::size_t p = 0; p < step.forces.size() && matrix_.spring_rows() > 0; ++p)
                step.forces[p] += spring_wrenches_[p];
        }
        if (!advance(step)) return false;
        if (!has_coupled) continue;
        const bool is_close = convergence_.has_newton_converged(evaluation_.progress(), refresh);
        if (is_close && (!has_uncoupled || rows_settle) &&
            convergence_.is_force_change_small(step, convergence_.find_force_change(step)))
            break;
    }
    return !has_coupled || update_joints(step, evaluation_.close(step.motion));
}

template <int D>
double GluingIteration<D>::find_product_inertia(int row) {
    further_.assign(further_.size(), TwistVec<D>::Zero());
    const auto [begin, end] = joints_->entries(row);
    for (int k = begin; k < end; ++k) further_[joints_->entry_port(k)] += joints_->entry_wrench(k);
    // What those of other processes weigh is not known here.
    double sum = static_cast<int>(team_.own().size()) == team_.count() ? 0 : std::numeric_limits<double>::quiet_NaN();
    for (const int k : team_.own()) {
        const auto wrenches = team_.part(further_, k);
        if (std::all_of(wrenches.begin(), wrenches.end(), [](const TwistVec<D>& w) { return w.isZero(0); })) continue;
        sum += team_[k].weigh(wrenches).value_or(std::numeric_limits<double>::quiet_NaN());
    }
    return sum;
}

// Seguy 2003 eqs. (17), (18), (21), with the inertia that a row meets unless (15) is asked for: springs and dampers as
// stiff as the step bears, on the predicted motion. Ten steps per oscillation, as Joli 2008 eq. (11) has it; the three
// of (17) are at the very limit of stability of explicit schemes.
template <int D>
bool GluingIteration<D>::solve_by_penalty(InterfaceStep<D>& step) {
    if (!evaluate(step)) return false;
    if (joints_->has_forces()) step.forces = step.new_forces;
    step.report.unit_wrenches = matrix_.measure();
    update_gains(step.whole);
    const VecX sums = matrix_.admittance().row_sums();
    for (int r = 0; r < joints_->row_count(); ++r) {
        const bool is_product = gains_.row_inertia == RowInertia::product;
        const double inertia = is_product ? find_product_inertia(r) : sums[r] > 0 ? 1 / sums[r] : 0;
        step.multipliers[r] = -inertia * find_gain_term(r);
    }
    team_.exchange().share_rows(step.multipliers);
    if (!step.multipliers.allFinite()) {
        step.failure =
            options_.gluing == Gluing::penalty && gains_.row_inertia == RowInertia::product
                ? "the springs between components are not finite; row-inertia=product needs components of this process "
                  "that tell their masses"
                : "the springs between components are not finite";
        return false;
    }
    return evaluate(step);
}

template class GluingIteration<2>;
template class GluingIteration<3>;

}  // namespace limber
