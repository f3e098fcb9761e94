#pragma once
// Eigenvalues of a general matrix, with the zeros found first.
//
// A zero that belongs to a chain, A x1 = 0, A x2 = x1, is torn apart by rounding into a ring of the size of its root,
// so zeros are taken out by ranks before anything is iterated: the null space of what is left becomes the leading
// columns
//
//   U^T A U = [ N  C ]    N strictly upper block triangular,   A x = s x:  s y = N y + C w,  s w = B w,  x = U [y; w]
//             [ 0  B ]
//
// until B has none. B goes to the QR algorithm.

#include <complex>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

struct EigenModes {
    Eigen::VectorXcd values;      ///< sorted by imaginary part, then by real part
    Eigen::MatrixXcd vectors;     ///< columns of unit length beside the values; of zeros a basis of zero_space
    MatX zero_space;              ///< orthonormal, of everything that A^k takes to zero
    std::vector<int> zero_ranks;  ///< how many each round has found: {2, 1} is one chain of two and one zero alone
};

/// What is smaller than the tolerance times the norm counts as zero. Throws std::runtime_error if the iteration fails.
EigenModes find_eigenvalues(const MatX& matrix, double zero_tolerance);

}  // namespace limber
