#pragma once
// The linear complementarity problem of frictionless contact,
//
//   0 <= z,   W z + b >= 0,   z . (W z + b) = 0,
//
// with W symmetric and positive semidefinite: the conditions of  min 1/2 z.Wz + b.z  over z >= 0. Solved by the
// active-set method of Lawson and Hanson, which is exact, needs few passes for few contacts, and takes contacts that
// depend on others (a table's fourth leg) as they come: what others already carry stays at zero.

#include <vector>

#include "limber/math/types.hpp"

namespace limber {

/// Whether the problem has exactly one solution for every b, also if W is not symmetric (contacts that slip): all
/// principal minors are positive. Contacts that depend on others (minors of zero) do not count; of large sets only
/// minors of one and two contacts are looked at.
bool has_one_solution(const MatX& w);

class ComplementaritySolver {
public:
    /// False if no solution was found: W is not semidefinite, or b is not in reach.
    bool solve(const MatX& w, const VecX& b, VecX& z);

private:
    /// W z = -b among the carrying contacts, into trial_; dependent ones get zero.
    void solve_carrying(const MatX& w, const VecX& b);

    std::vector<int> carrying_;
    MatX factor_;
    VecX trial_, residual_, pivot_;
};

}  // namespace limber
