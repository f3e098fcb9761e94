#pragma once
// How a mechanism is divided into components and how these are held together.

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace limber {

class Exchange;

/// What the joints between components ask of them.
enum class Coupling {
    end_of_step,  ///< motion at the end of the step for forces at its end; joints close exactly (index 3)
    acceleration  ///< accelerations of the predicted motion; Baumgarte gains keep the joints closed (Joli 2008)
};

/// Course of the interface forces over a step that a component divides.
enum class ForceCourse {
    hold,    ///< constant, with the value of the end (not iterated: of the start)
    linear,  ///< straight from the start to the end
    quadratic
};

enum class Gluing {
    direct,              ///< admittance matrix measured by unit wrenches, factorised, kept while it serves; Anderson
    conjugate_gradient,  ///< scaled by the inverse of the measured matrix; a product is one more evaluation
    anderson,            ///< scaled by the measured block of each joint, accelerated from past answers only
    uzawa,               ///< Joli 2008 eqs. (25)-(28), (36)
    penalty              ///< Seguy 2003 eqs. (17), (18), (21): no iteration
};

struct ModularOptions {
    std::string division;  ///< body, tree, groups, auto, auto:K; empty: not divided
    Gluing gluing = Gluing::direct;
    Coupling coupling = Coupling::end_of_step;
    ForceCourse course = ForceCourse::linear;
    /// Interface forces are found to this fraction (Joli 2008 eq. 28).
    double tolerance = 1e-8;
    double rho = 0;  ///< uzawa; 0: by the masses, eq. (36)
    /// The same for single joints, by name; those that do not lie between components need none.
    std::vector<std::pair<std::string, double>> joint_rho{};
    bool use_iteration = true;  ///< false: forces between components are extrapolated over the step
    int max_evaluations = 400;
    int threads = 1;
    std::shared_ptr<Exchange> exchange;  ///< with the other processes of a distributed run; null: there are none

    bool is_on() const { return !division.empty(); }
    bool operator==(const ModularOptions&) const = default;
};

/// Settings of one component; what is empty or 0 is that of the whole.
struct ComponentSettings {
    std::string name;
    std::string formulation, integrator, coordinates;
    double step = 0;
    double penalty = 0, frequency = 0, damping = 0, tolerance = 0;
};

}  // namespace limber
