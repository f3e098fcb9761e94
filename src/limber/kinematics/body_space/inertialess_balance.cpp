// Motions without inertia put into balance: forces along them, how these change, where and how fast the bodies must be
// for them to vanish.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/kinematics/body_space/inertialess.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/math/dense_factors.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr double displacement = 1e-6;  // of differences, over the typical length
constexpr double undetermined = 1e-8;  // stiffness over what is usual in the same row
constexpr double no_damping = 1e-9;
constexpr double balanced = 1e-13;  // over the forces on the bodies
constexpr double balance_tolerance = 1e-9;
constexpr double largest_step = 0.5;  // over the typical length
constexpr int max_iterations = 60;
constexpr int max_halvings = 20;

}  // namespace

// ---------------------------------------------------------------- forces along them

template <int D>
VecX InertialessMotions<D>::find_forces(const MatX& basis, const BodyStates<D>& states,
                                        const std::vector<double>& memory, double t) {
    const MatX here = find_basis(states, memory, t);
    VecX wrench = VecX::Zero(rows_.twist_count());
    add_applied_wrenches(m_, states, rows_.features, memory, t, slot_force_, 1.0, wrench);
    for (std::size_t b = 0; b < m_.bodies.size(); ++b)
        wrench.template segment<A>(static_cast<Eigen::Index>(b) * T + D) /= m_.length_scale;
    load_ = 0;
    for (std::size_t s = 0; s < slot_force_.size(); ++s) {
        const int body = m_.features[m_.forces.slot_feature[s]].body;
        for (const LightBody& light : light_)
            if (light.body == body) load_ = std::max(load_, slot_force_[s].norm());
    }
    return basis.transpose() * (here * (here.transpose() * wrench));
}

template <int D>
void InertialessMotions<D>::displace(BodyStates<D>& states, const VecX& twists, double factor) const {
    for (const LightBody& light : light_) {
        TwistVec<D> d = factor * twists.segment<T>(light.body * T);
        d.template tail<A>() /= m_.length_scale;
        move(states[light.body], d);
    }
}

template <int D>
MatX InertialessMotions<D>::find_stiffness(const MatX& basis, const BodyStates<D>& states,
                                           const std::vector<double>& memory, double t) {
    MatX stiffness(basis.cols(), basis.cols());
    const double step = displacement * m_.length_scale;
    for (Eigen::Index k = 0; k < basis.cols(); ++k) {
        VecX forces[2];
        for (const int side : {0, 1}) {
            BodyStates<D> moved = states;
            displace(moved, basis.col(k), side == 0 ? -step : step);
            forces[side] = find_forces(basis, moved, memory, t);
        }
        stiffness.col(k) = (forces[0] - forces[1]) / (2 * step);
    }
    return stiffness;
}

template <int D>
MatX InertialessMotions<D>::find_damping(const MatX& basis, const BodyStates<D>& states,
                                         const std::vector<double>& memory, double t) {
    MatX damping(basis.cols(), basis.cols());
    for (Eigen::Index k = 0; k < basis.cols(); ++k) {
        VecX forces[2];
        for (const int side : {0, 1}) {
            BodyStates<D> moved = states;
            for (const LightBody& light : light_) {
                const VecX twist =
                    (side == 0 ? -0.5 : 0.5) * displacement * m_.length_scale * basis.col(k).segment(light.body * T, T);
                moved[light.body].velocity += twist.head(D);
                moved[light.body].angular_velocity += twist.tail(A) / m_.length_scale;
            }
            forces[side] = find_forces(basis, moved, memory, t);
        }
        damping.col(k) = (forces[0] - forces[1]) / (displacement * m_.length_scale);
    }
    // What rounding leaves of forces that do not depend on velocities.
    const double rounding = 1e-7 * load_ / m_.length_scale;
    if (!(damping.norm() > rounding)) damping.setZero();
    return damping;
}

template <int D>
MatX InertialessMotions<D>::find_undamped(const MatX& basis, const MatX& damping) const {
    if (damping.isZero(0)) return basis;
    const SingularVectors svd = compute_singular_vectors(damping);
    Eigen::Index rank = 0;
    while (rank < damping.cols() && svd.values[rank] > no_damping * svd.values[0]) ++rank;
    return basis * svd.right.rightCols(damping.cols() - rank);
}

// ---------------------------------------------------------------- balance

