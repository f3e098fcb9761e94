#include "limber/modular/component_evaluation.hpp"

#include <algorithm>

#include "limber/modular/interface_step.hpp"

namespace limber {

template <int D>
ComponentEvaluation<D>::ComponentEvaluation(ComponentTeam<D>& team)
    : team_(team),
      kinds_(static_cast<std::size_t>(team.count())),
      reaches_(kinds_.size()),
      answers_(kinds_.size()),
      balanced_(kinds_.size(), 0),
      progress_(kinds_.size()) {}

template <int D>
void ComponentEvaluation<D>::begin(const Motion& motion) {
    failure_.clear();
    for (const int k : team_.own()) {
        kinds_[k] = {team_[k].reach(), 0, team_[k].is_coupled()};
        for (const PortMotion<D>& port : team_.part(motion, k))
            kinds_[k].distance = std::max(kinds_[k].distance, largest_entry(port.state.position));
        answers_[k] = {};
    }
    team_.exchange().share_components(kinds_);
    has_coupled_ = has_uncoupled_ = false;
    distance_ = 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        (kinds_[k].is_coupled ? has_coupled_ : has_uncoupled_) = true;
        reaches_[k] = kinds_[k].reach;
        distance_ = std::max(distance_, kinds_[k].distance);
    }
}

template <int D>
template <class Act>
bool ComponentEvaluation<D>::evaluate_others(const Wrenches& wrenches, Motion& motion, const Act& act_coupled) {
    team_.for_all([&](int k) {
        if (kinds_[k].is_coupled) {
            act_coupled(k);
        } else {
            answers_[k] = team_[k].answer(team_.part(wrenches, k), team_.part(motion, k));
        }
    });
    return have_all_succeeded();
}

template <int D>
bool ComponentEvaluation<D>::evaluate(const Wrenches& wrenches, Motion& motion) {
    team_.for_all([&](int k) { answers_[k] = team_[k].answer(team_.part(wrenches, k), team_.part(motion, k)); });
    return have_all_succeeded();
}

template <int D>
bool ComponentEvaluation<D>::open(const Wrenches& wrenches, Motion& motion) {
    return evaluate_others(wrenches, motion, [&](int k) { team_[k].open(team_.part(motion, k)); });
}

template <int D>
void ComponentEvaluation<D>::approach(const Wrenches& wrenches, bool refresh, Wrenches& rates) {
    team_.for_all([&](int k) {
        if (!kinds_[k].is_coupled) return;
        const ApproachReport report = team_[k].approach(team_.part(wrenches, k), refresh, team_.part(rates, k));
        balanced_[k] = report.is_balanced ? 1 : 0;
        if (!report.ok) {
            answers_[k].ok = false;
            answers_[k].reason = "a component has no finite tangent";
        }
    });
}

template <int D>
bool ComponentEvaluation<D>::advance(const Wrenches& further, const Wrenches& wrenches, Motion& motion) {
    return evaluate_others(wrenches, motion, [&](int k) {
        progress_[k] = team_[k].advance(team_.part(further, k), team_.part(motion, k));
    });
}

template <int D>
bool ComponentEvaluation<D>::close(Motion& motion) {
    team_.for_all([&](int k) {
        if (kinds_[k].is_coupled) answers_[k] = team_[k].close(team_.part(motion, k));
    });
    return have_all_succeeded();
}

template <int D>
bool ComponentEvaluation<D>::have_all_succeeded() {
    Status status = find_own_status();
    team_.exchange().find_largest(status);
    return set_status(status);
}

template <int D>
typename ComponentEvaluation<D>::Status ComponentEvaluation<D>::find_own_status() const {
    Status status{};
    auto& [failed, unbalanced, change, acceptable, of_caller] = status;
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
bool ComponentEvaluation<D>::set_status(const Status& status) {
    const auto& [failed, unbalanced, change, acceptable, of_caller] = status;
    is_balanced_ = unbalanced == 0;
    largest_progress_.change = change;
    largest_progress_.acceptable = acceptable;
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

template class ComponentEvaluation<2>;
template class ComponentEvaluation<3>;

}  // namespace limber
