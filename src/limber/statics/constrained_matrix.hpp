#pragma once
// A symmetric matrix under the constraints of a mechanism:
//
//   A x + J^T y = b,   J x = c                                                                               (1)
//
// by the factorisation S = A + J^T W J = L D L^T. With W far above A, S has as many negative pivots as A has negative
// eigenvalues on the null space of J (Sylvester's law of inertia), so stability is read off the pivots; and a few
// passes
//
//   S dx = (b - A x - J^T y) + J^T W (c - J x),   y <- y + W (J (x + dx) - c)                                (2)
//
// meet (1) to rounding. Redundant rows are no obstacle. A may be indefinite; where S is singular, solve() is not to be
// trusted.

#include <Eigen/SparseCholesky>
#include <vector>

#include "limber/dynamics/system/system.hpp"

namespace limber {

class ConstrainedMatrix {
public:
    explicit ConstrainedMatrix(const System& system);

    /// To be filled with A before factorize(), as System::pattern() has its entries.
    std::vector<double>& values() { return values_; }
    /// With the Jacobian of the evaluation. `inertia_rate`: largest entry of A over its coordinate's inertia, the unit
    /// of W. False: S is singular to the last bit, or not finite.
    bool factorize(const Evaluation& e, double inertia_rate);
    int negative_pivots() const { return negative_; }
    /// Solves (1).
    void solve(const VecX& b, const VecX& c, VecX& x, VecX& y);

private:
    const System& system_;
    std::vector<double> values_, sum_;
    std::vector<double> jacobian_;
    VecX weight_, force_, rows_, change_;
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> factors_;
    bool is_analysed_ = false;
    int negative_ = 0;
};

/// Largest |A_ii| over the inertia of coordinate i.
double find_inertia_rate(const System& system, const std::vector<double>& values);

}  // namespace limber
