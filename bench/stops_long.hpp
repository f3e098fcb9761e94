#pragma once
// Ten seconds of impacts of the pendulum of stops_study.cpp: who stays finite, and who gains energy.

#include <string>

namespace limber::bench {

/// Draws the energies, and tells the runs as lines of a table.
std::string follow_long(const std::string& svg_file);

}  // namespace limber::bench
