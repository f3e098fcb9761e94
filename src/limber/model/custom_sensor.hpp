#pragma once
// Sensors of one's own, written in C++:
//
//   struct Stretch {
//       std::array<double, 2> measure(const SensedMarker& a, const SensedMarker& b, double t) const {
//           const Vec3 way = b.position - a.position;
//           return {way.norm(), way.dot(b.velocity - a.velocity) / way.norm()};
//       }
//   };
//   model.add(CustomSensor("rope", {a, b}, {"length", "rate"}, Stretch{}));      // columns rope.length, rope.rate
//
// A column with an empty name has that of the sensor. Other sensors may use the columns in expressions, and events in
// conditions; drivers, limits and laws may not. A model file cannot hold it: what is written of such a model can be
// looked at, and is refused when it is read.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/element.hpp"
#include "limber/model/marker_motion.hpp"

namespace limber {

/// Accelerations are numbers only for a class that says `static constexpr bool needs_accelerations = true`: they cost a
/// solution of the equations of motion.
struct SensedMarker : MarkerMotion<double> {
    Vector3<double> acceleration = Vector3<double>::Zero(), angular_acceleration = Vector3<double>::Zero();
};

class CustomMeasurement {
public:
    virtual ~CustomMeasurement() = default;
    virtual int count() const = 0;
    virtual bool needs_accelerations() const = 0;
    virtual void measure(const SensedMarker& a, const SensedMarker& b, double t, double* values) const = 0;
};

template <class Law>
class CustomMeasurementOf final : public CustomMeasurement {
public:
    explicit CustomMeasurementOf(Law law) : law_(std::move(law)) {}
    int count() const override { return std::tuple_size_v<Values>; }
    bool needs_accelerations() const override {
        if constexpr (requires { Law::needs_accelerations; }) {
            return Law::needs_accelerations;
        } else {
            return false;
        }
    }
    void measure(const SensedMarker& a, const SensedMarker& b, double t, double* values) const override {
        const Values measured = law_.measure(a, b, t);
        std::copy(measured.begin(), measured.end(), values);
    }

private:
    using Values = decltype(std::declval<const Law&>().measure(SensedMarker{}, SensedMarker{}, 0.0));

    Law law_;
};

/// Of two markers, one of which may be the ground's.
struct CustomSensor {
    static constexpr TypeNote type{"custom", "a class of C++", false, true};
    std::string name{};
    MarkerPair between{};
    std::vector<std::string> columns{};
    std::shared_ptr<const CustomMeasurement> law{};

    CustomSensor() = default;
    template <class Law>
    CustomSensor(std::string sensor, MarkerPair markers, std::vector<std::string> names, Law measure)
        : name(std::move(sensor)),
          between(markers),
          columns(std::move(names)),
          law(std::make_shared<CustomMeasurementOf<Law>>(std::move(measure))) {}

    static void visit(auto& self, auto& visitor) { visitor.main(self.between); }
};

}  // namespace limber
