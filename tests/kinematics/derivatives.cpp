// Every analytic derivative against central differences: constraint Jacobians and their products with velocity for every joint type,
// stiffness and damping of every force, every set of coordinates, space and plane.

#include <gtest/gtest.h>

#include <functional>

#include "support/force_cases.hpp"
#include "support/systems.hpp"

namespace limber::testing {
namespace {

constexpr double h = 1e-6;

MatX dense_jacobian(const System& system, const Evaluation& e) {
    MatX j = MatX::Zero(system.rows(), system.size());
    const RowPattern& pattern = system.jacobian_pattern();
    for (int i = 0; i < system.rows(); ++i)
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k) j(i, pattern.column[k]) = e.jacobian[k];
    return j;
}

MatX dense_symmetric(const SymmetricPattern& pattern, const std::vector<double>& values) {
    MatX a = MatX::Zero(pattern.size, pattern.size);
    for (int j = 0; j < pattern.size; ++j)
        for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
            a(pattern.row[k], j) = a(j, pattern.row[k]) = values[k];
    return a;
}

// Velocities that nothing is special about; they need not satisfy the constraints.
VecX some_vector(Eigen::Index n, double seed) {
    VecX v(n);
    for (Eigen::Index i = 0; i < n; ++i) v[i] = std::sin(seed + 1.7 * static_cast<double>(i));
    return v;
}

template <int D>
void check_rows(const Model& model, CoordinateKind kind) {
    const StartedSystem<D> s(model, kind);
    const System& system = *s.system;
    constexpr double t = 0.3;
    const auto e = system.make_evaluation();
    const auto probe = system.make_evaluation();
    const VecX q = s.state.q;
    const VecX v = some_vector(q.size(), 0.4);
    const auto& memory = s.state.memory;
    const int holonomic = system.holonomic_rows();
    system.update(*e, t, q, v, memory);
    const MatX j = dense_jacobian(system, *e);

    // d Phi / dq
    for (Eigen::Index k = 0; k < q.size(); ++k) {
        VecX moved = q;
        moved[k] += h;
        system.update_positions(*probe, t, moved, memory);
        VecX difference = probe->phi.head(holonomic);
        moved[k] -= 2 * h;
        system.update_positions(*probe, t, moved, memory);
        difference -= probe->phi.head(holonomic);
        EXPECT_LT((difference / (2 * h) - j.col(k).head(holonomic)).lpNorm<Eigen::Infinity>(), 1e-8) << "column " << k;
    }
    // rate = dPhi/dt along the motion, time included
    const VecX ahead = q + h * v;
    const VecX behind = q - h * v;
    system.update_positions(*probe, t + h, ahead, memory);
    VecX rate = probe->phi.head(holonomic);
    system.update_positions(*probe, t - h, behind, memory);
    rate = (rate - probe->phi.head(holonomic)) / (2 * h);
    EXPECT_LT((rate - e->rate.head(holonomic)).lpNorm<Eigen::Infinity>(), 1e-7);
    // bias = d rate / dt along the motion with constant velocity; velocity rows included
    system.update_positions(*probe, t + h, ahead, memory);
    system.update_velocities(*probe, v);
    VecX bias = probe->rate;
    system.update_positions(*probe, t - h, behind, memory);
    system.update_velocities(*probe, v);
    bias = (bias - probe->rate) / (2 * h);
    EXPECT_LT((bias - e->bias).lpNorm<Eigen::Infinity>(), 1e-7);
}

// K and C of the residual M a + J^T lambda - Q, symmetrised, against differences of the residual.
template <int D>
void check_tangent(const Model& model, CoordinateKind kind) {
    const StartedSystem<D> s(model, kind);
    const System& system = *s.system;
    constexpr double t = 0.3;
    const auto e = system.make_evaluation();
    const auto& memory = s.state.memory;
    const VecX q = s.state.q;
    const VecX v = some_vector(q.size(), 0.4);
    const VecX a = some_vector(q.size(), 1.1);
    VecX lambda = some_vector(system.rows(), 2.2);
    lambda.tail(system.rows() - system.holonomic_rows()).setZero();  // their part of the tangent is left out on purpose
    const auto residual = [&](const VecX& at, const VecX& rate) {
        system.update(*e, t, at, rate, memory);
        VecX r(q.size());
        multiply(system.pattern(), e->mass, a, r);
        r -= e->force;
        add_transposed(system.jacobian_pattern(), e->jacobian, lambda, 1.0, r);
        return r;
    };
    const auto differentiate = [&](const std::function<VecX(const VecX&)>& f, const VecX& at) {
        MatX m(at.size(), at.size());
        for (Eigen::Index k = 0; k < at.size(); ++k) {
            VecX moved = at;
            moved[k] += h;
            const VecX plus = f(moved);
            moved[k] -= 2 * h;
            m.col(k) = (plus - f(moved)) / (2 * h);
        }
        return MatX(0.5 * (m + m.transpose()));
    };
    const MatX k = differentiate([&](const VecX& x) { return residual(x, v); }, q);
    const MatX c = differentiate([&](const VecX& x) { return residual(q, x); }, v);
    system.update(*e, t, q, v, memory);
    std::vector<double> values(system.pattern().nonzeros());
    system.assemble_tangent(*e, 0, 0, 1, lambda, a, values);
    const double size = 1 + k.lpNorm<Eigen::Infinity>();
    EXPECT_LT((dense_symmetric(system.pattern(), values) - k).lpNorm<Eigen::Infinity>(), 1e-7 * size);
    system.assemble_tangent(*e, 0, 1, 0, lambda, a, values);
    EXPECT_LT((dense_symmetric(system.pattern(), values) - c).lpNorm<Eigen::Infinity>(),
              1e-7 * (1 + c.lpNorm<Eigen::Infinity>()));
}

// Which joints close loops instead of carrying bodies, in relative coordinates.
enum class Cut { as_chosen, all, every_other };

void check(const std::string& yaml, bool planar, CoordinateKind kind, Cut cut = Cut::as_chosen) {
    Model model = read(yaml);
    int index = 0;
    for (const auto handle : model.joints.handles()) {
        if (cut == Cut::all || (cut == Cut::every_other && index % 2 == 0)) model.joints.get(handle).is_cut = true;
        ++index;
    }
    if (planar) {
        check_rows<2>(model, kind);
        check_tangent<2>(model, kind);
    } else {
        check_rows<3>(model, kind);
        check_tangent<3>(model, kind);
    }
}

struct DerivativeCase {
    std::string name, yaml;
    bool planar = false;
};

std::vector<DerivativeCase> derivative_cases() {
    std::vector<DerivativeCase> cases;
    for (const auto& c : joint_cases()) cases.push_back({"joint_" + c.name, c.yaml, false});
    for (const auto& c : planar_joint_cases()) cases.push_back({"planar_joint_" + c.name, c.yaml, true});
    for (const auto& c : force_cases()) {
        cases.push_back({"force_" + c.name, force_model(c, false), false});
        cases.push_back({"planar_force_" + c.name, force_model(c, true), true});
    }
    return cases;
}

class Derivatives : public ::testing::TestWithParam<DerivativeCase> {};

TEST_P(Derivatives, AgreeWithDifferencesInNaturalCoordinates) {
    check(GetParam().yaml, GetParam().planar, CoordinateKind::natural);
}

TEST_P(Derivatives, AgreeWithDifferencesInReferencePointCoordinates) {
    check(GetParam().yaml, GetParam().planar, CoordinateKind::reference_point);
}

TEST_P(Derivatives, AgreeWithDifferencesInRelativeCoordinates) {
    for (const Cut cut : {Cut::as_chosen, Cut::all, Cut::every_other}) {
        SCOPED_TRACE(static_cast<int>(cut));
        check(GetParam().yaml, GetParam().planar, CoordinateKind::relative, cut);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Derivatives, ::testing::ValuesIn(derivative_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace limber::testing
