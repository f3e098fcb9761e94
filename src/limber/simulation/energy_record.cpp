#include "limber/simulation/energy_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

constexpr double max_open = 1;            // of a joint, over the typical length: it has come apart
constexpr double tolerated_drift = 0.01;  // over what it is compared with
constexpr double floor_share = 1e-3;      // of weight and kinetic energy: what a drift is compared with at least
constexpr double largest_turn = 0.5;  // rad in a step, of schemes up to third order: two per cent of a quarter period
constexpr double largest_turn_of_rk4 = 1;
constexpr double good_turn = 0.2;

}  // namespace

void EnergyRecord::begin(const Energies& energies, double weight_energy) {
    *this = {};
    start = energies.total();
    weight = weight_energy;
    available = energies.kinetic + std::abs(energies.elastic) + weight_energy;
    least_kinetic = max_kinetic = energies.kinetic;
    contact_loss = energies.impact_loss;
}

void EnergyRecord::follow(const Energies& energies, double work, double off) {
    least_kinetic = std::min(least_kinetic, energies.kinetic);
    max_kinetic = std::max(max_kinetic, energies.kinetic);
    least_work = std::min(least_work, work);
    max_work = std::max(max_work, work);
    contact_loss = energies.impact_loss;
    // What has fallen far, or a spring, has given more.
    available = std::max(available, weight + start - energies.potential - energies.impact_loss);
    if (!(std::abs(off) <= drift)) drift = std::abs(off);  // also if it is not a number
}

std::string find_runaway(const EnergyRecord& record, const ConstraintErrors& errors, double length_scale,
                         double energy_bound, double step) {
    if (errors.position > max_open * length_scale)
        return fmt::format(
            "the joints have come apart: a constraint is open by {:.3g}, and the mechanism's size is {:.3g}; take a "
            "smaller step (now {:g} s), or a formulation that closes joints exactly, as global with trapezoidal",
            errors.position, length_scale, step);
    // Dampers cannot take more than there is: what they seem to have taken in an explosion does not count.
    const double expected = record.available + std::max(0.0, record.max_work) + std::abs(record.contact_loss);
    if (energy_bound > 0 && record.drift > energy_bound * expected)
        return fmt::format(
            "the energy has run away: its balance is off by {:.3g} J, more than {:g} times the {:.3g} J of start, "
            "gravity and work put in; take a smaller step (now {:g} s), or an implicit integrator, as trapezoidal with "
            "global "
            "(option energy-bound sets this bound, 0 lifts it)",
            record.drift, energy_bound, expected, step);
    return {};
}

std::optional<Warning> find_drift_warning(const EnergyRecord& record, double step) {
    struct Scale {
        double energy;
        const char* name;
    };
    const Scale scales[] = {{record.exchanged(), "exchanged"},
                            {record.work_done(), "of work"},
                            {floor_share * record.weight, "that are a thousandth of weight times size"},
                            {floor_share * record.max_kinetic, "that are a thousandth of the kinetic energy"}};
    const Scale& largest = *std::max_element(std::begin(scales), std::end(scales),
                                             [](const Scale& a, const Scale& b) { return a.energy < b.energy; });
    if (!(record.drift > tolerated_drift * largest.energy) || record.drift == 0) return {};
    return Warning{"energy-drift",
                   fmt::format("the energy balance is off by {:.3g} J, {:.2g} % of the {:.3g} J {}: try a step smaller "
                               "than {:g} s, or another integrator",
                               record.drift, 100 * record.drift / largest.energy, largest.energy, largest.name, step),
                   {}};
}

void LargestTurn::follow(const FastestTurn& turn, double h, int parts) {
    const double length = h / std::max(1, parts);
    if (!(turn.rate * length > angle)) return;
    angle = turn.rate * length;
    body = turn.body;
    step = length;
}

std::optional<Warning> find_turn_warning(const LargestTurn& turn, int order) {
    if (order > 4) return {};
    const double limit = order == 4 ? largest_turn_of_rk4 : largest_turn;
    if (!(turn.angle > limit)) return {};
    return Warning{"large-turn",
                   fmt::format("body '{}' turns by {:.2g} rad within a step, more than this integrator follows "
                               "accurately; try a step of {:.1g} s",
                               turn.body, turn.angle, turn.step * good_turn / turn.angle),
                   {turn.body}};
}

}  // namespace limber
