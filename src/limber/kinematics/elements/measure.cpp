#include "limber/kinematics/elements/measure.hpp"

#include <cassert>
#include <cmath>

#include "limber/kinematics/elements/custom_measure.hpp"

namespace limber {
namespace {

template <int D>
const Vec<D>& value(const Measure<D>& m, const MeasureContext<D>& c, int i) {
    return c.features.value[m.feature[i]];
}
template <int D>
const Vec<D>& rate(const Measure<D>& m, const MeasureContext<D>& c, int i) {
    return c.features.rate[m.feature[i]];
}

// ---------------------------------------------------------------- angle
// theta(s, c) with s = b . a2, c = b . a1; features a1, a2, b.

struct AngleParts {
    double s, c, theta_s, theta_c, theta_ss, theta_sc, theta_cc;
};

template <int D>
AngleParts angle_parts(const Measure<D>& m, const MeasureContext<D>& ctx) {
    AngleParts p{};
    p.s = value(m, ctx, 2).dot(value(m, ctx, 1));
    p.c = value(m, ctx, 2).dot(value(m, ctx, 0));
    const double r2 = p.s * p.s + p.c * p.c;
    p.theta_s = p.c / r2;
    p.theta_c = -p.s / r2;
    p.theta_ss = -2 * p.s * p.c / (r2 * r2);
    p.theta_cc = -p.theta_ss;
    p.theta_sc = (p.s * p.s - p.c * p.c) / (r2 * r2);
    return p;
}

template <int D>
double unwound(const Measure<D>& m, const MeasureContext<D>& c, double wrapped) {
    if (!m.memory.exists()) return wrapped;
    return wrapped + 2 * pi * std::round((m.memory.in(c.memory) - wrapped) / (2 * pi));
}

// ---------------------------------------------------------------- curve
// Features a, axes e_1 .. e_D of the frame that carries the curve, point p. In curve axes y_i = e_i . (p - a);
// s is the parameter of the nearest point, n the normal there:
//   g = n . (y - c(s)),  grad g = n + (n' . (y - c)) grad s,  grad s = c' / (|c'|^2 - (y - c) . c'')
//   H = n' grad s^T + grad s n'^T - (n' . c') grad s grad s^T                 on the curve (y = c)

template <int D>
struct CurveParts {
    double s = 0;
    Vec<D> y, gap, tangent, normal, normal_rate, grad_s;
};

template <int D>
CurveParts<D> curve_parts(const Measure<D>& m, const MeasureContext<D>& ctx) {
    const MeasuredCurve<D>& curve = ctx.curves[m.curve];
    CurveParts<D> p;
    const Vec<D> d = value(m, ctx, D + 1) - value(m, ctx, 0);
    for (int i = 0; i < D; ++i) p.y[i] = value(m, ctx, i + 1).dot(d);
    p.s = curve.curve.project(p.y, m.memory.in(ctx.memory));
    const auto at = curve.curve.evaluate(p.s);
    p.gap = p.y - at.position;
    p.tangent = at.first;
    const double speed = at.first.norm();
    const Vec<D> t = at.first / speed;
    const Vec<D> t_rate = (at.second - t * t.dot(at.second)) / speed;
    if constexpr (D == 2) {
        p.normal = {-t.y(), t.x()};
        p.normal_rate = {-t_rate.y(), t_rate.x()};
    } else {
        const Vec3 w = curve.reference.cross(t);
        const Vec3 w_rate = curve.reference.cross(t_rate);
        const Vec3 n1 = w.normalized();
        const Vec3 n1_rate = (w_rate - n1 * n1.dot(w_rate)) / w.norm();
        p.normal = m.normal == 0 ? n1 : Vec3(t.cross(n1));
        p.normal_rate = m.normal == 0 ? n1_rate : Vec3(t_rate.cross(n1) + t.cross(n1_rate));
    }
    p.grad_s = at.first / (speed * speed - p.gap.dot(at.second));
    return p;
}

template <int D>
Mat<D> curve_hessian(const CurveParts<D>& p) {
    return p.normal_rate * p.grad_s.transpose() + p.grad_s * p.normal_rate.transpose() -
           p.normal_rate.dot(p.tangent) * p.grad_s * p.grad_s.transpose();
}

// ---------------------------------------------------------------- disc: features a, n, p, s
// psi(u) = -R sqrt(1 - u^2), u = n . s

struct DiscParts {
    double u, psi, psi_u, psi_uu;
};

template <int D>
DiscParts disc_parts(const Measure<D>& m, const MeasureContext<D>& c) {
    const double u = value(m, c, 1).dot(value(m, c, 3));
    const double root = std::sqrt(std::max(1e-12, 1 - u * u));
    return {u, -m.length * root, m.length * u / root, m.length / (root * root * root)};
}

}  // namespace

template <int D>
Vec<D> curve_reference(const Curve<D>& curve) {
    if constexpr (D == 2) {
        return Vec2::Zero();
    } else {
        constexpr int samples = 200;
        std::vector<Vec3> candidates{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
        // Normal of the plane of the curve, if it has one.
        Vec3 normal = Vec3::Zero();
        for (int i = 0; i < samples; ++i) {
            const auto p = curve.evaluate(curve.length() * i / samples);
            const Vec3 binormal = p.first.cross(p.second);
            normal += binormal.dot(normal) < 0 ? Vec3(-binormal) : binormal;
        }
        if (normal.norm() > 1e-9) candidates.insert(candidates.begin(), normal.normalized());
        Vec3 best = Vec3::UnitZ();
        double best_sine = -1;
        for (const Vec3& candidate : candidates) {
            double smallest = 1;
            for (int i = 0; i <= samples; ++i) {
                const Vec3 t = curve.evaluate(curve.length() * i / samples).first.normalized();
                smallest = std::min(smallest, candidate.cross(t).norm());
            }
            if (smallest > best_sine + 1e-9) {
                best_sine = smallest;
                best = candidate;
            }
        }
        return best;
    }
}

template <int D>
double compute_value(const Measure<D>& m, const MeasureContext<D>& c) {
    switch (m.kind) {
        case MeasureKind::component: return value(m, c, 0).dot(m.axis);
        case MeasureKind::dot: return value(m, c, 0).dot(value(m, c, 1));
        case MeasureKind::dot_point: return (value(m, c, 1) - value(m, c, 0)).dot(value(m, c, 2));
        case MeasureKind::half_square:
            return ((value(m, c, 1) - value(m, c, 0)).squaredNorm() - m.length * m.length) / (2 * m.length);
        case MeasureKind::distance: return (value(m, c, 1) - value(m, c, 0)).norm();
        case MeasureKind::angle:
            return unwound(m, c, std::atan2(value(m, c, 2).dot(value(m, c, 1)), value(m, c, 2).dot(value(m, c, 0))));
        case MeasureKind::curve_offset: {
            const CurveParts<D> p = curve_parts(m, c);
            return p.normal.dot(p.gap);
        }
        case MeasureKind::disc_height:
            return (value(m, c, 2) - value(m, c, 0)).dot(value(m, c, 1)) + disc_parts(m, c).psi;
        case MeasureKind::custom: {
            MeasureGradient<D> unused;
            return compute_custom_gradient(m, c, unused.data());
        }
    }
    return 0;
}

template <int D>
double compute_gradient(const Measure<D>& m, const MeasureContext<D>& c, Vec<D>* g) {
    switch (m.kind) {
        case MeasureKind::component: g[0] = m.axis; return value(m, c, 0).dot(m.axis);
        case MeasureKind::dot:
            g[0] = value(m, c, 1);
            g[1] = value(m, c, 0);
            return g[0].dot(g[1]);
        case MeasureKind::dot_point: {
            g[1] = value(m, c, 2);
            g[0] = -g[1];
            g[2] = value(m, c, 1) - value(m, c, 0);
            return g[2].dot(g[1]);
        }
        case MeasureKind::half_square: {
            const Vec<D> d = value(m, c, 1) - value(m, c, 0);
            g[1] = d / m.length;
            g[0] = -g[1];
            return (d.squaredNorm() - m.length * m.length) / (2 * m.length);
        }
        case MeasureKind::distance: {
            const Vec<D> d = value(m, c, 1) - value(m, c, 0);
            const double length = d.norm();
            g[1] = length > 0 ? Vec<D>(d / length) : Vec<D>(Vec<D>::Zero());
            g[0] = -g[1];
            return length;
        }
        case MeasureKind::angle: {
            const AngleParts p = angle_parts(m, c);
            g[0] = p.theta_c * value(m, c, 2);
            g[1] = p.theta_s * value(m, c, 2);
            g[2] = p.theta_s * value(m, c, 1) + p.theta_c * value(m, c, 0);
            return unwound(m, c, std::atan2(p.s, p.c));
        }
        case MeasureKind::curve_offset: {
            const CurveParts<D> p = curve_parts(m, c);
            const Vec<D> n = p.normal + p.normal_rate.dot(p.gap) * p.grad_s;
            const Vec<D> d = value(m, c, D + 1) - value(m, c, 0);
            g[D + 1].setZero();
            for (int i = 0; i < D; ++i) {
                g[D + 1] += n[i] * value(m, c, i + 1);
                g[i + 1] = n[i] * d;
            }
            g[0] = -g[D + 1];
            return p.normal.dot(p.gap);
        }
        case MeasureKind::disc_height: {
            const DiscParts p = disc_parts(m, c);
            const Vec<D> d = value(m, c, 2) - value(m, c, 0);
            g[2] = value(m, c, 1);
            g[0] = -g[2];
            g[1] = d + p.psi_u * value(m, c, 3);
            g[3] = p.psi_u * value(m, c, 1);
            return d.dot(value(m, c, 1)) + p.psi;
        }
        case MeasureKind::custom: return compute_custom_gradient(m, c, g);
    }
    return 0;
}

template <int D>
double compute_rate(const Measure<D>& m, const MeasureContext<D>& c) {
    MeasureGradient<D> g;
    compute_gradient(m, c, g.data());
    double sum = 0;
    for (int i = 0; i < m.count; ++i) sum += g[i].dot(rate(m, c, i));
    return sum;
}

template <int D>
double compute_bias(const Measure<D>& m, const MeasureContext<D>& c) {
    double sum = 0;
    if (c.features.has_bias) {
        MeasureGradient<D> g;
        compute_gradient(m, c, g.data());
        for (int i = 0; i < m.count; ++i) sum += g[i].dot(c.features.bias[m.feature[i]]);
    }
    switch (m.kind) {
        case MeasureKind::component: break;
        case MeasureKind::dot: sum += 2 * rate(m, c, 0).dot(rate(m, c, 1)); break;
        case MeasureKind::dot_point: sum += 2 * (rate(m, c, 1) - rate(m, c, 0)).dot(rate(m, c, 2)); break;
        case MeasureKind::half_square: sum += (rate(m, c, 1) - rate(m, c, 0)).squaredNorm() / m.length; break;
        case MeasureKind::distance: {
            const Vec<D> d = value(m, c, 1) - value(m, c, 0);
            const Vec<D> d_rate = rate(m, c, 1) - rate(m, c, 0);
            const double length = d.norm();
            if (!(length > 0)) break;
            const double along = d.dot(d_rate) / length;
            sum += (d_rate.squaredNorm() - along * along) / length;
            break;
        }
        case MeasureKind::angle: {
            const AngleParts p = angle_parts(m, c);
            const double s_rate = rate(m, c, 2).dot(value(m, c, 1)) + value(m, c, 2).dot(rate(m, c, 1));
            const double c_rate = rate(m, c, 2).dot(value(m, c, 0)) + value(m, c, 2).dot(rate(m, c, 0));
            sum += 2 * (p.theta_s * rate(m, c, 2).dot(rate(m, c, 1)) + p.theta_c * rate(m, c, 2).dot(rate(m, c, 0)));
            sum += p.theta_ss * s_rate * s_rate + 2 * p.theta_sc * s_rate * c_rate + p.theta_cc * c_rate * c_rate;
            break;
        }
        case MeasureKind::curve_offset:
        case MeasureKind::disc_height: {
            MeasureHessian<D> h;
            compute_hessian(m, c, h);
            for (int i = 0; i < m.count; ++i)
                for (int j = 0; j < m.count; ++j) sum += rate(m, c, i).dot(h.block[i][j] * rate(m, c, j));
            break;
        }
        case MeasureKind::custom: {
            MeasureGradient<D> rates, changes;
            for (int i = 0; i < m.count; ++i) rates[i] = rate(m, c, i);
            compute_custom_changes(m, c, rates.data(), changes.data());
            for (int i = 0; i < m.count; ++i) sum += rates[i].dot(changes[i]);
            break;
        }
    }
    return sum;
}

template <int D>
void compute_hessian(const Measure<D>& m, const MeasureContext<D>& c, MeasureHessian<D>& h) {
    h.set_zero(m.count);
    const auto symmetric = [&](int i, int j, const Mat<D>& block) {
        h.block[i][j] += block;
        h.block[j][i] += block.transpose();
    };
    const Mat<D> identity = Mat<D>::Identity();
    switch (m.kind) {
        case MeasureKind::component: break;
        case MeasureKind::dot: symmetric(0, 1, identity); break;
        case MeasureKind::dot_point:
            symmetric(1, 2, identity);
            symmetric(0, 2, -identity);
            break;
        case MeasureKind::half_square:
            h.block[0][0] = h.block[1][1] = identity / m.length;
            symmetric(0, 1, -identity / m.length);
            break;
        case MeasureKind::distance: {
            const Vec<D> d = value(m, c, 1) - value(m, c, 0);
            const double length = d.norm();
            if (!(length > 0)) break;
            const Vec<D> n = d / length;
            const Mat<D> across = (identity - n * n.transpose()) / length;
            h.block[0][0] = h.block[1][1] = across;
            symmetric(0, 1, -across);
            break;
        }
        case MeasureKind::angle: {
            const AngleParts p = angle_parts(m, c);
            // Gradients of s and c by a1, a2, b.
            const Vec<D>& b = value(m, c, 2);
            const std::array<Vec<D>, 3> ds{Vec<D>::Zero(), b, value(m, c, 1)};
            const std::array<Vec<D>, 3> dc{b, Vec<D>::Zero(), value(m, c, 0)};
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    h.block[i][j] = p.theta_ss * ds[i] * ds[j].transpose() + p.theta_cc * dc[i] * dc[j].transpose() +
                                    p.theta_sc * (ds[i] * dc[j].transpose() + dc[i] * ds[j].transpose());
            symmetric(1, 2, p.theta_s * identity);
            symmetric(0, 2, p.theta_c * identity);
            break;
        }
        case MeasureKind::curve_offset: {
            const CurveParts<D> p = curve_parts(m, c);
            const Vec<D> d = value(m, c, D + 1) - value(m, c, 0);
            const Vec<D> n = p.normal + p.normal_rate.dot(p.gap) * p.grad_s;
            const Mat<D> local = curve_hessian(p);
            // Rows of dy/d(feature): y_i depends on e_i (through d), on p and on a.
            const auto jacobian = [&](int feature) {
                Mat<D> j = Mat<D>::Zero();
                if (feature == 0 || feature == D + 1) {
                    for (int i = 0; i < D; ++i) j.row(i) = value(m, c, i + 1).transpose();
                    return feature == 0 ? Mat<D>(-j) : j;
                }
                j.row(feature - 1) = d.transpose();
                return j;
            };
            for (int i = 0; i < m.count; ++i)
                for (int j = 0; j < m.count; ++j) h.block[i][j] = jacobian(i).transpose() * local * jacobian(j);
            for (int i = 0; i < D; ++i) {
                symmetric(i + 1, D + 1, n[i] * identity);
                symmetric(i + 1, 0, -n[i] * identity);
            }
            break;
        }
        case MeasureKind::disc_height: {
            const DiscParts p = disc_parts(m, c);
            symmetric(1, 2, identity);
            symmetric(0, 1, -identity);
            symmetric(1, 3, p.psi_u * identity);
            const Vec<D>& n = value(m, c, 1);
            const Vec<D>& s = value(m, c, 3);
            h.block[1][1] += p.psi_uu * s * s.transpose();
            h.block[3][3] += p.psi_uu * n * n.transpose();
            symmetric(1, 3, p.psi_uu * s * n.transpose());
            break;
        }
        case MeasureKind::custom: compute_custom_hessian(m, c, h); break;
    }
}

template <int D>
double compute_memory(const Measure<D>& m, const MeasureContext<D>& c) {
    assert(m.memory.exists());
    if (m.kind == MeasureKind::curve_offset) return curve_parts(m, c).s;
    return compute_value(m, c);
}

#define LIMBER_INSTANTIATE(D)                                                                       \
    template Vec<D> curve_reference(const Curve<D>&);                                               \
    template double compute_value(const Measure<D>&, const MeasureContext<D>&);                     \
    template double compute_gradient(const Measure<D>&, const MeasureContext<D>&, Vec<D>*);         \
    template double compute_rate(const Measure<D>&, const MeasureContext<D>&);                      \
    template double compute_bias(const Measure<D>&, const MeasureContext<D>&);                      \
    template void compute_hessian(const Measure<D>&, const MeasureContext<D>&, MeasureHessian<D>&); \
    template double compute_memory(const Measure<D>&, const MeasureContext<D>&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
