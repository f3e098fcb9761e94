#include "limber/contact/stops/projected_multipliers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr int max_updates = 4000;
constexpr double accuracy = 1e-11;  // of positions, over the length scale
constexpr double accurate_openings = 1e-10;
constexpr int max_changes = 5;  // of what pushes, one after the other, that multipliers wait for
constexpr int patience = 200;   // updates, after which an automatic rho is halved
constexpr double penalty_over_rho = 10;
constexpr double joint_penalty = 1e6;  // over the inertia that a row meets
constexpr int joint_passes = 20;
constexpr double joint_accuracy = 1e-10;  // of velocities and accelerations, over their size

}  // namespace

template <int D>
ProjectedMultiplierStepper<D>::ProjectedMultiplierStepper(std::shared_ptr<const MechanismSystem<D>> system,
                                                          std::unique_ptr<AccelerationSolver> starter,
                                                          const StructuralScheme& scheme, const ContactOptions& options)
    : system_(std::move(system)),
      m_(system_->mechanism()),
      starter_(std::move(starter)),
      scheme_(scheme),
      options_(options),
      evaluation_(system_->make_evaluation()),
      linear_(make_linear_solver(system_->pattern())),
      projection_(system_->size(), system_->rows()),
      impulses_(system_) {
    for (const FrictionElement& friction : m_.friction)
        if (friction.contact < 0)
            throw ModelError(
                fmt::format("friction '{}': projected multipliers know the friction "
                            "of stops, not that of joints; treat "
                            "stops by events instead",
                            friction.name));
    if (m_.has_contact_bristles())
        throw ModelError(
            "projected multipliers know no bristles of contacts; "
            "treat stops by events instead");
    for (const StopRow& stop : m_.stops)
        if (stop.latch_speed >= 0)
            throw ModelError(
                fmt::format("stop '{}': projected multipliers cannot "
                            "latch; treat stops by events instead",
                            m_.elements[stop.element].name));
    if (scheme_.delta_m != 0 || scheme_.delta_f != 0)
        throw ModelError(
            "projected multipliers need a scheme that holds "
            "equilibrium at the end of the step");
    find_rows();
    const int n = system_->size();
    matrix_.assign(system_->pattern().nonzeros(), 0.0);
    q_ = v_ = a_ = residual_ = product_ = VecX::Zero(n);
    lambda_ = lambda_before_ = lambda_tried_ = active_before_ = forces_ = openings_ = penalty_ = rate_ = active_ =
        row_force_ = joint_weight_ = row_residual_ = row_multipliers_ = VecX::Zero(system_->rows());
    for (const int row : joint_rows_) joint_weight_[row] = joint_penalty * system_->row_inertia()[row];
    free_q_ = free_v_ = VecX::Zero(n);
    all_penalties_ = all_rates_ = lambda_;
    is_waiting_.assign(m_.stops.size(), false);
    coefficients_.assign(m_.friction.size(), 0.0);
    may_let_go_.assign(m_.friction.size(), false);
}

// No set of coordinates does without rows of stops and of friction, so the rows of one of them are in the system as
// many times, and in the same order, as in the mechanism: holonomic ones first.
template <int D>
void ProjectedMultiplierStepper<D>::find_rows() {
    std::map<std::pair<bool, std::string>, int> next;
    std::vector<bool> is_joint(system_->rows(), true);
    const auto find = [&](int mechanism_row) {
        const Row& row = m_.constraints.rows[mechanism_row];
        const auto& element = m_.elements[row.element];
        const std::string name = fmt::format("{} '{}'", element_role_name(element.role), element.name);
        const auto place =
            next.try_emplace({row.is_holonomic(), name}, row.is_holonomic() ? 0 : system_->holonomic_rows());
        int& at = place.first->second;
        while (system_->row_name(at) != name) ++at;
        is_joint[at] = false;
        return at++;
    };
    for (const StopRow& stop : m_.stops) stop_rows_.push_back(find(stop.row));
    for (const FrictionElement& friction : m_.friction) {
        friction_rows_.push_back(find(friction.first_row));
        for (int k = 1; k < friction.row_count; ++k) find(friction.first_row + k);
    }
    for (int i = 0; i < system_->rows(); ++i)
        if (is_joint[i]) joint_rows_.push_back(i);
}

