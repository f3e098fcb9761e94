#pragma once
// Which equation of a mechanism is farthest from being met, in words for messages.

#include <string>

namespace limber {

/// What the value of a row is.
enum class RowQuantity {
    length,     ///< metres
    direction,  ///< product of two unit vectors that must be perpendicular: the sine of an angle
    angle,      ///< radians
    mixed       ///< a sum of coordinates of several kinds
};

struct WorstRow {
    double error = 0;
    std::string element;  ///< name of the joint or driver
    std::string
        subject;  ///< "joint 'pin'", "driver 'motor'", "initial value of 'pin.angle'": as places of files are kept
    RowQuantity quantity = RowQuantity::length;
};

/// "0.02 m", "3 deg"; of a rate "0.02 m/s", "3 deg/s".
std::string describe_row_error(double error, RowQuantity quantity, bool is_rate = false);

}  // namespace limber
