#pragma once
// Coulomb's law at stops, checked on the motion: are there forces that push, lie in their cones and move the bodies
// exactly as they move?
//
// Forces that are reported are those of least norm. Where contacts share a load they are not unique, and those need not
// obey the law; what has to exist is one choice that does. With the accelerations W f that the forces reported give to
// gaps and slips, it is sought among
//
//   f = sum z_k r_k,  z >= 0,  rays r_k:
//     along the normal, at the edge of the static cone of what sticks (in space an outer polygon of `sides`),
//     against the slip at the kinetic coefficient of what slips, and both ways along the normal of what has latched
//
// by least squares,  min |W^(1/2) (R z - f)|^2,  which is the complementarity problem of complementarity.hpp.

#include <algorithm>
#include <cmath>
#include <vector>

#include "limber/contact/stops/complementarity.hpp"
#include "limber/contact/stops/stop_response.hpp"
#include "limber/dynamics/system/system.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/simulation/simulation.hpp"

namespace limber::testing {

template <int D>
class StopForces {
public:
    static constexpr int sides = 24;  // the polygon is wider than the cone by 0.9 %

    explicit StopForces(const Simulation& simulation)
        : system_(static_cast<const MechanismSystem<D>&>(simulation.system())),
          m_(system_.mechanism()),
          response_(m_),
          reactions_(m_) {}

    /// What is left of the accelerations at the contacts if forces have to obey the law, over the accelerations; 0:
    /// such forces exist.
    double find_violation(const State& state) {
        BodyStates<D> states;
        std::vector<TwistVec<D>> rates(m_.bodies.size());
        system_.export_states(state.q, state.v, states);
        system_.export_twist_rates(state.q, state.v, state.a, rates);
        reactions_.solve(states, state.memory, state.t, rates);
        list_contacts(state);
        if (entries_.empty()) return 0;
        std::vector<double> memory = state.memory;
        // Joints that stick are held by forces of their own, which are not sought here.
        for (const FrictionElement& friction : m_.friction)
            if (friction.contact >= 0) friction.stick.in(memory) = false;
        response_.look(states, memory, state.t);
        if (!response_.prepare(states, memory, state.t, entries_)) return INFINITY;
        VecX reported(static_cast<Eigen::Index>(entries_.size()));
        std::copy(forces_.begin(), forces_.end(), reported.data());
        MatX rays(reported.size(), static_cast<Eigen::Index>(rays_.size()));
        for (std::size_t k = 0; k < rays_.size(); ++k) rays.col(static_cast<Eigen::Index>(k)) = dense(rays_[k]);
        const MatX& w = response_.delassus();
        const VecX wanted = w * reported;
        VecX shares;
        if (!ComplementaritySolver().solve(rays.transpose() * w * rays, -rays.transpose() * wanted, shares))
            return INFINITY;
        return (w * (rays * shares) - wanted).norm() / (wanted.norm() + m_.length_scale);
    }

private:
    struct Ray {
        Eigen::Index normal;
        std::vector<double> along;  // of the slip rows, which follow the normal
        double sign = 1;            // -1: what has latched may pull
    };

    VecX dense(const Ray& ray) const {
        VecX r = VecX::Zero(static_cast<Eigen::Index>(entries_.size()));
        r[ray.normal] = ray.sign;
        for (std::size_t k = 0; k < ray.along.size(); ++k)
            r[ray.normal + 1 + static_cast<Eigen::Index>(k)] = ray.along[k];
        return r;
    }

    // Closed contacts: their rows, the forces reported and the rays of those allowed.
    void list_contacts(const State& state) {
        entries_.clear();
        forces_.clear();
        rays_.clear();
        for (int i = 0; i < static_cast<int>(m_.stops.size()); ++i) {
            if (!m_.stops[i].is_closed(state.memory)) continue;
            const auto normal = static_cast<Eigen::Index>(entries_.size());
            entries_.push_back(i);
            forces_.push_back(reactions_.row_multiplier(m_.stops[i].row));
            const auto friction = std::find_if(m_.friction.begin(), m_.friction.end(),
                                               [&](const FrictionElement& f) { return f.contact == i; });
            if (friction == m_.friction.end()) {
                rays_.push_back({normal, {}});
                if (m_.stops[i].is_latched(state.memory)) rays_.push_back({normal, {}, -1});
            } else {
                add_friction(state, static_cast<int>(friction - m_.friction.begin()), normal);
            }
        }
    }

    void add_friction(const State& state, int index, Eigen::Index normal) {
        const FrictionElement& friction = m_.friction[index];
        const auto slip = friction.slip.in(state.memory);
        const bool sticks = friction.stick.in(state.memory);
        std::vector<double> against;
        for (int k = 0; k < friction.row_count; ++k) {
            entries_.push_back(response_.slip_entry(index, k));
            forces_.push_back(sticks ? reactions_.row_multiplier(friction.first_row + k)
                                     : -slip.force_after * slip.direction[k]);
            against.push_back(-friction.kinetic * slip.direction[k]);
        }
        if (!sticks) {
            rays_.push_back({normal, against});
        } else if (friction.row_count == 1) {
            for (const double side : {-friction.at_rest, friction.at_rest}) rays_.push_back({normal, {side}});
        } else {
            const double corner = friction.at_rest / std::cos(pi / sides);
            for (int k = 0; k < sides; ++k)
                rays_.push_back(
                    {normal, {corner * std::cos(2 * pi * k / sides), corner * std::sin(2 * pi * k / sides)}});
        }
    }

    const MechanismSystem<D>& system_;
    const Mechanism<D>& m_;
    StopResponse<D> response_;
    ReactionSolver<D> reactions_;
    std::vector<int> entries_;
    std::vector<double> forces_;
    std::vector<Ray> rays_;
};

}  // namespace limber::testing
