// The impulses of a step, island by island.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/contact/time_stepping/moreau_jean.hpp"

namespace limber {
namespace {

constexpr double no_solution = 1e-2;  // a residual beyond this is none, however much a set moves
constexpr int max_slow_downs = 5;     // for a lift: what turns less loses less, too

}  // namespace

// The impulses of the step before go to the nearest contact points of the same two shapes: none is lost, and none
// counted twice.
template <int D>
void MoreauJean<D>::take_guess(const State& state, double h) {
    impulse_.setZero(problem_.row_count());
    is_new_.assign(contacts_.size(), true);
    slides_.assign(contacts_.size(), false);
    // Both lists are in the order of their pairs.
    const auto pair_of = [](const auto& contact) { return std::pair(contact.shape_a, contact.shape_b); };
    std::size_t first = 0;
    for (const ContactPoint& old : state.contacts) {
        while (first < contacts_.size() && pair_of(contacts_[first]) < pair_of(old)) ++first;
        std::size_t nearest = first;
        const auto distance = [&](std::size_t k) { return (contacts_[k].point - old.point).squaredNorm(); };
        for (std::size_t k = first; k < contacts_.size() && pair_of(contacts_[k]) == pair_of(old); ++k)
            if (distance(k) < distance(nearest)) nearest = k;
        if (nearest == contacts_.size() || pair_of(contacts_[nearest]) != pair_of(old)) continue;
        const int i = static_cast<int>(nearest);
        is_new_[i] = false;
        slides_[i] = slides_[i] || old.slides;
        problem_.add_impulse(i, h * old.force, h * old.torque, impulse_);
    }
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        double& normal = impulse_[problem_.first_row(static_cast<int>(i))];
        normal = std::max(0.0, normal);
    }
}

template <int D>
double MoreauJean<D>::slip_speed(int contact, const VecX& velocities) {
    return velocities.segment(problem_.first_row(contact) + 1, problem_.blocks()[contact].sliding_rows).norm();
}

template <int D>
void MoreauJean<D>::choose_coefficients() {
    problem_.multiply(before_, u_before_);
    for (int i = 0; i < static_cast<int>(contacts_.size()); ++i) {
        if (is_new_[i]) slides_[i] = slip_speed(i, u_before_) > slip_tolerance_;
        if (!slides_[i]) problem_.blocks()[i].friction = problem_.law(contacts_[i]).static_friction;
    }
}

template <int D>
bool MoreauJean<D>::let_go(int island, double defect) {
    bool has_changed = false;
    for (const int i : problem_.contacts(island)) {
        const double kinetic = problem_.law(contacts_[i]).friction;
        double& friction = problem_.blocks()[i].friction;
        slides_[i] = slip_speed(i, velocity_) > std::max(slip_tolerance_, 2 * defect);
        if (!slides_[i] || friction == kinetic) continue;
        friction = kinetic;
        has_changed = has_changed || impulse_[problem_.first_row(i)] > 0;
    }
    return has_changed;
}

template <int D>
ConeReport MoreauJean<D>::solve_island(int island, const DelassusMatrix& delassus, double h) {
    Island& own = island_;
    own.blocks.clear();
    for (const int i : problem_.contacts(island)) own.blocks.push_back(problem_.blocks()[i]);
    problem_.gather(island, u_before_, own.before);
    problem_.gather(island, u_working_, own.working);
    problem_.gather(island, u_free_, own.free);
    problem_.gather(island, impulse_, own.impulse);
    own.bias.setZero(delassus.rows());
    for (int k = 0; const int i : problem_.contacts(island)) {
        const int row = delassus.first_row(k);
        own.bias[row] = std::max(0.0, contacts_[i].gap) / h;
        // Only what is reached within the step bounces, and no bounce that forces bring back within two steps: it would
        // never come to rest.
        const double pressing = own.before[row] - own.free[row];
        double& restitution = own.blocks[k].restitution;
        if (own.free[row] + own.bias[row] >= 0 || -restitution * own.before[row] < pressing) restitution = 0;
        ++k;
    }
    const ConeReport solved = solver_.solve_impact(delassus, own.blocks, own.before, own.working, own.free, own.bias,
                                                   compute_allowance(island, h), own.impulse, own.velocity);
    problem_.scatter(island, own.impulse, impulse_);
    problem_.scatter(island, own.velocity, velocity_);
    return solved;
}

template <int D>
ConeReport MoreauJean<D>::solve_with_friction(int island, const DelassusMatrix& delassus, double h) {
    ConeReport solved;
    int sweeps = 0;
    int newton_steps = 0;
    do {
        solved = solve_island(island, delassus, h);
        sweeps += solved.sweeps;
        newton_steps += solved.newton_steps;
    } while (let_go(island, solved.defect));
    solved.sweeps = sweeps;
    solved.newton_steps = newton_steps;
    return solved;
}