template <int D>
StepReport ProjectedMultiplierStepper<D>::start(State& state) {
    lambda_.setZero();
    forces_.setZero();
    StepReport report;
    if (options_.action == StopAction::force) {
        report = start_state(*starter_, state);
        if (report.ok) find_first_acceleration(state);
        return report;
    }
    if (const std::string stop = impulses_.find_violated(state); !stop.empty()) {
        report.ok = false;
        report.reason = fmt::format("stop '{}' is violated", stop);
        return report;
    }
    impulses_.begin(state);
    StepReport settled = impulses_.settle(state, VecX(), std::numeric_limits<double>::infinity(), *starter_, report);
    settled.events = report.events;
    return settled;
}

// That of (14), with the multipliers of what rests on its stops at the start: without them the scheme would carry on a
// fall that there is not, and the multipliers would go up and down from step to step.
template <int D>
void ProjectedMultiplierStepper<D>::find_first_acceleration(State& state) {
    if (!impulses_.find_violated(state).empty()) return;
    end_ = state;
    StepReport events;
    impulses_.begin(end_);
    if (!impulses_.settle(end_, VecX(), std::numeric_limits<double>::infinity(), *starter_, events).ok ||
        !events.events.empty())
        return;
    state.a = state.scheme_a = end_.a;
}

// ---------------------------------------------------------------- rows

template <int D>
void ProjectedMultiplierStepper<D>::solve_row(int row, VecX& solution) {
    const RowPattern& pattern = system_->jacobian_pattern();
    solution.setZero();
    for (int k = pattern.start[row]; k < pattern.start[row + 1]; ++k)
        solution[pattern.column[k]] = evaluation_->jacobian[k];
    linear_->solve(solution);
}

template <int D>
double ProjectedMultiplierStepper<D>::row_times(int row, const VecX& x) const {
    const RowPattern& pattern = system_->jacobian_pattern();
    double sum = 0;
    for (int k = pattern.start[row]; k < pattern.start[row + 1]; ++k)
        sum += evaluation_->jacobian[k] * x[pattern.column[k]];
    return sum;
}

// Rows of velocities by what positions have to do for them. In an impact the evaluation is at other velocities.
template <int D>
void ProjectedMultiplierStepper<D>::update_openings(const DifferenceFormulas& f) {
    openings_ = evaluation_->phi;
    const double scale = f.beta * f.step / f.gamma;
    for (int i = system_->holonomic_rows(); i < system_->rows(); ++i)
        openings_[i] = scale * (is_impact_ ? row_times(i, v_) + evaluation_->time_partial[i] : openings_[i]);
}

// S = M + gamma h C + beta h^2 (K + R + S) of eqs. (16)-(18), (30), (36), times beta h^2 of the paper's A.
template <int D>
bool ProjectedMultiplierStepper<D>::factorize(const DifferenceFormulas& f, const VecX& active_penalty) {
    const double square = f.beta * f.step * f.step;
    system_->assemble_tangent(*evaluation_, 1, is_impact_ ? 0 : f.gamma * f.step, square, row_force_, a_, matrix_);
    row_residual_ = square * active_penalty;
    system_->add_penalty(*evaluation_, row_residual_, matrix_);
    return linear_->factorize(matrix_);
}

