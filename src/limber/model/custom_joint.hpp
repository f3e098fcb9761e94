#pragma once
// Joints of one's own, written in C++:
//
//   struct Bowl {
//       double bend;
//       template <class T>
//       std::array<T, 1> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
//           const Vector3<T> way = b.position - a.position;
//           return {way.z() - T(bend) * (way.x() * way.x() + way.y() * way.y())};
//       }
//   };
//   model.add(CustomJoint("bowl", {ground, ball}, Bowl{0.5}));
//
// The joint keeps all residuals at zero, each one equation. residuals() is called with numbers that carry first and
// second derivatives: write it for any T. It must be a smooth function of its arguments alone, the same whenever it is
// called, from any thread. Errors of constraints are told in its units, so let residuals be lengths, or angles.
//
// It has no coordinates for drivers and limits to name, and holds places, neither velocities nor anything that depends
// on time. A model file cannot hold it: what is written of such a model can be looked at, and is refused when it is
// read.

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "limber/model/element.hpp"
#include "limber/model/marker_motion.hpp"

namespace limber {

/// By the places of two points and six directions.
inline constexpr int pose_variables = 24;
using RowDual = Dual<pose_variables>;
using RowDirectedDual = DirectedDual<pose_variables>;

class CustomRows {
public:
    virtual ~CustomRows() = default;
    virtual int count() const = 0;
    virtual bool uses_axes() const = 0;
    virtual RowDual residual(int row, const MarkerPose<RowDual>& a, const MarkerPose<RowDual>& b) const = 0;
    virtual RowDirectedDual residual(int row, const MarkerPose<RowDirectedDual>& a,
                                     const MarkerPose<RowDirectedDual>& b) const = 0;
};

template <class Law>
class CustomRowsOf final : public CustomRows {
public:
    explicit CustomRowsOf(Law law) : law_(std::move(law)) {}
    int count() const override { return size; }
    bool uses_axes() const override {
        if constexpr (requires { Law::uses_axes; }) {
            return Law::uses_axes;
        } else {
            return true;
        }
    }
    RowDual residual(int row, const MarkerPose<RowDual>& a, const MarkerPose<RowDual>& b) const override {
        return law_.residuals(a, b)[row];
    }
    RowDirectedDual residual(int row, const MarkerPose<RowDirectedDual>& a,
                             const MarkerPose<RowDirectedDual>& b) const override {
        return law_.residuals(a, b)[row];
    }

private:
    using Poses = const MarkerPose<RowDual>&;
    static constexpr int size =
        std::tuple_size_v<decltype(std::declval<const Law&>().residuals(std::declval<Poses>(), std::declval<Poses>()))>;
    static_assert(size >= 1 && size <= 6, "a joint has one to six residuals");

    Law law_;
};

/// Between two markers, one of which may be the ground's. A body that it holds needs inertia about all axes; not if its
/// class says `static constexpr bool uses_axes = false`: then residuals() must use positions alone, and sees axes that
/// are no numbers.
struct CustomJoint {
    static constexpr TypeNote type{"custom", "a class of C++", false, true};
    std::string name{};
    MarkerPair between{};
    std::shared_ptr<const CustomRows> rows{};

    CustomJoint() = default;
    template <class Law>
    CustomJoint(std::string joint, MarkerPair markers, Law law)
        : name(std::move(joint)), between(markers), rows(std::make_shared<CustomRowsOf<Law>>(std::move(law))) {}

    static void visit(auto& self, auto& visitor) { visitor.placed(self.between); }
};

}  // namespace limber