// Impulses of an island that also lose, or take from what turns, the energy by which parting lifts its bodies.
template <int D>
ConeReport MoreauJean<D>::solve_with_lift(int island, const DelassusMatrix& delassus, double h) {
    ConeReport solved = solve_with_friction(island, delassus, h);
    const double lift = parting_.compute_lift(problem_, island, wrench_);
    double taken = 0;
    const auto debt = [&] { return lift - taken - std::max(0.0, compute_lost_energy(island, h)); };
    for (int k = 0; k < max_slow_downs && debt() > 0; ++k) {
        const double paid = slow_down(island, debt(), h);
        if (paid == 0) break;
        taken += paid;
        solved = solve_with_friction(island, delassus, h);
    }
    if (debt() > 0) parting_.reduce(problem_, island, 1 - debt() / lift, contacts_);
    lost_ += taken;
    return solved;
}

// Impulses of all contacts, island by island; false if there are none in some island.
template <int D>
bool MoreauJean<D>::solve_contacts(bool is_given, double h, StepReport& report) {
    parting_.plan(problem_, contacts_);
    find_velocities(h);
    velocity_.setZero(problem_.row_count());
    gained_.assign(problem_.island_count(), 0);
    lost_ = residual_ = 0;
    for (int island = 0; island < problem_.island_count(); ++island) {
        const DelassusMatrix& delassus = problem_.assemble(island);
        const bool pays = parting_.is_needed(island) && !is_given && !problem_.has_joints(island);
        const ConeReport solved =
            pays ? solve_with_lift(island, delassus, h) : solve_with_friction(island, delassus, h);
        report.iterations = std::max(report.iterations, solved.sweeps + solved.newton_steps);
        const double lost = compute_lost_energy(island, h);
        gained_[island] = problem_.has_joints(island) ? 0 : std::max(0.0, -lost);
        lost_ += lost;
        if (parting_.is_needed(island)) lost_ -= parting_.compute_lift(problem_, island, wrench_);
        residual_ = std::max(residual_, solved.defect);
        if (!(solved.residual > no_solution)) continue;
        report.ok = false;
        report.reason = describe_failure(contacts_[problem_.contacts(island)[solved.worst]], solved.defect);
        return false;
    }
    problem_.add_response(impulse_, after_);
    for (int island = 0; island < problem_.island_count(); ++island)
        if (gained_[island] > 0) take_back(island, gained_[island], h);
    return true;
}

template <int D>
std::string MoreauJean<D>::describe_failure(const Contact& worst, double defect) const {
    if (worst.stop >= 0)
        return fmt::format(
            "stop '{}': there are no impulses that hold it, or none were found; its rate is off by {:.3g}",
            stops_.name(worst.stop), defect);
    const auto name = [&](int body) { return body < 0 ? std::string("ground") : m_.bodies[body].name; };
    return fmt::format(
        "contact '{}': there are no impulses that keep '{}' and '{}' apart and obey friction, or none were found; "
        "velocities are off by {:.3g}",
        m_.contact_rules[worst.rule].name, name(worst.body_a), name(worst.body_b), defect);
}

template void MoreauJean<2>::take_guess(const State& state, double h);
template void MoreauJean<3>::take_guess(const State& state, double h);
template double MoreauJean<2>::slip_speed(int contact, const VecX& velocities);
template double MoreauJean<3>::slip_speed(int contact, const VecX& velocities);
template void MoreauJean<2>::choose_coefficients();
template void MoreauJean<3>::choose_coefficients();
template bool MoreauJean<2>::let_go(int island, double defect);
template bool MoreauJean<3>::let_go(int island, double defect);
template ConeReport MoreauJean<2>::solve_island(int island, const DelassusMatrix& delassus, double h);
template ConeReport MoreauJean<3>::solve_island(int island, const DelassusMatrix& delassus, double h);
template ConeReport MoreauJean<2>::solve_with_friction(int island, const DelassusMatrix& delassus, double h);
template ConeReport MoreauJean<3>::solve_with_friction(int island, const DelassusMatrix& delassus, double h);
template ConeReport MoreauJean<2>::solve_with_lift(int island, const DelassusMatrix& delassus, double h);
template ConeReport MoreauJean<3>::solve_with_lift(int island, const DelassusMatrix& delassus, double h);
template bool MoreauJean<2>::solve_contacts(bool is_given, double h, StepReport& report);
template bool MoreauJean<3>::solve_contacts(bool is_given, double h, StepReport& report);
template std::string MoreauJean<2>::describe_failure(const Contact& worst, double defect) const;
template std::string MoreauJean<3>::describe_failure(const Contact& worst, double defect) const;

}  // namespace limber
