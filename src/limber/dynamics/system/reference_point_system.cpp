#include "limber/dynamics/system/system_of_impl.hpp"
#include "limber/kinematics/reference_point/reference_point_coordinates.hpp"

namespace limber {

template class SystemOf<ReferencePointCoordinates<2>>;
template class SystemOf<ReferencePointCoordinates<3>>;

}  // namespace limber
