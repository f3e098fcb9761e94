#include "limber/contact/stops/coulomb_impact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "limber/contact/cones/local_contact.hpp"

namespace limber {
namespace {

constexpr int max_impact_passes = 200;
constexpr double impulse_tolerance = 1e-13;  // of the impulses, over the largest
constexpr double energy_noise = 1e-9;        // over the energy that passes through the contacts

}  // namespace

template <int D>
CoulombImpact<D>::CoulombImpact(const Mechanism<D>& mechanism, ImpactLaw law) : m_(mechanism), law_(law) {
    friction_of_.assign(m_.stops.size(), -1);
    for (int i = 0; i < static_cast<int>(m_.friction.size()); ++i) {
        const FrictionElement& friction = m_.friction[i];
        if (friction.contact >= 0) friction_of_[friction.contact] = i;
        if (friction.joint >= 0 && friction.compliant < 0) joints_.push_back(i);
    }
    if (!joints_.empty()) reactions_ = std::make_unique<ReactionSolver<D>>(m_);
}

template <int D>
bool CoulombImpact<D>::applies(const std::vector<int>& list) const {
    return !joints_.empty() || std::any_of(list.begin(), list.end(), [&](int entry) {
        return friction_of_[StopResponse<D>::contact_of(entry)] >= 0;
    });
}

template <int D>
void CoulombImpact<D>::list_entries(const StopResponse<D>& response, const std::vector<double>& memory,
                                    const std::vector<int>& list, const VecX& restitution) {
    entries_.clear();
    sizes_.clear();
    blocks_.clear();
    place_.assign(list.size(), -1);
    for (std::size_t k = 0; k < list.size(); ++k) {
        if (list[k] < 0) continue;  // the other side of a latched contact
        place_[k] = static_cast<int>(entries_.size());
        entries_.push_back(list[k]);
        const bool latched = m_.stops[list[k]].is_latched(memory);
        const int friction = friction_of_[list[k]];
        const int rows = friction < 0 || latched ? 0 : m_.friction[friction].row_count;
        for (int r = 0; r < rows; ++r) entries_.push_back(response.slip_entry(friction, r));
        blocks_.push_back(latched ? ConeBlock::bilateral(1)
                                  : ConeBlock::contact(rows, rows > 0 ? m_.friction[friction].kinetic : 0,
                                                       restitution[static_cast<Eigen::Index>(k)]));
        sizes_.push_back(1 + rows);
    }
    for (const int friction : joints_) entries_.push_back(response.slip_entry(friction, 0));
}

template <int D>
void CoulombImpact<D>::solve_contacts(double allowance) {
    const auto joints = static_cast<Eigen::Index>(joints_.size());
    const Eigen::Index contacts = before_.size() - joints;
    const VecX free = before_.head(contacts) + delassus_->topRightCorner(contacts, joints) * impulses_.tail(joints);
    contact_impulses_ = impulses_.head(contacts);
    contact_after_ = free;
    const VecX before = before_.head(contacts);
    solver_.solve_impact(contact_delassus_, blocks_, before, before, free, VecX::Zero(contacts), allowance,
                         contact_impulses_, contact_after_);
    impulses_.head(contacts) = contact_impulses_;
    after_ = before_ + *delassus_ * impulses_;
}

template <int D>
template <int T>
void CoulombImpact<D>::rub(Eigen::Index row, double most, VecX& expansion) {
    const Mat<T> block = delassus_->template block<T, T>(row, row);
    const Vec<T> old = expansion.template segment<T>(row);
    const Vec<T> free = after_.template segment<T>(row) - block * old;
    const Vec<T> next = solve_disc<T>(block, free, most);
    after_ += delassus_->middleCols(row, T) * (next - old);
    expansion.template segment<T>(row) = next;
}

// Block Gauss-Seidel: p_n = e times the compression + s, s >= 0, u_n >= 0, s u_n = 0, and |p_t| <= mu p_n, against the
// slip.
template <int D>
void CoulombImpact<D>::expand(const VecX& stored) {
    const MatX& w = *delassus_;
    const VecX compression = impulses_;
    VecX expansion = stored;
    after_ = before_ + w * (compression + expansion);
    for (int pass = 0; pass < max_impact_passes; ++pass) {
        const VecX last = expansion;
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const Eigen::Index row = contact_delassus_.first_row(static_cast<int>(i));
            const double normal = blocks_[i].is_bilateral
                                      ? expansion[row] - after_[row] / w(row, row)
                                      : std::max(stored[row], expansion[row] - after_[row] / w(row, row));
            after_ += (normal - expansion[row]) * w.col(row);
            expansion[row] = normal;
            const int rubbing = contact_delassus_.size(static_cast<int>(i)) - 1;
            if (rubbing == 1) rub<1>(row + 1, blocks_[i].friction * normal, expansion);
            if (rubbing == 2) rub<2>(row + 1, blocks_[i].friction * normal, expansion);
        }
        if ((expansion - last).template lpNorm<Eigen::Infinity>() <=
            impulse_tolerance * (compression + expansion).template lpNorm<Eigen::Infinity>())
            break;
    }
    impulses_ = compression + expansion;
    after_ = before_ + w * impulses_;
}

