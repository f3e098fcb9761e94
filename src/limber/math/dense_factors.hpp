#pragma once
// Factorisations of dense matrices, compiled once: each of Eigen's takes seconds to compile wherever it is used.
// Not for steps: they allocate.

#include "limber/math/types.hpp"

namespace limber {

/// Of a symmetric matrix: eigenvalues in rising order and, column by column, eigenvectors of unit length.
struct SymmetricEigen {
    VecX values;
    MatX vectors;
};
SymmetricEigen compute_symmetric_eigen(const MatX& matrix);
double compute_least_eigenvalue(const MatX& symmetric);

struct SymmetricEigen3 {
    Vec3 values;
    Mat3 vectors;
};
SymmetricEigen3 compute_symmetric_eigen(const Mat3& matrix);
/// The same without vectors, which is quicker.
Vec3 compute_eigenvalues(const Mat3& symmetric);

/// Singular values in falling order, and the right singular vectors, all of them.
struct SingularVectors {
    VecX values;
    MatX right;
};
SingularVectors compute_singular_vectors(const MatX& matrix);

/// Of all x for which |A x - b| is smallest the smallest. Pivots below a threshold, over the largest, count as zero;
/// by default those that are rounding errors do.
MatX solve_least_norm(const MatX& a, const MatX& b);
VecX solve_least_norm(const MatX& a, const VecX& b);
VecX solve_least_norm(const MatX& a, const VecX& b, double threshold);

/// An x for which |A x - b| is smallest.
VecX solve_least_squares(const MatX& a, const VecX& b);

}  // namespace limber