template <int D>
bool ProjectedMultiplierStepper<D>::choose_parameters(const DifferenceFormulas& f) {
    const double square = f.beta * f.step * f.step;
    row_force_.setZero();
    penalty_.setZero();
    rate_.setZero();
    for (const int row : joint_rows_) penalty_[row] = rate_[row] = joint_weight_[row] / square;
    if (!factorize(f, penalty_)) return false;
    for (const int row : stop_rows_) {
        solve_row(row, product_);
        const double response = row_times(row, product_);
        const double exact = response > 0 ? 1 / (square * response) : 0;
        const double stiffness = options_.stiffness;
        switch (options_.treatment) {
            case ContactTreatment::augmented_lagrangian:
                penalty_[row] = stiffness > 0 ? stiffness : penalty_over_rho * exact;
                rate_[row] = options_.rho > 0 ? options_.rho : penalty_[row];
                break;
            case ContactTreatment::multipliers: rate_[row] = options_.rho > 0 ? options_.rho : exact; break;
            default: penalty_[row] = stiffness > 0 ? stiffness : exact; break;
        }
    }
    // Friction has no penalty: its updates converge whatever they do to each other if each rate is below one over the
    // sum of all responses.
    for (std::size_t i = 0; i < friction_rows_.size(); ++i)
        for (int k = 0; k < m_.friction[i].row_count; ++k) {
            solve_row(friction_rows_[i] + k, product_);
            double sum = 0;
            for (std::size_t j = 0; j < friction_rows_.size(); ++j)
                for (int l = 0; l < m_.friction[j].row_count; ++l)
                    sum += std::abs(row_times(friction_rows_[j] + l, product_));
            const double rate = sum > 0 ? 1 / (square * sum) : 0;
            // The same for all directions, so that a projection onto the disc is one.
            double& first = rate_[friction_rows_[i]];
            first = k == 0 ? rate : std::min(first, rate);
        }
    return true;
}

// ---------------------------------------------------------------- multipliers

template <int D>
double ProjectedMultiplierStepper<D>::update_friction(int i) {
    const FrictionElement& friction = m_.friction[i];
    const int row = friction_rows_[i];
    const int stop = stop_rows_[friction.contact];
    const double normal = rate_[stop] > 0 ? lambda_[stop] : std::max(0.0, -penalty_[stop] * openings_[stop]);
    const double bound = coefficients_[i] * normal;
    const double rate = rate_[row];
    if (!(rate > 0)) return 0;
    double square = 0;
    for (int k = 0; k < friction.row_count; ++k) {
        row_residual_[row + k] = lambda_[row + k] - rate * openings_[row + k];
        square += row_residual_[row + k] * row_residual_[row + k];
    }
    const double shrink = square > bound * bound ? bound / std::sqrt(square) : 1;
    double defect = 0;
    for (int k = 0; k < friction.row_count; ++k) {
        const double next = shrink * row_residual_[row + k];
        defect = std::max(defect, std::abs(next - lambda_[row + k]) / rate);
        lambda_[row + k] = next;
    }
    return defect;
}

template <int D>
double ProjectedMultiplierStepper<D>::update_multipliers() {
    double defect = 0;
    for (const int row : joint_rows_) defect = std::max(defect, std::abs(openings_[row]));
    for (const int row : stop_rows_) {
        if (!(rate_[row] > 0)) continue;
        const double next = std::max(0.0, lambda_[row] - rate_[row] * openings_[row]);
        defect = std::max(defect, std::abs(next - lambda_[row]) / rate_[row]);
        lambda_[row] = next;
    }
    for (std::size_t i = 0; i < friction_rows_.size(); ++i)
        defect = std::max(defect, update_friction(static_cast<int>(i)));
    return defect;
}

template <int D>
void ProjectedMultiplierStepper<D>::update_forces() {
    active_ = penalty_;
    for (const int row : stop_rows_)
        if (!(openings_[row] < 0)) active_[row] = 0;
    forces_ = lambda_ - active_.cwiseProduct(openings_);
}

