#include "limber/kinematics/forces/force_law.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace limber {
namespace {

constexpr std::size_t own_variables = 3;  // x, v, t
constexpr std::size_t max_inputs = 16;    // see max_law_inputs

struct Panel {
    double integral = 0, magnitude = 0;  // of f and of |f|
};

// An interval with the values of f at its ends: neighbours and halves share them.
struct Interval {
    double from = 0, to = 0, at_from = 0, at_to = 0;
};

// Five-point rule of Lobatto: its ends see a kink wherever it is in the panel.
template <class F>
Panel integrate_panel(const Interval& over, double at_middle, const F& f) {
    constexpr double inner = 0.654653670707977;  // sqrt(3/7)
    constexpr std::array<double, 5> weight{1.0 / 10, 49.0 / 90, 32.0 / 45, 49.0 / 90, 1.0 / 10};
    const double middle = 0.5 * (over.from + over.to), half = 0.5 * (over.to - over.from);
    const std::array<double, 5> value{over.at_from, f(middle - half * inner), at_middle, f(middle + half * inner),
                                      over.at_to};
    Panel panel;
    for (std::size_t k = 0; k < value.size(); ++k) {
        const double part = weight[k] * value[k] * half;
        panel.integral += part;
        panel.magnitude += std::abs(part);
    }
    return panel;
}

// Halves the panel until that changes nothing; `budget` bounds what rough laws may cost.
template <class F>
double refine_panel(const Interval& over, double at_middle, double whole, double enough, int& budget, const F& f) {
    const double middle = 0.5 * (over.from + over.to);
    const Interval first{over.from, middle, over.at_from, at_middle};
    const Interval second{middle, over.to, at_middle, over.at_to};
    const double in_first = f(0.5 * (first.from + first.to)), in_second = f(0.5 * (second.from + second.to));
    const Panel left = integrate_panel(first, in_first, f);
    const Panel right = integrate_panel(second, in_second, f);
    const double sum = left.integral + right.integral;
    if (--budget <= 0 || std::abs(sum - whole) <= enough + 1e-14 * (left.magnitude + right.magnitude)) return sum;
    return refine_panel(first, in_first, left.integral, enough, budget, f) +
           refine_panel(second, in_second, right.integral, enough, budget, f);
}

// Integral of f from 0 to x. Kinks (a bump stop) must be found: an error there would look like energy gained or lost.
template <class F>
double integrate_from_zero(double x, const F& f) {
    const int panels = 8 + static_cast<int>(std::min(1000.0, 8 * std::abs(x)));
    const double h = x / panels;
    double magnitude = 0;
    for (int i = 0; i < panels; ++i) magnitude += std::abs(f((i + 0.5) * h) * h);
    double sum = 0, at_from = f(0);
    for (int i = 0; i < panels; ++i) {
        int budget = 100;
        const Interval panel{i * h, (i + 1) * h, at_from, f((i + 1) * h)};
        const double at_middle = f(0.5 * (panel.from + panel.to));
        sum +=
            refine_panel(panel, at_middle, integrate_panel(panel, at_middle, f).integral, 1e-13 * magnitude, budget, f);
        at_from = panel.at_to;
    }
    return sum;
}

}  // namespace

BoundLaw::BoundLaw(const ModelEvaluation& e, const ScalarLaw& law, const std::vector<std::string>& inputs,
                   const std::string& what)
    : kind_(law.kind) {
    const auto time_function = [&](const Number& n, const char* name) {
        return TimeFunction(e.bind(n, {"t"}, what + ": " + name));
    };
    stiffness_ = time_function(law.stiffness, "stiffness");
    damping_ = time_function(law.damping, "damping");
    preload_ = time_function(law.preload, "preload");
    for (const Number& c : law.coefficients) coefficients_.push_back(e.number(c, what + ": polynomial"));
    if (law.table) table_ = e.table(*law.table, what + ": table");
    if (kind_ == ScalarLaw::Kind::expression) {
        std::vector<std::string> slots{"x", "v", "t"};
        slots.insert(slots.end(), inputs.begin(), inputs.end());
        expression_ = e.bind(law.expression, slots, what);
        expression_is_elastic_ = true;
        for (std::size_t i = 1; i < slots.size(); ++i)
            if (expression_.depends_on(static_cast<int>(i))) expression_is_elastic_ = false;
        keep_corners(slots.size());
    }
}

// ---------------------------------------------------------------- kinks

