// What an assembly asks its components, and what it makes of their answers.

#include <algorithm>
#include <cmath>

#include "limber/modular/assembly.hpp"

namespace limber {

template <int D>
void ModularAssembly<D>::begin(double h, Coupling coupling) {
    h_ = h;
    coupling_ = coupling;
    report_ = {};
    failure_.clear();
    gains_ = {};
    if (h > 0 && coupling == Coupling::acceleration) {
        const double omega = gain_options_.frequency / h;
        gains_ = {omega * omega, 2 * gain_options_.damping * omega, 0.1 / h};
    }
    const bool has_bend = options_.course == ForceCourse::quadratic && history_.has_steps(2, h);
    if (has_bend) history_.find_bend(bend_);
    team_.for_all([&](int k) {
        team_[k].begin(h, coupling, options_.course, team_.part(history_.wrenches(), k),
                       has_bend ? team_.part(bend_, k) : std::span<TwistVec<D>>{});
    });
    for (const int k : team_.own()) {
        kinds_[k] = {team_[k].reach(), 0, team_[k].is_coupled()};
        for (const PortMotion<D>& port : team_.part(motion_, k))
            kinds_[k].distance = std::max(kinds_[k].distance, largest(port.state.position));
        answers_[k] = {};
    }
    team_.exchange().share_components(kinds_);
    has_coupled_ = has_uncoupled_ = false;
    distance_ = joints_->mechanism().length_scale;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        (kinds_[k].is_coupled ? has_coupled_ : has_uncoupled_) = true;
        reaches_[k] = kinds_[k].reach;
        distance_ = std::max(distance_, kinds_[k].distance);
    }
    matrix_.begin(h, distance_, reaches_);
}

template <int D>
void ModularAssembly<D>::set_wrenches(const VecX& multipliers, const std::vector<TwistVec<D>>* forces,
                                      std::vector<TwistVec<D>>& wrenches) const {
    if (forces != nullptr) {
        wrenches = *forces;
    } else {
        wrenches.assign(wrenches.size(), TwistVec<D>::Zero());
    }
    joints_->add_wrenches(multipliers, wrenches);
}

template <int D>
void ModularAssembly<D>::update_joints() {
    team_.exchange().share_near(motion_);
    joints_->update(motion_, t_ + h_);
    if (joints_->has_forces()) joints_->find_forces(new_forces_);
}

template <int D>
bool ModularAssembly<D>::ask() {
    set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) { answers_[k] = team_[k].answer(team_.part(wrenches_, k), team_.part(motion_, k)); });
    ++report_.answers;
    if (!have_all_succeeded()) return false;
    update_joints();
    return true;
}

template <int D>
bool ModularAssembly<D>::open() {
    if (!has_coupled_) return ask();
    set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) {
        if (kinds_[k].is_coupled) {
            team_[k].open(team_.part(motion_, k));
        } else {
            answers_[k] = team_[k].answer(team_.part(wrenches_, k), team_.part(motion_, k));
        }
    });
    if (!have_all_succeeded()) return false;
    update_joints();
    return true;
}

template <int D>
void ModularAssembly<D>::approach(bool refresh) {
    set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) {
        if (!kinds_[k].is_coupled) return;
        const ApproachReport report = team_[k].approach(team_.part(wrenches_, k), refresh, team_.part(rates_, k));
        balanced_[k] = report.is_balanced ? 1 : 0;
        if (!report.ok) {
            answers_[k].ok = false;
            answers_[k].reason = "a component has no finite tangent";
        }
        for (TwistVec<D>& rate : team_.part(rates_, k)) rate *= matrix_.reach_share(k);
    });
    ++report_.answers;
}

template <int D>
bool ModularAssembly<D>::advance() {
    if (!has_coupled_) return ask();
    set_wrenches(correction_, iterates_with_springs() ? &spring_wrenches_ : nullptr, probe_);
    if (has_uncoupled_) set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) {
        if (kinds_[k].is_coupled) {
            progress_[k] = team_[k].advance(team_.part(probe_, k), team_.part(motion_, k));
        } else {
            answers_[k] = team_[k].answer(team_.part(wrenches_, k), team_.part(motion_, k));
        }
    });
    if (!have_all_succeeded()) return false;
    update_joints();
    return true;
}

