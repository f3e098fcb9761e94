#pragma once
// New elements of a running mechanism are placed where things are now: places in world axes and lengths that are left
// open mean the present configuration, not the one written in the model.

#include "limber/simulation/simulation.hpp"

namespace limber {

/// Of all markers, joints and forces of `model` that the simulation's own model does not have.
void place_new_elements(const Simulation& simulation, Model& model);

/// A joint of `model` that does not hold yet: its ends, wherever they are now, are closed gradually with the given
/// frequency.
void start_closing(const Simulation& simulation, Model& model, JointHandle joint, double frequency);

/// How far apart such a joint still is at the time t: the largest of its equations.
double closing_gap(const Joint& joint, double t);

}  // namespace limber
