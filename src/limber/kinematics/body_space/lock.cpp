#include "limber/kinematics/body_space/lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/math/interruption.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {
namespace {

// Penalty over typical mass, and mass of bodies without one over the typical mass, as assembly has them.
constexpr double lock_penalty_ratio = 1e6, least_lock_mass = 1e-3;
constexpr int most_lock_steps = 400, most_lock_corrections = 10;
// Steps below this part of the first one are none.
constexpr double shortest_lock_step = 1e-9;
// Of the tangent's time: below, nothing follows the drivers. t is then wrong by its square.
constexpr double no_time = 1e-6;
constexpr double lock_cosine = 0.9;
// Parts of the largest below which bodies and joints are not named.
constexpr double named_share = 0.01;

template <int D>
class LockSearch {
public:
    LockSearch(const Mechanism<D>& m, BodyStates<D> states, std::vector<double> memory, double t)
        : m_(m),
          rows_(active_rows(m, memory)),
          c_(m, m.constraints.with_rows(rows_)),
          place_{std::move(states), std::move(memory), t},
          iteration_(c_.twist_count() + 1, c_.row_count()) {
        for (BodyState<D>& body : place_.states) {
            body.velocity.setZero();
            body.angular_velocity.setZero();
        }
    }

    std::optional<LockReport> search(double step, double end) {
        evaluate();
        if (c_.row_count() == 0 || c_.values.time_partial.template lpNorm<Eigen::Infinity>() == 0) return std::nullopt;
        if (!set_metric() || !climb()) return std::nullopt;
        // The metric gives poses and time the same share in the first tangent.
        double length = step * std::numbers::sqrt2;
        const double shortest = shortest_lock_step * length;
        for (int i = 0; i < most_lock_steps && place_.t < end; ++i) {
            check_interruption();
            if (rate_ < no_time) return report();
            const Place start = place_;
            const VecX tangent = tangent_;
            const double rate = rate_;
            if (advance(start, tangent, length) && climb() && product(tangent, tangent_) > lock_cosine) {
                if (place_.t > start.t || rate_ < no_time) {
                    length *= 1.5;
                    continue;
                }
            }
            // Too far: past the lock the climb leads back.
            const bool is_passed = rate_ >= no_time && product(tangent, tangent_) < 0;
            place_ = start;
            evaluate();
            tangent_ = tangent;
            rate_ = rate;
            length *= is_passed ? 0.5 : 0.4;
            if (length < shortest) return std::nullopt;
        }
        return std::nullopt;
    }

private:
    struct Place {
        BodyStates<D> states;
        std::vector<double> memory;
        double t = 0;
    };

    static std::vector<int> active_rows(const Mechanism<D>& m, const std::vector<double>& memory) {
        std::vector<int> rows;
        for (std::size_t r = 0; r < m.constraints.rows.size(); ++r)
            if (m.constraints.rows[r].is_on(memory)) rows.push_back(static_cast<int>(r));
        return rows;
    }

    // Rows, and S = M + w G^T G bordered by time, at the present place.
    bool evaluate() {
        update_features<D>(m_, place_.states, m_.used_features, c_.features);
        refresh_memory(m_, c_.features, place_.memory);
        c_.update(place_.states, place_.memory, place_.t);
        c_.clear_matrix();
        c_.add_mass(place_.states, least_lock_mass);
        c_.add_normal_matrix(penalty());
        if (!c_.values.phi.allFinite() || !c_.values.time_partial.allFinite() || !c_.factorize()) return false;
        border_ = VecX::Zero(c_.twist_count());
        c_.add_transposed(c_.values.time_partial, penalty(), border_);
        response_ = border_;
        c_.solve(response_);
        pivot_ = metric_ + penalty() * c_.values.time_partial.squaredNorm() - border_.dot(response_);
        return pivot_ > 0;
    }

    double penalty() const { return lock_penalty_ratio * m_.mass_scale; }

    // z <- S^-1 z, with time as the last unknown.
    void solve(VecX& z) {
        const Eigen::Index n = c_.twist_count();
        VecX x = z.head(n);
        c_.solve(x);
        const double tau = (z[n] - border_.dot(x)) / pivot_;
        z.head(n) = x - tau * response_;
        z[n] = tau;
    }

    void multiply_rows(const VecX& z, VecX& result) const {
        const Eigen::Index n = c_.twist_count();
        result.resize(c_.row_count());
        c_.multiply_rows(z.head(n), result);
        result += z[n] * c_.values.time_partial;
    }

