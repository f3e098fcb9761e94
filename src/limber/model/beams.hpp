#pragma once
// Beams: bodies that bend, twist and stretch. A beam runs along a line from its start; the axes of its sections are x
// along the line, y and z across. In the plane z is the normal and only bending about z counts. Lengths in m, stiffness
// and density in SI units.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/description.hpp"
#include "limber/model/handles.hpp"
#include "limber/model/number.hpp"

namespace limber {

struct CurveDefinition;

struct CircleSection {
    static constexpr TypeNote type{"circle", "full round section"};
    Number radius{};

    bool operator==(const CircleSection&) const = default;
    static void visit(auto& self, auto& visitor) { visitor.field(self.radius, {"radius", "outside", true}); }
};

struct TubeSection {
    static constexpr TypeNote type{"tube", "round tube"};
    Number radius{}, thickness{};

    bool operator==(const TubeSection&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "outside", true});
        visitor.field(self.thickness, {"thickness", "of the wall", true});
    }
};

struct BoxSection {
    static constexpr TypeNote type{"box", "full rectangle"};
    Number height{}, width{};

    bool operator==(const BoxSection&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.height, {"height", "along y", true});
        visitor.field(self.width, {"width", "along z", true});
    }
};

struct ISection {
    static constexpr TypeNote type{"I", "two flanges and a web between them"};
    Number height{}, width{}, flange{}, web{};

    bool operator==(const ISection&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.height, {"height", "along y, over all", true});
        visitor.field(self.width, {"width", "of the flanges along z", true});
        visitor.field(self.flange, {"flange", "thickness of the flanges along y", true});
        visitor.field(self.web, {"web", "thickness of the web along z", true});
    }
};

/// What counts of a section, given directly: a material is not needed then.
struct GivenSection {
    static constexpr TypeNote type{"given", "stiffness and mass per length, in place of shape and material"};
    std::optional<Number> axial{}, torsion{};
    std::vector<Number> shear{}, bending{};
    std::vector<Number> matrix{};
    Number mass{};
    std::vector<Number> inertia{};
    Number damping{};

    bool operator==(const GivenSection&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.axial, {"axial", "EA [N]"});
        visitor.field(self.shear, {"shear", "GA along y and z [N], with shear factors; one number: both alike"});
        visitor.field(self.torsion, {"torsion", "GJ [N m^2]"});
        visitor.field(self.bending, {"bending", "EI about y and z [N m^2]; one number: both alike"});
        visitor.field(self.matrix, {"matrix",
                                    "in place of these: 6 x 6 numbers, row by row, for stretch, shear along y and z, "
                                    "twist and curvatures about y and z (plane: 3 x 3 for stretch, shear, curvature)"});
        visitor.field(self.mass, {"mass", "per length [kg/m]"});
        visitor.field(self.inertia,
                      {"inertia", "of rotation per length about x, y, z [kg m] (plane: one number, about z)"});
        visitor.field(self.damping,
                      {"damping", "stress by the rate of strain, over that by strain [s]: stiffness-proportional"});
    }
};

using SectionType = std::variant<CircleSection, TubeSection, BoxSection, ISection, GivenSection>;

struct BeamMaterial {
    Number young{};
    std::optional<Number> poisson{}, shear{};
    Number density{}, damping{}, expansion{};

    bool operator==(const BeamMaterial&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.young, {"young", "Young's modulus [Pa]", true});
        visitor.field(self.poisson, {"poisson", "Poisson's ratio (default 0.3)"});
        visitor.field(self.shear, {"shear", "shear modulus [Pa], in place of Poisson's ratio"});
        visitor.field(self.density, {"density", "mass per volume [kg/m^3]"});
        visitor.field(self.damping,
                      {"damping", "stress by the rate of strain, over that by strain [s]: stiffness-proportional"});
        visitor.field(self.expansion, {"expansion", "thermal strain per degree [1/K]"});
    }
};

/// A circular arc, in place of a straight line.
struct BeamArc {
    Number3 centre{};
    Number angle{};
    std::optional<Number3> axis{};

    bool operator==(const BeamArc&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.centre, {"centre", "of the circle, world axes", true});
        visitor.field(self.angle, {"angle", "turned from the start to the end", true});
        visitor.field(self.axis, {"axis", "about which (default z)"});
    }
};

enum class BeamTheory {
    exact,    ///< geometrically exact: stretch, shear, torsion and bending through any angle
    segments  ///< rigid segments with springs between them, for comparison
};

/// The body's frame is that of the section at the start. A place in it is an arc length and an offset in the section:
/// markers [s, y, z] move with the section at s. Markers "name.from" and "name.to" are at the ends.
struct Beam {
    Number3 from{};
    std::optional<Number3> to{};
    std::optional<BeamArc> arc{};
    Handle<CurveDefinition> curve{};
    SectionType section{};
    std::optional<BeamMaterial> material{};
    Number elements{};
    std::optional<Number> order{};
    std::optional<Number3> up{};
    Number twist{};
    BeamTheory theory = BeamTheory::exact;
    std::vector<Number> shear_factor{};
    Number prestress{}, temperature{}, drag{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.from, {"from", "start, world axes"});
        visitor.field(self.to, {"to", "end, world axes"});
        visitor.field(self.arc, {"arc", "in place of 'to': a circular arc from the start"});
        visitor.field(self.curve, {"curve", "in place of 'from' and 'to': along this curve"});
        visitor.field(self.section, {"section", "circle, tube, box, I, or given", true});
        visitor.field(self.material, {"material", "what it is made of; not with a given section"});
        visitor.field(self.elements, {"elements", "into how many it is divided", true});
        visitor.field(self.order, {"order", "of the shape functions: 1, 2 (default) or 3"});
        visitor.field(self.up, {"up", "direction near to z of the first section (default: world z, or y)"});
        visitor.field(self.twist, {"twist", "angle by which the last section is turned about x against the first"});
        visitor.field(self.theory,
                      {"theory", "exact (default): geometrically exact; segments: rigid ones with springs"});
        visitor.field(self.shear_factor,
                      {"shear-factor", "part of the section that takes shear along y and z (default: by its shape)"});
        visitor.field(self.prestress, {"prestress", "axial force in it as it is written [N]"});
        visitor.field(self.temperature, {"temperature", "above that at which it is as long as written [K]"});
        visitor.field(self.drag, {"mass-damping", "force against the velocity, over mass [1/s]: mass-proportional"});
    }
};

}  // namespace limber
