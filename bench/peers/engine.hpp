#pragma once
// What an engine has to do to take part. Each is built into a program of its own, so that no two of them meet in one
// process.

#include <memory>

#include "cases.hpp"

namespace peers {

/// How an engine is told to solve a case: a scheme in its own words, a step, or a tolerance where it chooses its steps
/// itself.
struct Setting {
    std::string scheme;
    double step = 0;
    double tolerance = 0;
};

class Engine {
public:
    virtual ~Engine() = default;
    /// Goes on until the given time and returns the number of steps that took.
    virtual long advance(double until) = 0;
    virtual void read(std::vector<LinkState>& states) = 0;
};

/// The program's engine: its name and version, ...
std::string engine_name();
/// ... the settings worth trying on a case, those first that suit it best; none if it cannot express it, ...
std::vector<Setting> settings_for(const Case& c);
/// ... and one run, ready to start.
std::unique_ptr<Engine> make_engine(const Case& c, const Setting& setting);

}  // namespace peers
