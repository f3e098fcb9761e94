#include "limber/integration/step_path.hpp"

namespace limber {
namespace {

// x0 + h s r0 + s^2 (3 d - e) + s^3 (e - 2 d),  d = x1 - x0 - h r0,  e = h (r1 - r0), and its rate
void interpolate_cubic(const VecX& x0, const VecX& rate0, const VecX& x1, const VecX& rate1, double h, double s,
                       VecX& x, VecX& rate) {
    const VecX d = x1 - x0 - h * rate0;
    const VecX e = h * (rate1 - rate0);
    x = x0 + h * s * rate0 + s * s * (3 * d - e) + s * s * s * (e - 2 * d);
    rate = rate0 + (2 * s * (3 * d - e) + 3 * s * s * (e - 2 * d)) / h;
}

// q0 + h s v0 + (h s)^2 a0 / 2 + s^3 c3 + s^4 c4 + s^5 c5, with what is left for the end: of positions d, of rates e,
// of second rates f
void interpolate_quintic(const State& from, const State& to, double s, State& state) {
    const double h = to.t - from.t;
    const VecX d = to.q - from.q - h * from.v - 0.5 * h * h * from.a;
    const VecX e = h * (to.v - from.v - h * from.a);
    const VecX f = h * h * (to.a - from.a);
    const VecX c3 = 10 * d - 4 * e + 0.5 * f;
    const VecX c4 = -15 * d + 7 * e - f;
    const VecX c5 = 6 * d - 3 * e + 0.5 * f;
    state.q = from.q + h * s * from.v + 0.5 * h * h * s * s * from.a + s * s * s * (c3 + s * (c4 + s * c5));
    state.v = from.v + h * s * from.a + s * s * (3 * c3 + s * (4 * c4 + s * 5 * c5)) / h;
    state.a = from.a + s * (6 * c3 + s * (12 * c4 + s * 20 * c5)) / (h * h);
}

}  // namespace

State& StepPath::next() {
    if (static_cast<std::size_t>(used_) == states_.size()) states_.emplace_back();
    return states_[used_++];
}

void StepPath::add_piece(const State& from, const State& to) {
    next() = from;
    next() = to;
}

void StepPath::end(const State& end, Shape shape) {
    states_[used_ - 1] = end;
    shape_ = shape;
}

int StepPath::find_piece(double t) const {
    int piece = 0;
    while (piece + 1 < pieces() && t > end_of(piece).t) ++piece;
    return piece;
}

void StepPath::find_state(double t, State& state) const {
    const int piece = find_piece(t);
    const State& from = begin_of(piece);
    const State& to = end_of(piece);
    state = from;
    state.t = t;
    const double h = to.t - from.t;
    if (!(h > 0)) return;
    const double s = (t - from.t) / h;
    switch (shape_) {
        case Shape::plain:
            interpolate_cubic(from.q, from.v, to.q, to.v, h, s, state.q, state.v);
            state.a = (1 - s) * from.a + s * to.a;
            break;
        case Shape::cubic:
            interpolate_cubic(from.q, from.v, to.q, to.v, h, s, state.q, state.v);
            interpolate_cubic(from.v, from.a, to.v, to.a, h, s, state.v, state.a);
            break;
        case Shape::quintic: interpolate_quintic(from, to, s, state); break;
        case Shape::jump: state.q = (1 - s) * from.q + s * to.q; break;
    }
    if (from.lambda.size() == to.lambda.size()) state.lambda = (1 - s) * from.lambda + s * to.lambda;
    // What touches, and the accelerations there, are means over the step that ends.
    state.contacts = to.contacts;
    if (shape_ == Shape::jump || !to.contacts.empty()) state.a = to.a;
}

}  // namespace limber
