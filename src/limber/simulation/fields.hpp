#pragma once
// The fields of what a run has counted, listed as those of a state are (dynamics/system/state_fields.hpp).

#include "limber/dynamics/system/state_fields.hpp"
#include "limber/simulation/energy_record.hpp"

namespace limber {

template <MaybeConst<EnergyRecord> T, class F>
void visit_fields(T& record, F&& f) {
    auto& [start, available, weight, least_kinetic, max_kinetic, least_work, max_work, contact_loss, drift] = record;
    f("start", start);
    f("available", available);
    f("weight", weight);
    f("least_kinetic", least_kinetic);
    f("max_kinetic", max_kinetic);
    f("least_work", least_work);
    f("max_work", max_work);
    f("contact_loss", contact_loss);
    f("drift", drift);
}

template <MaybeConst<LargestTurn> T, class F>
void visit_fields(T& turn, F&& f) {
    auto& [body, angle, step] = turn;
    f("body", body);
    f("angle", angle);
    f("step", step);
}

}  // namespace limber
