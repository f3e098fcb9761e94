#pragma once
// What happens where bodies touch, one structure per law. Units are SI, angles in radians.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/element.hpp"

namespace limber {

/// One of the two sides of a contact rule: bodies, and all bodies of some groups.
struct ContactSide {
    std::vector<BodyHandle> bodies{};
    std::vector<std::string> groups{};

    bool is_all() const { return bodies.empty() && groups.empty(); }
};

/// That touch each other; a side that is empty stands for all bodies.
struct ContactSides {
    ContactSide first{}, second{};
};

/// Resistance to sliding, rolling and turning, and who is meant; every law that makes forces has it.
struct ContactResistance {
    Number friction{};
    Number rolling{}, spinning{};  ///< [m]
    bool includes_joined = false;

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.friction, {"friction", "coefficient of sliding friction (default 0)"});
        visitor.field(self.rolling, {"rolling", "rolling resistance: moment over normal force, a length (default 0)"});
        visitor.field(self.spinning, {"spinning", "the same against turning about the normal (default 0)"});
        visitor.field(self.includes_joined, {"joined", "true: bodies that a joint connects touch too (default false)"});
    }
};

/// Friction of compliant laws: a function of the slip, or bristles.
struct ContactSlip {
    std::optional<Number> slip{};             ///< [m/s]; none: 1e-3
    std::optional<Number> turn_slip{};        ///< [rad/s]; none: 1e-2
    std::optional<Number> static_friction{};  ///< not below that of sliding; none: equal to it
    std::optional<Number> stribeck{};         ///< [m/s]; none: 1e-2
    std::optional<Number> bend{};             ///< [m]; none: no bristles
    std::optional<Number> bristle_damping{};  ///< [s], needs `bend`
    std::optional<Number> dwell{};            ///< [s], needs `bend`

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.slip, {"slip", "speed of sliding at which friction has half its full value (default 1e-3)"});
        visitor.field(self.turn_slip, {"turn-slip",
                                       "rate of turning, rad/s, at which rolling and spinning resistance have half "
                                       "their full value (default 1e-2)"});
        visitor.field(self.static_friction, {"static-friction", "coefficient at low speed (default: that of sliding)"});
        visitor.field(self.stribeck, {"stribeck", "speed at which that is lost (default 1e-2)"});
        visitor.field(self.bend, {"bend",
                                  "friction by bristles that give way so far under it before they slide (default: "
                                  "regularised by slip)"});
        visitor.field(self.bristle_damping,
                      {"bristle-damping", "of bristles: time constant of their damping (default 0)"});
        visitor.field(self.dwell,
                      {"dwell", "of bristles: time constant of rest in which static friction is built up (default 0)"});
    }
};

struct RigidContact {
    static constexpr TypeNote type{"rigid", "no overlap, friction in Coulomb's cone; needs the integrator moreau-jean"};
    std::string name{};
    ContactSides between{};
    Number restitution{};                     ///< 0: plastic .. 1: elastic
    std::optional<Number> static_friction{};  ///< not below that of sliding; none: equal to it
    ContactResistance resistance{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.restitution, {"restitution", "speed after an impact over that before (default 0)"});
        visitor.field(self.static_friction,
                      {"static-friction", "coefficient while it sticks (default: that of sliding)"});
        ContactResistance::visit(self.resistance, visitor);
    }
};

struct LinearContact {
    static constexpr TypeNote type{"linear", "spring and damper at each contact point"};
    std::string name{};
    ContactSides between{};
    Number stiffness{};   ///< [N/m]
    Number damping{};     ///< [N s/m]
    Number full_depth{};  ///< [m]
    ContactSlip slip{};
    ContactResistance resistance{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.stiffness, {"stiffness", "force over depth", true});
        visitor.field(self.damping, {"damping", "force over rate of depth (default 0)"});
        visitor.field(self.full_depth, {"full-depth", "depth at which the damping has its full value (default 0)"});
        ContactSlip::visit(self.slip, visitor);
        ContactResistance::visit(self.resistance, visitor);
    }
};

/// Force over depth to a power.
struct ContactPower {
    Number stiffness{};                ///< [N/m^exponent]
    std::optional<Number> exponent{};  ///< 1 .. 10; none: 1.5

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.stiffness, {"stiffness", "force over depth to the power of the exponent", true});
        visitor.field(self.exponent, {"exponent", "of the depth (default 1.5: round bodies)"});
    }
};

struct HertzContact {
    static constexpr TypeNote type{"hertz", "elastic: stiffness * depth^exponent"};
    std::string name{};
    ContactSides between{};
    ContactPower power{};
    ContactSlip slip{};
    ContactResistance resistance{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        ContactPower::visit(self.power, visitor);
        ContactSlip::visit(self.slip, visitor);
        ContactResistance::visit(self.resistance, visitor);
    }
};

struct HuntCrossleyContact {
    static constexpr TypeNote type{"hunt-crossley", "stiffness * depth^exponent * (1 + factor * rate of depth)"};
    std::string name{};
    ContactSides between{};
    ContactPower power{};
    Number factor{};  ///< [s/m]
    ContactSlip slip{};
    ContactResistance resistance{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        ContactPower::visit(self.power, visitor);
        visitor.field(self.factor, {"factor", "damping factor, s/m", true});
        ContactSlip::visit(self.slip, visitor);
        ContactResistance::visit(self.resistance, visitor);
    }
};

struct ExactRestitutionContact {
    static constexpr TypeNote type{
        "exact-restitution", "the same with the factor that gives a restitution at the speed of an impact (Gonthier)"};
    std::string name{};
    ContactSides between{};
    ContactPower power{};
    Number restitution{};  ///< 1e-3 .. 1
    Number speed{};        ///< [m/s]
    ContactSlip slip{};
    ContactResistance resistance{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        ContactPower::visit(self.power, visitor);
        visitor.field(self.restitution, {"restitution", "speed after an impact over that before", true});
        visitor.field(self.speed, {"speed", "of approach at which it is exact", true});
        ContactSlip::visit(self.slip, visitor);
        ContactResistance::visit(self.resistance, visitor);
    }
};

/// These do not touch.
struct NoContact {
    static constexpr TypeNote type{"none", "these do not touch"};
    std::string name{};
    ContactSides between{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.between); }
};

using ContactType =
    std::variant<RigidContact, LinearContact, HertzContact, HuntCrossleyContact, ExactRestitutionContact, NoContact>;

/// Of several rules for two bodies the last one counts.
struct ContactRule : TypedElement<ContactType> {
    static constexpr const char* kind = "contact";
    using TypedElement::TypedElement;

    const ContactSides& between() const {
        return std::visit([](const auto& contact) -> const ContactSides& { return contact.between; }, type);
    }
    /// Also bodies that a joint connects.
    bool includes_joined() const {
        return std::visit(
            [](const auto& contact) {
                if constexpr (requires { contact.resistance; }) return contact.resistance.includes_joined;
                return false;
            },
            type);
    }
};

}  // namespace limber
