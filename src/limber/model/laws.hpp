#pragma once
// Laws of forces and of time.

#include <optional>
#include <string>
#include <vector>

#include "limber/math/interpolation.hpp"
#include "limber/model/number.hpp"

namespace limber {

struct TableDefinition {
    static constexpr const char* kind = "table";
    std::string name{};
    std::vector<Number> x{}, y{};
    Interpolation::Kind interpolation = Interpolation::Kind::cubic;
};

/// A function of time: an expression of t, or a table.
struct TimeLaw {
    Number expression{};
    std::optional<TableDefinition> table{};
};

/// Force against elongation x [m or rad] and its rate v.
struct ScalarLaw {
    enum class Kind { linear, polynomial, table, expression };
    Kind kind = Kind::linear;
    Number stiffness{}, damping{}, preload{};
    std::vector<Number> coefficients{};      ///< polynomial: of x^1, x^2, ...
    std::optional<TableDefinition> table{};  ///< force over x
    Number expression{};                     ///< of x, v, t, parameters and other scalars
};

/// A vector of turning: a torque, an angular velocity. In the plane only its last component counts, and files have one
/// number.
struct AngularVector {
    Number3 components{};
};

}  // namespace limber
