// Every analytic derivative against central differences: constraint Jacobians and their products with velocity for
// every joint type, stiffness and damping of every force, every set of coordinates, space and plane.

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/QR>
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

// K and C of the residual M a + J^T lambda - Q, symmetrised: as assembled, and by differences of the residual.
struct Tangents {
    MatX k, c, k_by_differences, c_by_differences;
};

template <int D>
Tangents compute_tangents(const StartedSystem<D>& s, const VecX& v, const VecX& a) {
    const System& system = *s.system;
    constexpr double t = 0.3;
    const auto e = system.make_evaluation();
    const auto& memory = s.state.memory;
    const VecX q = s.state.q;
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
    Tangents tangents;
    tangents.k_by_differences = differentiate([&](const VecX& x) { return residual(x, v); }, q);
    tangents.c_by_differences = differentiate([&](const VecX& x) { return residual(q, x); }, v);
    system.update(*e, t, q, v, memory);
    std::vector<double> values(system.pattern().nonzeros());
    system.assemble_tangent(*e, 0, 0, 1, lambda, a, values);
    tangents.k = dense_symmetric(system.pattern(), values);
    system.assemble_tangent(*e, 0, 1, 0, lambda, a, values);
    tangents.c = dense_symmetric(system.pattern(), values);
    return tangents;
}

template <int D>
void check_tangent(const Model& model, CoordinateKind kind) {
    const StartedSystem<D> s(model, kind);
    const Eigen::Index size = s.state.q.size();
    const Tangents t = compute_tangents(s, some_vector(size, 0.4), some_vector(size, 1.1));
    EXPECT_LT((t.k - t.k_by_differences).lpNorm<Eigen::Infinity>(),
              1e-7 * (1 + t.k_by_differences.lpNorm<Eigen::Infinity>()));
    EXPECT_LT((t.c - t.c_by_differences).lpNorm<Eigen::Infinity>(),
              1e-7 * (1 + t.c_by_differences.lpNorm<Eigen::Infinity>()));
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

// A force of a user that depends on all that it can see; its derivatives are made by dual numbers.
struct Muddle {
    template <class T>
    void act(const MarkerMotion<T>& a, const MarkerMotion<T>& b, double t, MarkerLoad<T>& on_a,
             MarkerLoad<T>& on_b) const {
        using std::exp, std::sqrt, std::tanh;  // of plain numbers
        const Vector3<T> way = b.position - a.position;
        const Vector3<T> slip = b.velocity - a.velocity;
        const T pull = T(3 + t) / sqrt(way.squaredNorm() + T(0.2)) - T(0.7) * tanh(slip.norm());
        const Vector3<T> force = pull * way + T(0.4) * slip + T(0.2) * a.axes.col(0);
        on_a.force += force;
        on_b.force -= force;
        const Vector3<T> turning = b.angular_velocity - a.angular_velocity;
        on_b.torque += T(0.5) * Vector3<T>(b.axes.col(1).cross(a.axes.col(0))) - T(0.3) * turning;
        on_a.torque += exp(-turning.squaredNorm()) * Vector3<T>(way.cross(force));
    }
};

TEST(DerivativesOfUsers, AgreeWithDifferences) {
    for (const bool planar : {false, true})
        for (const auto kind : {CoordinateKind::natural, CoordinateKind::reference_point, CoordinateKind::relative}) {
            Model model = read(force_model({"none", "{drag: b.s, linear: 0.1}"}, planar));
            model.add(CustomForce("muddle", {model.marker("a.s"), model.marker("b.s")}, Muddle{}));
            SCOPED_TRACE(planar ? "plane" : "space");
            if (planar) {
                check_tangent<2>(model, kind);
            } else {
                check_tangent<3>(model, kind);
            }
        }
}

// A joint of a user that depends on all that it can see.
struct Tangle {
    template <class T>
    std::array<T, 2> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        using std::atan2, std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt, std::tan, std::tanh;
        const Vector3<T> way = b.position - a.position;
        const Vector3<T> side = a.axes.col(0);
        const Vector3<T> other = b.axes.col(1);
        const T turn = atan2(side.dot(other), side.dot(Vector3<T>(b.axes.col(0))));
        const T length = sqrt(way.squaredNorm() + T(0.2));
        return {length - T(0.1) * tanh(way.dot(side)) + T(0.05) * exp(-b.position.x() * a.position.y()) - T(1.1),
                T(0.3) * sin(turn) + T(0.1) * cos(turn) / length + T(0.2) * tan(T(0.1) * way.x()) +
                    log(T(1) + way.squaredNorm()) - pow(length, 1.5) + T(0.2) * atan(way.y()) + T(0.3)};
    }
};