    // The least change of z that makes A z + residual zero; residual: what A z + rhs is.
    void eliminate(VecX residual, VecX& z) {
        multipliers_ = VecX::Zero(c_.row_count());
        const double enough = 1e-14 * residual.template lpNorm<Eigen::Infinity>();
        iteration_.run(VecX::Constant(c_.row_count(), penalty()), enough, 50, residual, z, multipliers_,
                       [&](const VecX& direction, VecX& change, VecX& rows) {
                           const Eigen::Index n = c_.twist_count();
                           VecX pull = VecX::Zero(n);
                           c_.add_transposed(direction, 1.0, pull);
                           change.resize(n + 1);
                           change.head(n) = pull;
                           change[n] = direction.dot(c_.values.time_partial);
                           solve(change);
                           multiply_rows(change, rows);
                       });
    }

    // Inertia of time: that of the motion which follows the drivers, so that both count alike in the first tangent.
    bool set_metric() {
        metric_ = 1e6 * penalty() * std::max(1.0, c_.values.time_partial.squaredNorm());
        if (!evaluate()) return false;
        VecX z = VecX::Zero(c_.twist_count() + 1);
        z[c_.twist_count()] = 1;
        VecX residual;
        multiply_rows(z, residual);
        eliminate(residual, z);
        const VecX x = z.head(c_.twist_count()) / z[c_.twist_count()];
        metric_ = inertia_product(x, x);
        return std::isfinite(metric_) && metric_ > 0 && evaluate();
    }

    // x . M y, with the masses of add_mass().
    double inertia_product(const VecX& x, const VecX& y) const {
        constexpr int T = twist_size<D>;
        constexpr int A = angular_size<D>;
        const double least_mass = least_lock_mass * m_.mass_scale;
        const double least_inertia = least_mass * m_.length_scale * m_.length_scale;
        double sum = 0;
        for (std::size_t b = 0; b < place_.states.size(); ++b) {
            const TwistVec<D> u = x.template segment<T>(static_cast<Eigen::Index>(b) * T);
            const TwistVec<D> w = y.template segment<T>(static_cast<Eigen::Index>(b) * T);
            AngularMat<D> inertia = world_inertia(m_.bodies[b], place_.states[b]);
            inertia.diagonal().array() += least_inertia;
            sum += (m_.bodies[b].mass + least_mass) * u.template head<D>().dot(w.template head<D>());
            sum += u.template tail<A>().dot(inertia * w.template tail<A>());
        }
        return sum;
    }

    double product(const VecX& a, const VecX& b) const {
        const Eigen::Index n = c_.twist_count();
        return inertia_product(a, b) / metric_ + a[n] * b[n];
    }

    // The tangent that gains most time, and how much it gains.
    bool climb() {
        VecX z = VecX::Zero(c_.twist_count() + 1);
        z[c_.twist_count()] = 1;
        VecX residual;
        multiply_rows(z, residual);
        eliminate(residual, z);
        const double size = std::sqrt(product(z, z));
        if (!std::isfinite(size)) return false;
        tangent_ = z / std::max(size, 1e-300);
        rate_ = tangent_[c_.twist_count()];
        return true;
    }

    bool advance(const Place& start, const VecX& tangent, double length) {
        place_ = start;
        move_by(length * tangent);
        double before = length;
        for (int i = 0; i < most_lock_corrections; ++i) {
            if (!evaluate()) return false;
            VecX phi = c_.values.phi;
            for (int r = 0; r < c_.row_count(); ++r)
                if (!c_.set.rows[r].is_holonomic()) phi[r] = 0;
            if (phi.template lpNorm<Eigen::Infinity>() < 1e-13 * std::max(1.0, m_.length_scale)) return true;
            VecX z = VecX::Zero(c_.twist_count() + 1);
            eliminate(phi, z);
            const double size = std::sqrt(std::abs(product(z, z)));
            // A law that jumps, or a step onto another branch.
            if (!(size < 0.5 * before)) return i > 2 && size < 1e-12 * std::max(1.0, length);
            move_by(z);
            before = size;
        }
        return false;
    }

    void move_by(const VecX& z) {
        constexpr int T = twist_size<D>;
        for (std::size_t b = 0; b < place_.states.size(); ++b) {
            const TwistVec<D> step = z.template segment<T>(static_cast<Eigen::Index>(b) * T);
            move(place_.states[b], step);
        }
        place_.t += z[c_.twist_count()];
    }

    static Vec3 in_space(const Eigen::Ref<const VecX>& v, bool is_angular) {
        if (v.size() == 3) return v;
        return is_angular ? Vec3(0, 0, v[0]) : Vec3(v[0], v[1], 0);
    }

