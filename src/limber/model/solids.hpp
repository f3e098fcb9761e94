#pragma once
// What gives a body its mass and its looks, one structure per kind of solid. Units are SI.

#include <array>
#include <optional>
#include <string>
#include <variant>

#include "limber/model/description.hpp"
#include "limber/model/laws.hpp"
#include "limber/model/placement.hpp"

namespace limber {

/// One of the two.
struct SolidMass {
    std::optional<Number> mass{};     ///< [kg]
    std::optional<Number> density{};  ///< [kg/m^3] (plane: per area; thin rod: per length)

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.mass, {"mass", "mass"});
        visitor.field(self.density, {"density", "mass per volume (plane: per area; thin rod: per length)"});
    }
};

/// Masses lumped at the two ends of a rod.
using EndMasses = std::array<Number, 2>;

struct RodSolid {
    static constexpr TypeNote type{
        "rod", "straight rod between two points; fixes the body frame: origin at from, x towards to; markers from, to"};
    Number3 from{}, to{};  ///< [m] world axes at the reference configuration
    Number radius{};       ///< [m]
    std::optional<EndMasses> end_masses{};
    SolidMass mass{};
    std::string color{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.from, {"from", "first end, world axes", true});
        visitor.field(self.to, {"to", "second end, world axes", true});
        visitor.field(self.radius, {"radius", "for inertia about the axis and for pictures"});
        visitor.field(self.end_masses, {"end-masses", "two masses lumped at the ends, in place of mass"});
        SolidMass::visit(self.mass, visitor);
        visitor.field(self.color, text_note("color", "a color", "for pictures: a name or #rrggbb"));
    }
};

/// What all solids but rods have besides their size.
struct SolidCommon {
    SolidMass mass{};
    Placement placement{};  ///< in the body frame
    std::string color{};

    static void visit(auto& self, auto& visitor) {
        SolidMass::visit(self.mass, visitor);
        visitor.placement(self.placement);
        visitor.field(self.color, text_note("color", "a color", "for pictures: a name or #rrggbb"));
    }
};

struct BoxSolid {
    static constexpr TypeNote type{"box", "centred"};
    Number3 size{};  ///< [m]
    SolidCommon common{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.size, {"size", "lengths along x, y, z (plane: x, y)", true});
        SolidCommon::visit(self.common, visitor);
    }
};

struct CylinderSolid {
    static constexpr TypeNote type{"cylinder", "axis along z, centred"};
    Number radius{}, length{};  ///< [m]
    SolidCommon common{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        visitor.field(self.length, {"length", "along z"});
        SolidCommon::visit(self.common, visitor);
    }
};

struct SphereSolid {
    static constexpr TypeNote type{"sphere", "centred"};
    Number radius{};  ///< [m]
    SolidCommon common{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        SolidCommon::visit(self.common, visitor);
    }
};

struct DiscSolid {
    static constexpr TypeNote type{"disc", "axis along z, centred"};
    Number radius{}, thickness{};  ///< [m]
    SolidCommon common{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        visitor.field(self.thickness, {"thickness", "along z (default 0)"});
        SolidCommon::visit(self.common, visitor);
    }
};

struct PointSolid {
    static constexpr TypeNote type{"point", "a point mass"};
    SolidCommon common{};

    static void visit(auto& self, auto& visitor) { SolidCommon::visit(self.common, visitor); }
};

using Solid = std::variant<RodSolid, BoxSolid, CylinderSolid, SphereSolid, DiscSolid, PointSolid>;

inline const SolidMass& mass_of(const Solid& solid) {
    return std::visit(
        [](const auto& one) -> const SolidMass& {
            if constexpr (requires { one.common; }) {
                return one.common.mass;
            } else {
                return one.mass;
            }
        },
        solid);
}
inline bool gives_mass(const Solid& solid) {
    const auto* rod = std::get_if<RodSolid>(&solid);
    return mass_of(solid).mass || mass_of(solid).density || (rod != nullptr && rod->end_masses);
}
/// In the body frame; that of a rod is the body frame.
inline Placement placement_of(const Solid& solid) {
    return std::visit(
        [](const auto& one) {
            if constexpr (requires { one.common; }) return one.common.placement;
            return Placement{};
        },
        solid);
}

/// Entries of the inertia matrix about the centre of mass, xx yy zz xy xz yz, in body axes [kg m^2]; xy is minus the
/// integral of x y dm. In the plane zz counts.
struct InertiaEntries {
    std::array<Number, 6> entries{};
};

/// Mass properties as such, beside those of the solids.
struct GivenMass {
    std::optional<Number> mass{};  ///< [kg]
    Number3 centre{};              ///< [m] in the body frame
    InertiaEntries inertia{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.mass, {"mass", "mass, when no solid gives one (default 0)"});
        visitor.field(self.centre, {"com", "centre of mass in the body frame"});
        visitor.field(self.inertia, {"inertia",
                                     "about the centre of mass, entries of the inertia matrix: [xx, yy, zz] or [xx, "
                                     "yy, zz, xy, xz, yz], where xy is minus the integral of x y dm (plane: one)"});
    }
};

}  // namespace limber
