#pragma once
// All applied forces of a mechanism, each with the features it acts on.

#include <memory>
#include <string>
#include <vector>

#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

template <int D>
struct ForceElement {
    std::string name;
    std::shared_ptr<const AppliedForce<D>> force;
    int first_slot = 0, slot_count = 0;
    int first_prediction = 0;

    /// Null: of another kind.
    template <template <int> class Kind>
    const Kind<D>* as() const {
        return dynamic_cast<const Kind<D>*>(force.get());
    }
};

template <int D>
class ForceSet {
public:
    std::vector<ForceElement<D>> elements;
    std::vector<int> slot_feature;

    void add(std::string name, std::shared_ptr<const AppliedForce<D>> force, const std::vector<int>& slots);
    int max_slots() const;
    /// Of all elements together.
    int prediction_size() const { return prediction_size_; }
    /// What an element sees. `measures` are those of the mechanism.
    ForceView<D> view(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                      const MeasureContext<D>& context, double t, const double* prediction = nullptr) const {
        return {measures,
                context,
                t,
                slot_feature.data() + e.first_slot,
                e.slot_count,
                prediction == nullptr ? nullptr : prediction + e.first_prediction};
    }

    /// Fills one vector per slot.
    void evaluate(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                  std::vector<Vec<D>>& slot_force, const double* prediction = nullptr) const;
    /// Blocks of one element; false if it has none (a constant force).
    bool compute_blocks(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                        double t, ForceBlocks<D>& blocks, const double* prediction = nullptr) const;
    /// Of all elements (AppliedForce::predict).
    void predict(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                 double* prediction) const;

    /// Energy stored in the elements that have a potential.
    double potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const;
    /// Power done on the mechanism by everything that has none.
    double power(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const;
    /// Forces on the features of what has no potential. Compliant contacts are left out: their points come and go.
    void evaluate_without_potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                                    std::vector<Vec<D>>& slot_force) const;
    /// What a sensor shows of an element.
    double size(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const;

private:
    int prediction_size_ = 0;
};

}  // namespace limber
