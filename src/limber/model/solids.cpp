// Mass properties of the solids a body can be made of. Inertia about the centre of mass:
//
//   rod       m l^2 / 12 about its middle, plus m r^2 / 2 about its axis if it has a radius
//   box       m (b^2 + c^2) / 12, ...
//   cylinder  about z: m r^2 / 2; about x, y: m (3 r^2 + l^2) / 12       (disc: the same with its thickness)
//   sphere    2/5 m r^2
//
// In a planar model a shape is a lamina: its density is per area (per length for a rod).

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "limber/math/dense_factors.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {
namespace {

double positive(double value, const Subject& what) {
    if (!(value > 0)) throw ModelError(fmt::format("{} must be positive, found {}", what.text(), value));
    return value;
}

double not_negative(double value, const Subject& what) {
    if (!(value >= 0)) throw ModelError(fmt::format("{} must not be negative, found {}", what.text(), value));
    return value;
}

Mat3 diagonal(double xx, double yy, double zz) {
    return Vec3(xx, yy, zz).asDiagonal();
}

Mat3 steiner(double mass, const Vec3& offset) {
    return mass * (offset.squaredNorm() * Mat3::Identity() - offset * offset.transpose());
}

// Moments of inertia are sums of m (y^2 + z^2), m (z^2 + x^2), m (x^2 + y^2): none is larger than the other two
// together.
void refuse_impossible(const Mat3& inertia, const Subject& what) {
    constexpr double rounding = 1e-9;
    constexpr double digits = 2e-3;  // of numbers as they stand in tables
    const Vec3 moments = compute_eigenvalues(inertia);
    const auto refuse = [&](const char* expected) {
        throw ModelError(
            fmt::format("{}: no body has such an inertia: expected {}, found principal moments {:.6g}, {:.6g}, {:.6g}",
                        what.text(), expected, moments[0], moments[1], moments[2]));
    };
    if (!(moments[0] >= -rounding * std::abs(moments[2]))) refuse("principal moments that are not negative");
    if (!(moments[2] <= (1 + digits) * (moments[0] + moments[1])))
        refuse("a largest principal moment of at most the sum of the other two");
}

// Volume (area, length) and inertia per unit mass of a solid about its own centre; centre in the solid's frame.
struct UnitSolid {
    double volume = 0;
    Vec3 centre = Vec3::Zero();
    Mat3 inertia = Mat3::Zero();
};

// Of lengths that are not negative.
class UnitSolids {
public:
    UnitSolids(const ModelEvaluation& evaluation, double rod_length, bool planar, const Subject& what)
        : evaluation_(evaluation), rod_length_(rod_length), is_planar_(planar), what_(what.with("size")) {}

    UnitSolid operator()(const RodSolid& rod) const {
        const double r = length(rod.radius);
        const double along = rod_length_ * rod_length_ / 12;
        const double transverse = along + r * r / 4;
        UnitSolid unit;
        unit.volume = r > 0 && !is_planar_ ? pi * r * r * rod_length_ : rod_length_;
        unit.centre = {rod_length_ / 2, 0, 0};
        unit.inertia = is_planar_ ? diagonal(0, along, along) : diagonal(r * r / 2, transverse, transverse);
        return unit;
    }
    UnitSolid operator()(const BoxSolid& box) const {
        const double a = length(box.size[0]);
        const double b = length(box.size[1]);
        const double c = is_planar_ ? 0 : length(box.size[2]);
        UnitSolid unit;
        unit.volume = is_planar_ ? a * b : a * b * c;
        unit.inertia = diagonal((b * b + c * c) / 12, (a * a + c * c) / 12, (a * a + b * b) / 12);
        return unit;
    }
    UnitSolid operator()(const CylinderSolid& cylinder) const { return round(cylinder.radius, cylinder.length); }
    UnitSolid operator()(const DiscSolid& disc) const { return round(disc.radius, disc.thickness); }
    UnitSolid operator()(const SphereSolid& sphere) const {
        const double r = length(sphere.radius);
        UnitSolid unit;
        unit.volume = 4.0 / 3.0 * pi * r * r * r;
        unit.inertia = diagonal(0.4 * r * r, 0.4 * r * r, 0.4 * r * r);
        return unit;
    }
    UnitSolid operator()(const PointSolid&) const { return {}; }

private:
    double length(const Number& number) const { return not_negative(evaluation_.number(number, what_), what_); }
    UnitSolid round(const Number& radius, const Number& height) const {
        const double r = length(radius);
        const double given = length(height);
        const double l = is_planar_ ? 0 : given;
        const double transverse = (3 * r * r + l * l) / 12;
        UnitSolid unit;
        unit.volume = is_planar_ || l == 0 ? pi * r * r : pi * r * r * l;
        unit.inertia = diagonal(transverse, transverse, r * r / 2);
        return unit;
    }

