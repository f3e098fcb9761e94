#pragma once
// Accelerations by the textbook, as a mark for the formulations: dense, in extended precision, with the singular values
// of J.
//
//   J = U S V^T  in units of inertia, rank r by singular value
//   a = V_1 S^-1 U_1^T (-g) + V_2 y,   (V_2^T M V_2) y = V_2^T (Q - M a_1)
//
// or, with a penalty, what `penalty` is to return: (M + J^T W J) a = Q - J^T W g. It differs from the above by S^-1 J^T
// lambda with S = M + J^T W J, relative 1 / (penalty * s^2) with the smallest singular value s.

#include <Eigen/Cholesky>
#include <Eigen/SVD>

#include "limber/dynamics/formulation.hpp"

namespace limber::testing {

class ExactAccelerations final : public AccelerationSolver {
public:
    /// With options.penalty > 0: those of the penalty formulation.
    using AccelerationSolver::AccelerationSolver;

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX&) override {
        Evaluation& e = *evaluation_;
        system_->update(e, t, q, v, memory);
        const Vector unit = system_->coordinate_inertia().cast<long double>().cwiseSqrt().cwiseInverse();
        const Vector row_unit = system_->row_inertia().cast<long double>().cwiseSqrt();
        const Matrix jacobian = row_unit.asDiagonal() * dense_jacobian() * unit.asDiagonal();
        const Matrix mass = unit.asDiagonal() * dense_mass() * unit.asDiagonal();
        const Vector force = unit.cwiseProduct(e.force.cast<long double>());
        const Vector bias = row_unit.cwiseProduct(e.bias.cast<long double>());
        const Vector x = options_.penalty > 0 ? solve_penalized(mass, jacobian, force, bias)
                                              : solve_constrained(mass, jacobian, force, bias);
        a = unit.cwiseProduct(x).cast<double>();
        return true;
    }

    /// Largest over smallest singular value of J at the last solve, those that are rounding errors left out.
    double condition() const { return condition_; }

private:
    using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
    static constexpr long double rounding = 1e-10L;

    Matrix dense_jacobian() const {
        const RowPattern& pattern = system_->jacobian_pattern();
        Matrix dense = Matrix::Zero(system_->rows(), system_->size());
        for (int i = 0; i < pattern.rows(); ++i)
            for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
                dense(i, pattern.column[k]) = evaluation_->jacobian[k];
        return dense;
    }

    Matrix dense_mass() const {
        const SymmetricPattern& pattern = system_->pattern();
        Matrix dense = Matrix::Zero(pattern.size, pattern.size);
        for (int j = 0; j < pattern.size; ++j)
            for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
                dense(pattern.row[k], j) = dense(j, pattern.row[k]) = evaluation_->mass[k];
        return dense;
    }

    Vector solve_penalized(const Matrix& mass, const Matrix& jacobian, const Vector& force, const Vector& bias) const {
        const Matrix matrix = mass + options_.penalty * jacobian.transpose() * jacobian;
        return matrix.ldlt().solve(force - options_.penalty * jacobian.transpose() * bias);
    }

    Vector solve_constrained(const Matrix& mass, const Matrix& jacobian, const Vector& force, const Vector& bias) {
        const Eigen::Index size = mass.rows();
        Matrix free = Matrix::Identity(size, size);
        Vector x = Vector::Zero(size);
        if (jacobian.size() > 0) {
            const Eigen::JacobiSVD<Matrix, Eigen::FullPivHouseholderQRPreconditioner> svd(
                jacobian, Eigen::ComputeFullU | Eigen::ComputeFullV);
            const Vector& s = svd.singularValues();
            const Eigen::Index rank = (s.array() > rounding).count();
            condition_ = rank > 0 ? static_cast<double>(s[0] / s[rank - 1]) : 1;
            const Vector along = svd.matrixU().leftCols(rank).transpose() * bias;
            x = -svd.matrixV().leftCols(rank) * along.cwiseQuotient(s.head(rank));
            free = svd.matrixV().rightCols(size - rank);
        }
        if (free.cols() == 0) return x;
        const Matrix reduced = free.transpose() * mass * free;
        return x + free * reduced.ldlt().solve(free.transpose() * (force - mass * x));
    }

    double condition_ = 1;
};

}  // namespace limber::testing
