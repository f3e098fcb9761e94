#include "limber/dynamics/formulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/dynamics/augmented_lagrangian.hpp"
#include "limber/dynamics/baumgarte.hpp"
#include "limber/dynamics/null_space.hpp"
#include "limber/dynamics/penalized_mass.hpp"
#include "limber/dynamics/penalty.hpp"
#include "limber/model/error.hpp"

namespace limber {

// Mass-orthogonal projection (Bayo and Ledesma 1996):
//   positions   min (q - q0)^T M (q - q0) with Phi(q) = 0:   q <- q - S^-1 J^T W Phi(q), J and S kept from the start
//   velocities  the same with J v + Phi_t = 0, J at the projected positions
class AccelerationSolver::Projector {
public:
    Projector(const System& system, double penalty) : system_(system), mass_(system, penalty) {
        rows_ = VecX::Zero(system.rows());
        change_ = VecX::Zero(system.size());
    }

    bool project(Evaluation& e, double t, VecX& q, VecX& v, std::span<const double> memory) {
        const double tolerance = 1e-13 * system_.length_scale();
        system_.update_positions(e, t, q, memory);
        if (!mass_.factorize(e)) return false;
        for (int i = 0; i < 5; ++i) {
            rows_.setZero();
            rows_.head(system_.holonomic_rows()) = e.phi.head(system_.holonomic_rows());
            if (!(rows_.lpNorm<Eigen::Infinity>() > tolerance)) break;
            apply(e);
            q += change_;
            system_.update_residuals(e, t, q, memory);
        }
        system_.update_positions(e, t, q, memory);
        if (!mass_.factorize(e)) return false;
        system_.update_velocities(e, v);
        rows_ = e.rate;
        for (int i = 0; i < 2; ++i) {
            apply(e);
            v += change_;
            multiply(system_.jacobian_pattern(), e.jacobian, v, rows_);
            rows_ += e.time_partial;
        }
        return q.allFinite() && v.allFinite();
    }

private:
    // change = -S^-1 J^T W rows
    void apply(const Evaluation& e) {
        rows_ = rows_.cwiseProduct(mass_.weight());
        change_.setZero();
        add_transposed(system_.jacobian_pattern(), e.jacobian, rows_, -1.0, change_);
        mass_.solve(change_);
    }

    const System& system_;
    PenalizedMass mass_;
    VecX rows_, change_;
};

AccelerationSolver::AccelerationSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : system_(std::move(system)), options_(options), evaluation_(system_->make_evaluation()) {
    target_ = VecX::Zero(system_->rows());
    projector_ = std::make_shared<Projector>(*system_, options_.penalty_or(1e7));
}

bool AccelerationSolver::project(double t, VecX& q, VecX& v, std::span<const double> memory) {
    if (system_->rows() == 0) return true;
    return projector_->project(*evaluation_, t, q, v, memory);
}

void AccelerationSolver::use_gains_for_step(double step) {
    if (step <= gain_step_) return;
    gain_step_ = step;
    const double omega = options_.frequency / step;
    gains_ = {omega * omega, 2 * options_.damping * omega, 0.1 / step};
}

bool AccelerationSolver::has_come_apart() const {
    const double error = evaluation_->phi.head(system_->holonomic_rows()).lpNorm<Eigen::Infinity>();
    return !(error < 0.1 * system_->length_scale());
}

void AccelerationSolver::update_target() {
    const Evaluation& e = *evaluation_;
    const int holonomic = system_->holonomic_rows();
    const int rest = system_->rows() - holonomic;
    target_ = e.bias;
    if (gains_.position == 0 && gains_.rate == 0) return;
    target_.head(holonomic) += gains_.position * e.phi.head(holonomic) + gains_.rate * e.rate.head(holonomic);
    target_.tail(rest) += gains_.velocity_row * e.rate.tail(rest);
}

double AccelerationSolver::perturbation() const {
    return (target_ - evaluation_->bias).squaredNorm();
}

// ---------------------------------------------------------------- registry

const std::vector<FormulationInfo>& formulations() {
    static const std::vector<FormulationInfo> list{
        {"global", "index-3 augmented Lagrangian, Newton on positions, projected velocities and accelerations", true},
        {"augmented-lagrangian", "acceleration-based augmented Lagrangian (Bayo)", false},
        {"baumgarte", "Lagrange multipliers from the regularised saddle-point system, Baumgarte gains", false},
        {"penalty", "acceleration-based penalty, one solve and no multiplier iteration", false},
        {"null-space", "orthogonal decomposition of the constraint Jacobian, with projection", false},
    };
    return list;
}

const FormulationInfo& find_formulation(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& info : formulations()) {
        if (info.name == name) return info;
        names.push_back(info.name);
    }
    throw ModelError(
        fmt::format("unknown formulation '{}'{}; known: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

std::unique_ptr<AccelerationSolver> make_acceleration_solver(const std::string& formulation,
                                                             std::shared_ptr<const System> system,
                                                             const FormulationOptions& options) {
    const std::string& name = find_formulation(formulation).name;
    if (name == "baumgarte") return std::make_unique<BaumgarteSolver>(std::move(system), options);
    if (name == "penalty") {
        FormulationOptions stiffer = options;
        stiffer.penalty = options.penalty_or(1e8);
        return std::make_unique<PenaltySolver>(std::move(system), stiffer);
    }
    if (name == "null-space") return std::make_unique<NullSpaceSolver>(std::move(system), options);
    return std::make_unique<AugmentedLagrangianSolver>(std::move(system), options);
}

}  // namespace limber