    LockReport report() {
        LockReport lock;
        lock.time = place_.t;
        name_rows(lock);
        name_bodies(lock);
        return lock;
    }

    void name_rows(LockReport& lock) const {
        double most = 0;
        int driver = -1;
        std::vector<std::pair<double, int>> share;  // of elements
        for (int r = 0; r < c_.row_count(); ++r) {
            const double driven = std::abs(multipliers_[r] * c_.values.time_partial[r]);
            if (driven > most) {
                most = driven;
                driver = r;
            }
        }
        if (driver < 0) return;
        const Row& row = c_.set.rows[driver];
        lock.driver = describe_element(row.element);
        lock.value = row.law >= 0 ? c_.set.laws[row.law].value(place_.t) : 0;
        lock.quantity = c_.quantity_of(row);
        for (int r = 0; r < c_.row_count(); ++r) {
            const int element = c_.set.rows[r].element;
            if (element < 0 || element == row.element) continue;
            double force = 0;
            for (int k = c_.entries(r).first; k < c_.entries(r).second; ++k) {
                TwistVec<D> wrench = c_.entry_wrench(k);
                wrench.template tail<angular_size<D>>() /= m_.length_scale;
                force = std::max(force, wrench.norm());
            }
            share.emplace_back(std::abs(multipliers_[r]) * force, element);
        }
        std::sort(share.begin(), share.end(), std::greater<>());
        for (const auto& [force, element] : share) {
            const std::string& name = m_.elements[element].name;
            if (force > named_share * share.front().first &&
                std::find(lock.joints.begin(), lock.joints.end(), name) == lock.joints.end())
                lock.joints.push_back(name);
        }
    }

    std::string describe_element(int element) const {
        if (element < 0) return "the coordinates";
        const ConstraintElement<D>& owner = m_.elements[element];
        return fmt::format("{} '{}'", element_role_name(owner.role), owner.name);
    }

    void name_bodies(LockReport& lock) const {
        constexpr int T = twist_size<D>;
        double largest = 0;
        const auto speed = [&](std::size_t b) {
            const auto part = tangent_.template segment<T>(static_cast<Eigen::Index>(b) * T);
            return part.template head<D>().norm() + m_.length_scale * part.template tail<angular_size<D>>().norm();
        };
        std::vector<std::size_t> order;
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            order.push_back(b);
            largest = std::max(largest, speed(b));
        }
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return speed(a) > speed(b); });
        for (const std::size_t b : order) {
            if (!(speed(b) > named_share * largest)) break;
            const VecX part = tangent_.template segment<T>(static_cast<Eigen::Index>(b) * T) / largest;
            lock.lost.push_back(
                {m_.bodies[b].name, in_space(part.head(D), false), in_space(part.tail(angular_size<D>), true)});
        }
    }

    const Mechanism<D>& m_;
    std::vector<int> rows_;
    TwistConstraints<D> c_;
    Place place_;
    MultiplierIteration iteration_;
    VecX border_, response_, tangent_, multipliers_;
    double metric_ = 1, pivot_ = 1, rate_ = 0;
};

}  // namespace

std::string LockReport::describe() const {
    std::vector<std::string> bodies;
    for (const Motion& motion : lost) bodies.push_back(fmt::format("'{}'", motion.body));
    if (bodies.size() > 4) {
        bodies.resize(4);
        bodies.emplace_back("others");
    }
    std::vector<std::string> holding = joints;
    if (holding.size() > 6) {
        holding.resize(6);
        holding.emplace_back("others");
    }
    const std::string where = quantity == RowQuantity::angle
                                  ? fmt::format("{:.5f} rad ({:.3f} deg)", value, value * 180 / pi)
                                  : fmt::format("{:.6g}{}", value, quantity == RowQuantity::length ? " m" : "");
    return fmt::format(
        "the mechanism locks: {} cannot go beyond {}, reached at t = {:.5f} s; held by the joints {}, "
        "and the direction it has lost is the motion of {}, which can go while it stands still",
        driver, where, time, fmt::join(holding, ", "), fmt::join(bodies, ", "));
}

template <int D>
std::optional<LockReport> find_lock(const Mechanism<D>& m, BodyStates<D> states, std::vector<double> memory, double t,
                                    double step, double end) {
    return LockSearch<D>(m, std::move(states), std::move(memory), t).search(step, end);
}

template std::optional<LockReport> find_lock(const Mechanism<2>&, BodyStates<2>, std::vector<double>, double, double,
                                             double);
template std::optional<LockReport> find_lock(const Mechanism<3>&, BodyStates<3>, std::vector<double>, double, double,
                                             double);

}  // namespace limber
