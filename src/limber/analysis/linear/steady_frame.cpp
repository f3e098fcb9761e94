#include "limber/analysis/linear/steady_frame.hpp"

#include <fmt/format.h>

#include <cmath>

namespace limber {
namespace {

constexpr const char* axis_names[] = {"x", "y", "z"};
// Squares of speeds below this, in units of their own, are none.
constexpr double no_motion = 1e-20;

// (0, w) p = L p
Mat<4> left_product(const Vec3& w) {
    Mat<4> m = Mat<4>::Zero();
    m.block<1, 3>(0, 1) = -w.transpose();
    m.block<3, 1>(1, 0) = w;
    m.block<3, 3>(1, 1) << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
    return m;
}

// p (0, w) = R p
Mat<4> right_product(const Vec3& w) {
    Mat<4> m = left_product(w);
    m.block<3, 3>(1, 1).transposeInPlace();
    return m;
}

// 2 p' conj(p), the vector of it: turns in the axes before the ball.
Eigen::Matrix<double, 3, 4> turn_of(const Vec<4>& p) {
    Eigen::Matrix<double, 3, 4> e;
    const Vec3 v = p.tail<3>();
    e.col(0) = -v;
    e.rightCols<3>() << p[0], -v[2], v[1], v[2], p[0], -v[0], -v[1], v[0], p[0];
    return 2 * e / p.squaredNorm();
}

// The rate W of a turn about z that takes u' along: u' = W z x u.
double find_precession(const Vec3& z, const Vec3& u, const Vec3& u_rate) {
    const Vec3 across = z.cross(u);
    return across.squaredNorm() > no_motion ? u_rate.dot(across) / across.squaredNorm() : 0;
}

struct Motion {
    JointMotion::Kind kind = JointMotion::Kind::turn;
    int axis = 0;
    int column = 0;
};

template <int D>
std::vector<Motion> motions_of(const TreeNode<D>& node) {
    std::vector<Motion> list;
    int column = node.first_column;
    for (const JointMotion& motion : node.motions) {
        list.push_back({motion.kind, motion.axis, column});
        column += motion.kind == JointMotion::Kind::ball ? 4 : 1;
    }
    return list;
}

}  // namespace

template <int D>
NamedMotions name_motions(const RelativeSystem<D>& system, const VecX& q) {
    NamedMotions result;
    std::vector<Eigen::RowVectorXd> rows;
    const auto add = [&](std::string name, int column, const Eigen::RowVectorXd& values) {
        Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(system.size());
        row.segment(column, values.size()) = values;
        rows.push_back(row);
        result.names.push_back(std::move(name));
    };
    const auto& tree = system.coordinates().tree();
    for (const TreeNode<D>& node : tree.nodes) {
        const bool floats = node.element < 0;
        const std::string name = floats ? fmt::format("body '{}'", system.mechanism().bodies[node.body].name)
                                        : fmt::format("joint '{}'", system.mechanism().elements[node.element].name);
        const std::vector<Motion> motions = motions_of(node);
        for (const Motion& motion : motions) {
            const bool is_one = motions.size() == 1;
            const char* axis = axis_names[motion.axis];
            if (motion.kind == JointMotion::Kind::ball) {
                const auto turn = turn_of(q.segment<4>(motion.column));
                for (int k = 0; k < 3; ++k)
                    add(fmt::format("{} turns about {}", name, axis_names[k]), motion.column, turn.row(k));
                continue;
            }
            const bool slides = motion.kind == JointMotion::Kind::slide;
            add(is_one   ? fmt::format("{} {}", name, slides ? "slides" : "turns")
                : slides ? fmt::format("{} moves along {}", name, axis)
                : D == 2 ? fmt::format("{} turns", name)
                         : fmt::format("{} turns about {}", name, axis),
                motion.column, Eigen::RowVectorXd::Ones(1));
        }
    }
    result.matrix.resize(static_cast<int>(rows.size()), system.size());
    for (std::size_t i = 0; i < rows.size(); ++i) result.matrix.row(static_cast<int>(i)) = rows[i];
    return result;
}

template <int D>
std::vector<MatX> list_steady_frames(const RelativeSystem<D>& system, const LinearFlow& flow) {
    const int n = system.size();
    const MatX none = MatX::Zero(n, n);
    MatX spin = none;
    MatX precession = none;
    MatX rotation = none;
    Vec3 up = Vec3::UnitZ();
    const Vec3 gravity = in_space<D>(system.mechanism().gravity_at(flow.t()));
    if (D == 3 && gravity.norm() > 0) up = -gravity.normalized();
    for (const TreeNode<D>& node : system.coordinates().tree().nodes) {
        const std::vector<Motion> motions = motions_of(node);
        const bool is_on_ground = node.parent < 0;
        Vec3 w = Vec3::Zero();
        Vec3 w_rate = Vec3::Zero();
        const Vec3 z = [&]() -> Vec3 {
            if constexpr (D == 3) return node.parent_axes.transpose() * up;
            return up;
        }();
        double rate = 0;
        int ball = -1;
        for (const Motion& motion : motions) {
            if (motion.kind == JointMotion::Kind::ball) {
                ball = motion.column;
                const auto turn = turn_of(flow.q().segment<4>(ball));
                w = turn * flow.v().segment<4>(ball);
                w_rate = turn * flow.a().segment<4>(ball);
                rate = find_precession(z, w, w_rate);
            } else if (D == 2 && node.element < 0 && motion.kind != JointMotion::Kind::slide) {
                w[2] = flow.v()[motion.column];
            }
        }
        // The columns of slides are in the order of their axes, which are those of the parent.
        if (node.element < 0 && is_on_ground) {
            Vec3 v = Vec3::Zero();
            Vec3 a = Vec3::Zero();
            v.head<D>() = flow.v().segment<D>(node.first_column);
            a.head<D>() = flow.a().segment<D>(node.first_column);
            if (z.cross(v).squaredNorm() > no_motion) rate = find_precession(z, v, a);
            const auto cross = [](const Vec3& u) {
                Mat3 m;
                m << 0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0;
                return m;
            };
            precession.block<D, D>(node.first_column, node.first_column) =
                cross(rate * z).template topLeftCorner<D, D>();
            rotation.block<D, D>(node.first_column, node.first_column) = cross(w).template topLeftCorner<D, D>();
        }
        if (ball < 0) continue;
        const Vec<4> p = flow.q().segment<4>(ball);
        const Mat3 turned = Quat(p[0], p[1], p[2], p[3]).normalized().toRotationMatrix();
        const Mat<4> in_body = 0.5 * right_product(turned.transpose() * w);
        spin.block<4, 4>(ball, ball) = in_body;
        precession.block<4, 4>(ball, ball) =
            is_on_ground
                ? Mat<4>(0.5 * left_product(rate * z) + 0.5 * right_product(turned.transpose() * (w - rate * z)))
                : in_body;
        rotation.block<4, 4>(ball, ball) = is_on_ground ? Mat<4>(0.5 * left_product(w)) : in_body;
    }
    std::vector<MatX> frames{spin};
    for (const MatX& other : {precession, rotation})
        if (std::ranges::none_of(frames, [&](const MatX& f) { return (f - other).norm() <= 1e-9 * other.norm(); }))
            frames.push_back(other);
    return frames;
}

template NamedMotions name_motions(const RelativeSystem<2>&, const VecX&);
template NamedMotions name_motions(const RelativeSystem<3>&, const VecX&);
template std::vector<MatX> list_steady_frames(const RelativeSystem<2>&, const LinearFlow&);
template std::vector<MatX> list_steady_frames(const RelativeSystem<3>&, const LinearFlow&);

}  // namespace limber
