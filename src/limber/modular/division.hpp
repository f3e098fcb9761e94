#pragma once
// Which bodies form a component, and which joints and forces then lie between components.

#include "limber/kinematics/mechanism/part.hpp"
#include "limber/model/model.hpp"
#include "limber/modular/options.hpp"

namespace limber {

struct Division {
    std::vector<ComponentSettings> components;
    std::vector<int> component_of_body;  ///< beside the bodies of the mechanism
    std::vector<bool> cut_elements;  ///< joints that are to lie between components whatever their bodies; may be empty
    bool cuts_all = false;           ///< whether that goes for joints yet to come, too
};

/// body, tree, groups, auto or auto:K, as the options say; at least one component, if only an empty one. Throws
/// ModelError for groups that do not fit the model.
///
///   body    every body by itself; all joints lie between, those with the ground too (Joli 2008)
///   tree    every tree of the spanning forest that hangs on the ground; loops are closed between (or across) them
///   groups  those of the model; bodies of no group form one more
///   auto    K parts of about equal size with few joints between them
template <int D>
Division find_division(const Mechanism<D>& mechanism, const Model& model, const ModularOptions& options);

/// What each component keeps, and what lies between.
template <int D>
struct DividedParts {
    std::vector<PartChoice> components;
    std::vector<std::vector<int>> ports;  ///< bodies of each component that something between components touches
    PartChoice interface;                 ///< its bodies are all ports, component by component
};

template <int D>
DividedParts<D> find_parts(const Mechanism<D>& mechanism, const Division& division);

}  // namespace limber
