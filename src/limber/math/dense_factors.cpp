#include "limber/math/dense_factors.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace limber {

SymmetricEigen compute_symmetric_eigen(const MatX& matrix) {
    const Eigen::SelfAdjointEigenSolver<MatX> eigen(matrix);
    return {eigen.eigenvalues(), eigen.eigenvectors()};
}

double compute_least_eigenvalue(const MatX& symmetric) {
    return Eigen::SelfAdjointEigenSolver<MatX>(symmetric, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

SymmetricEigen3 compute_symmetric_eigen(const Mat3& matrix) {
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(matrix);
    return {eigen.eigenvalues(), eigen.eigenvectors()};
}

Vec3 compute_eigenvalues(const Mat3& symmetric) {
    return Eigen::SelfAdjointEigenSolver<Mat3>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

SingularVectors compute_singular_vectors(const MatX& matrix) {
    const Eigen::JacobiSVD<MatX> svd(matrix, Eigen::ComputeFullV);
    return {svd.singularValues(), svd.matrixV()};
}

MatX solve_least_norm(const MatX& a, const MatX& b) {
    return a.completeOrthogonalDecomposition().solve(b);
}

VecX solve_least_norm(const MatX& a, const VecX& b) {
    return a.completeOrthogonalDecomposition().solve(b);
}

VecX solve_least_norm(const MatX& a, const VecX& b, double threshold) {
    Eigen::CompleteOrthogonalDecomposition<MatX> decomposition;
    decomposition.setThreshold(threshold);
    decomposition.compute(a);
    return decomposition.solve(b);
}

VecX solve_least_squares(const MatX& a, const VecX& b) {
    return a.colPivHouseholderQr().solve(b);
}

}  // namespace limber
