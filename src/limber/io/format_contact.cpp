// The words of the file for bodies that touch: contact rules and shapes.

#include "limber/io/format.hpp"

namespace limber {
namespace {

using K = FieldKind;

std::vector<FieldFormat> with_friction(std::vector<FieldFormat> fields) {
    const std::vector<FieldFormat> common{
        {"friction", K::number, "coefficient of sliding friction (default 0)"},
        {"rolling", K::number, "rolling resistance: moment over normal force, a length (default 0)"},
        {"spinning", K::number, "the same against turning about the normal (default 0)"},
        {"joined", K::truth, "true: bodies that a joint connects touch too (default false)"},
    };
    fields.insert(fields.end(), common.begin(), common.end());
    return fields;
}

}  // namespace

const std::vector<TypeFormat>& contact_formats() {
    // Of compliant laws, whose friction is a function of the slip or of bristles.
    const auto with_slip = [](std::vector<FieldFormat> fields) {
        fields.insert(
            fields.end(),
            {{"slip", K::number, "speed of sliding at which friction has half its full value (default 1e-3)"},
             {"turn-slip", K::number,
              "rate of turning, rad/s, at which rolling and spinning resistance have half their full value (default "
              "1e-2)"},
             {"static-friction", K::number, "coefficient at low speed (default: that of sliding)"},
             {"stribeck", K::number, "speed at which that is lost (default 1e-2)"},
             {"bend", K::number,
              "friction by bristles that give way so far under it before they slide (default: "
              "regularised by slip)"},
             {"bristle-damping", K::number, "of bristles: time constant of their damping (default 0)"},
             {"dwell", K::number,
              "of bristles: time constant of rest in which static friction is built up (default 0)"}});
        return with_friction(std::move(fields));
    };
    static const FieldFormat stiffness{"stiffness", K::number, "force over depth to the power of the exponent", true};
    static const FieldFormat exponent{"exponent", K::number, "of the depth (default 1.5: round bodies)"};
    static const std::vector<TypeFormat> list{
        {"rigid", K::two_bodies, "no overlap, friction in Coulomb's cone; needs the integrator moreau-jean", false,
         with_friction({{"restitution", K::number, "speed after an impact over that before (default 0)"},
                        {"static-friction", K::number, "coefficient while it sticks (default: that of sliding)"}})},
        {"linear", K::two_bodies, "spring and damper at each contact point", false,
         with_slip({{"stiffness", K::number, "force over depth", true},
                    {"damping", K::number, "force over rate of depth (default 0)"},
                    {"full-depth", K::number, "depth at which the damping has its full value (default 0)"}})},
        {"hertz", K::two_bodies, "elastic: stiffness * depth^exponent", false, with_slip({stiffness, exponent})},
        {"hunt-crossley", K::two_bodies, "stiffness * depth^exponent * (1 + factor * rate of depth)", false,
         with_slip({stiffness, exponent, {"factor", K::number, "damping factor, s/m", true}})},
        {"exact-restitution", K::two_bodies,
         "the same with the factor that gives a restitution at the speed of an impact (Gonthier)", false,
         with_slip({stiffness,
                    exponent,
                    {"restitution", K::number, "speed after an impact over that before", true},
                    {"speed", K::number, "of approach at which it is exact", true}})},
        {"none", K::two_bodies, "these do not touch", false, {}},
    };
    return list;
}

const std::vector<TypeFormat>& shape_formats() {
    static const auto make = [](const char* name, const char* meaning, std::vector<FieldFormat> fields,
                                bool is_spatial_only) {
        for (const auto& field : placement_fields()) fields.push_back(field);
        return TypeFormat{name, K::object, meaning, is_spatial_only, fields};
    };
    static const FieldFormat radius{"radius", K::number, "radius", true};
    static const FieldFormat length{"length", K::number, "along z", true};
    static const FieldFormat file{"file", K::text, "STL or OBJ file, beside the model file"};
    static const std::vector<TypeFormat> list{
        make("plane", "everything below z = 0 (plane: y = 0) of its frame", {}, false),
        make("sphere", "centred (plane: a disc)", {radius}, false),
        make("box", "centred", {{"size", K::numbers, "lengths along x, y, z (plane: x, y)", true}}, false),
        make("capsule", "centred, along z (plane: x)",
             {radius, {"length", K::number, "of the axis, without the round ends", true}}, false),
        make("cylinder", "centred, along z", {radius, length}, true),
        make("cone", "along z, base at -length/2, apex at +length/2", {radius, length}, true),
        make("convex", "the convex hull of points (plane: a polygon)", {{"points", K::points, "corners"}, file}, false),
        make("mesh", "surface of triangles, seen from outside", {file}, true),
        make("height-field", "ground of heights on a grid, centred, z up",
             {{"size", K::numbers, "lengths along x and y", true},
              {"heights", K::numbers, "[[z, ...], ...]: rows along x, one after the other along y", true}},
             true),
        make("profile", "line through points of the xy plane, touched from its left: road, cam, rail",
             {{"points", K::points, "in the order of travel", true},
              {"width", K::number, "along z, centred (space only)"}},
             false),
    };
    return list;
}

}  // namespace limber
