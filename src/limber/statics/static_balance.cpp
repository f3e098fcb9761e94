#include "limber/statics/static_balance.hpp"

#include <cmath>

namespace limber {
namespace {

// Largest constraint error that counts as closed, over the length scale.
constexpr double closed_at_rest = 1e-9;
// Of rows over inertia, beyond that of ConstrainedMatrix itself: inertias of one mechanism differ less than
// stiffnesses.
constexpr double mass_weight = 1e2;

}  // namespace

StaticBalance::StaticBalance(const System& system, AccelerationSolver& solver, double t)
    : system_(system),
      solver_(solver),
      t_(t),
      evaluation_(system.make_evaluation()),
      mass_(system),
      tangent_(system),
      part_(system.pattern().nonzeros(), 0.0),
      prediction_(system.prediction_size(), 0.0),
      held_(VecX::Zero(system.size())),
      rest_(VecX::Zero(system.size())),
      zero_rows_(VecX::Zero(system.rows())),
      a_(rest_),
      lambda_(zero_rows_),
      force_(rest_),
      scratch_(rest_),
      rows_(zero_rows_) {
    solver_.use_no_gains();
}

void StaticBalance::load_from(const System& unloaded) {
    unloaded_ = &unloaded;
    unloaded_evaluation_ = unloaded.make_evaluation();
}

void StaticBalance::hold() {
    held_ = force_;
}

bool StaticBalance::move_to(StaticPoint point) {
    VecX v = rest_;
    if (!point.q.allFinite() || !solver_.project(t_, point.q, v, point.memory)) return false;
    std::swap(point_, point);
    if (evaluate()) {
        system_.update_memory(*evaluation_, point_.q, point_.memory);
        return true;
    }
    std::swap(point_, point);
    if (point_.q.size() > 0) evaluate();
    return false;
}

bool StaticBalance::move_from(StaticPoint start, const VecX& change, double load) {
    start.q += change;
    start.load = load;
    if (has_predictions()) {
        system_.predict(*evaluation_, change, prediction_.data());
        is_predicted_ = true;
    }
    const bool is_there = move_to(std::move(start));
    is_predicted_ = false;
    return is_there;
}

bool StaticBalance::evaluate() {
    Evaluation& e = *evaluation_;
    system_.update(e, t_, point_.q, rest_, point_.memory);
    if (has_predictions()) {
        // Where it has not come by a change, stresses are what they are.
        if (!is_predicted_) system_.predict(e, rest_, prediction_.data());
        is_predicted_ = false;
        e.prediction = prediction_;
        if (unloaded_ != nullptr && unloaded_->prediction_size() == system_.prediction_size())
            unloaded_evaluation_->prediction = prediction_;
    }
    const int holonomic = system_.holonomic_rows();
    const double open = holonomic == 0 ? 0 : e.phi.head(holonomic).lpNorm<Eigen::Infinity>();
    if (!(open <= closed_at_rest * std::max(1.0, system_.length_scale()))) return false;
    if (!e.force.allFinite() || !solver_.solve(t_, point_.q, rest_, point_.memory, a_, lambda_)) return false;
    mass_.values() = e.mass;
    if (!mass_.factorize(e, mass_weight)) return false;
    add_load();
    unbalance_ = a_.lpNorm<Eigen::Infinity>();
    multiply(system_.pattern(), e.mass, a_, force_);
    return std::isfinite(unbalance_);
}

// What the load adds to the accelerations of the system itself; and drivers stand still, whatever their laws do next.
void StaticBalance::add_load() {
    const Evaluation& e = *evaluation_;
    const double left = 1 - point_.load;
    scratch_ = -left * held_;
    if (unloaded_ != nullptr) {
        unloaded_->update(*unloaded_evaluation_, t_, point_.q, rest_, point_.memory);
        scratch_ += left * (unloaded_evaluation_->force - e.force);
    }
    if (scratch_.isZero(0) && e.bias.isZero(0)) return;
    VecX more;
    mass_.solve(scratch_, e.bias, more, rows_);
    a_ += more;
    lambda_ += rows_;
}

VecX StaticBalance::load_rate() {
    scratch_ = held_;
    if (unloaded_ != nullptr) scratch_ += evaluation_->force - unloaded_evaluation_->force;
    VecX a;
    VecX result(system_.size());
    mass_.solve(scratch_, zero_rows_, a, rows_);
    multiply(system_.pattern(), evaluation_->mass, a, result);
    return result;
}

bool StaticBalance::factorize(double shift) {
    ++factorizations_;
    Evaluation& e = *evaluation_;
    const double share = unloaded_ == nullptr ? 1 : point_.load;
    system_.assemble_tangent(e, shift, 0, share, lambda_, rest_, tangent_.values());
    if (unloaded_ != nullptr) {
        unloaded_->assemble_tangent(*unloaded_evaluation_, 0, 0, 1 - share, lambda_, rest_, part_);
        for (std::size_t k = 0; k < part_.size(); ++k) tangent_.values()[k] += part_[k];
    }
    stiffness_rate_ = find_inertia_rate(system_, tangent_.values());
    return tangent_.factorize(e, stiffness_rate_);
}

void StaticBalance::respond(const VecX& force, VecX& change) {
    tangent_.solve(force, zero_rows_, change, rows_);
}

VecX StaticBalance::inertia_force(const VecX& x) {
    VecX result(system_.size());
    multiply(system_.pattern(), evaluation_->mass, x, result);
    return result;
}

double StaticBalance::inertia_product(const VecX& x, const VecX& y) {
    multiply(system_.pattern(), evaluation_->mass, y, scratch_);
    return x.dot(scratch_);
}

}  // namespace limber
