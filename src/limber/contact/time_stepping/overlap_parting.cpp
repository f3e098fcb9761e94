#include "limber/contact/time_stepping/overlap_parting.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

constexpr double overlap_allowed = 1e-7;  // over the mechanism's typical length
constexpr double sum_rounding = 1e-12;    // of a sum, over its parts

// Overlaps need not be parted more exactly than they are allowed.
ConeOptions parting_options(double allowed) {
    ConeOptions options;
    options.tolerance = 1e-10;
    options.max_sweeps = 600;
    options.newton_rows = 60;
    options.absolute_tolerance = 0.25 * allowed;
    return options;
}

}  // namespace

template <int D>
OverlapParting<D>::OverlapParting(const Mechanism<D>& mechanism)
    : allowed_(overlap_allowed * mechanism.length_scale), solver_(parting_options(allowed_)) {
    displacements_ = VecX::Zero(static_cast<Eigen::Index>(mechanism.bodies.size()) * T);
}

template <int D>
bool OverlapParting<D>::overlaps(std::span<const int> list, const std::vector<Contact>& contacts) const {
    return std::any_of(list.begin(), list.end(), [&](int i) { return contacts[i].gap <= -allowed_; });
}

template <int D>
void OverlapParting<D>::plan(ContactProblem<D>& problem, std::vector<Contact>& contacts) {
    displacements_.setZero();
    const int islands = problem.island_count();
    is_needed_.resize(islands);
    for (int i = 0; i < islands; ++i) is_needed_[i] = overlaps(problem.contacts(i), contacts);
    if (std::find(is_needed_.begin(), is_needed_.end(), true) == is_needed_.end()) return;
    shift_.setZero(problem.row_count());
    changes_.setZero(static_cast<Eigen::Index>(contacts.size()));
    for (int i = 0; i < islands; ++i)
        if (is_needed_[i]) plan_island(problem, i, contacts);
    problem.add_response(shift_, displacements_);
}

template <int D>
void OverlapParting<D>::plan_island(ContactProblem<D>& problem, int island, std::vector<Contact>& contacts) {
    const DelassusMatrix& delassus = problem.assemble(island);
    const auto list = problem.contacts(island);
    blocks_.clear();
    bias_.setZero(delassus.rows());
    for (int k = 0; const int i : list) {
        ConeBlock& block = blocks_.emplace_back(problem.blocks()[i]);
        block.friction = block.rolling = block.spinning = block.restitution = 0;
        bias_[delassus.first_row(k++)] = contacts[i].gap + 0.5 * allowed_;
    }
    zero_.setZero(delassus.rows());
    impulse_.setZero(delassus.rows());
    solver_.solve(delassus, blocks_, zero_, bias_, impulse_, gap_);
    problem.scatter(island, impulse_, shift_);
    for (int k = 0; const int i : list) {
        changes_[i] = gap_[delassus.first_row(k++)];
        contacts[i].gap += changes_[i];
    }
}

template <int D>
double OverlapParting<D>::compute_lift(const ContactProblem<D>& problem, int island, const VecX& wrenches) const {
    double lift = 0;
    double size = 0;
    problem.for_each_body(island, [&](int b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        const TwistVec<D> work = displacements_.template segment<T>(at).cwiseProduct(wrenches.template segment<T>(at));
        lift -= work.sum();
        size += work.template lpNorm<1>();
    });
    return std::abs(lift) > sum_rounding * size ? lift : 0;
}

template <int D>
void OverlapParting<D>::reduce(const ContactProblem<D>& problem, int island, double part,
                               std::vector<Contact>& contacts) {
    problem.for_each_body(island,
                          [&](int b) { displacements_.template segment<T>(static_cast<Eigen::Index>(b) * T) *= part; });
    for (const int i : problem.contacts(island)) contacts[i].gap -= (1 - part) * changes_[i];
}

template class OverlapParting<2>;
template class OverlapParting<3>;

}  // namespace limber
