#include "limber/modular/force_history.hpp"

#include <algorithm>

namespace limber {

template <int D>
ForceHistory<D>::ForceHistory(int ports) {
    forces_.fill(Wrenches(static_cast<std::size_t>(ports), TwistVec<D>::Zero()));
    wrenches_ = forces_;
}

template <int D>
void ForceHistory<D>::set_multipliers(const VecX& multipliers) {
    multipliers_ = expected_ = multipliers;
    before_ = expected_before_ = expected_earlier_ = VecX::Zero(multipliers.size());
    restart();
}

template <int D>
void ForceHistory<D>::predict_multipliers(double h, bool may_bend, VecX& multipliers) const {
    multipliers = expected_;
    if (!has_steps(1, h)) return;
    multipliers += expected_ - expected_before_;
    if (may_bend && predicts_parabola_) multipliers += expected_ - 2 * expected_before_ + expected_earlier_;
}

template <int D>
void ForceHistory<D>::predict_forces(double h, ForceCourse course, Wrenches& forces) const {
    forces = forces_[0];
    if (!has_steps(1, h) || course == ForceCourse::hold) return;
    const bool is_quadratic = course == ForceCourse::quadratic && has_steps(2, h);
    for (std::size_t p = 0; p < forces.size(); ++p) {
        const TwistVec<D> change = forces_[0][p] - forces_[1][p];
        forces[p] += change;
        if (is_quadratic) forces[p] += change - (forces_[1][p] - forces_[2][p]);
    }
}

template <int D>
void ForceHistory<D>::find_bend(Wrenches& bend) const {
    for (std::size_t p = 0; p < bend.size(); ++p) bend[p] = wrenches_[0][p] - 2 * wrenches_[1][p] + wrenches_[2][p];
}

template <int D>
void ForceHistory<D>::accept(double h, const VecX& multipliers, const VecX& late_correction, const Wrenches& forces,
                             const Wrenches& wrenches) {
    before_ = multipliers_;
    multipliers_ = multipliers;
    const auto next = multipliers + late_correction;
    predicts_parabola_ = has_steps(2, h) && (next - 3 * expected_ + 3 * expected_before_ - expected_earlier_).norm() <
                                                (next - 2 * expected_ + expected_before_).norm();
    std::swap(expected_earlier_, expected_before_);
    expected_before_ = expected_;
    expected_ = next;
    for (const auto& [past, last] : {std::pair{&forces_, &forces}, std::pair{&wrenches_, &wrenches}}) {
        std::rotate(past->begin(), past->end() - 1, past->end());
        past->front() = *last;
    }
    if (h == 0) return;
    steps_ = is_same_step(h) ? steps_ + 1 : 1;
    h_ = h;
}

template class ForceHistory<2>;
template class ForceHistory<3>;

}  // namespace limber