TEST(DerivativesOfUsers, OfJointsAgreeWithDifferences) {
    for (const bool planar : {false, true})
        for (const auto kind : {CoordinateKind::natural, CoordinateKind::reference_point, CoordinateKind::relative}) {
            Model model =
                read(planar ? two_planar_bodies("{point-on-line: [a.m, b.m]}") : two_bodies("{spherical: [a.m, b.m]}"));
            model.add(CustomJoint("tangle", {model.marker("a.s"), model.marker("b.s")}, Tangle{}));
            SCOPED_TRACE(planar ? "plane" : "space");
            if (planar) {
                check_rows<2>(model, kind);
                check_tangent<2>(model, kind);
            } else {
                check_rows<3>(model, kind);
                check_tangent<3>(model, kind);
            }
        }
}

// Contact of a ball that rolls, slides and spins on a block that moves too. Only motions that keep bodies rigid count:
// to others the velocity of a contact point has no meaning. With its point and normal held C is exact. What K leaves
// out, they move and turn, is of the order of the force N, not of its stiffness k: N (1 + mu + rho + sigma) times one
// over the radius or times speeds over slip, all of which are of order one here.
template <int D>
void check_contact_tangent(const std::string& yaml, CoordinateKind kind) {
    const double stiffness = 1e4;
    const double force = 1;  // at a depth of 1e-4
    const StartedSystem<D> s(read(yaml), kind);
    const auto e = s.system->make_evaluation();
    s.system->update(*e, 0, s.state.q, s.state.v, s.state.memory);
    const MatX kernel = Eigen::FullPivLU<MatX>(dense_jacobian(*s.system, *e)).kernel();
    const bool is_free = s.system->rows() == 0;
    const MatX motions =
        is_free
            ? MatX(MatX::Identity(s.state.q.size(), s.state.q.size()))
            : MatX(Eigen::HouseholderQR<MatX>(kernel).householderQ() * MatX::Identity(kernel.rows(), kernel.cols()));
    const auto along = [&](const MatX& m) { return MatX(motions.transpose() * m * motions); };
    const auto largest = [](const MatX& m) { return m.cwiseAbs().maxCoeff(); };
    const Tangents t = compute_tangents(s, s.state.v, VecX::Zero(s.state.q.size()));
    const MatX c = along(t.c_by_differences);
    EXPECT_LT(largest(along(t.c) - c), 1e-7 * (1 + largest(c)));
    const MatX k = along(t.k_by_differences);
    EXPECT_GT(largest(k), 0.5 * stiffness);
    EXPECT_LT(largest(along(t.k) - k), 20 * force);
}

TEST(ContactDerivatives, OfCompliantContactsThatResistTurning) {
    const char* in_space = R"(
limber: 1
gravity: none
bodies:
  block: {box: {size: [1, 1, 0.2], mass: 1}, at: [0, 0, -0.1], velocity: [0.1, 0.2, 0.1], angular-velocity: [0.2, -0.1, 0.3]}
  ball: {sphere: {radius: 0.5, mass: 1}, at: [0.1, 0.05, 0.4999], velocity: [0.4, -0.3, -0.2], angular-velocity: [0.5, 0.4, 0.6]}
contacts:
  floor: {hunt-crossley: [ball, block], stiffness: 1e4, exponent: 1, factor: 0.1, friction: 0.3, slip: 0.5, rolling: 0.3, spinning: 0.2, turn-slip: 0.5}
)";
    const char* in_plane = R"(
limber: 1
plane: xy
gravity: none
bodies:
  block: {box: {size: [1, 0.2], mass: 1}, at: [0, -0.1], velocity: [0.1, 0.2], angular-velocity: 0.2}
  ball: {disc: {radius: 0.5, mass: 1}, at: [0.1, 0.4999], velocity: [0.4, -0.3], angular-velocity: 0.7}
contacts:
  floor: {hunt-crossley: [ball, block], stiffness: 1e4, exponent: 1, factor: 0.1, friction: 0.3, slip: 0.5, rolling: 0.3, turn-slip: 0.5}
)";
    for (const auto kind : {CoordinateKind::natural, CoordinateKind::reference_point, CoordinateKind::relative}) {
        SCOPED_TRACE(static_cast<int>(kind));
        check_contact_tangent<3>(in_space, kind);
        check_contact_tangent<2>(in_plane, kind);
    }
}

}  // namespace
}  // namespace limber::testing
