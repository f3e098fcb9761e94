#include "limber/dynamics/system/system_of_impl.hpp"
#include "limber/kinematics/natural/natural_coordinates.hpp"

namespace limber {

template class SystemOf<NaturalCoordinates<2>>;
template class SystemOf<NaturalCoordinates<3>>;

}  // namespace limber
