#include "limber/dynamics/formulation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "limber/dynamics/penalized_mass.hpp"

namespace limber {
namespace {

constexpr int projection_passes = 12;
constexpr int position_passes = 6;

}  // namespace

struct AccelerationSolver::Projector {
    Projector(const System& system, double penalty) : mass(system, penalty), lambda(VecX::Zero(system.rows())) {}
    PenalizedMass mass;
    VecX lambda;
};

AccelerationSolver::AccelerationSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : system_(std::move(system)), options_(options), evaluation_(system_->make_evaluation()) {
    target_ = rows_ = VecX::Zero(system_->rows());
    unprojected_ = VecX::Zero(system_->size());
}

AccelerationSolver::~AccelerationSolver() = default;

AccelerationSolver::Projector& AccelerationSolver::projector() {
    if (!projector_) projector_ = std::make_unique<Projector>(*system_, options_.penalty_or(1e7));
    return *projector_;
}

// Mass-orthogonal projection (Bayo and Ledesma 1996): least change in the metric of the masses.
bool AccelerationSolver::project(double t, VecX& q, VecX& v, std::span<const double> memory) {
    if (system_->rows() == 0) return true;
    auto& [mass, lambda] = projector();
    Evaluation& e = *evaluation_;
    system_->update_positions(e, t, q, memory);
    if (!mass.factorize(e)) return false;
    if (!correct_positions(t, q, memory, mass, lambda)) return false;
    system_->update_positions(e, t, q, memory);
    if (!mass.factorize(e)) return false;
    correct_velocities(v, mass, lambda);
    return q.allFinite() && v.allFinite();
}

bool AccelerationSolver::project_step(const VecX& start, double t, double h, VecX& q, VecX& v,
                                      std::span<const double> memory) {
    if (system_->rows() == 0) return true;
    const double end = t + h;
    auto& [mass, lambda] = projector();
    Evaluation& e = *evaluation_;
    system_->update_positions(e, t, start, memory);
    if (!mass.factorize(e)) return false;
    unprojected_ = q;
    if (!correct_positions(end, q, memory, mass, lambda)) {
        // The forces of the start do not lead onto the constraints, as at a dead point.
        q = unprojected_;
        return project(end, q, v, memory);
    }
    v += (q - unprojected_) / h;
    system_->update_positions(e, end, q, memory);
    if (!mass.factorize(e)) return false;
    correct_velocities(v, mass, lambda);
    return q.allFinite() && v.allFinite();
}

// Newton's method on Phi(q) = 0 with J and S kept from where they were evaluated last.
bool AccelerationSolver::correct_positions(double t, VecX& q, std::span<const double> memory, PenalizedMass& mass,
                                           VecX& lambda) {
    Evaluation& e = *evaluation_;
    const double tolerance = 1e-14 * system_->length_scale();
    double before = 0;
    for (int i = 0;; ++i) {
        system_->update_residuals(e, t, q, memory);
        rows_.setZero();  // velocity rows do not restrict positions
        rows_.head(system_->holonomic_rows()) = e.phi.head(system_->holonomic_rows());
        const double error = rows_.lpNorm<Eigen::Infinity>();
        if (!(error > tolerance)) return true;
        // Too slow, or slow for too long: good enough, or the matrix is from too far away.
        if (i == position_passes || (i > 0 && error > 0.5 * before)) return error < 1e-10 * system_->length_scale();
        before = error;
        mass.eliminate(e, 1e-3 * error, projection_passes, rows_, q, lambda);
    }
}

// J v + Phi_t = 0, J and S at the positions last evaluated.
void AccelerationSolver::correct_velocities(VecX& v, PenalizedMass& mass, VecX& lambda) {
    Evaluation& e = *evaluation_;
    system_->update_velocities(e, v);
    rows_ = e.rate;
    mass.eliminate(e, 1e-14 * v.lpNorm<Eigen::Infinity>(), projection_passes, rows_, v, lambda);
}

void AccelerationSolver::use_gains_for_step(double step) {
    if (step <= gain_step_) return;
    gain_step_ = step;
    gains_ = make_gains(options_, step);
    if (!options_.joint_frequency.empty() || !options_.joint_damping.empty()) update_row_gains();
}

void AccelerationSolver::update_row_gains() {
    const int count = system_->holonomic_rows();
    position_gains_.resize(count);
    rate_gains_.resize(count);
    for (int r = 0; r < count; ++r) {
        std::string joint = system_->row_name(r);  // "joint 'name'", "driver 'name'", ...
        constexpr std::string_view before = "joint '";
        joint = joint.starts_with(before) ? joint.substr(before.size(), joint.size() - before.size() - 1) : "";
        const Gains gains = make_gains(options_, gain_step_, joint);
        position_gains_[r] = gains.position;
        rate_gains_[r] = gains.rate;
    }
}

Gains make_gains(const FormulationOptions& options, double step) {
    return make_gains(options, step, "");
}

Gains make_gains(const FormulationOptions& options, double step, const std::string& joint) {
    const auto own = [&](const NumbersByJoint& numbers, double usual) {
        for (const auto& [name, number] : numbers)
            if (name == joint) return number;
        return usual;
    };
    const double omega = own(options.joint_frequency, options.frequency_or_usual()) / step;
    const double damping = own(options.joint_damping, options.damping_or_usual());
    return {omega * omega, 2 * damping * omega, options.velocity_gain / step};
}

bool AccelerationSolver::has_come_apart() {
    const double error = evaluation_->phi.head(system_->holonomic_rows()).lpNorm<Eigen::Infinity>();
    if (error < 0.1 * system_->length_scale()) return false;
    failure_ = "the constraints have come apart (" + system_->describe_worst_row(evaluation_->phi) + ")";
    return true;
}

void AccelerationSolver::update_target() {
    const Evaluation& e = *evaluation_;
    const int holonomic = system_->holonomic_rows();
    const int rest = system_->rows() - holonomic;
    target_ = e.bias;
    if (!has_gains()) return;
    if (position_gains_.size() == 0) {
        target_.head(holonomic) += gains_.position * e.phi.head(holonomic) + gains_.rate * e.rate.head(holonomic);
    } else {
        target_.head(holonomic) += position_gains_.cwiseProduct(e.phi.head(holonomic));
        target_.head(holonomic) += rate_gains_.cwiseProduct(e.rate.head(holonomic));
    }
    target_.tail(rest) += gains_.velocity_row * e.rate.tail(rest);
}

double AccelerationSolver::perturbation(const VecX& a) {
    if (!has_gains()) return 0;
    multiply(system_->jacobian_pattern(), evaluation_->jacobian, a, rows_);
    rows_ += evaluation_->bias;
    return rows_.squaredNorm();
}

}  // namespace limber
