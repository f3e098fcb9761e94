#pragma once
// Shapes by which bodies touch others, one structure per kind. Lengths in m; placements in the body frame.

#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "limber/math/frame.hpp"
#include "limber/model/description.hpp"
#include "limber/model/placement.hpp"

namespace limber {

/// Triangles read from a file.
struct SurfaceMesh {
    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles;  ///< counterclockwise seen from outside
};

/// An STL or OBJ file, and what was read from it.
struct SurfaceFile {
    std::string name{};
    std::shared_ptr<const SurfaceMesh> surface{};
};

/// Points of the xy plane, in space too.
struct PlanePoints {
    std::vector<Number3> points{};
};

/// Heights on a grid, row by row along x.
struct HeightGrid {
    std::vector<Number> heights{};
    int columns = 0;
};

/// Everything below z = 0 (plane: y = 0) of its frame.
struct PlaneShape {
    static constexpr TypeNote type{"plane", "everything below z = 0 (plane: y = 0) of its frame"};
    Placement placement{};

    static void visit(auto& self, auto& visitor) { visitor.placement(self.placement); }
};

struct SphereShape {
    static constexpr TypeNote type{"sphere", "centred (plane: a disc)"};
    Number radius{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        visitor.placement(self.placement);
    }
};

struct BoxShape {
    static constexpr TypeNote type{"box", "centred"};
    Number3 size{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.size, {"size", "lengths along x, y, z (plane: x, y)", true});
        visitor.placement(self.placement);
    }
};

struct CapsuleShape {
    static constexpr TypeNote type{"capsule", "centred, along z (plane: x)"};
    Number radius{}, length{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        visitor.field(self.length, {"length", "of the axis, without the round ends", true});
        visitor.placement(self.placement);
    }
};

struct CylinderShape {
    static constexpr TypeNote type{"cylinder", "centred, along z", true};
    Number radius{}, length{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        visitor.field(self.length, {"length", "along z", true});
        visitor.placement(self.placement);
    }
};

struct ConeShape {
    static constexpr TypeNote type{"cone", "along z, base at -length/2, apex at +length/2", true};
    Number radius{}, length{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.radius, {"radius", "radius", true});
        visitor.field(self.length, {"length", "along z", true});
        visitor.placement(self.placement);
    }
};

/// By its points or those of a file.
struct ConvexShape {
    static constexpr TypeNote type{"convex", "the convex hull of points (plane: a polygon)"};
    std::vector<Number3> points{};
    SurfaceFile file{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.points, {"points", "corners"});
        visitor.field(self.file, {"file", "STL or OBJ file, beside the model file"});
        visitor.placement(self.placement);
    }
};

struct MeshShape {
    static constexpr TypeNote type{"mesh", "surface of triangles, seen from outside", true};
    SurfaceFile file{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.file, {"file", "STL or OBJ file, beside the model file"});
        visitor.placement(self.placement);
    }
};

struct HeightFieldShape {
    static constexpr TypeNote type{"height-field", "ground of heights on a grid, centred, z up", true};
    std::array<Number, 2> size{};
    HeightGrid heights{};
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.size, {"size", "lengths along x and y", true});
        visitor.field(self.heights, {"heights", "[[z, ...], ...]: rows along x, one after the other along y", true});
        visitor.placement(self.placement);
    }
};

struct ProfileShape {
    static constexpr TypeNote type{"profile",
                                   "line through points of the xy plane, touched from its left: road, cam, rail"};
    PlanePoints line{};
    Number width{};  ///< in space only
    Placement placement{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.line, {"points", "in the order of travel", true});
        visitor.field(self.width, {"width", "along z, centred (space only)"});
        visitor.placement(self.placement);
    }
};

using ContactShape = std::variant<PlaneShape, SphereShape, BoxShape, CapsuleShape, CylinderShape, ConeShape,
                                  ConvexShape, MeshShape, HeightFieldShape, ProfileShape>;

}  // namespace limber
