#pragma once
// One picture of a running session as bytes, little-endian: what a page needs sixty times a second.
//
//   u32 kind = 1, scene revision, frame number, flags        flags: 1 playing, 2 slower than asked for, 4 has a ghost
//   f64 time, first time, last time, kinetic, potential, work, drift, position error, velocity error, acceleration
//       error, relative error, speed asked for, speed reached, iterations per step
//   u32 bodies, sensors, joints, forces, ghost bodies, has a pull, samples, contacts
//   f64 per sample since the last frame: time, sensors, then those of the ghost if there is one
//   f32 per body: position, quaternion (x y z w), centre of mass, its velocity
//   f32 per joint (if reactions are asked for): point, force, torque
//   f32 per force: its scalar value
//   f32 per contact: point, normal, force on the second body, stop by its number in the scene (-1: two bodies)
//   f32 pull: target (if there is one)
//   f32 per ghost body: position, quaternion

#include <cstdint>
#include <optional>
#include <vector>

#include "limber/simulation/observer.hpp"

namespace limber {

struct StudioFrame {
    std::uint32_t revision = 0, number = 0;
    bool is_playing = false, is_slow = false;
    double time = 0, first_time = 0, last_time = 0;
    Energies energies;
    double work = 0, drift = 0;
    ConstraintErrors errors;
    double relative_error = 0;
    double speed = 1, speed_reached = 0, iterations = 0;
    std::size_t sensor_count = 0;
    std::vector<double> samples;  ///< row by row
    std::size_t sample_count = 0;
    MotionView view;
    std::optional<Vec3> pull_target;
    bool has_ghost = false;
    std::vector<BodyPose> ghost_poses;
};

std::vector<std::uint8_t> encode_frame(const StudioFrame& frame);

}  // namespace limber
