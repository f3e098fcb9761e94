#include "limber/kinematics/forces/road.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace limber {

void RoadProfile::add_bump(double from, double length, double height) {
    bumps_.push_back({from, length, height});
    note_kinks({from, from + length});
}
void RoadProfile::add_ramp(double from, double to, double height, double rounding) {
    ramps_.push_back({from, to, height, rounding});
    note_kinks({from - rounding / 2, from + rounding / 2, to - rounding / 2, to + rounding / 2});
}
void RoadProfile::add_stairs(double from, int count, double run, double rise, double riser) {
    stairs_.push_back({from, run, rise, riser, count});
    for (int i = 0; i < count; ++i) note_kinks({from + i * run, from + i * run + riser});
}
void RoadProfile::add_table(std::shared_ptr<const Interpolation> table) {
    for (const double x : table->kinks()) note_kinks({x});
    tables_.push_back(std::move(table));
}
void RoadProfile::add_expression(BoundExpression height) {
    expressions_.push_back(std::move(height));
}

void RoadProfile::add_random(double from, double length, double roughness, unsigned seed) {
    constexpr double n0 = 0.1;
    constexpr double lowest = 0.01;
    constexpr double highest = 1 / 0.35;
    constexpr int waves = 300;
    constexpr double spacing = 0.05;
    // mt19937 and its raw numbers are the same on every machine; distributions of the library are not.
    std::mt19937 random(seed);
    std::vector<double> wave_number(waves);
    std::vector<double> amplitude(waves);
    std::vector<double> phase(waves);
    // Bands equally wide in the logarithm of the wave number.
    const double ratio = std::pow(highest / lowest, 1.0 / waves);
    for (int i = 0; i < waves; ++i) {
        const double low = lowest * std::pow(ratio, i);
        wave_number[i] = low * std::sqrt(ratio);
        amplitude[i] = std::sqrt(2 * roughness * std::pow(wave_number[i] / n0, -2) * low * (ratio - 1));
        phase[i] = 2 * pi * (static_cast<double>(random()) / 4294967296.0);
    }
    std::vector<double> x;
    std::vector<double> z;
    const int count = std::max(2, static_cast<int>(length / spacing) + 1);
    // A metre of flat road on either side, so that the spline leaves the table without slope.
    for (int k = 20; k > 0; --k) {
        x.push_back(from - spacing * k);
        z.push_back(0);
    }
    for (int k = 0; k <= count; ++k) {
        const double s = length * k / count;
        double height = 0;
        for (int i = 0; i < waves; ++i) height += amplitude[i] * std::cos(2 * pi * wave_number[i] * s + phase[i]);
        const double edge = std::min({s / 5, (length - s) / 5, 1.0});
        x.push_back(from + s);
        z.push_back(height * edge * edge * (3 - 2 * edge));
    }
    for (int k = 1; k <= 20; ++k) {
        x.push_back(from + length + spacing * k);
        z.push_back(0);
    }
    tables_.push_back(std::make_shared<const Interpolation>(x, z, Interpolation::Kind::cubic));
}

void RoadProfile::note_kinks(std::initializer_list<double> places) {
    kinks_.insert(kinks_.end(), places);
    std::sort(kinks_.begin(), kinks_.end());
    kinks_.erase(std::unique(kinks_.begin(), kinks_.end()), kinks_.end());
}

void RoadProfile::add_kinks(double x, double rate, KinkArguments& kinks) const {
    if (!kinks_.empty()) kinks.push_back({x, rate, kinks_});
    thread_local std::vector<BoundExpression::Kink<Dual<1>>> found;
    for (const BoundExpression& expression : expressions_) {
        if (!expression.has_kinks()) continue;
        Dual<1> at(x);
        at.partial[0] = rate;
        found.clear();
        expression.find_kinks<Dual<1>>(std::span<const Dual<1>>(&at, 1), found);
        for (const auto& kink : found) kinks.push_back({kink.argument.value, kink.argument.partial[0], kink.at});
    }
}

UnaryDerivatives RoadProfile::evaluate(double x) const {
    UnaryDerivatives sum{0, 0, 0};
    for (const Bump& b : bumps_) {
        const double s = x - b.from;
        if (s <= 0 || s >= b.length) continue;
        const double k = 2 * pi / b.length;
        sum.f += b.height / 2 * (1 - std::cos(k * s));
        sum.fx += b.height / 2 * k * std::sin(k * s);
        sum.fxx += b.height / 2 * k * k * std::cos(k * s);
    }
    for (const Ramp& r : ramps_) {
        const double slope = r.height / (r.to - r.from);
        // The integral of a slope that rises linearly over the rounding at `from` and falls at `to`.
        const auto corner = [&](double at, double sign) {
            const double s = x - at;
            if (r.rounding <= 0 || std::abs(s) >= r.rounding / 2) {
                if (s <= 0) return;
                sum.f += sign * slope * s;
                sum.fx += sign * slope;
                return;
            }
            const double u = s + r.rounding / 2;
            sum.f += sign * slope * u * u / (2 * r.rounding);
            sum.fx += sign * slope * u / r.rounding;
            sum.fxx += sign * slope / r.rounding;
        };
        corner(r.from, 1);
        corner(r.to, -1);
    }
    for (const Stairs& s : stairs_) {
        for (int i = 0; i < s.count; ++i) {
            const double u = x - s.from - i * s.run;
            if (u <= 0) break;
            if (u >= s.riser) {
                sum.f += s.rise;
                continue;
            }
            const double k = pi / s.riser;
            sum.f += s.rise / 2 * (1 - std::cos(k * u));
            sum.fx += s.rise / 2 * k * std::sin(k * u);
            sum.fxx += s.rise / 2 * k * k * std::cos(k * u);
        }
    }
    for (const auto& table : tables_) {
        const UnaryDerivatives d = table->evaluate(x);
        sum.f += d.f;
        sum.fx += d.fx;
        sum.fxx += d.fxx;
    }
    for (const BoundExpression& expression : expressions_) {
        const Taylor2 at = Taylor2::variable(x);
        const Taylor2 d = expression.evaluate<Taylor2>(std::span<const Taylor2>(&at, 1));
        sum.f += d.value;
        sum.fx += d.first;
        sum.fxx += d.second;
    }
    return sum;
}

}  // namespace limber