template <int D>
bool ModularAssembly<D>::close() {
    if (!has_coupled_) return true;
    team_.for_all([&](int k) {
        if (kinds_[k].is_coupled) answers_[k] = team_[k].close(team_.part(motion_, k));
    });
    if (!have_all_succeeded()) return false;
    update_joints();
    return true;
}

template <int D>
bool ModularAssembly<D>::have_all_succeeded() {
    Status status = find_own_status();
    team_.exchange().find_largest(status);
    return take_status(status);
}

template <int D>
typename ModularAssembly<D>::Status ModularAssembly<D>::find_own_status() const {
    Status status{};
    auto& [failed, unbalanced, change, acceptable, opening] = status;
    for (const int k : team_.own()) {
        if (!answers_[k].ok) failed = 1;
        // Those that are not coupled answer in full: nothing of them is out of balance.
        if (!kinds_[k].is_coupled) continue;
        if (balanced_[k] == 0) unbalanced = 1;
        change = std::max(change, progress_[k].change);
        acceptable = std::max(acceptable, progress_[k].acceptable);
    }
    return status;
}

template <int D>
bool ModularAssembly<D>::take_status(const Status& status) {
    const auto& [failed, unbalanced, change, acceptable, opening] = status;
    is_balanced_ = unbalanced == 0;
    largest_progress_.change = change;
    largest_progress_.acceptable = acceptable;
    opening_ = opening;
    if (failed == 0) return true;
    using Words = std::array<char, 256>;
    std::vector<Words> reasons(static_cast<std::size_t>(team_.count()));
    for (const int k : team_.own()) {
        const std::string& reason = answers_[k].reason;
        if (!answers_[k].ok)
            std::copy_n(reason.begin(), std::min(reason.size(), sizeof(Words) - 1), reasons[k].begin());
    }
    team_.exchange().share_components(reasons);
    for (const Words& reason : reasons)
        if (failure_.empty()) failure_ = reason.data();
    return false;
}

template <int D>
double ModularAssembly<D>::find_largest_of_all(double own) {
    team_.exchange().find_largest({&own, 1});
    return own;
}

template <int D>
bool ModularAssembly<D>::find_residual() {
    for (int r = 0; r < joints_->row_count(); ++r) {
        const bool is_holonomic = joints_->is_holonomic(r);
        if (has_accelerations()) {
            residual_[r] = joints_->acceleration[r] +
                           (is_holonomic ? gains_.position * joints_->phi[r] + gains_.rate * joints_->rate[r]
                                         : gains_.velocity_row * joints_->rate[r]);
        } else {
            residual_[r] = is_holonomic ? joints_->phi[r] / (matrix_.reach().position * h_ * h_)
                                        : joints_->rate[r] / (matrix_.reach().velocity * h_);
        }
    }
    Status status = find_own_status();
    double& opening = status.back();
    for (const int r : team_.exchange().own_rows()) opening = std::max(opening, std::abs(residual_[r]));
    opening *= matrix_.reach().position * h_ * h_;
    if (has_coupled_ || iterates_with_springs()) {
        find_known_changes();
        joints_->multiply(known_, rows_);
        residual_ += rows_;
    }
    team_.exchange().share_rows(residual_, status);
    report_.residual = largest(residual_);
    return take_status(status);
}

template <int D>
void ModularAssembly<D>::measure() {
    matrix_.measure();
    report_.measures = std::max(report_.measures, matrix_.measuring_cost());
}

template <int D>
AdmittanceProduct ModularAssembly<D>::make_product() {
    return [this](const VecX& x, VecX& result) {
        ++report_.products;
        matrix_.multiply(x, result);
    };
}

template <int D>
void ModularAssembly<D>::find_known_changes() {
    for (const int k : team_.own()) {
        for (int p = team_.first_port(k); p < team_.first_port(k) + team_.port_count(k); ++p) {
            known_[p] = kinds_[k].is_coupled ? rates_[p] : TwistVec<D>(TwistVec<D>::Zero());
            force_changes_[p] = new_forces_[p] - asked_forces_[p];
        }
        if (!kinds_[k].is_coupled && iterates_with_springs()) matrix_.add_answer(k, force_changes_, known_);
    }
    team_.exchange().share_near(known_);
}

template class ModularAssembly<2>;
template class ModularAssembly<3>;

}  // namespace limber
