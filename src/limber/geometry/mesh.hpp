#pragma once
// Surfaces made of facets: every facet is a thin convex shape that is touched from its front.

#include <array>
#include <cmath>
#include <span>

#include "limber/geometry/manifold.hpp"

namespace limber {

/// A triangle of a mesh. A height field has hundreds of thousands: what the corners tell is computed where it is asked
/// for.
struct Facet {
    std::array<int, 3> corner;  ///< vertices of the mesh
    Vec3 normal;                ///< in the frame of the mesh
    /// Of the side from each corner to the next: how far a direction of contact may lean outwards before the neighbour
    /// has to answer for it; without neighbour as far as it likes.
    std::array<double, 3> lean{INFINITY, INFINITY, INFINITY};

    Bounds bounds(const Shape& mesh) const {
        Bounds box;
        for (const int c : corner) box.add(mesh.vertices[c]);
        return box;
    }
};
std::span<const Facet> facets_of(const Shape& mesh);

/// A facet as a convex shape of its own, until the next one is asked for in the same thread.
const Shape& facet_shape(const Shape& mesh, const Facet& facet);

/// Contact points of one facet with a convex shape; none if that is behind the facet.
void find_facet_manifold(const Shape& mesh, const Facet& facet, const Frame& frame, const Shape& b,
                         const Frame& frame_b, double margin, Manifold& manifold);

/// Contact points of a mesh on a plane: corners below the margin, the deepest and those farthest apart. The normal is
/// the plane's.
void find_plane_manifold(const Frame& plane, const Shape& mesh, const Frame& frame, double margin, Manifold& manifold);

/// What facets have answered so far with one point each, as they do to round bodies. Two that share a flat side both do
/// so where that is touched.
class SinglePoints {
public:
    /// False if another facet gave the same point and direction.
    bool add(const Manifold& manifold);

private:
    static constexpr int most = 8;
    int count_ = 0;
    std::array<Vec3, most> points_, normals_;
};

/// Contact points of any two shapes but two meshes: use(manifold) for each facet, or once.
template <class Use>
void for_each_manifold(const Shape& a, const Frame& fa, const Shape& b, const Frame& fb, double margin,
                       Manifold& manifold, const Use& use) {
    const bool is_mesh = a.kind == Shape::Kind::mesh;
    if (!is_mesh && b.kind != Shape::Kind::mesh) {
        find_manifold(a, fa, b, fb, margin, manifold);
        if (manifold.count > 0) use(manifold);
        return;
    }
    const Shape& mesh = is_mesh ? a : b;
    const Shape& other = is_mesh ? b : a;
    if (other.kind == Shape::Kind::mesh) return;
    const Frame& mesh_frame = is_mesh ? fa : fb;
    const Frame& other_frame = is_mesh ? fb : fa;
    if (other.kind == Shape::Kind::plane) {
        find_plane_manifold(other_frame, mesh, mesh_frame, margin, manifold);
        if (manifold.count == 0) return;
        if (is_mesh) manifold.normal = -manifold.normal;
        use(manifold);
        return;
    }
    const Frame relative{mesh_frame.local_point(other_frame.position), mesh_frame.axes.transpose() * other_frame.axes};
    Bounds reach = compute_bounds(other, relative);
    reach.low.array() -= margin;
    reach.high.array() += margin;
    SinglePoints singles;
    for (const Facet& facet : facets_of(mesh)) {
        if (!facet.bounds(mesh).overlaps(reach)) continue;
        find_facet_manifold(mesh, facet, mesh_frame, other, other_frame, margin, manifold);
        if (manifold.count == 0 || (manifold.count == 1 && !singles.add(manifold))) continue;
        if (!is_mesh) manifold.normal = -manifold.normal;
        use(manifold);
    }
}

}  // namespace limber
