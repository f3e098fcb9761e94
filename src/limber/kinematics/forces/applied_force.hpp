#pragma once
// Applied forces as functions of features: every one gives a vector per slot (feature), the force conjugate to that
// feature, so that its virtual work is  sum_s F_s . df_s.  A torque T on a body with axes e_k acts on the axes:
// F_k = 1/2 T x e_k (since dtheta = 1/2 sum e_k x de_k).
//
// For implicit integration every force also gives its stiffness and damping blocks
//   K_ab = - dF_a / df_b,   C_ab = - dF_a / dfdot_b.
//
// Each kind is a class in a file of its own, which opens with its equations. Formulations, coordinates and observers
// know this interface only.

#include <functional>
#include <memory>
#include <vector>

#include "limber/kinematics/elements/measure.hpp"
#include "limber/math/kink.hpp"

namespace limber {

/// What a force sees of the mechanism.
template <int D>
struct ForceView {
    const std::vector<Measure<D>>& measures;  ///< of the mechanism
    const MeasureContext<D>& context;
    double t;
    const int* slots;  ///< the features it acts on
    int slot_count;
    /// In place of the stresses of this configuration (predict()); null: none. For tangents of statics.
    const double* prediction = nullptr;

    const Vec<D>& value(int slot) const { return context.features.value[slots[slot]]; }
    const Vec<D>& rate(int slot) const { return context.features.rate[slots[slot]]; }
};

/// Stiffness and damping blocks of one force, slot by slot.
template <int D>
struct ForceBlocks {
    int slots = 0;
    std::vector<Mat<D>> stiffness, damping;  ///< row-major slots x slots

    void reserve(int max_slots) {
        stiffness.resize(static_cast<std::size_t>(max_slots) * max_slots);
        damping.resize(static_cast<std::size_t>(max_slots) * max_slots);
    }
    void start(int count) {
        slots = count;
        for (int i = 0; i < count * count; ++i) {
            stiffness[i].setZero();
            damping[i].setZero();
        }
    }
    Mat<D>& k(int a, int b) { return stiffness[a * slots + b]; }
    Mat<D>& c(int a, int b) { return damping[a * slots + b]; }
};

/// Where measures and blocks of the memory of one mechanism are in another.
struct Renumbering {
    std::function<int(int measure)> measure;
    std::function<int(int first)> block;
};

template <int D>
class AppliedForce {
public:
    virtual ~AppliedForce() = default;

    /// One vector per slot.
    virtual void evaluate(const ForceView<D>& at, Vec<D>* out) const = 0;
    /// Adds to blocks that are zero; false: there are none (a constant force).
    virtual bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const = 0;
    /// What a sensor shows: tension of a spring, push of a motor, magnitude of most others.
    virtual double compute_size(const ForceView<D>& at) const = 0;

    /// Energy stored, if there is a potential.
    virtual double compute_potential(const ForceView<D>& /*at*/) const { return 0; }
    /// evaluate() without what the potential gives.
    virtual void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const { evaluate(at, out); }
    /// Power done on the mechanism by what has no potential. `scratch` has a place for every slot.
    virtual double compute_power(const ForceView<D>& at, Vec<D>* scratch) const {
        evaluate_without_potential(at, scratch);
        double sum = 0;
        for (int k = 0; k < at.slot_count; ++k) sum += scratch[k].dot(at.rate(k));
        return sum;
    }

    /// Of stiff elements that turn: the stresses after a motion whose rates are those of the features, if strains were
    /// linear in it. Turns by a large step strain stiff directions by the square of the step, which is no sign of a
    /// force; tangents with the linear stresses in place of those converge (Magisano, Leonetti and Garcea 2017). How
    /// many numbers, and what they are.
    virtual int prediction_size() const { return 0; }
    virtual void predict(const ForceView<D>& /*at*/, double* /*prediction*/) const {}

    /// Whether it has kinks that the motion may come across within a step.
    virtual bool has_kinks() const { return false; }
    /// What crosses them: always as many, in the same order.
    virtual void add_kinks(const ForceView<D>& /*at*/, KinkArguments& /*kinks*/) const {}

    /// Whether it notices that all its bodies move together: through components in world axes.
    virtual bool is_felt_by_common_motion(const std::vector<Measure<D>>& /*measures*/) const { return true; }
    /// Features on which the force depends, or which it moves; others are for the axes of a torque only.
    virtual void add_felt_features(const ForceView<D>& at, std::vector<int>& features) const {
        features.insert(features.end(), at.slots, at.slots + at.slot_count);
    }
    /// Whether all turns of its bodies matter to it, whatever their features.
    virtual bool feels_all_turns() const { return false; }

    /// The same in another mechanism.
    virtual std::shared_ptr<const AppliedForce> renumbered(const Renumbering& to) const = 0;
};

/// What all kinds have in common: the copy for another mechanism.
template <class Kind, int D>
class AppliedForceOf : public AppliedForce<D> {
public:
    std::shared_ptr<const AppliedForce<D>> renumbered(const Renumbering& to) const final {
        auto copy = std::make_shared<Kind>(static_cast<const Kind&>(*this));
        copy->renumber(to);
        return copy;
    }
    void renumber(const Renumbering& /*to*/) {}

private:
    AppliedForceOf() = default;
    friend Kind;
};

}  // namespace limber
