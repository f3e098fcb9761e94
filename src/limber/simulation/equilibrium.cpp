#include "limber/simulation/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/interruption.hpp"
#include "limber/math/linear_solver.hpp"

namespace limber {
namespace {

constexpr double equilibrium_penalty = 1e7;
constexpr double tolerance = 1e-9;              // of accelerations, in m/s^2 (or rad/s^2)
constexpr double equilibrium_tolerance = 1e-6;  // accepted when nothing better can be reached
constexpr double first_pseudo_time = 1e-3;
constexpr double typical_stiffness = 100;  // over mass: (10 rad/s)^2
// Long enough for Newton's step in all but very slow modes; longer, rounding errors would push things about that
// nothing holds.
constexpr double longest_pseudo_time = 30;
constexpr int newton_iterations = 60;
constexpr int relaxation_steps = 60;

class EquilibriumFinder {
public:
    EquilibriumFinder(const System& system, AccelerationSolver& solver, const Relaxation& relaxation, State& state)
        : system_(system),
          solver_(solver),
          relaxation_(relaxation),
          state_(state),
          evaluation_(system.make_evaluation()),
          linear_(make_linear_solver(system.pattern())),
          weight_(equilibrium_penalty * system.row_inertia()),
          tangent_(system.pattern().nonzeros()) {
        const int n = system.size();
        a_ = change_ = pull_ = VecX::Zero(n);
        lambda_ = rows_ = VecX::Zero(system.rows());
        state_.v = VecX::Zero(n);
        solver_.use_no_gains();
        size_ = release(state_.q);
    }

    double size() const { return size_; }
    int iterations() const { return iterations_; }

    /// True when nothing accelerates any more.
    bool approach_by_newton() {
        double s = first_pseudo_time * first_pseudo_time;
        const double start = size_;
        for (int i = 0; i < newton_iterations && std::isfinite(size_); ++i) {
            if (size_ < tolerance) return true;
            if (size_ > 10 * start || s < 1e-14) return false;
            check_interruption();
            ++iterations_;
            s *= try_step(s);
            s = std::min(s, longest_pseudo_time * longest_pseudo_time);
        }
        return size_ < tolerance;
    }

    /// Motion with real inertia and numerical damping; stopped whenever it slows down (kinetic damping).
    void relax() {
        // Steps of a small part of the time the accelerations need to move things by their own size.
        const double step = 0.1 * std::sqrt(system_.length_scale() / std::max(size_, 1e-6));
        Stepper& stepper = *relaxation_.stepper;
        if (!stepper.start(state_).ok) return;
        double energy = 0;
        for (int i = 0; i < relaxation_steps; ++i) {
            check_interruption();
            ++iterations_;
            const double t = state_.t;
            const bool ok = stepper.step(state_, step).ok;
            state_.t = t;  // statics: drivers stand still
            const double now = kinetic_energy();
            if (!ok || now < energy) {
                state_.v.setZero();
                if (!stepper.start(state_).ok) break;
                energy = 0;
            } else {
                energy = now;
            }
        }
        state_.v.setZero();
        VecX v = state_.v;
        solver_.project(state_.t, state_.q, v, state_.memory);
        size_ = release(state_.q);
    }

    /// Whether closed stops push; opens those that would have to pull.
    bool is_supported() {
        if (!relaxation_.is_possible) return true;
        if (!relaxation_.stepper->start(state_).ok) return false;
        size_ = release(state_.q);
        return size_ < equilibrium_tolerance;
    }

    /// Where nothing pulls the whole along an axis of the world, its centre of mass stays where it was at q; but for
    /// curved coordinates Newton's steps would see to it.
    void keep_centre_of_mass(const VecX& start) {
        if (const auto* planar = dynamic_cast<const MechanismSystem<2>*>(&system_)) {
            for (int k = 0; k < 2; ++k) keep_centre_of_mass(*planar, start, k);
        } else if (const auto* spatial = dynamic_cast<const MechanismSystem<3>*>(&system_)) {
            for (int k = 0; k < 3; ++k) keep_centre_of_mass(*spatial, start, k);
        }
    }

private:
    template <int D>
    static double centre_of_mass(const MechanismSystem<D>& system, const BodyStates<D>& states, int axis) {
        double mass = 0;
        double sum = 0;
        for (std::size_t b = 0; b < states.size(); ++b) {
            mass += system.mechanism().bodies[b].mass;
            sum += system.mechanism().bodies[b].mass * states[b].position[axis];
        }
        return mass > 0 ? sum / mass : 0;
    }

    // All bodies moved back alike, if that is an equilibrium too.
    template <int D>
    void keep_centre_of_mass(const MechanismSystem<D>& system, const VecX& start, int axis) {
        BodyStates<D> states;
        system.export_states(start, state_.v, states);
        const double before = centre_of_mass(system, states, axis);
        system.export_states(state_.q, state_.v, states);
        const double moved = centre_of_mass(system, states, axis) - before;
        if (moved == 0) return;
        for (BodyState<D>& body : states) body.position[axis] -= moved;
        VecX q;
        VecX v;
        system.import_states(states, q, v);
        system.choose_signs_near(state_.q, q, v);
        system.export_states(q, state_.v, states);
        const bool is_free = std::abs(centre_of_mass(system, states, axis) - before) < 1e-3 * std::abs(moved);
        const double open = openness(state_.q);
        if (!is_free || openness(q) > open + 1e-13 * system.length_scale() || !is_possible(q)) return;
        const double next = release(q);
        if (next < std::max(tolerance, 1.5 * size_)) {
            state_.q = q;
            size_ = next;
            system_.update_memory(*evaluation_, state_.q, state_.memory);
        } else {
            release(state_.q);
        }
    }

