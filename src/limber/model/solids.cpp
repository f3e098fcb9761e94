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

UnitSolid unit_solid(const Solid& solid, const std::vector<double>& size, double rod_length, bool planar) {
    UnitSolid unit;
    const auto at = [&](std::size_t i) { return i < size.size() ? size[i] : 0.0; };
    switch (solid.kind) {
        case Solid::Kind::rod: {
            const double r = at(0);
            const double transverse = rod_length * rod_length / 12 + r * r / 4;
            unit.volume = r > 0 && !planar ? pi * r * r * rod_length : rod_length;
            unit.centre = {rod_length / 2, 0, 0};
            unit.inertia = planar ? diagonal(0, rod_length * rod_length / 12, rod_length * rod_length / 12)
                                  : diagonal(r * r / 2, transverse, transverse);
            break;
        }
        case Solid::Kind::box: {
            const double a = at(0);
            const double b = at(1);
            const double c = planar ? 0 : at(2);
            unit.volume = planar ? a * b : a * b * c;
            unit.inertia = diagonal((b * b + c * c) / 12, (a * a + c * c) / 12, (a * a + b * b) / 12);
            break;
        }
        case Solid::Kind::cylinder:
        case Solid::Kind::disc: {
            const double r = at(0);
            const double l = planar ? 0 : at(1);
            const double transverse = (3 * r * r + l * l) / 12;
            unit.volume = planar || l == 0 ? pi * r * r : pi * r * r * l;
            unit.inertia = diagonal(transverse, transverse, r * r / 2);
            break;
        }
        case Solid::Kind::sphere: {
            const double r = at(0);
            unit.volume = 4.0 / 3.0 * pi * r * r * r;
            unit.inertia = diagonal(0.4 * r * r, 0.4 * r * r, 0.4 * r * r);
            break;
        }
        case Solid::Kind::point:
        case Solid::Kind::general: break;
    }
    return unit;
}

MassProperties lumped_rod(const ModelEvaluation& e, const Solid& solid, double length, const Subject& what) {
    const double m0 = not_negative(e.number(solid.end_masses.value()[0], what.with("end mass")), what.with("end mass"));
    const double m1 = not_negative(e.number(solid.end_masses.value()[1], what.with("end mass")), what.with("end mass"));
    MassProperties ends[2];
    ends[0].mass = m0;
    ends[1].mass = m1;
    ends[1].centre = {length, 0, 0};
    return combine({ends[0], ends[1]});
}

}  // namespace

MassProperties solid_mass_properties(const ModelEvaluation& e, const Solid& solid, double rod_length, bool planar,
                                     const Subject& what) {
    const Frame frame = e.frame(solid.placement, what);
    MassProperties own;
    if (solid.kind == Solid::Kind::rod && solid.end_masses) {
        own = lumped_rod(e, solid, rod_length, what);
    } else {
        std::vector<double> size;
        for (const Number& n : solid.size)
            size.push_back(not_negative(e.number(n, what.with("size")), what.with("size")));
        const UnitSolid unit = unit_solid(solid, size, rod_length, planar);
        if (solid.density) {
            const double density = not_negative(e.number(*solid.density, what.with("density")), what.with("density"));
            own.mass = density * positive(unit.volume, what.with("the volume of a shape with a density"));
        } else if (solid.mass) {
            own.mass = not_negative(e.number(*solid.mass, what.with("mass")), what.with("mass"));
        }
        own.centre = unit.centre;
        own.inertia = own.mass * unit.inertia;
        if (solid.kind == Solid::Kind::general) {
            std::array<double, 6> at{};
            for (std::size_t i = 0; i < at.size(); ++i) at[i] = e.number(solid.inertia[i], what.with("inertia"));
            own.inertia << at[0], at[3], at[4], at[3], at[1], at[5], at[4], at[5], at[2];
            if (planar) own.inertia = diagonal(0, 0, own.inertia(2, 2));
            for (int i = 0; i < 3; ++i) not_negative(own.inertia(i, i), what.with("a moment of inertia"));
            if (!planar) refuse_impossible(own.inertia, what);
        }
    }
    own.centre = frame.position + frame.axes * own.centre;
    own.inertia = frame.axes * own.inertia * frame.axes.transpose();
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