template <int D>
bool ProjectedMultiplierStepper<D>::solve_motion(const DifferenceFormulas& f, double t, StepReport& report) {
    Evaluation& e = *evaluation_;
    const double square = f.beta * f.step * f.step;
    const auto fail = [&](const char* reason) {
        report.ok = false;
        report.reason = reason;
        return false;
    };
    double change = std::numeric_limits<double>::infinity();
    int changes = 0;
    for (int update = 0; update < max_updates; ++update) {
        system_->update(e, t, q_, is_impact_ ? free_v_ : v_, memory_);
        update_openings(f);
        // Multipliers follow from gaps at which equilibrium has been found with what pushes there.
        lambda_tried_ = lambda_;
        const double defect = update > 0 ? update_multipliers() : change;
        active_before_ = active_;
        update_forces();
        const bool has_changed = update > 0 && active_ != active_before_;
        changes = has_changed ? changes + 1 : 0;
        if (has_changed && changes <= max_changes) {
            lambda_ = lambda_tried_;
            update_forces();
        }
        if (change < accuracy * m_.length_scale && defect < accurate_openings * m_.length_scale) return true;
        row_force_ = -forces_;
        multiply(system_->pattern(), e.mass, a_, residual_);
        residual_ -= e.force;
        add_transposed(system_->jacobian_pattern(), e.jacobian, row_force_, 1, residual_);
        residual_ *= -square;
        if (!factorize(f, active_)) return fail("the matrix of the step is singular");
        linear_->solve(residual_);
        // (15) of joints with the openings after the change, to first order: what is left of them is curvature, and no
        // force.
        for (const int row : joint_rows_) lambda_[row] -= rate_[row] * (openings_[row] + row_times(row, residual_));
        ++report.iterations;
        if (options_.rho == 0 && update % patience == patience - 1)
            for (const int row : stop_rows_) rate_[row] *= 0.5;
        q_ += residual_;
        a_ += residual_ / square;
        v_ += residual_ * (f.gamma / (f.beta * f.step));
        change = residual_.lpNorm<Eigen::Infinity>();
        if (!std::isfinite(change)) return fail("Newton's method did not converge at a stop");
    }
    return fail("the multipliers of stops did not converge");
}

// ---------------------------------------------------------------- steps

template <int D>
void ProjectedMultiplierStepper<D>::choose_coefficients(const State& state) {
    if (m_.friction.empty() && options_.action == StopAction::force) return;
    impulses_.begin(state);
    for (std::size_t i = 0; i < m_.friction.size(); ++i) {
        const FrictionElement& friction = m_.friction[i];
        // In the scheme's velocities stick is as good as its openings.
        const double rest =
            accurate_openings * m_.length_scale * 10 * formulas_.gamma / (formulas_.beta * formulas_.step);
        may_let_go_[i] = impulses_.slip_speed(static_cast<int>(i)) < rest;
        coefficients_[i] = may_let_go_[i] ? friction.at_rest : friction.kinetic;
    }
}

template <int D>
bool ProjectedMultiplierStepper<D>::admit_violated() {
    const auto is_violated = [&](std::size_t i) { return is_waiting_[i] && openings_[stop_rows_[i]] < 0; };
    bool is_any = false;
    for (std::size_t i = 0; i < m_.stops.size(); ++i) is_any = is_any || is_violated(i);
    if (!is_any) return false;
    std::fill(is_waiting_.begin(), is_waiting_.end(), false);
    penalty_ = all_penalties_;
    rate_ = all_rates_;
    free_q_ = q_;
    free_v_ = v_;
    project(evaluation_->time_partial, free_v_);
    system_->export_states(free_q_, free_v_, states_);
    free_energy_ = 0;
    for (std::size_t b = 0; b < states_.size(); ++b) free_energy_ += kinetic_energy(m_.bodies[b], states_[b]);
    is_impact_ = true;
    return true;
}

template <int D>
double ProjectedMultiplierStepper<D>::find_kinetic_limit() {
    if (!is_impact_) return std::numeric_limits<double>::infinity();
    product_.setZero();
    system_->update_velocities(*evaluation_, product_);
    system_->update_forces(*evaluation_);
    residual_ = q_ - free_q_;
    return free_energy_ + evaluation_->force.dot(residual_);
}

template <int D>
bool ProjectedMultiplierStepper<D>::let_go(double tolerance) {
    bool is_any = false;
    for (std::size_t i = 0; i < m_.friction.size(); ++i) {
        const FrictionElement& friction = m_.friction[i];
        if (!may_let_go_[i] || friction.at_rest == friction.kinetic) continue;
        if (!(openings_.segment(friction_rows_[i], friction.row_count).norm() > tolerance)) continue;
        coefficients_[i] = friction.kinetic;
        may_let_go_[i] = false;
        is_any = true;
    }
    return is_any;
}

