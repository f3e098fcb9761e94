#include "limber/contact/stops/stepped_stops.hpp"

#include <algorithm>

namespace limber {
namespace {

template <int D>
std::vector<int> stop_rows(const Mechanism<D>& m) {
    std::vector<int> list;
    if (has_stepped_stops(m))
        for (const StopRow& stop : m.stops) list.push_back(stop.row);
    return list;
}

}  // namespace

template <int D>
bool has_stepped_stops(const Mechanism<D>& m) {
    return m.has_rigid_contacts() && m.friction.empty() && !m.stops.empty() &&
           std::none_of(m.stops.begin(), m.stops.end(), [](const StopRow& stop) { return stop.latch_speed >= 0; });
}

template <int D>
ConstraintSet<D> rows_without_stops(const Mechanism<D>& m) {
    const std::vector<int> stops = stop_rows(m);
    std::vector<int> list;
    for (int r = 0; r < static_cast<int>(m.constraints.rows.size()); ++r)
        if (std::find(stops.begin(), stops.end(), r) == stops.end()) list.push_back(r);
    return m.constraints.with_rows(list, true);
}

template <int D>
SteppedStops<D>::SteppedStops(const Mechanism<D>& mechanism)
    : m_(mechanism), rows_(mechanism, mechanism.constraints.with_rows(stop_rows(mechanism))), laws_(count()) {
    for (int i = 0; i < count(); ++i) laws_[i].restitution = stop(i).restitution;
}

template bool has_stepped_stops(const Mechanism<2>&);
template bool has_stepped_stops(const Mechanism<3>&);
template ConstraintSet<2> rows_without_stops(const Mechanism<2>&);
template ConstraintSet<3> rows_without_stops(const Mechanism<3>&);
template class SteppedStops<2>;
template class SteppedStops<3>;

}  // namespace limber
