#pragma once
// Block Gauss-Seidel over contacts: each in turn is solved exactly with all others held (Jean and Moreau 1992). Pairs
// of sweeps, one forwards and one backwards, are symmetric and can be steps of conjugate gradients (nonsmooth:
// Silcowitz, Niebe and Erleben 2010).

#include <vector>

#include "limber/contact/cones/cone_block.hpp"
#include "limber/contact/cones/delassus.hpp"
#include "limber/contact/cones/local_contact.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
class ConeSweeps {
public:
    /// `q` are the velocities without impulses, `unit` the diagonal of W, equal within each disc. All of them are used
    /// until the next start.
    void start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& q, const VecX& unit);
    /// u = W p + q; sweeps go on from these impulses.
    void multiply(const VecX& p, VecX& u);
    /// Largest change, as a velocity.
    double sweep(bool backwards, VecX& p);

    /// Conjugate gradients: begins anew; before a pair of sweeps; after it.
    void restart() { last_change_ = 0; }
    void remember(const VecX& p);
    void accelerate(VecX& p);

private:
    double update_block(int i, VecX& p);
    double update_discs(int i, VecX& p);
    template <int T>
    double update_sliding(int i, const LocalContact<T>& contact, VecX& p);
    bool has_sliding_rows_only(int i, int rows) const;

    const DelassusMatrix* w_ = nullptr;
    const std::vector<ConeBlock>* blocks_ = nullptr;
    const VecX* q_ = nullptr;
    const VecX* unit_ = nullptr;
    std::vector<LocalContact<1>> planar_;   // of each block, if it has one sliding row
    std::vector<LocalContact<2>> spatial_;  // if it has two
    VecX local_;
    VecX carried_;  // what the impulses give the bodies
    VecX before_pair_, carried_before_pair_, direction_, carried_direction_;
    double last_change_ = 0;
};

}  // namespace limber