    double openness(const VecX& q) {
        system_.update_positions(*evaluation_, state_.t, q, state_.memory);
        return system_.holonomic_rows() == 0
                   ? 0
                   : evaluation_->phi.head(system_.holonomic_rows()).lpNorm<Eigen::Infinity>();
    }

    double release(const VecX& q) {
        return solver_.solve(state_.t, q, state_.v, state_.memory, a_, lambda_) ? a_.lpNorm<Eigen::Infinity>()
                                                                                : INFINITY;
    }

    bool is_possible(const VecX& q) const {
        if (!relaxation_.is_possible) return true;
        State trial = state_;
        trial.q = q;
        return relaxation_.is_possible(trial);
    }

    double kinetic_energy() {
        system_.update_positions(*evaluation_, state_.t, state_.q, state_.memory);
        multiply(system_.pattern(), evaluation_->mass, state_.v, pull_);
        return 0.5 * state_.v.dot(pull_);
    }

    /// One step with pseudo-time sqrt(s), taken if it is good; the factor by which s should change.
    double try_step(double s) {
        constexpr double worse = 1.0 / 25;
        Evaluation& e = *evaluation_;
        system_.update(e, state_.t, state_.q, state_.v, state_.memory);
        multiply(system_.pattern(), e.mass, a_, pull_);
        pull_ *= s;
        change_ = pull_;
        // As s K overtakes M the penalty must follow, or the stiffness of loaded joints wins over the joints
        // themselves.
        scaled_weight_ = (1 + typical_stiffness * s) * weight_;
        rows_ = e.phi.cwiseProduct(scaled_weight_);
        rows_.tail(system_.rows() - system_.holonomic_rows()).setZero();
        add_transposed(system_.jacobian_pattern(), e.jacobian, rows_, -1.0, change_);
        system_.assemble_tangent(e, 1, 0, s, lambda_, VecX::Zero(system_.size()), tangent_);
        system_.add_penalty(e, scaled_weight_, tangent_);
        if (!linear_->factorize(tangent_)) return worse;
        linear_->solve(change_);
        // Against the forces: towards an equilibrium that does not last.
        if (!(change_.dot(pull_) > 0)) return worse;
        VecX q = state_.q + change_;
        VecX v = state_.v;
        const VecX kept_a = a_;
        const VecX kept_lambda = lambda_;
        if (q.allFinite() && solver_.project(state_.t, q, v, state_.memory)) {
            const double next = release(q);
            // A little worse is allowed: on the way down accelerations may rise for a while.
            if (next < 2 * size_ && is_possible(q)) {
                state_.q = q;
                system_.update_memory(e, state_.q, state_.memory);
                const double growth = next < size_ ? std::clamp(std::pow(size_ / next, 2), 4.0, 100.0) : 0.5;
                size_ = next;
                return growth;
            }
        }
        a_ = kept_a;
        lambda_ = kept_lambda;
        return worse;
    }

    const System& system_;
    AccelerationSolver& solver_;
    const Relaxation& relaxation_;
    State& state_;
    std::unique_ptr<Evaluation> evaluation_;
    std::unique_ptr<LinearSolver> linear_;
    VecX weight_, scaled_weight_;
    std::vector<double> tangent_;
    VecX a_, lambda_, change_, pull_, rows_;
    double size_ = 0;
    int iterations_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> make_relaxation_stepper(const std::shared_ptr<const System>& system) {
    IntegratorOptions options;
    options.newmark_xi = -0.5;
    return make_stepper("global", "newmark", system, {}, options);
}

EquilibriumReport find_equilibrium(const System& system, AccelerationSolver& solver, const Relaxation& relaxation,
                                   State& state, int max_rounds) {
    EquilibriumReport report;
    EquilibriumFinder finder(system, solver, relaxation, state);
    const VecX start = state.q;
    State best = state;
    double least = finder.size();
    for (int round = 0; round < max_rounds && !report.converged; ++round) {
        report.converged = finder.approach_by_newton() && finder.is_supported();
        if (finder.size() < least) {
            least = finder.size();
            best = state;
        }
        if (!report.converged) finder.relax();
    }
    if (report.converged) finder.keep_centre_of_mass(start);
    if (!report.converged) {
        state = std::move(best);
        report.converged = least < equilibrium_tolerance;
    }
    report.residual = least;
    report.iterations = finder.iterations();
    if (!report.converged)
        report.reason = fmt::format("no equilibrium found in {} iterations; accelerations of {:.3g} are left",
                                    report.iterations, least);
    return report;
}

}  // namespace limber
