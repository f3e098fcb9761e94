#include "limber/contact/friction/painleve.hpp"

#include <algorithm>

#include "limber/contact/stops/complementarity.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/math/dense_factors.hpp"

namespace limber {

template <int D>
bool is_paradox(const Mechanism<D>& m, StopResponse<D>& response, const BodyStates<D>& states, const State& state) {
    response.look(states, state.memory, state.t);
    std::vector<int> entries;
    const auto list_closed = [&](ContactFlag flag) {
        for (int i = 0; i < response.count(); ++i)
            if (m.stops[i].flag.in(state.memory) == flag) entries.push_back(i);
        return static_cast<Eigen::Index>(entries.size());
    };
    // Latched contacts pull as well as push: they come first, and are taken out like joints.
    const Eigen::Index latched = list_closed(ContactFlag::latched);
    const Eigen::Index closed = list_closed(ContactFlag::closed);
    std::vector<int> slipping;
    for (int i = 0; i < static_cast<int>(m.friction.size()); ++i) {
        const FrictionElement& friction = m.friction[i];
        if (friction.contact < 0 || !friction.slip.in(state.memory).is_on) continue;
        slipping.push_back(i);
        for (int k = 0; k < friction.row_count; ++k) entries.push_back(response.slip_entry(i, k));
    }
    if (slipping.empty() || !response.prepare(states, state.memory, state.t, entries)) return false;
    const MatX& w = response.delassus();
    MatX a = w.topLeftCorner(closed, closed);
    Eigen::Index row = closed;
    for (const int i : slipping) {
        const FrictionElement& friction = m.friction[i];
        const auto place = std::find(entries.begin(), entries.begin() + closed, friction.contact) - entries.begin();
        for (int k = 0; k < friction.row_count; ++k, ++row)
            a.col(place) -= friction.kinetic * friction.slip.in(state.memory).direction[k] * w.col(row).head(closed);
    }
    const Eigen::Index others = closed - latched;
    MatX rest = a.bottomRightCorner(others, others);
    if (latched > 0)
        rest -= a.bottomLeftCorner(others, latched) *
                solve_least_norm(a.topLeftCorner(latched, latched), MatX(a.topRightCorner(latched, others)));
    return !has_one_solution(rest);
}

#define LIMBER_INSTANTIATE(D) \
    template bool is_paradox(const Mechanism<D>&, StopResponse<D>&, const BodyStates<D>&, const State&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
