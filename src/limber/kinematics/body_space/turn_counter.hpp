#pragma once
// Whole turns of the angles that a start asks for are counted, not made: Newton's method goes a radian at a time. What
// one joint turns, all angles between the same two bodies about the same axis count; through gears and drivers the
// turns go on to angles that nobody has set yet.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

template <int D>
class TurnCounter {
public:
    /// `features` are those of the bodies as drawn.
    TurnCounter(const Mechanism<D>& m, const FeatureState<D>& features, double t, std::vector<double>& memory)
        : m_(m),
          features_(features),
          t_(t),
          memory_(memory),
          is_set_(m.constraints.measures.size(), false),
          rest_(m.constraints.measures.size(), 0.0) {}

    void count() {
        for (const InitialMeasure& initial : m_.initial_positions) {
            if (m_.measure(initial.measure).kind != MeasureKind::angle) continue;
            settle(initial.measure, initial.value - value(initial.measure));
        }
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (const Row& row : m_.constraints.rows)
                if (row.is_holonomic() && !row.flag.exists()) goes_on = pass_on(row) || goes_on;
        }
    }

private:
    /// Where the start will have it, as far as that is known.
    double value(int measure) const {
        return rest_[measure] + compute_value(m_.measure(measure), MeasureContext<D>{features_, memory_, m_.curves});
    }
    double error(const Row& row) const {
        double sum = -(row.law < 0 ? row.rhs : m_.constraints.laws[row.law].value(t_));
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
            sum += m_.constraints.terms[k].coefficient * value(m_.constraints.terms[k].measure);
        return sum;
    }
    bool pass_on(const Row& row) {
        const auto terms = std::span(m_.constraints.terms).subspan(row.first_term, row.term_count);
        const bool is_known = row.law >= 0 || std::any_of(terms.begin(), terms.end(),
                                                          [&](const RowTerm& term) { return is_set_[term.measure]; });
        for (const RowTerm& term : terms) {
            if (m_.measure(term.measure).kind != MeasureKind::angle || is_set_[term.measure]) continue;
            const double by = -error(row) / term.coefficient;
            if (!is_known && !(std::abs(by) > few_turns)) return false;
            settle(term.measure, by);
            return true;
        }
        return false;
    }

    int body(const Measure<D>& angle, int k) const { return m_.features[angle.feature[k]].body; }
    /// Normal of the plane in which it is measured.
    AngularVec<D> axis(const Measure<D>& angle) const {
        return moment<D>(features_.value[angle.feature[0]], features_.value[angle.feature[1]]);
    }
    /// 1 or -1 if the second angle grows with the first; 0: it does not.
    int sense(const Measure<D>& first, const Measure<D>& second) const {
        if (second.kind != MeasureKind::angle) return 0;
        const bool is_same = body(first, 0) == body(second, 0) && body(first, 2) == body(second, 2);
        const bool is_reverse = body(first, 0) == body(second, 2) && body(first, 2) == body(second, 0);
        const double along = axis(first).dot(axis(second));
        if ((!is_same && !is_reverse) || std::abs(along) < 0.9) return 0;
        return (along > 0) == is_same ? 1 : -1;
    }
    /// Counts the whole turns; the rest is for Newton's method.
    void settle(int measure, double by) {
        const double whole = std::abs(by) > few_turns ? 2 * pi * std::round(by / (2 * pi)) : 0;
        const Measure<D>& turned = m_.measure(measure);
        for (std::size_t i = 0; i < is_set_.size(); ++i) {
            const Measure<D>& other = m_.measure(static_cast<int>(i));
            const int way = sense(turned, other);
            if (way == 0) continue;
            other.memory.in(memory_) += way * whole;
            rest_[i] += way * (by - whole);
            is_set_[i] = true;
        }
    }

    static constexpr double few_turns = 8 * pi;
    const Mechanism<D>& m_;
    const FeatureState<D>& features_;
    double t_;
    std::vector<double>& memory_;
    std::vector<bool> is_set_;
    std::vector<double> rest_;
};

}  // namespace limber
