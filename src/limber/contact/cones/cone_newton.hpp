#pragma once
// Impulses in friction cones by an augmented Lagrangian in the space of velocities: the method for large sets that are
// stiffly coupled (stacks), redundant or badly conditioned, where Gauss-Seidel stalls.
//
// With y the impulses and u the velocities in units that make the diagonal of W one, and for a given s, the impulses of
//   min 1/2 w.M w   with   u + s e_n in the dual cone of K,   u = J w + q,     K = {|y_d| <= c_d y_n for every disc d}
// obey Coulomb's law if s = sum of c_d |u_d| (De Saxce 1992; existence: Acary, Cadoux, Lemarechal and Malick 2011).
// One pass:
//   w <- min 1/2 w.M w + 1/(2 r) |P_K(y_k - r (u + s e_n))|^2    by Newton's method with exact line search
//   y <- P_K(y_k - r (u + s e_n)),  s <- sum c_d |u_d|
// Its matrix  M + r J^T P_K' J  couples bodies that touch, not contacts: it is small, sparse and positive definite
// however redundant the contacts are. Impulses stay near those of the start where they are not unique; from zero they
// are the least ones.
//
// What joints pass on (S of the Delassus operator) is factorised as L L^T and enters as one more body with unit mass.

#include <vector>

#include "limber/contact/cones/cone_block.hpp"
#include "limber/contact/cones/delassus.hpp"
#include "limber/math/block_cholesky.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
class ConeNewton {
public:
    /// Begins with impulses p. `q` are the velocities without impulses, `unit` the diagonal of W, equal within each
    /// disc.
    void start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& q, const VecX& unit,
               const VecX& p);
    /// One pass, to velocities within the tolerance if it can; p becomes the impulses after it. Number of Newton steps.
    int pass(double tolerance, VecX& p);

private:
    using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    using ConstRows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    using MassMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
    /// Rows of a block on one node: a body, or what stands for the joints.
    struct End {
        int node;
        std::size_t start;  // of rows_
    };
    using Pair = BlockCholesky::Pair;  // of nodes

    void scale(const VecX& q, const VecX& unit, const VecX& p);
    void number_nodes();
    void factorise_joined();
    void copy_rows();
    void connect();
    int width(int node) const { return node_first_[node + 1] - node_first_[node]; }
    Rows end_rows(int i, const End& end) { return {&rows_[end.start], w_->size(i), width(end.node)}; }
    ConstRows end_rows(int i, const End& end) const { return {&rows_[end.start], w_->size(i), width(end.node)}; }

    void update_shift();
    void project(const VecX& u, VecX& y) const;
    void multiply(const VecX& nodes, VecX& u) const;
    void subtract_transposed(const VecX& y, VecX& nodes) const;
    void multiply_by_mass(const VecX& nodes, VecX& result) const;
    void divide_by_mass(const VecX& nodes, VecX& result) const;
    double measure_defect();
    bool find_step();
    void add_stiffness(int i, int k);
    double find_length();

    const DelassusMatrix* w_ = nullptr;
    const std::vector<ConeBlock>* blocks_ = nullptr;
    VecX factor_, inverse_factor_;  // y = factor p, velocities of the rows = factor u
    VecX q_, shift_;
    double penalty_ = 0;           // r
    VecX nodes_, y_, centre_, u_;  // the solution so far; y of the pass before
    VecX gradient_, change_, u_change_, step_, u_step_, momentum_, y_trial_, u_trial_;
    // Nodes are bodies that contacts touch, then perhaps one for the joints: their first entries of nodes_, masses,
    // ends of blocks.
    std::vector<int> node_of_body_, node_body_, node_first_;
    std::vector<MassMatrix> mass_;
    MatX joined_, joined_factor_;
    std::vector<int> joined_blocks_;
    std::vector<int> end_start_;
    std::vector<End> ends_;
    std::vector<double> rows_;
    // The matrix: blocks of pairs of nodes that some block of rows connects.
    std::vector<Pair> pairs_, last_pairs_;
    std::vector<int> last_first_, pair_of_ends_;
    std::vector<std::size_t> pair_start_;
    std::vector<double> pair_values_;
    BlockCholesky cholesky_;
};

}  // namespace limber