template <int D>
double CoulombImpact<D>::bound(int i) const {
    const FrictionElement& friction = m_.friction[i];
    const TwistVec<D> wrench = reactions_->reaction(friction.joint);
    const double moment = wrench.template tail<angular_size<D>>().norm();
    return friction.kinetic * (wrench.template head<D>().norm() + (friction.arm > 0 ? 2 * moment / friction.arm : 0));
}

template <int D>
void CoulombImpact<D>::solve_with_joints(const StopResponse<D>& response, const BodyStates<D>& states, double t) {
    const auto joints = static_cast<Eigen::Index>(joints_.size());
    const Eigen::Index contacts = before_.size() - joints;
    VecX last;
    changes_.resize(states.size());
    for (int pass = 0; pass < max_impact_passes; ++pass) {
        last = impulses_;
        solve_contacts(std::numeric_limits<double>::infinity());
        const VecX twists = response.response() * impulses_;
        for (std::size_t b = 0; b < states.size(); ++b)
            changes_[b] = twists.template segment<twist_size<D>>(static_cast<Eigen::Index>(b) * twist_size<D>);
        wrenches_.setZero(twists.size());
        response.add_wrenches(impulses_, wrenches_);
        reactions_->solve_impulses(states, memory_, t, changes_, wrenches_);
        for (Eigen::Index j = 0; j < joints; ++j) {
            const Eigen::Index row = contacts + j;
            const double yielding = (*delassus_)(row, row);
            if (!(yielding > 0)) continue;
            const double most = bound(joints_[j]);
            const double next = std::clamp(impulses_[row] - after_[row] / yielding, -most, most);
            after_ += (next - impulses_[row]) * delassus_->col(row);
            impulses_[row] = next;
        }
        const double change = (impulses_ - last).template lpNorm<Eigen::Infinity>();
        if (change <= impulse_tolerance * impulses_.template lpNorm<Eigen::Infinity>()) return;
    }
}

template <int D>
double CoulombImpact<D>::energy_gain() const {
    const double size = 0.5 * impulses_.cwiseAbs().dot(before_.cwiseAbs() + after_.cwiseAbs());
    return 0.5 * impulses_.dot(before_ + after_) - energy_noise * size;
}

template <int D>
void CoulombImpact<D>::solve(StopResponse<D>& response, const std::vector<double>& memory, double t,
                             const std::vector<int>& list, const VecX& restitution, BodyStates<D>& states,
                             VecX& impulses, VecX& after) {
    list_entries(response, memory, list, restitution);
    // What sticks does not hold against impulses by itself.
    memory_ = memory;
    for (const FrictionElement& friction : m_.friction) friction.stick.in(memory_) = false;
    response.prepare(states, memory_, t, entries_);
    delassus_ = &response.delassus();
    response.list_rates(before_);
    const auto contacts = before_.size() - static_cast<Eigen::Index>(joints_.size());
    contact_delassus_.assign(delassus_->topLeftCorner(contacts, contacts), sizes_);
    impulses_.setZero(before_.size());
    if (law_ == ImpactLaw::poisson) {
        std::vector<double> coefficients;
        coefficients.reserve(blocks_.size());
        for (ConeBlock& block : blocks_) coefficients.push_back(std::exchange(block.restitution, 0.0));
        solve_contacts(0);
        VecX stored = VecX::Zero(before_.size());
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const int row = contact_delassus_.first_row(static_cast<int>(i));
            stored[row] = coefficients[i] * impulses_[row];
        }
        const VecX compression = impulses_;
        expand(stored);
        if (energy_gain() > 0) {
            impulses_ = compression;
            after_ = before_ + *delassus_ * impulses_;
        }
    } else if (joints_.empty()) {
        solve_contacts(0);
    } else {
        // Reactions are those of the joints alone: what acts at contacts is known.
        for (const StopRow& gap : m_.stops) gap.flag.in(memory_) = ContactFlag::open;
        solve_with_joints(response, states, t);
        if (energy_gain() > 0) {
            for (ConeBlock& block : blocks_) block.restitution = 0;
            impulses_.setZero();
            solve_with_joints(response, states, t);
        }
    }
    response.apply(impulses_, states);
    impulses.setZero(static_cast<Eigen::Index>(list.size()));
    after.setZero(static_cast<Eigen::Index>(list.size()));
    for (std::size_t k = 0; k < list.size(); ++k) {
        if (place_[k] < 0) continue;
        impulses[static_cast<Eigen::Index>(k)] = impulses_[place_[k]];
        after[static_cast<Eigen::Index>(k)] = after_[place_[k]];
    }
}

template class CoulombImpact<2>;
template class CoulombImpact<3>;

}  // namespace limber
