#pragma once
// The acceleration-based augmented Lagrangian of Bayo as Joli, Seguy and Feng (2008) print it, eq. (20), without the
// engine:
//
//   (M + alpha Phi_q^T Phi_q) a_(i+1) = F + Phi_q^T (lambda_i - alpha c)
//   lambda_(i+1) = lambda_i - alpha (Phi_q a_(i+1) + c)
//
// from lambda_0 = 0, with c = Phi_q' q'. Unknowns are the coordinates of the nodes 11, 12, 21, 22 of the double
// pendulum; the slider-crank has one row more.

#include <fmt/format.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <string>

#include "support.hpp"

namespace limber::bench {

struct NodalState {
    Eigen::Matrix<double, 8, 1> q = Eigen::Matrix<double, 8, 1>::Zero(), v = Eigen::Matrix<double, 8, 1>::Zero();
};

/// At rest, as it starts.
inline NodalState nodal_pendulum() {
    NodalState s;
    s.q << 0, 0, 1, 0, 1, 0, 1, -1;
    return s;
}

/// Released at 45 degrees, when its crank is at this angle.
inline NodalState nodal_slider_crank(double angle) {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const double rate = -std::sqrt(9.81 * (std::sqrt(0.5) - s) / (0.5 + 2 * s * s));
    NodalState state;
    state.q << 0, 0, c, s, c, s, 2 * c, 0;
    state.v << 0, 0, -s * rate, c * rate, -s * rate, c * rate, -2 * s * rate, 0;
    return state;
}

struct BayoSystem {
    Eigen::MatrixXd jacobian;
    Eigen::VectorXd mass, force, bias;

    BayoSystem(const NodalState& at, bool has_rail) {
        mass.resize(8);
        mass << 1, 1, 0.5, 0.5, 0.5, 0.5, 1, 1;
        force = Eigen::VectorXd::Zero(8);
        for (int i = 1; i < 8; i += 2) force[i] = -9.81 * mass[i];
        const int rows = has_rail ? 7 : 6;
        jacobian = Eigen::MatrixXd::Zero(rows, 8);
        bias = Eigen::VectorXd::Zero(rows);
        for (int link = 0; link < 2; ++link) {
            const Eigen::Vector2d d = at.q.segment<2>(4 * link) - at.q.segment<2>(4 * link + 2);
            const Eigen::Vector2d rate = at.v.segment<2>(4 * link) - at.v.segment<2>(4 * link + 2);
            jacobian.block<1, 2>(link, 4 * link) = 2 * d.transpose();
            jacobian.block<1, 2>(link, 4 * link + 2) = -2 * d.transpose();
            bias[link] = 2 * rate.squaredNorm();
        }
        for (int k = 0; k < 2; ++k) {
            jacobian(2 + k, k) = 1;
            jacobian(4 + k, 2 + k) = 1;
            jacobian(4 + k, 4 + k) = -1;
        }
        if (has_rail) jacobian(6, 7) = 1;
    }

    Eigen::VectorXd exact() const {
        const Eigen::MatrixXd by_mass = jacobian * mass.cwiseInverse().asDiagonal();
        return Eigen::MatrixXd(by_mass * jacobian.transpose())
            .completeOrthogonalDecomposition()
            .solve(-bias - by_mass * force);
    }

    /// Until lambda is known to 1 %, 1e-6 and 1e-10; -1: not within a thousand.
    std::array<int, 3> count_iterations(double alpha) const {
        std::array<int, 3> counts{-1, -1, -1};
        constexpr std::array<double, 3> goals{1e-2, 1e-6, 1e-10};
        const Eigen::VectorXd wanted = exact();
        Eigen::MatrixXd augmented = alpha * jacobian.transpose() * jacobian;
        augmented.diagonal() += mass;
        const Eigen::LLT<Eigen::MatrixXd> factors(augmented);
        Eigen::VectorXd lambda = Eigen::VectorXd::Zero(wanted.size());
        for (int i = 1; i <= 1000; ++i) {
            const Eigen::VectorXd a = factors.solve(force + jacobian.transpose() * (lambda - alpha * bias));
            lambda -= alpha * (jacobian * a + bias);
            for (std::size_t k = 0; k < goals.size(); ++k)
                if (counts[k] < 0 && (lambda - wanted).norm() <= goals[k] * wanted.norm()) counts[k] = i;
        }
        return counts;
    }
};

// Solves of the engine per evaluation, mean and largest, at the states of a motion.
inline std::string solves_of_engine(const char* file, double penalty) {
    SimulationOptions o = options("augmented-lagrangian", "rk4");
    o.formulation_options.penalty = penalty;
    Simulation simulation(example(file), o);
    const auto solver =
        make_acceleration_solver("augmented-lagrangian", simulation.shared_system(), o.formulation_options);
    VecX a = simulation.state().a;
    VecX lambda = simulation.state().lambda;
    long most = 0;
    constexpr int samples = 500;
    for (int i = 0; i < samples; ++i) {
        if (!simulation.advance(0.01 * (i + 1), 2e-3).ok) return "failed";
        const State& s = simulation.state();
        const long before = solver->iterations();
        solver->solve(s.t, s.q, s.v, s.memory, a, lambda);
        most = std::max(most, solver->iterations() - before);
    }
    return fmt::format("{:.1f}, {}", static_cast<double>(solver->iterations()) / samples, most);
}

inline std::string alpha_table() {
    const BayoSystem pendulum(nodal_pendulum(), false);
    const BayoSystem slider(nodal_slider_crank(0.25 * pi), true);
    const BayoSystem near(nodal_slider_crank(-0.5 * pi + 0.01), true);
    std::string text =
        "| alpha | double pendulum at the start | slider-crank at the start | 0.01 rad before it folds | engine, "
        "double "
        "pendulum: mean, largest | engine, slider-crank |\n|---|---|---|---|---|---|\n";
    const auto counts = [](const BayoSystem& system, double alpha) {
        std::string row;
        for (const int n : system.count_iterations(alpha))
            row += (row.empty() ? "" : ", ") + (n < 0 ? std::string("-") : fmt::format("{}", n));
        return row;
    };
    for (const double alpha : {1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9, 1e11})
        text += fmt::format("| {:.0e} | {} | {} | {} | {} | {} |\n", alpha, counts(pendulum, alpha),
                            counts(slider, alpha), counts(near, alpha), solves_of_engine("double-pendulum.yaml", alpha),
                            solves_of_engine("slider-crank.yaml", alpha));
    return text;
}

}  // namespace limber::bench
