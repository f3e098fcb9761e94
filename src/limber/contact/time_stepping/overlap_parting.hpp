#pragma once
// Bodies that overlap are moved apart without giving them speed: by displacements that are the least in the metric of
// the masses, island by island. Normals only: friction does not hold bodies inside each other.

#include "limber/contact/time_stepping/contact_problem.hpp"

namespace limber {

template <int D>
class OverlapParting {
public:
    explicit OverlapParting(const Mechanism<D>& mechanism);

    /// Displacements for all islands; the gaps become those after them.
    void plan(ContactProblem<D>& problem, std::vector<Contact>& contacts);
    bool is_needed(int island) const { return is_needed_[island]; }
    /// Work that the displacements of an island do against forces on its bodies.
    double compute_lift(const ContactProblem<D>& problem, int island, const VecX& wrenches) const;
    /// Only a part of an island's displacements is made.
    void reduce(const ContactProblem<D>& problem, int island, double part, std::vector<Contact>& contacts);
    /// Of all bodies.
    const VecX& displacements() const { return displacements_; }
    void clear() { displacements_.setZero(); }

private:
    static constexpr int T = twist_size<D>;

    bool overlaps(std::span<const int> list, const std::vector<Contact>& contacts) const;
    void plan_island(ContactProblem<D>& problem, int island, std::vector<Contact>& contacts);

    double allowed_;
    ConeSolver solver_;
    std::vector<bool> is_needed_;  // of each island
    std::vector<ConeBlock> blocks_;
    VecX bias_, zero_, impulse_, gap_;
    VecX shift_;    // what moves bodies apart, by the rows of all contacts
    VecX changes_;  // of the gaps of all contacts
    VecX displacements_;
};

}  // namespace limber