template <int D>
void ProjectedMultiplierStepper<D>::project(const VecX& rhs, VecX& x) {
    if (joint_rows_.empty()) return;
    const Evaluation& e = *evaluation_;
    const RowPattern& pattern = system_->jacobian_pattern();
    const auto keep_joints = [&](VecX& rows) {
        for (Eigen::Index i = 0; i < rows.size(); ++i)
            if (joint_weight_[i] == 0) rows[i] = 0;
    };
    multiply(pattern, e.jacobian, x, row_residual_);
    row_residual_ += rhs;
    keep_joints(row_residual_);
    row_multipliers_.setZero();
    projection_.run(joint_weight_, joint_accuracy * x.template lpNorm<Eigen::Infinity>(), joint_passes, row_residual_,
                    x, row_multipliers_, [&](const VecX& direction, VecX& change, VecX& rows) {
                        change.setZero();
                        add_transposed(pattern, e.jacobian, direction, 1, change);
                        linear_->solve(change);
                        multiply(pattern, e.jacobian, change, rows);
                        keep_joints(rows);
                    });
}

template <int D>
StepReport ProjectedMultiplierStepper<D>::step(State& state, double h) {
    StepReport report;
    update_formulas(scheme_, state, h, formulas_);
    const DifferenceFormulas& f = formulas_;
    const double t = state.t + h;
    choose_coefficients(state);
    is_impact_ = false;
    memory_ = state.memory;
    for (const StopRow& gap : m_.stops) gap.flag.in(memory_) = ContactFlag::closed;
    for (const FrictionElement& friction : m_.friction) {
        friction.stick.in(memory_) = true;
        friction.slip.in(memory_).is_on = false;
    }
    a_ = state.scheme_a;
    q_ = f.q_hat + f.beta * h * h * a_;
    v_ = f.v_hat + f.gamma * h * a_;
    system_->update(*evaluation_, t, q_, v_, memory_);
    lambda_before_ = lambda_;
    const auto fail = [&] {
        lambda_ = lambda_before_;
        report.ok = false;
        report.events.clear();
        return report;
    };
    if (!choose_parameters(f)) {
        report.reason = "the matrix of the step is singular";
        return fail();
    }
    for (const int row : joint_rows_) lambda_[row] = -state.lambda[row];
    if (options_.treatment == ContactTreatment::penalty)
        for (const int row : stop_rows_) lambda_[row] = 0;
    all_penalties_ = penalty_;
    all_rates_ = rate_;
    for (std::size_t i = 0; i < m_.stops.size(); ++i) {
        is_waiting_[i] = options_.action == StopAction::impulse && !m_.stops[i].is_closed(state.memory);
        if (is_waiting_[i]) penalty_[stop_rows_[i]] = rate_[stop_rows_[i]] = lambda_[stop_rows_[i]] = 0;
    }
    do {
        if (!solve_motion(f, t, report)) return fail();
    } while (admit_violated() || let_go(10 * accurate_openings * m_.length_scale));
    const double kinetic_limit = find_kinetic_limit();
    project(evaluation_->time_partial, v_);
    if (is_impact_ || !joint_rows_.empty()) system_->update_velocities(*evaluation_, v_);
    project(evaluation_->bias, a_);
    row_force_ = state.lambda;
    for (const int row : joint_rows_) row_force_[row] = -forces_[row];
    if (options_.action == StopAction::force) {
        for (std::size_t i = 0; i < m_.stops.size(); ++i)
            m_.stops[i].impulse.in(state.memory) += h * forces_[stop_rows_[i]];
        state.complete_step(t, h, q_, v_, a_, a_, row_force_);
        system_->update_memory(*evaluation_, state.q, state.memory);
        return report;
    }
    // What velocities have got of the multipliers comes off.
    VecX& share = row_multipliers_;
    Eigen::Index count = 0;
    share.setZero();
    for (const int row : stop_rows_) share[count++] = f.gamma * h * forces_[row];
    for (std::size_t i = 0; i < friction_rows_.size(); ++i)
        for (int k = 0; k < m_.friction[i].row_count; ++k)
            share[count++] = f.gamma * h * forces_[friction_rows_[i] + k];
    State& end = end_;
    end = state;
    end.complete_step(t, h, q_, v_, a_, a_, row_force_);
    system_->update_memory(*evaluation_, end.q, end.memory);
    const StepReport settled = impulses_.settle(end, share, kinetic_limit, *starter_, report);
    if (!settled.ok) {
        report.reason = settled.reason;
        return fail();
    }
    state = end;
    return report;
}

template class ProjectedMultiplierStepper<2>;
template class ProjectedMultiplierStepper<3>;

}  // namespace limber
