#pragma once
// The motion of bodies at one instant, as sensors and balances see it: frames, velocities and features, accelerations
// and reactions where they are asked for, and the energies and errors that follow from them.

#include <memory>
#include <vector>

#include "limber/dynamics/formulation.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/body_space/relative_error.hpp"
#include "limber/simulation/observer.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
template <int D>
class ObservedMotion {
public:
    ObservedMotion(std::shared_ptr<const MechanismSystem<D>> system, std::unique_ptr<AccelerationSolver> solver);
    void use_solver(std::unique_ptr<AccelerationSolver> solver, const State& state);

    const MechanismSystem<D>& system() const { return *system_; }
    const Mechanism<D>& mechanism() const { return m_; }
    AccelerationSolver& solver() { return *solver_; }

    /// Frames and velocities of the bodies, and nothing else.
    const BodyStates<D>& find_bodies(const State& state) {
        system_->export_states(state.q, state.v, states_);
        return states_;
    }
    void update(const State& state, bool with_accelerations);
    /// Of the motion already loaded, with its accelerations.
    void update_reactions(const State& state);

    // Of the motion already loaded.
    const BodyStates<D>& states() const { return states_; }
    const FeatureState<D>& features() const { return features_; }
    const ReactionSolver<D>& reactions() const { return reactions_; }
    MeasureContext<D> context(const State& state) const { return {features_, state.memory, m_.curves}; }
    Vec<D> acceleration_of(int feature) const;
    AngularVec<D> angular_velocity(int body) const {
        return body < 0 ? AngularVec<D>(AngularVec<D>::Zero()) : states_[body].angular_velocity;
    }
    AngularVec<D> angular_acceleration(int body) const {
        return body < 0 ? AngularVec<D>(AngularVec<D>::Zero())
                        : AngularVec<D>(rates_[body].template tail<angular_size<D>>());
    }
    /// Kinetic and potential.
    Energies energy(const State& state) const;
    /// With the accelerations, for a step of this length.
    double relative_error(const State& state, double step);

    // Of any state, which is loaded.
    double compute_power(const State& state);
    ConstraintErrors compute_errors(const State& state);
    double compute_complementarity(const State& state);

private:
    double driver_power(const State& state);

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    std::unique_ptr<AccelerationSolver> solver_;
    ReactionSolver<D> reactions_;
    std::unique_ptr<RelativeErrorMeter<D>> relative_error_;
    std::unique_ptr<Evaluation> evaluation_;
    FeatureState<D> features_;
    std::vector<int> all_features_;
    BodyStates<D> states_;
    std::vector<TwistVec<D>> rates_;
    VecX a_, lambda_, rows_, touching_;
    bool has_drivers_ = false;
};

}  // namespace limber
