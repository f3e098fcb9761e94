#include "limber/io/other_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "limber/model/error.hpp"

namespace limber {
namespace {

struct OtherWord {
    const char* word;
    const char* ours;              ///< the row counts where this word is allowed
    const char* advice = nullptr;  ///< where the word alone does not say what to write
};

constexpr OtherWord words[] = {
    // joints
    {"hinge", "revolute"},
    {"pin", "revolute"},
    {"pivot", "revolute"},
    {"rotational", "revolute"},
    {"continuous", "revolute"},
    {"slider", "prismatic"},
    {"translational", "prismatic"},
    {"slide", "prismatic"},
    {"ball", "spherical"},
    {"ball_joint", "spherical"},
    {"ball_and_socket", "spherical"},
    {"cardan", "universal"},
    {"hooke", "universal"},
    {"weld", "fixed"},
    {"lock", "fixed"},
    {"rigid", "fixed"},
    {"screw", "helical"},
    {"link", "distance"},
    {"massless_rod", "distance"},
    {"inline", "point-on-line"},
    {"inplane", "point-on-plane"},
    {"homokinetic", "constant-velocity"},
    {"cam", "point-on-curve"},
    {"rack", "rack-and-pinion"},
    {"belt", "gear"},
    {"rolling", "rolling-disc"},
    {"wheel", "rolling-disc"},
    {"floating", "revolute", "a body without joints is free: leave the joint out"},
    {"free", "revolute", "a body without joints is free: leave the joint out"},
    // forces
    {"damper", "spring", "a damper is a 'spring' with 'damping' and without 'stiffness'"},
    {"dashpot", "spring", "a damper is a 'spring' with 'damping' and without 'stiffness'"},
    {"spring_damper", "spring", "write 'spring' with 'stiffness' and 'damping'"},
    {"rotational_spring", "torsion-spring"},
    {"torsion_damper", "torsion-spring", "write 'torsion-spring' with 'damping' and without 'stiffness'"},
    {"rotational_damper", "torsion-spring", "write 'torsion-spring' with 'damping' and without 'stiffness'"},
    {"actuator", "motor"},
    {"moment", "torque"},
    {"load", "force"},
    {"pid", "servo"},
    {"controller", "servo"},
    {"tire", "tyre"},
    {"wind", "drag"},
    {"gravity", "spring", "gravity is a section of its own: 'gravity: [0, 0, -9.81]'"},
    {"contact", "spring", "contact between bodies is a section of its own: 'contacts'"},
    // sensors
    {"rotation", "orientation"},
    {"attitude", "orientation", "write 'orientation' with 'as: roll-pitch-yaw'"},
    {"euler", "orientation", "write 'orientation' with 'as: zxz', or another sequence"},
    {"quaternion", "orientation"},
    {"angle", "angular-acceleration", "for the angle of a joint write 'coordinate: JOINT.angle'"},
    {"displacement", "angular-acceleration", "for the displacement of a joint write 'coordinate: JOINT.displacement'"},
    {"length", "angular-acceleration", "for the length of a distance joint write 'coordinate: JOINT.length'"},
    {"speed", "angular-acceleration", "write 'velocity', or 'rate: JOINT.angle' for a joint"},
    {"torque", "reaction", "write 'reaction' of a joint or driver, or 'force' of a force element"},
    {"moment", "reaction", "write 'reaction' of a joint or driver, or 'force' of a force element"},
    // bodies and placements
    {"orientation", "quaternion", "an orientation is one of 'angle', 'turn', 'xyz', 'quaternion' or 'z' (with 'x')"},
    {"rotation", "quaternion", "an orientation is one of 'angle', 'turn', 'xyz', 'quaternion' or 'z' (with 'x')"},
    {"rpy", "xyz",
     "'xyz' turns about the body's own x, then y, then z; roll, pitch, yaw about fixed axes are other angles"},
    {"euler", "xyz", "'xyz' turns about the body's own x, then y, then z"},
    {"quat", "quaternion"},
    {"position", "at"},
    {"pos", "at"},
    {"origin", "at"},
    {"center", "at"},
    {"centre", "at"},
    {"cog", "com"},
    {"cg", "com"},
    {"center_of_mass", "com"},
    {"centre_of_mass", "com"},
    {"moment_of_inertia", "inertia"},
    {"inertia_tensor", "inertia"},
    {"ixx", "inertia", "write 'inertia: [xx, yy, zz]' or 'inertia: [xx, yy, zz, xy, xz, yz]'"},
    {"omega", "angular-velocity"},
    {"initial_velocity", "velocity"},
    {"colour", "color"},
    {"shape", "shapes"},
    {"geometry", "shapes"},
    {"cube", "box"},
    {"block", "box"},
    {"cuboid", "box"},
    {"ball", "sphere"},
    {"disk", "disc"},
    {"bar", "rod"},
    {"stl", "mesh", "write 'mesh: {file: NAME.stl}'"},
    {"heightfield", "height-field"},
    {"terrain", "height-field"},
    {"hull", "convex"},
    {"polygon", "convex"},
    {"height", "length"},
    {"diameter", "radius", "give 'radius', half the diameter"},
    // springs and contacts
    {"k", "stiffness"},
    {"c", "damping"},
    {"d", "damping"},
    {"rest_length", "free-length"},
    {"natural_length", "free-length"},
    {"l0", "free-length"},
    {"rest_angle", "free-value"},
    {"mu", "friction"},
    {"cor", "restitution"},
    // sections
    {"constraints", "joints"},
    {"links", "bodies"},
    {"parts", "bodies"},
    {"loads", "forces"},
    {"actuators", "forces"},
    {"springs", "forces"},
    {"motors", "drivers", "a prescribed motion belongs to 'drivers', a motor with a law of torque to 'forces'"},
    {"motions", "drivers"},
    {"outputs", "sensors"},
    {"measures", "sensors"},
    {"variables", "parameters"},
    {"constants", "parameters"},
    {"name", "title"},
    {"description", "title"},
    {"solver", "simulation"},
    {"settings", "simulation"},
    {"ground", "bodies", "markers and shapes of the ground stand under 'bodies': {ground: {markers: ...}}"},
    {"markers", "bodies", "markers stand with their body: 'bodies: {arm: {markers: {tip: [1, 0, 0]}}}'"},
    // simulation
    {"dt", "step"},
    {"timestep", "step"},
    {"time_step", "step"},
    {"h", "step"},
    {"end", "until"},
    {"duration", "until"},
    {"t_end", "until"},
    {"tend", "until"},
    {"end_time", "until"},
    {"stop_time", "until"},
    {"output_step", "every"},
    {"method", "integrator"},
    {"scheme", "integrator"},
    {"solver", "formulation"},
    // drivers
    {"motion", "follows"},
    {"function", "follows"},
    {"law", "follows"},
    {"joint", "coordinate", "write 'coordinate: JOINT.angle' or 'coordinate: JOINT.displacement'"},
};

// Small letters, '_' for '-'.
std::string plain_form(std::string word) {
    for (char& c : word)
        c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
}

}  // namespace

std::string suggest_word(const std::string& word, const std::vector<std::string>& allowed) {
    const auto is_allowed = [&](const std::string& w) {
        return std::find(allowed.begin(), allowed.end(), w) != allowed.end();
    };
    const std::string plain = plain_form(word);
    // Ours, but written otherwise: Revolute, free_length.
    for (const std::string& candidate : allowed)
        if (plain_form(candidate) == plain) return fmt::format(" (did you mean '{}'?)", candidate);
    for (const OtherWord& row : words) {
        if (plain != row.word || !is_allowed(row.ours)) continue;
        return row.advice != nullptr ? fmt::format(": {}", row.advice) : fmt::format(" (did you mean '{}'?)", row.ours);
    }
    return did_you_mean(word, allowed);
}

}  // namespace limber