template <int D>
void InertialessMotions<D>::close_gaps(BodyStates<D>& states, std::vector<double>& memory, double t) {
    for (int pass = 0; pass < 5; ++pass) {
        rows_.update(states, memory, t);
        const VecX phi = rows_.values.phi;
        if (phi.size() == 0 || !(phi.template lpNorm<Eigen::Infinity>() > 1e-14 * m_.length_scale)) break;
        rows_.normalise();
        MatX matrix = MatX::Zero(rows_.row_count(), light_.back().first_column + light_.back().column_count);
        MatX z = MatX::Zero(rows_.twist_count(), matrix.cols());
        for (const LightBody& light : light_)
            z.block(light.body * T, light.first_column, T, light.column_count) = light_columns(light, states);
        VecX row(rows_.twist_count());
        VecX errors(rows_.row_count());
        for (int r = 0; r < rows_.row_count(); ++r) {
            row.setZero();
            rows_.add_row(r, 1, row);
            matrix.row(r) = row.transpose() * z;
            errors[r] = rows_.set.rows[r].is_holonomic() ? -rows_.scale[r] * phi[r] : 0;
        }
        displace(states, z * solve_least_norm(matrix, errors), 1);
    }
    update_features<D>(m_, states, m_.used_features, rows_.features);
    refresh_memory(m_, rows_.features, memory);
}

// Takes as much of a step as makes the forces smaller.
template <int D>
bool InertialessMotions<D>::try_step(const MatX& basis, const VecX& step, BodyStates<D>& states,
                                     std::vector<double>& memory, double t, double& size) {
    double factor = std::min(1.0, largest_step * m_.length_scale / step.norm());
    for (int i = 0; i < max_halvings; ++i, factor /= 2) {
        BodyStates<D> next = states;
        std::vector<double> next_memory = memory;
        displace(next, basis * step, factor);
        close_gaps(next, next_memory, t);
        const double next_size = find_forces(basis, next, next_memory, t).norm();
        if (!(next_size < size)) continue;
        states = next;
        memory = std::move(next_memory);
        size = next_size;
        return true;
    }
    return false;
}

template <int D>
void InertialessMotions<D>::balance(BodyStates<D>& states, std::vector<double>& memory, double t) {
    if (empty()) return;
    double size = 0;
    MatX basis;
    for (int i = 0; i < max_iterations; ++i) {
        basis = find_basis(states, memory, t);
        const MatX undamped = find_undamped(basis, find_damping(basis, states, memory, t));
        if (undamped.cols() == 0) break;
        const VecX forces = find_forces(undamped, states, memory, t);
        size = forces.norm();
        if (size <= balanced * load_) break;
        const VecX step = solve_least_norm(find_stiffness(undamped, states, memory, t), forces, undetermined);
        if (!(step.norm() > 0) || !try_step(undamped, step, states, memory, t, size)) break;
    }
    basis = find_basis(states, memory, t);
    refuse_undetermined(basis, states, memory, t);
    const MatX undamped = find_undamped(basis, find_damping(basis, states, memory, t));
    if (undamped.cols() == 0) return;
    const VecX rest = find_forces(undamped, states, memory, t);
    if (rest.norm() > balance_tolerance * load_)
        throw ModelError(fmt::format(
            "body '{}' has no inertia that could take up the forces on it, and no place was found where they balance; "
            "start it nearer to that place, or give it mass and inertia",
            name_of(undamped * rest)));
}

template <int D>
void InertialessMotions<D>::refuse_undetermined(const MatX& basis, const BodyStates<D>& states,
                                                const std::vector<double>& memory, double t) {
    MatX matrix = find_stiffness(basis, states, memory, t);
    const MatX damping = find_damping(basis, states, memory, t);
    const double size = matrix.norm();
    if (!damping.isZero(0)) matrix += (size > 0 ? size / damping.norm() : 1.0) * damping;
    // Soft and stiff springs count alike.
    VecX scale(matrix.rows());
    const double rounding = 1e-7 * load_ / m_.length_scale;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        const double largest = std::max(matrix.row(i).cwiseAbs().maxCoeff(), matrix.col(i).cwiseAbs().maxCoeff());
        scale[i] = largest > rounding ? 1 / std::sqrt(largest) : 0;
    }
    matrix = scale.asDiagonal() * matrix * scale.asDiagonal();
    const SingularVectors svd = compute_singular_vectors(matrix);
    const Eigen::Index last = matrix.cols() - 1;
    if (svd.values[last] > undetermined) return;
    VecX motion = svd.right.col(last);
    for (Eigen::Index i = 0; i < motion.size(); ++i)
        if (scale[i] > 0) motion[i] *= scale[i] / scale.maxCoeff();
    throw ModelError(
        fmt::format("body '{}' can move without inertia, and nothing determines how: no joint holds it and no force "
                    "depends on where "
                    "it is; give it mass and inertia, or hold it by a joint, a driver, a spring or a damper",
                    name_of(basis * motion)));
}

