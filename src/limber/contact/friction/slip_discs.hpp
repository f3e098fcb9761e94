#pragma once
// Friction of several contacts that slip in planes, over a short time: forces of known sizes F_i against the slips they
// leave,
//
//   u = free + W f,   |f_i| = F_i,   f_i against u_i
//
// with the mobility W of the slips, two rows for each. If such forces would bring some slip to rest, all of them are
// reduced by one factor until they just do not: these are the directions in which it slips shortly before. They are
// unique also where several contacts brake the same motion, and their forces at rest would not be.

#include "limber/math/types.hpp"

namespace limber {

/// The forces into `pushes`, which has a first guess. Slower than `still` is no slip. False: some slip comes to rest;
/// all forces are reduced.
bool solve_slip_discs(const MatX& mobility, const VecX& free, const VecX& sizes, double still, VecX& pushes);

}  // namespace limber
