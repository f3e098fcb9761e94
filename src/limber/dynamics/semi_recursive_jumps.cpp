// Drivers whose speed jumps, in the semi-recursive formulation: equation (10) of semi_recursive.hpp.

#include <algorithm>
#include <cmath>

#include "limber/dynamics/newton_iteration.hpp"
#include "limber/dynamics/semi_recursive.hpp"

namespace limber {
namespace {

// A speed that changes by this part more than the acceleration explains has jumped.
constexpr double unexplained = 0.1;

template <int D>
void add_laws(const System& system, std::vector<TimeFunction>& laws) {
    const auto* of_mechanism = dynamic_cast<const MechanismSystem<D>*>(&system);
    if (of_mechanism == nullptr) return;
    const auto& constraints = of_mechanism->mechanism().constraints;
    for (const Row& row : constraints.rows)
        if (row.law >= 0 && !constraints.laws[row.law].is_constant()) laws.push_back(constraints.laws[row.law]);
}

}  // namespace

void SemiRecursiveSolver::prepare_for_jumps() {
    const int n = system_->size();
    add_laws<2>(*system_, laws_);
    add_laws<3>(*system_, laws_);
    time_partial_ = VecX::Zero(system_->rows());
    mass_column_ = shifted_.q_hat = shifted_.v_hat = VecX::Zero(n);
}

bool SemiRecursiveSolver::has_jump(double t, double h) const {
    return std::any_of(laws_.begin(), laws_.end(), [&](const TimeFunction& law) {
        const Taylor2 before = law.at(t);
        const Taylor2 after = law.at(t + h);
        const double change = after.first - before.first;
        const double rest = std::abs(change - h / 2 * (before.second + after.second));
        return rest > unexplained * std::abs(change) && rest > 1e-9 * (std::abs(before.first) + std::abs(after.first));
    });
}

// (10) for rows_ of drivers whose speed has changed; dy is left in reduced_change_.
void SemiRecursiveSolver::share_jump() {
    const Evaluation& e = *evaluation_;
    for (Eigen::Index i = 0; i < rows_.size(); ++i)
        if (e.time_partial[i] == time_partial_[i]) rows_[i] = 0;
    gather_rows(rows_);
    solve_dependent();
    change_.setZero();
    for (int i = 0; i < rank_; ++i) change_[dependent_[i]] = selected_[i];
    multiply(system_->pattern(), e.mass, change_, residual_);
    for (std::size_t column = 0; column < independent_.size(); ++column) {
        const auto k = static_cast<int>(column);
        change_.setZero();
        change_[independent_[column]] = 1;
        for (int i = 0; i < rank_; ++i) change_[dependent_[i]] = transformation_(i, k);
        reduced_change_[k] = change_.dot(residual_);
        multiply(system_->pattern(), e.mass, change_, mass_column_);
        product_.col(k) = mass_column_;
    }
    factorize_reduced();
    newton_.solveInPlace(reduced_change_);
}

// What a driver travels in a step in which its speed jumps, as far as the motion before does not foresee it.
void SemiRecursiveSolver::share_jump_of_positions(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    system_->update_velocities(e, state.v);
    time_partial_ = e.time_partial;
    shifted_ = f;
    if (rank_ == 0 || independent_.empty()) return;
    predict_acceleration(state, f.step, scheme_a_);
    q_ = f.q_hat + f.beta * f.step * f.step * scheme_a_;
    v_ = f.v_hat + f.gamma * f.step * scheme_a_;
    system_->update_positions(e, state.t + f.step, q_, state.memory);
    system_->update_velocities(e, v_);
    rows_ = e.phi;
    rows_.tail(system_->rows() - system_->holonomic_rows()).setZero();
    share_jump();
    for (std::size_t k = 0; k < independent_.size(); ++k)
        shifted_.q_hat[independent_[k]] += reduced_change_[static_cast<int>(k)];
}

void SemiRecursiveSolver::share_jump_of_velocities(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    if (rank_ == 0 || independent_.empty()) return;
    change_ = f.v_hat + f.gamma * f.step * scheme_a_;
    multiply(system_->jacobian_pattern(), e.jacobian, change_, rows_);
    rows_ += e.time_partial;
    share_jump();
    for (std::size_t k = 0; k < independent_.size(); ++k) v_[independent_[k]] += reduced_change_[static_cast<int>(k)];
    complete(v_, e.time_partial);
    system_->update_velocities(e, v_);
    complete_accelerations(state, f);
}

}  // namespace limber
