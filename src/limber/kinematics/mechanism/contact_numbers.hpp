#pragma once
// The laws of contact rules in numbers.

#include <optional>

#include "limber/kinematics/forces/contact_law.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {

/// None: these bodies do not touch. Throws ModelError for numbers that no law can have.
std::optional<ContactLaw> evaluate_contact(const ContactRule& rule, const ModelEvaluation& evaluation);

}  // namespace limber
