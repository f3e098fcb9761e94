#include "limber/kinematics/mechanism/contact_numbers.hpp"

#include <fmt/format.h>

namespace limber {
namespace {

constexpr double any = 1e300;

class ContactEvaluation {
public:
    ContactEvaluation(std::string what, const ModelEvaluation& evaluation)
        : what_(std::move(what)), evaluation_(evaluation) {}

    std::optional<ContactLaw> operator()(const RigidContact& contact) const {
        ContactLaw law = resistance(contact.resistance, contact.static_friction);
        law.restitution = number(contact.restitution, "restitution", 0, 1);
        return law;
    }
    std::optional<ContactLaw> operator()(const LinearContact& contact) const {
        ContactLaw law = compliant(contact.resistance, contact.slip);
        law.kind = ContactLaw::Kind::linear;
        law.stiffness = number(contact.stiffness, "stiffness", 0, any);
        law.damping = number(contact.damping, "damping", 0, any);
        law.full_depth = number(contact.full_depth, "full-depth", 0, any);
        return law;
    }
    std::optional<ContactLaw> operator()(const HertzContact& contact) const { return power(contact); }
    std::optional<ContactLaw> operator()(const HuntCrossleyContact& contact) const {
        ContactLaw law = power(contact);
        law.factor = number(contact.factor, "factor", 0, any);
        return law;
    }
    std::optional<ContactLaw> operator()(const ExactRestitutionContact& contact) const {
        ContactLaw law = power(contact);
        law.factor = exact_damping_factor(number(contact.restitution, "restitution", 1e-3, 1)) /
                     number(contact.speed, "speed", 1e-12, any);
        return law;
    }
    std::optional<ContactLaw> operator()(const NoContact&) const { return std::nullopt; }

private:
    double number(const Number& given, const char* key, double least, double most) const {
        const double value = evaluation_.number(given, what_ + ": " + key);
        if (!(value >= least && value <= most))
            throw ModelError(
                fmt::format("{}: {} must lie between {} and {}, found {}", what_, key, least, most, value));
        return value;
    }
    double number(const std::optional<Number>& given, const char* key, double fallback, double least,
                  double most) const {
        return given ? number(*given, key, least, most) : fallback;
    }

    ContactLaw resistance(const ContactResistance& given, const std::optional<Number>& static_friction) const {
        ContactLaw law;
        law.friction = number(given.friction, "friction", 0, any);
        law.rolling = number(given.rolling, "rolling", 0, any);
        law.spinning = number(given.spinning, "spinning", 0, any);
        law.static_friction = number(static_friction, "static-friction", law.friction, law.friction, any);
        return law;
    }
    ContactLaw compliant(const ContactResistance& given, const ContactSlip& slip) const {
        ContactLaw law = resistance(given, slip.static_friction);
        law.slip = number(slip.slip, "slip", law.slip, 1e-12, any);
        law.turn_slip = number(slip.turn_slip, "turn-slip", law.turn_slip, 1e-12, any);
        law.stribeck = number(slip.stribeck, "stribeck", law.stribeck, 1e-12, any);
        if (slip.bend) {
            law.bristles = bristles(law, slip);
        } else if (slip.bristle_damping || slip.dwell) {
            throw ModelError(fmt::format("{}: {} belongs to bristles: say with bend how far they give way", what_,
                                         slip.bristle_damping ? "bristle-damping" : "dwell"));
        }
        return law;
    }
    FrictionLaw bristles(const ContactLaw& law, const ContactSlip& slip) const {
        if (!(law.friction > 0)) throw ModelError(what_ + ": bristles need friction above zero");
        FrictionLaw bristles;
        bristles.kind = FrictionLaw::Kind::bristle;
        bristles.kinetic = law.friction;
        bristles.at_rest = law.static_friction;
        bristles.stribeck = law.stribeck;
        bristles.bend = number(slip.bend, "bend", 0, 1e-12, any);
        bristles.damping = number(slip.bristle_damping, "bristle-damping", 0, 0, any);
        bristles.dwell = number(slip.dwell, "dwell", 0, 0, any);
        return bristles;
    }
    template <class Contact>
    ContactLaw power(const Contact& contact) const {
        ContactLaw law = compliant(contact.resistance, contact.slip);
        law.kind = ContactLaw::Kind::power;
        law.stiffness = number(contact.power.stiffness, "stiffness", 0, any);
        law.exponent = number(contact.power.exponent, "exponent", 1.5, 1, 10);
        return law;
    }

    std::string what_;
    const ModelEvaluation& evaluation_;
};

}  // namespace

std::optional<ContactLaw> evaluate_contact(const ContactRule& rule, const ModelEvaluation& evaluation) {
    return std::visit(ContactEvaluation(fmt::format("contact '{}'", rule.name), evaluation), rule.type);
}

}  // namespace limber
