#include "limber/kinematics/body_space/gear_mesh.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

constexpr double parallel = 1e-6;  // sine of an angle that is none

struct Line {
    Vec3 point, direction;
    Vec3 foot(const Vec3& p) const { return point + direction * direction.dot(p - point); }
};

/// A line along which the wheels roll on each other.
struct PitchLine {
    Line line;
    Vec3 place;  ///< where the teeth meet unless something else is said
    bool is_place_known = true;
};

PitchLine between_parallel_axes(const Line& first, const Line& second, double q, const char*& why_not) {
    const Vec3 across = second.foot(first.point) - first.point;
    if (across.norm() < parallel)
        why_not = wheels_on_one_axis;
    else if (std::abs(q - 1) < parallel)
        why_not = "wheels that turn alike on parallel axes have no teeth in common";
    const Vec3 place = first.point + q / (q - 1) * across;
    return {{place, first.direction}, place};
}

PitchLine between_crossing_axes(const Line& first, const Line& second, double q, const char*& why_not) {
    const Vec3 normal = first.direction.cross(second.direction);
    const Vec3 d = second.point - first.point;
    const double square = normal.squaredNorm();
    const Vec3 apex = first.point + first.direction * (d.cross(second.direction).dot(normal) / square);
    const double size = std::max(d.norm(), (apex - first.point).norm());
    if (std::abs(d.dot(normal)) / std::sqrt(square) > parallel * (1 + size))
        why_not = "its axes pass each other at a distance";
    return {{apex, (first.direction - q * second.direction).normalized()}, apex, false};
}

template <int D>
Line axis_of(const GearMesh& mesh, const FeatureState<D>& features, int k) {
    const bool is_normal = D == 2 && !(mesh.has_rack && k == 1);  // of the plane
    return {in_space<D>(features.value[mesh.point[k]]),
            is_normal ? Vec3(Vec3::UnitZ()) : in_space<D>(features.value[mesh.axis[k]])};
}

}  // namespace

template <int D>
std::optional<ToothForce<D>> find_tooth_force(const GearMesh& mesh, const FeatureState<D>& features,
                                              std::string* why_not) {
    const Line first = axis_of<D>(mesh, features, 0);
    const Line second = axis_of<D>(mesh, features, 1);
    const double q = mesh.sense[0] * mesh.sense[1] * mesh.ratio;
    const char* reason = nullptr;
    PitchLine pitch;
    if (mesh.has_rack) {
        if (std::abs(first.direction.dot(second.direction)) > parallel)
            reason = "the rack does not move across the axis of the pinion";
        const Vec3 place = first.point + q * second.direction.cross(first.direction);
        pitch = {{place, first.direction}, place};
    } else if (const Vec3 normal = first.direction.cross(second.direction); normal.norm() < parallel) {
        pitch = between_parallel_axes(first, second, first.direction.dot(second.direction) > 0 ? q : -q, reason);
    } else {
        pitch = between_crossing_axes(first, second, q, reason);
    }
    if (mesh.place >= 0) {
        pitch.place = pitch.line.foot(in_space<D>(features.value[mesh.place]));
    } else if (!pitch.is_place_known && reason == nullptr) {
        reason = "of bevel gears the place where the teeth meet must be given ('at')";
    }
    const Vec3 tangent = mesh.has_rack ? second.direction : Vec3(second.direction.cross(pitch.place - second.point));
    if (reason == nullptr && !(tangent.norm() > parallel * (pitch.place - first.point).norm()))
        reason = "the teeth would meet on an axis";
    if (reason != nullptr) {
        if (why_not != nullptr) *why_not = reason;
        return std::nullopt;
    }
    const Vec3 along = mesh.sense[1] / tangent.squaredNorm() * tangent;
    // The smaller wheel is pushed towards its own axis.
    const Vec3 to_first = first.foot(pitch.place) - pitch.place;
    const Vec3 to_second = second.foot(pitch.place) - pitch.place;
    Vec3 apart = pitch.line.direction.cross(along);
    const bool is_second_smaller = !mesh.has_rack && to_second.norm() <= to_first.norm();
    if ((is_second_smaller ? apart.dot(to_second) : -apart.dot(to_first)) < 0) apart = -apart;
    return ToothForce<D>{pitch.place.head<D>(), along.head<D>(), mesh.tangent * apart.head<D>()};
}

template std::optional<ToothForce<2>> find_tooth_force(const GearMesh&, const FeatureState<2>&, std::string*);
template std::optional<ToothForce<3>> find_tooth_force(const GearMesh&, const FeatureState<3>&, std::string*);

}  // namespace limber
