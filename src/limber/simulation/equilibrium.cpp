#include "limber/simulation/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/interruption.hpp"
#include "limber/statics/load_path.hpp"
#include "limber/statics/stability.hpp"

namespace limber {
namespace {

constexpr double accepted_unbalance = 1e-6;  // accelerations, when nothing better can be reached
constexpr int newton_iterations = 100;
constexpr int relaxation_steps = 60;
constexpr int relaxation_rounds = 40;

template <int D>
class EquilibriumFinder {
public:
    EquilibriumFinder(const MechanismSystem<D>& system, AccelerationSolver& solver, const Relaxation& relaxation,
                      State& state, const EquilibriumRequest& request)
        : system_(system),
          relaxation_(relaxation),
          state_(state),
          progress_(request.progress),
          balance_(system, solver, state.t),
          newton_(balance_),
          evaluation_(system.make_evaluation()) {
        state_.v = VecX::Zero(system.size());
        momentum_ = state_.v;
        newton_.progress = [this](int, double unbalance) { count(unbalance); };
        if (relaxation_.is_possible)
            newton_.is_possible = [this](const StaticPoint& point) { return is_possible(point); };
    }

    EquilibriumReport find(bool is_nearest) {
        EquilibriumReport report;
        const StaticPoint start{state_.q, state_.memory};
        if (!balance_.move_to(start)) {
            report.reason = "no equilibrium found: the forces at the start are not finite";
            return report;
        }
        best_ = balance_.point();
        least_ = balance_.unbalance();
        std::string how;
        if (is_nearest) {
            report.method = EquilibriumMethod::load_path;
            report.converged = follow_path(how);
        } else {
            report.converged = go_downhill(report.method);
        }
        if (!report.converged) {
            balance_.move_to(best_);
            report.converged = least_ < accepted_unbalance;
        }
        take_point();
        report.residual = balance_.unbalance();
        report.iterations = iterations_;
        if (report.converged) {
            if (!is_nearest) keep_centre_of_mass(start.q);
            judge(report);
        } else {
            report.reason =
                fmt::format("no equilibrium found in {} iterations; accelerations of {:.3g} are left, {}{}",
                            iterations_, report.residual, describe_unbalance(), how.empty() ? "" : "; " + how);
        }
        return report;
    }

private:
    void count(double unbalance) {
        ++iterations_;
        if (progress_) progress_(iterations_, unbalance);
    }

    bool go_downhill(EquilibriumMethod& method) {
        // Elements that predict their stresses are made for large steps; only what is stable counts.
        if (balance_.has_predictions() && !relaxation_.is_possible) {
            const StaticPoint start = balance_.point();
            if (newton_.go_plainly(newton_iterations) && is_stable()) return true;
            std::string how;
            if (balance_.move_to(start) && follow_path(how) && is_stable()) {
                method = EquilibriumMethod::load_path;
                return true;
            }
            balance_.move_to(start);
        }
        for (int round = 0; round < relaxation_rounds; ++round) {
            const StaticPoint before = balance_.point();
            const bool is_settled = newton_.go_downhill(newton_iterations);
            take_point();
            // Near singular positions it comes to a standstill before; moving would not do better.
            if ((is_settled || balance_.unbalance() < accepted_unbalance) && is_supported()) return true;
            note_best();
            std::string how;
            if (round == 0 && !relaxation_.is_possible && balance_.move_to(before) && follow_path(how) && is_stable()) {
                method = EquilibriumMethod::load_path;
                return true;
            }
            method = EquilibriumMethod::relaxation;
            balance_.move_to(best_);
            take_point();
            relax();
        }
        return false;
    }

    // Everything is held at the present point and let go.
    bool follow_path(std::string& how) {
        balance_.hold();
        StaticPoint held = balance_.point();
        held.load = 0;
        bool has_arrived = balance_.unbalance() < StaticNewton::tolerance;
        if (!has_arrived && balance_.move_to(std::move(held))) {
            const LoadPathReport path = follow_load(balance_, {}, [this](int, double unbalance) { count(unbalance); });
            has_arrived = path.has_arrived && newton_.go_plainly(max_polish);
            how = path.reason;
        }
        return has_arrived;
    }

    bool is_stable() { return judge_stability(balance_).unstable <= 0; }

