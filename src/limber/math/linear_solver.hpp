#pragma once
// Factorisation A = L D L^T of symmetric matrices with a pattern fixed in advance, without pivoting.
//
// Fits positive definite matrices (mass matrix plus penalty) and quasi-definite ones (regularised saddle point), for
// both of which every ordering works. A pivot that is zero to working precision belongs to a freedom without inertia
// and without stiffness (the spin of a massless rod); it is frozen: its unknown is set to zero and counted.
//
// After construction neither factorize() nor solve() allocates.

#include <memory>
#include <span>
#include <vector>

#include "limber/math/sparse.hpp"

namespace limber {

class LinearSolver {
public:
    virtual ~LinearSolver() = default;

    /// values: one number per entry of the pattern given at construction. False if a value is not finite.
    bool factorize(const std::vector<double>& values) { return factorize(values, {}); }
    /// The same; pivots that are not above the floor of their unknown are frozen, too.
    virtual bool factorize(const std::vector<double>& values, std::span<const double> floor) = 0;
    /// Solves A x = b in place.
    virtual void solve(VecX& x) = 0;
    /// Number of pivots frozen by the last factorize().
    int frozen_pivots() const { return frozen_; }
    virtual bool is_frozen(int unknown) const = 0;

protected:
    int frozen_ = 0;
};

enum class SolverKind { automatic, dense, sparse };

/// Dense for small or full matrices, sparse (approximate minimum degree ordering of SuiteSparse) otherwise.
std::unique_ptr<LinearSolver> make_linear_solver(const SymmetricPattern& pattern,
                                                 SolverKind kind = SolverKind::automatic);

}  // namespace limber
