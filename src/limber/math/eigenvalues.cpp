#include "limber/math/eigenvalues.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace limber {

EigenModes find_eigenvalues(const MatX& matrix, double zero_tolerance) {
    const int n = static_cast<int>(matrix.rows());
    EigenModes result;
    MatX form = matrix;
    MatX u = MatX::Identity(n, n);
    const double least = zero_tolerance * matrix.norm();
    int zeros = 0;
    while (zeros < n) {
        const int left = n - zeros;
        const Eigen::JacobiSVD<MatX> svd(MatX(form.bottomRightCorner(left, left)), Eigen::ComputeFullV);
        int found = 0;
        while (found < left && svd.singularValues()[left - 1 - found] <= least) ++found;
        if (found == 0) break;
        // The null space first.
        MatX turn(left, left);
        turn << svd.matrixV().rightCols(found), svd.matrixV().leftCols(left - found);
        form.rightCols(left) = (form.rightCols(left) * turn).eval();
        form.bottomRows(left) = (turn.transpose() * form.bottomRows(left)).eval();
        u.rightCols(left) = (u.rightCols(left) * turn).eval();
        form.block(zeros, zeros, left, found).setZero();
        result.zero_ranks.push_back(found);
        zeros += found;
    }
    result.zero_space = u.leftCols(zeros);
    const int rest = n - zeros;
    Eigen::VectorXcd values = Eigen::VectorXcd::Zero(n);
    Eigen::MatrixXcd vectors = u.cast<std::complex<double>>();
    if (rest > 0) {
        const Eigen::EigenSolver<MatX> solver(MatX(form.bottomRightCorner(rest, rest)));
        if (solver.info() != Eigen::Success) throw std::runtime_error("the eigenvalues do not converge");
        values.tail(rest) = solver.eigenvalues();
        const Eigen::MatrixXcd w = solver.eigenvectors();
        for (int k = 0; k < rest; ++k) {
            Eigen::VectorXcd x(n);
            x.tail(rest) = w.col(k);
            if (zeros > 0) {
                Eigen::MatrixXcd shifted = -form.topLeftCorner(zeros, zeros).cast<std::complex<double>>();
                shifted.diagonal().array() += values[zeros + k];
                x.head(zeros) = shifted.triangularView<Eigen::Upper>().solve(
                    Eigen::VectorXcd(form.topRightCorner(zeros, rest).cast<std::complex<double>>() * w.col(k)));
            }
            vectors.col(zeros + k) = (u.cast<std::complex<double>>() * x).normalized();
        }
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) {
        return values[a].imag() != values[b].imag() ? values[a].imag() < values[b].imag()
                                                    : values[a].real() < values[b].real();
    });
    result.values.resize(n);
    result.vectors.resize(n, n);
    for (int k = 0; k < n; ++k) {
        result.values[k] = values[order[k]];
        result.vectors.col(k) = vectors.col(order[k]);
    }
    return result;
}

}  // namespace limber
