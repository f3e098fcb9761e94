#pragma once
// What is legal but deserves a look, in one form for all who show it: command line, JSON, studio.
//
// Of the start, by find_warnings():
//   assembly            bodies that the joints have moved from where the model puts them
//   start-velocities    velocities that the joints have changed, and the energy that took
//   redundant           joints whose reactions are not unique
//   contradiction       joints that cannot all be satisfied, and stay open a little, or ask for different accelerations
//   dead-point          more can move at the start than elsewhere
//   nothing-moves       no freedom and no driver
//   model               what was noted while the mechanism was made of the model
//   unattached          bodies to which nothing is attached
//   overlap             shapes that overlap
// Of a run, by run():
//   energy-drift        an energy balance that does not close
//   large-turn          a body that turns far in one step

#include <string>
#include <vector>

namespace limber {

class Observer;
class Simulation;
struct MobilityReport;

struct Warning {
    std::string kind, text;
    std::vector<std::string> elements;  ///< names of bodies, joints, ... it is about
};

/// Beyond, finding redundant joints takes longer than one likes to wait for a picture or for the start of a run.
inline constexpr std::size_t max_bodies_for_mobility = 120;

/// All warnings of a simulation as it stands. Those about assembly and velocities are of the model's start, and gone
/// after a transfer. With many bodies what depends on the rank of all joints is left out. `mobility`: if it is known
/// already.
std::vector<Warning> find_warnings(const Simulation& simulation, Observer& observer,
                                   const MobilityReport* mobility = nullptr);
std::vector<Warning> find_warnings(Simulation& simulation);

}  // namespace limber
