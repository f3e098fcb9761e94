// Many bodies in rigid contact for a long time: what stands must stand, what falls come to rest, and no step may gain
// energy.
//
//   limber_contact_study ROOT

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include "support.hpp"

namespace limber::bench {
namespace {

struct Case {
    const char* title;
    const char* example;
    double step, until;
};

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// A row of the table, with progress on the way.
std::string run(const Case& chosen) {
    Simulation s(example(chosen.example), options("global", "moreau-jean"));
    const auto energies = [&] { return s.observer().compute_energies(s.state()); };
    const VecX start = s.state().q;
    Energies e = energies();
    const double whole = e.kinetic + e.potential;
    double last = whole;
    double gain = 0;
    double imbalance = 0;
    double overlap = 0;
    double residual = 0;
    const double began = cpu_seconds();
    const long steps = std::lround(chosen.until / chosen.step);
    for (long k = 0; k < steps; ++k) {
        if (k % std::max(1L, steps / 20) == 0) fmt::print(stderr, "\r{}: {} of {} steps ", chosen.title, k, steps);
        const StepReport report = s.step(chosen.step);
        if (!report.ok) return fmt::format("| {} | stopped at {:g} s: {} |\n", chosen.title, s.time(), report.reason);
        e = energies();
        const double now = e.kinetic + e.potential;
        gain = std::max(gain, now - last);
        imbalance = std::max(imbalance, std::abs(now + e.impact_loss - whole));
        last = now;
        for (const ContactPoint& c : s.state().contacts) overlap = std::max(overlap, -c.gap);
        residual = std::max(residual, s.observer().compute_errors(s.state()).complementarity / chosen.step);
    }
    const double per_step = (cpu_seconds() - began) / static_cast<double>(steps);
    fmt::print(stderr, "\r{}: done              \n", chosen.title);
    const double moved = (s.state().q - start).lpNorm<Eigen::Infinity>();
    return fmt::format(
        "| {} | {:g} | {:g} | {:.3g} | {:.4g} | {:.4g} | {:.2g} | {:.2g} | {:.2g} | {:.2g} | {:.2g} | {:.2g} |\n",
        chosen.title, chosen.step, chosen.until, 1e3 * per_step, whole, e.impact_loss, gain, imbalance, overlap,
        residual, e.kinetic, moved);
}

int run_study(const std::string& root) {
    std::string page =
        "# Many rigid bodies that touch\n\n"
        "Made by `bench/contact`. Time-stepping; CPU time of a step with one thread, looking at energies included. The "
        "largest gain of a step is to be "
        "compared with the rounding of the energy, 2e-16 of it per body; the balance is energy and losses together "
        "against the start; the residual is by how much velocities "
        "miss the conditions of contact, at most.\n\n"
        "| case | step [s] | until [s] | time of a step [ms] | energy at the start [J] | lost [J] | largest gain of a "
        "step [J] | balance off by [J] | "
        "deepest overlap [m] | residual [m/s] | kinetic energy at the end [J] | largest change of a coordinate |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    page += run({"wall of 105 bricks", "contact/brick-wall.yaml", 5e-3, 60});
    page += run({"1000 spheres fall into a box", "contact/heap-of-spheres.yaml", 2e-3, 2.6});
    std::ofstream file(root + "/bench/results/contact.md");
    file << page;
    return file ? 0 : 1;
}

}  // namespace
}  // namespace limber::bench

int main(int argc, char** argv) {
    return argc == 2 ? limber::bench::run_study(argv[1]) : 2;
}