template <int D>
void InertialessMotions<D>::balance_velocities(BodyStates<D>& states, const std::vector<double>& memory, double t) {
    if (empty()) return;
    const MatX basis = find_basis(states, memory, t);
    const auto add = [&](const VecX& twists) {
        for (const LightBody& light : light_) {
            states[light.body].velocity += twists.segment<D>(light.body * T);
            states[light.body].angular_velocity += twists.segment<A>(light.body * T + D) / m_.length_scale;
        }
    };
    const MatX damping = find_damping(basis, states, memory, t);
    for (int i = 0; i < 3 && !damping.isZero(0); ++i) {
        add(basis * solve_least_norm(find_damping(basis, states, memory, t), find_forces(basis, states, memory, t),
                                     no_damping));
    }
    const MatX undamped = find_undamped(basis, damping);
    if (undamped.cols() == 0) return;
    // The balance a moment later and a moment before, everything moving on as it does.
    double speed = 0;
    for (const auto& body : states)
        speed = std::max(speed, std::max(body.velocity.norm(), body.angular_velocity.norm() * m_.length_scale));
    const double moment = 1e-5 * std::min(1.0, m_.length_scale / std::max(speed, 1e-9));
    VecX forces[2];
    for (const int side : {0, 1}) {
        const double time = side == 0 ? -moment : moment;
        BodyStates<D> moved = states;
        for (auto& body : moved) {
            TwistVec<D> twist;
            twist << time * body.velocity, time * body.angular_velocity;
            move(body, twist);
        }
        forces[side] = find_forces(undamped, moved, memory, t + time);
    }
    const MatX stiffness = find_stiffness(undamped, states, memory, t);
    add(undamped * solve_least_squares(stiffness, (forces[1] - forces[0]) / (2 * moment)));
}

template VecX InertialessMotions<2>::find_forces(const MatX& basis, const BodyStates<2>& states,
                                                 const std::vector<double>& memory, double t);
template VecX InertialessMotions<3>::find_forces(const MatX& basis, const BodyStates<3>& states,
                                                 const std::vector<double>& memory, double t);
template void InertialessMotions<2>::displace(BodyStates<2>& states, const VecX& twists, double factor) const;
template void InertialessMotions<3>::displace(BodyStates<3>& states, const VecX& twists, double factor) const;
template MatX InertialessMotions<2>::find_stiffness(const MatX& basis, const BodyStates<2>& states,
                                                    const std::vector<double>& memory, double t);
template MatX InertialessMotions<3>::find_stiffness(const MatX& basis, const BodyStates<3>& states,
                                                    const std::vector<double>& memory, double t);
template MatX InertialessMotions<2>::find_damping(const MatX& basis, const BodyStates<2>& states,
                                                  const std::vector<double>& memory, double t);
template MatX InertialessMotions<3>::find_damping(const MatX& basis, const BodyStates<3>& states,
                                                  const std::vector<double>& memory, double t);
template MatX InertialessMotions<2>::find_undamped(const MatX& basis, const MatX& damping) const;
template MatX InertialessMotions<3>::find_undamped(const MatX& basis, const MatX& damping) const;
template void InertialessMotions<2>::close_gaps(BodyStates<2>& states, std::vector<double>& memory, double t);
template void InertialessMotions<3>::close_gaps(BodyStates<3>& states, std::vector<double>& memory, double t);
template bool InertialessMotions<2>::try_step(const MatX& basis, const VecX& step, BodyStates<2>& states,
                                              std::vector<double>& memory, double t, double& size);
template bool InertialessMotions<3>::try_step(const MatX& basis, const VecX& step, BodyStates<3>& states,
                                              std::vector<double>& memory, double t, double& size);
template void InertialessMotions<2>::balance(BodyStates<2>& states, std::vector<double>& memory, double t);
template void InertialessMotions<3>::balance(BodyStates<3>& states, std::vector<double>& memory, double t);
template void InertialessMotions<2>::refuse_undetermined(const MatX& basis, const BodyStates<2>& states,
                                                         const std::vector<double>& memory, double t);
template void InertialessMotions<3>::refuse_undetermined(const MatX& basis, const BodyStates<3>& states,
                                                         const std::vector<double>& memory, double t);
template void InertialessMotions<2>::balance_velocities(BodyStates<2>& states, const std::vector<double>& memory,
                                                        double t);
template void InertialessMotions<3>::balance_velocities(BodyStates<3>& states, const std::vector<double>& memory,
                                                        double t);

}  // namespace limber
