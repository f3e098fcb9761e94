#pragma once
// Forces of one's own, written in C++:
//
//   struct Magnet {
//       double strength;
//       template <class T>
//       void act(const MarkerMotion<T>& a, const MarkerMotion<T>& b, double t, MarkerLoad<T>& on_a,
//                MarkerLoad<T>& on_b) const {
//           const Vector3<T> way = b.position - a.position;
//           const Vector3<T> force = way * T(strength) / (way.squaredNorm() * way.norm());
//           on_a.force += force;
//           on_b.force -= force;
//       }
//   };
//   model.add(CustomForce("magnet", {a, b}, Magnet{2}));
//
// act() is called with plain numbers and with dual numbers, so its stiffness and damping are exact and implicit
// integrators can use them: write it for any T. It must be a function of its arguments alone, the same whenever it is
// called, from any thread. All it does counts as work, not as a potential.
//
// A model file cannot hold it: what is written of such a model can be looked at, and is refused when it is read.

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "limber/model/element.hpp"
#include "limber/model/marker_motion.hpp"

namespace limber {

/// On the body of a marker: a force at its point and a torque, world axes. Zero before act() is called.
template <class T>
struct MarkerLoad {
    Vector3<T> force = Vector3<T>::Zero(), torque = Vector3<T>::Zero();
};

/// A value and its derivatives by the place and the velocity of one point or direction.
using ForceDual = Dual<6>;

class CustomLaw {
public:
    virtual ~CustomLaw() = default;
    virtual void act(const MarkerMotion<double>& a, const MarkerMotion<double>& b, double t, MarkerLoad<double>& on_a,
                     MarkerLoad<double>& on_b) const = 0;
    virtual void act(const MarkerMotion<ForceDual>& a, const MarkerMotion<ForceDual>& b, double t,
                     MarkerLoad<ForceDual>& on_a, MarkerLoad<ForceDual>& on_b) const = 0;
};

template <class Law>
class CustomLawOf final : public CustomLaw {
public:
    explicit CustomLawOf(Law law) : law_(std::move(law)) {}
    void act(const MarkerMotion<double>& a, const MarkerMotion<double>& b, double t, MarkerLoad<double>& on_a,
             MarkerLoad<double>& on_b) const override {
        law_.act(a, b, t, on_a, on_b);
    }
    void act(const MarkerMotion<ForceDual>& a, const MarkerMotion<ForceDual>& b, double t, MarkerLoad<ForceDual>& on_a,
             MarkerLoad<ForceDual>& on_b) const override {
        law_.act(a, b, t, on_a, on_b);
    }

private:
    Law law_;
};

/// Between two markers, one of which may be the ground's. A sensor of its force shows the size of the force on the
/// second.
struct CustomForce {
    static constexpr TypeNote type{"custom", "a class of C++", false, true};
    std::string name{};
    MarkerPair between{};
    std::shared_ptr<const CustomLaw> law{};

    CustomForce() = default;
    template <class Law>
    CustomForce(std::string force, MarkerPair markers, Law act)
        : name(std::move(force)), between(markers), law(std::make_shared<CustomLawOf<Law>>(std::move(act))) {}

    template <class Self, class Visitor>
    static void visit(Self& self, Visitor& visitor) {
        visitor.main(self.between);
    }
};

}  // namespace limber
