#pragma once
// What the elements of a model refer to each other by.

#include <string>

#include "limber/model/table.hpp"

namespace limber {

struct Body;
struct Marker;
struct Joint;
struct Driver;
struct Force;
struct Stop;
struct ContactRule;
struct Sensor;
struct CurveDefinition;
struct RoadDefinition;
using BodyHandle = Handle<Body>;
using MarkerHandle = Handle<Marker>;
using JointHandle = Handle<Joint>;
using ForceHandle = Handle<Force>;
using StopHandle = Handle<Stop>;
using DriverHandle = Handle<Driver>;
using SensorHandle = Handle<Sensor>;
using ContactHandle = Handle<ContactRule>;

/// Two markers, on the first and on the second body.
struct MarkerPair {
    MarkerHandle first{}, second{};
};

/// A joint coordinate, or the component of a position sensor, by name: "crank.angle", "tip.x".
struct Coordinate {
    std::string name{};
};
struct CoordinatePair {
    std::string first{}, second{};
};

}  // namespace limber