namespace {

constexpr double same_slope = 1e-3;  // data sheets print four digits

std::span<const Dual<2>> law_variables(double x, double v, std::size_t slots,
                                       std::array<Dual<2>, own_variables + max_inputs>& variables) {
    variables.fill(Dual<2>(0.0));
    variables[0] = Dual<2>::variable(x, 0);
    variables[1] = Dual<2>::variable(v, 1);
    return {variables.data(), slots};
}

bool is_near(double a, double b, double off) {
    return std::abs(a - b) <= same_slope * (std::abs(a) + std::abs(b)) + off;
}

}  // namespace

// Between both sides of a place along x or v, for several values of the other one.
bool BoundLaw::has_corner_at(double x, double v, bool is_along_x, std::size_t slots) const {
    constexpr double share = 1e-9;
    std::array<Dual<2>, own_variables + max_inputs> variables;
    const double off = share * (1 + std::abs(is_along_x ? x : v));
    const auto law_at = [&](double side, double other) {
        return expression_.evaluate<Dual<2>>(
            law_variables(is_along_x ? x + side * off : other, is_along_x ? other : v + side * off, slots, variables));
    };
    bool has_corner = false;
    for (const double other : {0.0, 0.1, -1.0}) {
        const Dual<2> below = law_at(-1, other), above = law_at(1, other);
        const double slope = std::abs(below.partial[is_along_x ? 0 : 1]) + std::abs(above.partial[is_along_x ? 0 : 1]);
        if (!is_near(below.value, above.value, 10 * off * slope)) return false;  // a jump
        for (int k = 0; k < 2; ++k) has_corner = has_corner || !is_near(below.partial[k], above.partial[k], 0);
    }
    return has_corner;
}

// Of conditions on x or v alone, linear in them, the place is known.
void BoundLaw::keep_corners(std::size_t slots) {
    if (slots > own_variables || expression_.depends_on(2)) return;
    using Kinks = std::vector<BoundExpression::Kink<Dual<2>>>;
    std::array<Dual<2>, own_variables + max_inputs> variables;
    Kinks here, there;
    expression_.find_kinks<Dual<2>>(law_variables(0.3, 0.7, slots, variables), here);
    expression_.find_kinks<Dual<2>>(law_variables(1.9, -0.4, slots, variables), there);
    for (std::size_t i = 0; i < here.size(); ++i) {
        const auto& [value, slope] = here[i].argument;
        const bool is_linear = slope == there[i].argument.partial && here[i].at.size() == 1;
        const bool is_along_x = slope[1] == 0;
        if (!is_linear || (slope[0] == 0) == (slope[1] == 0)) continue;
        const double x = 0.3 + (here[i].at[0] - value) / (is_along_x ? slope[0] : 1);
        const double v = 0.7 + (here[i].at[0] - value) / (is_along_x ? 1 : slope[1]);
        if (!has_corner_at(x, v, is_along_x, slots)) expression_.remove_kink(here[i].place);
    }
}

bool BoundLaw::has_kinks() const {
    if (kind_ == ScalarLaw::Kind::table) return !table_->kinks().empty();
    return kind_ == ScalarLaw::Kind::expression && expression_.has_kinks();
}

void BoundLaw::add_kinks(double x, double v, double t, std::span<const double> inputs, KinkArguments& kinks) const {
    if (!has_kinks()) return;
    if (kind_ == ScalarLaw::Kind::table) {
        kinks.push_back({x, v, table_->kinks()});
        return;
    }
    // Derivatives by time, as far as they are known.
    std::array<Dual<1>, own_variables + max_inputs> variables;
    variables.fill(Dual<1>(0.0));
    const auto set = [&](std::size_t i, double value, double rate) {
        variables[i] = Dual<1>(value);
        variables[i].partial[0] = rate;
    };
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    set(0, x, v);
    set(1, v, unknown);
    set(2, t, 1);
    for (std::size_t i = 0; i < inputs.size(); ++i) set(own_variables + i, inputs[i], unknown);
    thread_local std::vector<BoundExpression::Kink<Dual<1>>> found;
    found.clear();
    expression_.find_kinks<Dual<1>>(std::span<const Dual<1>>(variables.data(), own_variables + inputs.size()), found);
    for (const auto& kink : found) kinks.push_back({kink.argument.value, kink.argument.partial[0], kink.at});
}

