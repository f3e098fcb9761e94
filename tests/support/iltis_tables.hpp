#pragma once
// What was published about the Iltis: Frik, Leister and Schwartz, Vehicle System Dynamics 22, 1993, 215-253, with the
// values of Robotran's model of it (Dormand-Prince, steps up to 1 ms). For tests and the study of bench/iltis. Knows no
// test framework.
//
// The tables have their left at negative y; ours lies at positive y. Angles: pitch, roll, yaw in this order. Loads of
// tyres are vertical components.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "support/examples.hpp"

namespace limber::examples {

struct PublishedColumn {
    std::string heading, sensor;
    double factor = 1;  ///< from ours to the table's unit and side
    double offset = 0;  ///< added to ours before
    int digits = 0;     ///< printed after the point
};

struct PublishedTable {
    std::string title, file;  ///< of examples/iltis
    std::vector<PublishedColumn> columns;
    struct Row {
        double t;
        std::vector<double> values;
    };
    std::vector<Row> rows;

    double peak(std::size_t column) const {
        double most = 0;
        for (const Row& row : rows) most = std::max(most, std::abs(row.values[column]));
        return most;
    }
};

/// Value of a column now, in the unit of the table.
inline double sense_as_published(Simulation& s, const PublishedColumn& column) {
    const double value = column.factor * (sense(s, column.sensor) + column.offset);
    if (!column.sensor.starts_with("load")) return value;
    // Our sensor tells the force along the normal of the road: a bump or a dip of 0.2 m over 5 m, or flat ground before
    // and after.
    constexpr double pi = std::numbers::pi;
    const double x = sense(s, "wheel" + column.sensor.substr(4) + ".x") - 0.97;
    const double slope = x > 0 && x < 5 ? 0.2 * pi / 5 * std::sin(2 * pi * x / 5) : 0.0;
    return value / std::hypot(1.0, slope);
}

inline PublishedTable iltis_in_phase() {
    return {"In phase: a bump of 0.2 m on both sides, 5 m/s",
            "bump-in-phase.yaml",
            {{"x m", "chassis.x", 1, 0, 4},
             {"z mm", "chassis.z", 1e3, -0.57, 3},
             {"pitch deg", "pitch", 1, 0, 4},
             {"F front N", "load00", 1, 0, 1},
             {"F rear N", "load11", 1, 0, 1}},
            {{0.0000, {0.0000, -7.083, 0.1465, 3831.3, 3591.9}},
             {0.2088, {1.0364, 13.474, -0.8036, 5486.4, 3354.0}},
             {0.4058, {1.9844, 85.736, -4.8595, 2551.2, 3642.5}},
             {0.6042, {2.9240, 117.855, -5.6130, 1530.8, 5514.3}},
             {0.8061, {3.8654, 117.483, 2.0459, 4037.4, 2703.8}},
             {1.0048, {4.7988, 82.359, 7.5609, 5811.9, 1386.6}},
             {1.2073, {5.7597, 33.612, 4.2435, 3790.9, 3277.2}},
             {1.4039, {6.7110, -14.500, -0.6332, 3274.5, 5325.6}},
             {1.6092, {7.7192, -14.898, -0.6971, 3702.8, 3536.7}},
             {1.7866, {8.5916, -6.779, 0.3461, 4040.1, 3196.5}},
             {2.0139, {9.7083, -7.687, 0.2144, 3810.0, 3667.6}},
             {2.5000, {12.0964, -7.171, 0.1765, 3847.1, 3582.5}}}};
}

inline PublishedTable iltis_anti_phase() {
    return {"Anti-phase: a bump of 0.2 m on the right, a dip on the left, 5 m/s",
            "bump-anti-phase.yaml",
            {{"x m", "chassis.x", 1, 0, 4},
             {"y mm", "chassis.y", -1e3, 0, 2},
             {"z mm", "chassis.z", 1e3, -0.57, 3},
             {"pitch deg", "pitch", 1, 0, 4},
             {"roll deg", "roll", -1, 0, 4},
             {"yaw deg", "yaw", -1, 0, 4},
             {"F FL N", "load00"},
             {"F FR N", "load01"},
             {"F RL N", "load10"},
             {"F RR N", "load11"}},
            {{0.0000, {0.0000, 0.00, -7.083, 0.1465, 0.0000, 0.0000, 3831, 3831, 3592, 3592}},
             {0.2000, {0.9984, -7.09, -11.688, 0.2532, 2.6813, -0.0904, 1300, 6056, 5234, 1310}},
             {0.4000, {1.9810, -39.79, 7.482, 0.5026, 9.1152, 0.0406, 0, 8003, 8037, 0}},
             {0.6000, {2.9513, -93.54, 38.735, 2.5154, 16.5503, 0.7372, 7365, 2483, 4437, 0}},
             {0.7996, {3.9179, -124.91, -21.162, 0.8767, 10.5665, 1.1670, 4600, 1606, 0, 13}},
             {1.0005, {4.8571, -172.14, 57.219, -3.0561, 14.4949, 1.2119, 4498, 0, 794, 2820}},
             {1.2005, {5.7789, -200.60, 71.486, -5.4845, 13.5090, -0.3394, 1779, 0, 6876, 2076}},
             {1.4003, {6.6940, -183.61, -29.144, 0.1171, -1.3658, -0.8375, 4910, 2928, 2072, 5981}},
             {1.6002, {7.6077, -188.16, -1.582, 0.8155, 0.1622, -0.6241, 3654, 1614, 2326, 2718}},
             {2.0002, {9.4342, -205.56, -16.018, 0.5356, 0.0096, -0.5526, 4480, 4489, 3349, 3358}},
             {3.0000, {13.9992, -249.59, -7.169, 0.1564, 0.0015, -0.5529, 3824, 3824, 3598, 3598}}}};
}

inline PublishedTable iltis_ramp_to_steer() {
    constexpr double degrees = 180 / std::numbers::pi;
    return {"Ramp to steer: the rack goes by 2 mm within 0.5 s, 20 m/s",
            "ramp-to-steer.yaml",
            {{"yaw rate deg/s", "turning.z", degrees, 0, 4},
             {"ay m/s2", "acceleration.y", 1, 0, 4},
             {"roll deg", "roll", 1, 0, 4}},
            {{0.25, {-1.3554, -0.3579, -0.1578}},
             {0.50, {-3.8680, -0.9767, -0.4993}},
             {0.75, {-5.1676, -1.4277, -0.8226}},
             {1.00, {-5.2031, -1.6743, -1.0156}},
             {2.00, {-4.9037, -1.6923, -1.0452}},
             {5.00, {-4.9069, -1.5607, -0.9237}}}};
}

/// Static equilibrium: sensors of examples/iltis and what was published.
struct PublishedValue {
    std::string name, sensor;
    double value;
    double factor = 1, offset = 0;
};
inline std::vector<PublishedValue> iltis_equilibrium() {
    return {{"cabin, from the design position, mm", "chassis.z", -7.083, 1e3, -0.57},
            {"pitch, deg", "pitch", 0.1465},
            {"tyre front, N", "load00", 3831.31},
            {"tyre rear, N", "load10", 3591.91},
            {"shock absorber front, N", "shockforce00", -335.29},
            {"shock absorber rear, N", "shockforce10", -241.64},
            {"leaf spring front, N", "leafforce00", -3068.62},
            {"leaf spring rear, N", "leafforce10", -2885.51}};
}

}  // namespace limber::examples
