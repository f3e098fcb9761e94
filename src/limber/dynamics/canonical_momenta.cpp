#include "limber/dynamics/canonical_momenta.hpp"

#include "limber/model/error.hpp"

namespace limber {

template <int D>
CanonicalMomentaSolver<D>::CanonicalMomentaSolver(std::shared_ptr<const System> system,
                                                  const FormulationOptions& options)
    : ArticulatedBodySolver<D>(std::move(system), options) {
    momentum_ = a_ = VecX::Zero(this->system_->size());
    sigma_ = lambda_ = closure_rate_ = VecX::Zero(this->system_->rows());
}

template <int D>
void CanonicalMomentaSolver<D>::compute_momenta(double t, const VecX& q, const VecX& v, std::span<const double> memory,
                                                VecX& p) {
    Evaluation& e = *this->evaluation_;
    this->system_->update_positions(e, t, q, memory);
    this->system_->update_velocities(e, v);
    this->relative().compute_momenta(e, p);
}

template <int D>
bool CanonicalMomentaSolver<D>::compute_velocities(double t, const VecX& q, const VecX& p,
                                                   std::span<const double> memory, VecX& v) {
    Evaluation& e = *this->evaluation_;
    if (!this->factorize_at(t, q, memory)) return false;
    if (this->closure_rows() > 0) {
        this->system_->update_velocities(e, v);  // for Phi_t
        closure_rate_ = e.time_partial;
    }
    // Euler parameters keep their length: no part of p along them.
    momentum_ = p;
    for (const int first : this->relative().coordinates().tree().ball_columns) {
        const auto turn = q.template segment<4>(first);
        momentum_.template segment<4>(first) -=
            turn * (turn.dot(momentum_.template segment<4>(first)) / turn.squaredNorm());
    }
    this->solve_constrained(momentum_, closure_rate_, q, v, sigma_);
    if (!v.allFinite()) this->failure_ = "the velocities are not finite";
    return v.allFinite();
}

template <int D>
bool CanonicalMomentaSolver<D>::compute_rates(double t, const VecX& q, const VecX& p, std::span<const double> memory,
                                              VecX& v, VecX& p_rate) {
    if (!compute_velocities(t, q, p, memory, v)) return false;
    ++this->iterations_;
    Evaluation& e = *this->evaluation_;
    this->system_->update_velocities(e, v);
    this->relative().compute_momentum_rates(e, p_rate);
    if (this->closure_rows() > 0) {
        this->system_->update_forces(e);
        this->update_target();
        a_.setZero();
        this->solve_constrained(e.force, this->target_, q, a_, lambda_);
        add_transposed(this->system_->jacobian_pattern(), e.jacobian, lambda_, -1.0, p_rate);
    }
    if (!p_rate.allFinite()) this->failure_ = "the rates of the momenta are not finite";
    return p_rate.allFinite();
}

template class CanonicalMomentaSolver<2>;
template class CanonicalMomentaSolver<3>;

std::unique_ptr<AccelerationSolver> make_canonical_momenta_solver(std::shared_ptr<const System> system,
                                                                  const FormulationOptions& options) {
    if (dynamic_cast<const RelativeSystem<2>*>(system.get()) != nullptr)
        return std::make_unique<CanonicalMomentaSolver<2>>(std::move(system), options);
    if (dynamic_cast<const RelativeSystem<3>*>(system.get()) != nullptr)
        return std::make_unique<CanonicalMomentaSolver<3>>(std::move(system), options);
    throw ModelError("canonical-momenta works in relative coordinates only");
}

}  // namespace limber
