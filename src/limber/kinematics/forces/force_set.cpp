#include "limber/kinematics/forces/force_set.hpp"

#include <algorithm>

namespace limber {

template <int D>
void ForceSet<D>::add(std::string name, std::shared_ptr<const AppliedForce<D>> force, const std::vector<int>& slots) {
    const int predictions = force->prediction_size();
    elements.push_back({std::move(name), std::move(force), static_cast<int>(slot_feature.size()),
                        static_cast<int>(slots.size()), prediction_size_});
    prediction_size_ += predictions;
    slot_feature.insert(slot_feature.end(), slots.begin(), slots.end());
}

template <int D>
int ForceSet<D>::max_slots() const {
    int most = 0;
    for (const auto& e : elements) most = std::max(most, e.slot_count);
    return most;
}

template <int D>
void ForceSet<D>::evaluate(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                           std::vector<Vec<D>>& slot_force, const double* prediction) const {
    for (const ForceElement<D>& e : elements)
        e.force->evaluate(view(e, measures, context, t, prediction), slot_force.data() + e.first_slot);
}

template <int D>
void ForceSet<D>::predict(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                          double* prediction) const {
    for (const ForceElement<D>& e : elements)
        e.force->predict(view(e, measures, context, t), prediction + e.first_prediction);
}

template <int D>
void ForceSet<D>::evaluate_without_potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                                             double t, std::vector<Vec<D>>& slot_force) const {
    for (const ForceElement<D>& e : elements)
        e.force->evaluate_without_potential(view(e, measures, context, t), slot_force.data() + e.first_slot);
}

template <int D>
bool ForceSet<D>::compute_blocks(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                                 double t, ForceBlocks<D>& blocks, const double* prediction) const {
    const ForceElement<D>& e = elements[element];
    blocks.start(e.slot_count);
    return e.force->compute_blocks(view(e, measures, context, t, prediction), blocks);
}

template <int D>
double ForceSet<D>::size(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                         double t) const {
    return elements[element].force->compute_size(view(elements[element], measures, context, t));
}

template <int D>
double ForceSet<D>::potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                              double t) const {
    double sum = 0;
    for (const ForceElement<D>& e : elements) sum += e.force->compute_potential(view(e, measures, context, t));
    return sum;
}

template <int D>
double ForceSet<D>::power(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const {
    thread_local std::vector<Vec<D>> scratch;
    double sum = 0;
    for (const ForceElement<D>& e : elements) {
        if (scratch.size() < static_cast<std::size_t>(e.slot_count)) scratch.resize(e.slot_count);
        sum += e.force->compute_power(view(e, measures, context, t), scratch.data());
    }
    return sum;
}

template class ForceSet<2>;
template class ForceSet<3>;

}  // namespace limber