double BoundLaw::expression_value(double x, double v, double t, std::span<const double> inputs, int by,
                                  double* derivative) const {
    std::array<Dual<1>, own_variables + max_inputs> variables;
    variables[0] = x;
    variables[1] = v;
    variables[2] = t;
    for (std::size_t i = 0; i < inputs.size(); ++i) variables[own_variables + i] = inputs[i];
    variables[by].partial[0] = 1;
    const Dual<1> result =
        expression_.evaluate<Dual<1>>(std::span<const Dual<1>>(variables.data(), own_variables + inputs.size()));
    *derivative = result.partial[0];
    return result.value;
}

BoundLaw::Value BoundLaw::evaluate(double x, double v, double t, std::span<const double> inputs) const {
    Value result;
    switch (kind_) {
        case ScalarLaw::Kind::linear:
            result.by_x = stiffness_.value(t);
            result.force = result.by_x * x;
            break;
        case ScalarLaw::Kind::polynomial:
            for (std::size_t i = coefficients_.size(); i-- > 0;) {
                result.by_x = result.by_x * x + static_cast<double>(i + 1) * coefficients_[i];
                result.force = (result.force + coefficients_[i]) * x;
            }
            break;
        case ScalarLaw::Kind::table: {
            const UnaryDerivatives y = table_->evaluate(x);
            result.force = y.f;
            result.by_x = y.fx;
            break;
        }
        case ScalarLaw::Kind::expression: {
            std::array<Dual<2>, own_variables + max_inputs> variables;
            variables[0] = Dual<2>::variable(x, 0);
            variables[1] = Dual<2>::variable(v, 1);
            variables[2] = Dual<2>(t);
            for (std::size_t i = 0; i < inputs.size(); ++i) variables[own_variables + i] = Dual<2>(inputs[i]);
            const Dual<2> y = expression_.evaluate<Dual<2>>(
                std::span<const Dual<2>>(variables.data(), own_variables + inputs.size()));
            result = {y.value, y.partial[0], y.partial[1]};
            break;
        }
    }
    const double damping = damping_.value(t);
    result.force += damping * v + preload_.value(t);
    result.by_v += damping;
    return result;
}

double BoundLaw::force(double x, double v, double t, std::span<const double> inputs) const {
    if (kind_ != ScalarLaw::Kind::expression) return evaluate(x, v, t, inputs).force;
    std::array<double, own_variables + max_inputs> variables;
    variables[0] = x;
    variables[1] = v;
    variables[2] = t;
    for (std::size_t i = 0; i < inputs.size(); ++i) variables[own_variables + i] = inputs[i];
    return expression_.evaluate<double>(std::span<const double>(variables.data(), own_variables + inputs.size())) +
           damping_.value(t) * v + preload_.value(t);
}

double BoundLaw::by_input(int i, double x, double v, double t, std::span<const double> inputs) const {
    if (kind_ != ScalarLaw::Kind::expression) return 0;
    const int slot = static_cast<int>(own_variables) + i;
    if (!expression_.depends_on(slot)) return 0;
    double derivative = 0;
    expression_value(x, v, t, inputs, slot, &derivative);
    return derivative;
}

// The part of the force that is a function of x alone.
double BoundLaw::elastic(double x) const {
    double force = preload_.is_constant() ? preload_.value(0) : 0;
    switch (kind_) {
        case ScalarLaw::Kind::linear:
            if (stiffness_.is_constant()) force += stiffness_.value(0) * x;
            break;
        case ScalarLaw::Kind::polynomial: {
            double sum = 0;
            for (std::size_t i = coefficients_.size(); i-- > 0;) sum = (sum + coefficients_[i]) * x;
            force += sum;
            break;
        }
        case ScalarLaw::Kind::table: force += table_->evaluate(x).f; break;
        case ScalarLaw::Kind::expression:
            if (expression_is_elastic_) {
                const std::array<double, own_variables> variables{x, 0, 0};
                force += expression_.evaluate<double>(variables);
            }
            break;
    }
    return force;
}

double BoundLaw::potential(double x) const {
    if (kind_ == ScalarLaw::Kind::linear) {
        const double k = stiffness_.is_constant() ? stiffness_.value(0) : 0;
        const double p = preload_.is_constant() ? preload_.value(0) : 0;
        return x * (0.5 * k * x + p);
    }
    return integrate_from_zero(x, [&](double s) { return elastic(s); });
}

double BoundLaw::rest(double x, double v, double t, std::span<const double> inputs) const {
    return evaluate(x, v, t, inputs).force - elastic(x);
}

}  // namespace limber
