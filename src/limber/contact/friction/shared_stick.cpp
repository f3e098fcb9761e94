#include "limber/contact/friction/shared_stick.hpp"
#include "limber/kinematics/forces/slip_force.hpp"

namespace limber {
namespace {

constexpr double rest_acceleration = 1e-8;  // of an acceleration, over those without contact forces, that is no slip

}  // namespace

template <int D>
SharedStick<D>::SharedStick(const Mechanism<D>& mechanism) : m_(mechanism) {
    friction_of_.assign(m_.stops.size(), -1);
    for (int i = 0; i < static_cast<int>(m_.friction.size()); ++i)
        if (m_.friction[i].contact >= 0) friction_of_[m_.friction[i].contact] = i;
}

template <int D>
bool SharedStick<D>::slips(const State& state, int friction) const {
    return friction >= 0 && m_.friction[friction].kinetic > 0 && m_.friction[friction].slip.in(state.memory).is_on;
}

template <int D>
void SharedStick<D>::hold_what_slips(StopResponse<D>& response, const BodyStates<D>& states, const State& state,
                                     const VecX& known) {
    entries_.clear();
    std::vector<double> loads;
    for (int i = 0; i < response.count(); ++i) {
        const int f = friction_of_[i];
        if (!m_.stops[i].is_closed(state.memory) || !slips(state, f)) continue;
        entries_.push_back(i);
        loads.push_back(m_.friction[f].slip.in(state.memory).force_after / m_.friction[f].kinetic);
    }
    known_ = known;
    if (entries_.empty() || !response.prepare(states, state.memory, state.t, entries_)) return;
    if (known_.size() == 0) known_.setZero(static_cast<Eigen::Index>(states.size()) * twist_size<D>);
    response.add_wrenches(Eigen::Map<const VecX>(loads.data(), static_cast<Eigen::Index>(loads.size())), known_);
}

template <int D>
bool SharedStick<D>::exists(StopResponse<D>& response, const BodyStates<D>& states, const State& state,
                            const VecX& known) {
    memory_ = state.memory;
    hold_what_slips(response, states, state, known);
    entries_.clear();
    sizes_.clear();
    blocks_.clear();
    for (int i = 0; i < response.count(); ++i) {
        const int f = friction_of_[i];
        if (!m_.stops[i].is_closed(state.memory) || slips(state, f)) continue;
        entries_.push_back(i);
        const bool sticks = f >= 0 && m_.friction[f].stick.in(state.memory);
        const int rows = sticks ? m_.friction[f].row_count : 0;
        for (int k = 0; k < rows; ++k) entries_.push_back(response.slip_entry(f, k));
        if (sticks) m_.friction[f].stick.in(memory_) = false;
        // A latch pulls as well as pushes, and so holds whatever friction it needs.
        blocks_.push_back(m_.stops[i].is_latched(state.memory)
                              ? ConeBlock::bilateral(1 + rows)
                              : ConeBlock::contact(rows, rows > 0 ? m_.friction[f].at_rest : 0));
        sizes_.push_back(1 + rows);
    }
    if (!response.prepare(states, memory_, state.t, entries_)) return false;
    response.find_free_accelerations(states, memory_, state.t, known_, free_);
    delassus_.assign(response.delassus(), sizes_);
    forces_.setZero(free_.size());
    const ConeReport report = solver_.solve(delassus_, blocks_, free_, VecX::Zero(free_.size()), forces_, after_);
    if (!report.converged) return false;
    const double still = rest_acceleration * (free_.template lpNorm<Eigen::Infinity>() + m_.length_scale);
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i)
        if (after_.segment(delassus_.first_row(i) + 1, sizes_[i] - 1).norm() > still) return false;
    return true;
}

template class SharedStick<2>;
template class SharedStick<3>;

}  // namespace limber
