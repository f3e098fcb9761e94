#include "limber/modular/wrench_course.hpp"

#include <algorithm>
#include <utility>

namespace limber {

template <int D>
WrenchCourse<D>::WrenchCourse(std::size_t ports) : start_(ports, TwistVec<D>::Zero()) {
    end_ = bend_ = sum_ = start_;
}

template <int D>
void WrenchCourse<D>::begin(ForceCourse kind, int steps, Wrenches start, Wrenches bend) {
    kind_ = kind;
    steps_ = steps;
    std::copy(start.begin(), start.end(), start_.begin());
    std::fill(bend_.begin(), bend_.end(), TwistVec<D>::Zero());
    if (kind == ForceCourse::quadratic) std::copy(bend.begin(), bend.end(), bend_.begin());
}

template <int D>
void WrenchCourse<D>::set_end(Wrenches end) {
    std::copy(end.begin(), end.end(), end_.begin());
}

// The bend of a parabola is that of the steps before: multipliers of joints at the end of a step are good to the first
// order only, and a second difference with them would push the components on both sides of a joint by different
// impulses.
template <int D>
auto WrenchCourse<D>::weights(double s) const -> Weights {
    if (kind_ == ForceCourse::hold) return {0, 1, 0};
    return {1 - s, s, s * (s - 1) / 2};
}

template <int D>
auto WrenchCourse<D>::weights(int index, const HeldPart& part) const -> Weights {
    Weights sum{0, 0, 0};
    for (const auto& [share, place] :
         {std::pair{part.start, 0.0}, std::pair{part.middle, 0.5}, std::pair{part.end, 1.0}}) {
        const Weights at = weights((index + place) / steps_);
        sum = {sum.start + share * at.start, sum.end + share * at.end, sum.bend + share * at.bend};
    }
    return sum;
}

template <int D>
auto WrenchCourse<D>::sum(const Weights& weights) -> Wrenches {
    for (std::size_t p = 0; p < sum_.size(); ++p)
        sum_[p] = weights.start * start_[p] + weights.end * end_[p] + weights.bend * bend_[p];
    return sum_;
}

template <int D>
auto WrenchCourse<D>::after_step(int index) -> Wrenches {
    return sum(weights(static_cast<double>(index + 1) / steps_));
}

template <int D>
auto WrenchCourse<D>::held(int index, const HeldPart& part) -> Wrenches {
    return sum(weights(index, part));
}

// The middle of a step has the impulse of a straight course. Two halves have that of a parabola, and its moment too, so
// that positions are as good as velocities.
template <int D>
std::span<const HeldPart> WrenchCourse<D>::held_parts() const {
    static constexpr HeldPart whole[] = {{1, 0, 1, 0}};
    static constexpr HeldPart halves[] = {{0.5, 1.0 / 2, 2.0 / 3, -1.0 / 6}, {0.5, -1.0 / 6, 2.0 / 3, 1.0 / 2}};
    if (kind_ == ForceCourse::quadratic) return halves;
    return whole;
}

template <int D>
Reach WrenchCourse<D>::reach(double beta, double gamma) const {
    const double h = 1.0 / steps_;
    double x = 0;
    double v = 0;
    double a = kind_ == ForceCourse::hold ? 1 : 0;
    for (int i = 0; i < steps_; ++i) {
        const double next = weights((i + 1) * h).end;
        x += h * v + h * h * ((0.5 - beta) * a + beta * next);
        v += h * ((1 - gamma) * a + gamma * next);
        a = next;
    }
    return {x, v};
}

template <int D>
Reach WrenchCourse<D>::reach_of_held_parts() const {
    const double h = 1.0 / steps_;
    double x = 0;
    double v = 0;
    for (int i = 0; i < steps_; ++i)
        for (const HeldPart& part : held_parts()) {
            const double dt = part.length * h;
            const double held = part.start * weights(i * h).end + part.middle * weights((i + 0.5) * h).end +
                                part.end * weights((i + 1) * h).end;
            x += dt * v + 0.5 * dt * dt * held;
            v += dt * held;
        }
    return {x, v};
}

template class WrenchCourse<2>;
template class WrenchCourse<3>;

}  // namespace limber
