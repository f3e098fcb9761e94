#pragma once
// The words of files for enumerators, in the order of these.

#include <string>
#include <vector>

#include "limber/model/beams.hpp"
#include "limber/model/drivers.hpp"
#include "limber/model/forces.hpp"
#include "limber/model/roads.hpp"
#include "limber/model/sensors.hpp"
#include "limber/model/simulation_defaults.hpp"

namespace limber {

using Words = std::vector<std::string>;

inline Words words_of(VectorComponent) {
    return {"x", "y", "z"};
}
inline Words words_of(ForceFrame) {
    return {"world", "body"};
}
inline Words words_of(FrictionKind) {
    return {"coulomb", "regularised", "bristle"};
}
inline Words words_of(BeamTheory) {
    return {"exact", "segments"};
}
inline Words words_of(ImpactLaw) {
    return {"newton", "poisson", "in-turn"};
}
inline Words words_of(StartPose) {
    return {"as-written", "equilibrium"};
}
inline Words words_of(StartVelocities) {
    return {"on-joints", "as-written"};
}
inline Words words_of(Interpolation::Kind) {
    return {"cubic", "linear"};
}
inline Words words_of(RoadClass) {
    return {"A", "B", "C", "D", "E", "F", "G", "H"};
}
inline Words words_of(ReactionFrame) {
    return {"world", "marker", "second-marker"};
}
inline Words words_of(ReactionPoint) {
    return {"second-marker", "marker"};
}
inline Words words_of(OrientationForm) {
    return {"quaternion", "axis-angle", "matrix", "roll-pitch-yaw",
            "xyz",        "xzy",        "yxz",    "yzx",
            "zxy",        "zyx",        "xyx",    "xzx",
            "yxy",        "yzy",        "zxz",    "zyz"};
}
inline Words words_of(EnergyKind) {
    return {"kinetic", "potential", "work", "total", "impacts"};
}
inline Words words_of(ErrorKind) {
    return {"position", "velocity", "acceleration", "relative", "complementarity"};
}

}  // namespace limber
