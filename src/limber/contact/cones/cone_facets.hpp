#pragma once
// Coulomb's law with many-sided cones: discs of friction are polygons, and the problem of cone_complementarity.hpp
// becomes a linear complementarity problem that always has a solution that Lemke's method finds (Stewart and Trinkle
// 1996, Anitescu and Potra 1997):
//
//   impulse of a disc  sum of beta_k d_k,  d_k its directions,  beta >= 0
//   beta_k  complementary to  d_k . u + lambda >= 0,     lambda  complementary to  coefficient p_n - sum of beta >= 0
//
// It is the start of Newton's method where all others have failed. The cost grows with the cube of the number of
// contacts.

#include <vector>

#include "limber/contact/cones/cone_block.hpp"
#include "limber/contact/stops/lemke.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
class ConeFacets {
public:
    /// Impulses p of the blocks, each disc with so many directions. `q` are the velocities without impulses, `unit` the
    /// diagonal of W, equal within each disc. False if none are found.
    bool solve(const MatX& w, const std::vector<ConeBlock>& blocks, const VecX& q, const VecX& unit, int directions,
               VecX& p);

private:
    struct Limit {
        int normal;          // column of the normal impulse
        int first, count;    // columns of the directions
        double coefficient;  // in the units of the columns
    };

    int add_generator(int row, double value);
    void add_contact(const ConeBlock& block, int first, const VecX& unit, int directions);

    LemkeSolver lemke_;
    MatX generator_;  // p = generator z, of the first columns
    int generators_ = 0;
    std::vector<Limit> limits_;
    MatX matrix_, response_;
    VecX right_, z_;
};

}  // namespace limber