    /// Motion with real inertia and numerical damping; stopped whenever it slows down (kinetic damping).
    void relax() {
        // Steps of a small part of the time the accelerations need to move things by their own size.
        const double step = 0.1 * std::sqrt(system_.length_scale() / std::max(balance_.unbalance(), 1e-6));
        Stepper& stepper = *relaxation_.stepper;
        if (!stepper.start(state_).ok) return;
        double energy = 0;
        for (int i = 0; i < relaxation_steps; ++i) {
            check_interruption();
            count(balance_.unbalance());
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
        balance_.move_to({state_.q, state_.memory});
        take_point();
        note_best();
    }

    /// Whether closed stops push; opens those that would have to pull.
    bool is_supported() {
        if (!relaxation_.is_possible) return true;
        if (!relaxation_.stepper->start(state_).ok) return false;
        if (!balance_.move_to({state_.q, state_.memory})) return false;
        return balance_.unbalance() < accepted_unbalance;
    }

    void note_best() {
        if (!(balance_.unbalance() < least_) || balance_.point().load != 1) return;
        least_ = balance_.unbalance();
        best_ = balance_.point();
    }

    void take_point() {
        state_.q = balance_.point().q;
        state_.memory = balance_.point().memory;
    }

    bool is_possible(const StaticPoint& point) const {
        if (!relaxation_.is_possible) return true;
        State trial = state_;
        trial.q = point.q;
        trial.memory = point.memory;
        return relaxation_.is_possible(trial);
    }

    double kinetic_energy() {
        system_.update_positions(*evaluation_, state_.t, state_.q, state_.memory);
        multiply(system_.pattern(), evaluation_->mass, state_.v, momentum_);
        return 0.5 * state_.v.dot(momentum_);
    }

    // ------------------------------------------------------------ what is told

    void judge(EquilibriumReport& report) {
        const Stability stability = judge_stability(balance_);
        report.unstable = stability.unstable;
        report.neutral = stability.neutral;
        report.growth = stability.growth;
        if (stability.unstable <= 0) return;
        BodyStates<D> states;
        system_.export_states(state_.q, stability.direction, states);
        double largest = -1;
        for (std::size_t b = 0; b < states.size(); ++b) {
            const double speed = states[b].velocity.norm() + system_.length_scale() * states[b].angular_velocity.norm();
            if (speed <= largest) continue;
            largest = speed;
            report.unstable_body = system_.mechanism().bodies[b].name;
        }
    }

    // "most of all body 'ball' by 9.81 N"
    std::string describe_unbalance() const {
        BodyStates<D> states;
        std::vector<TwistVec<D>> rates;
        system_.export_states(state_.q, state_.v, states);
        system_.export_twist_rates(state_.q, state_.v, balance_.accelerations(), rates);
        double worst = -1;
        std::string text = "nothing moves";
        for (std::size_t b = 0; b < states.size(); ++b) {
            const auto& body = system_.mechanism().bodies[b];
            const TwistVec<D> wrench = inertia_wrench(body, states[b], rates[b]);
            const double force = wrench.template head<D>().norm();
            const double torque = wrench.template tail<angular_size<D>>().norm();
            const double size = force + torque / system_.length_scale();
            if (size <= worst) continue;
            worst = size;
            text =
                fmt::format("most out of balance is body '{}', by {:.3g} N and {:.3g} N m", body.name, force, torque);
        }
        return text;
    }

    // ------------------------------------------------------------ the centre of mass

    double centre_of_mass(const VecX& q, int axis, BodyStates<D>& states) const {
        system_.export_states(q, state_.v, states);
        double mass = 0;
        double sum = 0;
        for (std::size_t b = 0; b < states.size(); ++b) {
            mass += system_.mechanism().bodies[b].mass;
            sum += system_.mechanism().bodies[b].mass * states[b].position[axis];
        }
        return mass > 0 ? sum / mass : 0;
    }

    double openness(const VecX& q) {
        system_.update_positions(*evaluation_, state_.t, q, state_.memory);
        const int rows = system_.holonomic_rows();
        return rows == 0 ? 0 : evaluation_->phi.head(rows).template lpNorm<Eigen::Infinity>();
    }

    /// Where nothing pulls the whole along an axis of the world, its centre of mass stays where it was at the start;
    /// but for curved coordinates Newton's steps would see to it.
    void keep_centre_of_mass(const VecX& start) {
        for (int axis = 0; axis < D; ++axis) keep_centre_of_mass(start, axis);
    }

    // All bodies moved back alike, if that is an equilibrium too.
    void keep_centre_of_mass(const VecX& start, int axis) {
        BodyStates<D> states;
        const double before = centre_of_mass(start, axis, states);
        const double moved = centre_of_mass(state_.q, axis, states) - before;
        if (moved == 0) return;
        for (BodyState<D>& body : states) body.position[axis] -= moved;
        VecX q;
        VecX v;
        system_.import_states(states, q, v);
        system_.choose_signs_near(state_.q, q, v);
        const bool is_free = std::abs(centre_of_mass(q, axis, states) - before) < 1e-3 * std::abs(moved);
        const double open = openness(state_.q);
        const StaticPoint kept = balance_.point();
        StaticPoint next = kept;
        next.q = q;
        if (!is_free || openness(q) > open + 1e-13 * system_.length_scale() || !is_possible(next)) return;
        const double unbalance = balance_.unbalance();
        if (balance_.move_to(std::move(next)) &&
            balance_.unbalance() < std::max(StaticNewton::tolerance, 1.5 * unbalance)) {
            take_point();
        } else {
            balance_.move_to(kept);
        }
    }

    static constexpr int max_polish = 20;

    const MechanismSystem<D>& system_;
    const Relaxation& relaxation_;
    State& state_;
    const StaticProgress& progress_;
    StaticBalance balance_;
    StaticNewton newton_;
    std::unique_ptr<Evaluation> evaluation_;
    VecX momentum_;
    StaticPoint best_;
    double least_ = 0;
    int iterations_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> make_relaxation_stepper(const std::shared_ptr<const System>& system) {
    IntegratorOptions options;
    options.newmark_xi = -0.5;
    options.locate_kinks = false;  // the way to the balance does not matter
    return make_stepper("global", "newmark", system, {}, options);
}

template <int D>
EquilibriumReport find_equilibrium(const MechanismSystem<D>& system, AccelerationSolver& solver,
                                   const Relaxation& relaxation, State& state, const EquilibriumRequest& request) {
    return EquilibriumFinder<D>(system, solver, relaxation, state, request).find(request.is_nearest);
}

template EquilibriumReport find_equilibrium(const MechanismSystem<2>&, AccelerationSolver&, const Relaxation&, State&,
                                            const EquilibriumRequest&);
template EquilibriumReport find_equilibrium(const MechanismSystem<3>&, AccelerationSolver&, const Relaxation&, State&,
                                            const EquilibriumRequest&);

}  // namespace limber