    const ModelEvaluation& evaluation_;
    double rod_length_;
    bool is_planar_;
    Subject what_;
};

MassProperties lumped_rod(const ModelEvaluation& e, const EndMasses& masses, double length, const Subject& what) {
    const auto mass = [&](const Number& number) {
        return not_negative(e.number(number, what.with("end mass")), what.with("end mass"));
    };
    MassProperties ends[2];
    ends[0].mass = mass(masses[0]);
    ends[1].mass = mass(masses[1]);
    ends[1].centre = {length, 0, 0};
    return combine({ends[0], ends[1]});
}

}  // namespace

MassProperties solid_mass_properties(const ModelEvaluation& e, const Solid& solid, double rod_length, bool planar,
                                     const Subject& what) {
    const auto* rod = std::get_if<RodSolid>(&solid);
    if (rod != nullptr && rod->end_masses) return lumped_rod(e, *rod->end_masses, rod_length, what);
    const UnitSolid unit = std::visit(UnitSolids(e, rod_length, planar, what), solid);
    const SolidMass& given = mass_of(solid);
    MassProperties own;
    if (given.density) {
        const double density = not_negative(e.number(*given.density, what.with("density")), what.with("density"));
        own.mass = density * positive(unit.volume, what.with("the volume of a shape with a density"));
    } else if (given.mass) {
        own.mass = not_negative(e.number(*given.mass, what.with("mass")), what.with("mass"));
    }
    own.centre = unit.centre;
    own.inertia = own.mass * unit.inertia;
    if (rod != nullptr) return own;
    const Frame frame = e.frame(placement_of(solid), what);
    own.centre = frame.position + frame.axes * own.centre;
    own.inertia = frame.axes * own.inertia * frame.axes.transpose();
    return own;
}

MassProperties given_mass_properties(const ModelEvaluation& e, const GivenMass& given, bool planar,
                                     const Subject& what) {
    MassProperties own;
    if (given.mass) own.mass = not_negative(e.number(*given.mass, what.with("mass")), what.with("mass"));
    own.centre = e.vector(given.centre, what);
    std::array<double, 6> at{};
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = e.number(given.inertia.entries[i], what.with("inertia"));
    own.inertia << at[0], at[3], at[4], at[3], at[1], at[5], at[4], at[5], at[2];
    if (planar) own.inertia = diagonal(0, 0, own.inertia(2, 2));
    for (int i = 0; i < 3; ++i) not_negative(own.inertia(i, i), what.with("a moment of inertia"));
    if (!planar) refuse_impossible(own.inertia, what);
    return own;
}

MassProperties combine(const std::vector<MassProperties>& parts) {
    MassProperties total;
    for (const auto& part : parts) {
        total.mass += part.mass;
        total.centre += part.mass * part.centre;
    }
    if (total.mass > 0) {
        total.centre /= total.mass;
    } else if (!parts.empty()) {
        total.centre = parts.front().centre;
    }
    for (const auto& part : parts) total.inertia += part.inertia + steiner(part.mass, part.centre - total.centre);
    return total;
}

}  // namespace limber
