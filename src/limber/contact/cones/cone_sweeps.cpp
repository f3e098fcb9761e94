#include "limber/contact/cones/cone_sweeps.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

namespace limber {
namespace {

using SmallVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
using SmallMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

}  // namespace

void ConeSweeps::start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& q, const VecX& unit) {
    w_ = &w;
    blocks_ = &blocks;
    q_ = &q;
    unit_ = &unit;
    planar_.resize(blocks.size());
    spatial_.resize(blocks.size());
    int max_rows = 0;
    for (int i = 0; i < w.block_count(); ++i) {
        max_rows = std::max(max_rows, w.size(i));
        if (blocks[i].is_bilateral) continue;
        if (blocks[i].sliding_rows == 1) planar_[i] = LocalContact<1>(w.diagonal(i).topLeftCorner<2, 2>());
        if (blocks[i].sliding_rows == 2) spatial_[i] = LocalContact<2>(w.diagonal(i).topLeftCorner<3, 3>());
    }
    if (local_.size() < max_rows) local_.resize(max_rows);
    restart();
}

void ConeSweeps::multiply(const VecX& p, VecX& u) {
    w_->multiply(p, carried_, u);
    u += *q_;
}

// A contact whose rows are the normal and T sliding ones, by far the most frequent kind.
template <int T>
double ConeSweeps::update_sliding(int i, const LocalContact<T>& contact, VecX& p) {
    using Rows = Vec<T + 1>;
    const int first = w_->first_row(i);
    Rows u;
    w_->multiply_row(i, p, carried_, u);
    u += q_->segment<T + 1>(first);
    const Rows before = p.segment<T + 1>(first);
    const bool stays_open = u[0] >= 0 && before.isZero(0);
    if (stays_open) return 0;
    // Without the contact's own impulses.
    const Mat<T + 1> own = w_->diagonal(i).template topLeftCorner<T + 1, T + 1>();
    const Rows after = contact.solve(u - own * before, (*blocks_)[i].friction);
    const Rows change = after - before;
    if (change.isZero(0)) return 0;
    p.segment<T + 1>(first) = after;
    w_->add_carried(i, change.data(), carried_);
    return change.cwiseProduct(unit_->segment<T + 1>(first)).template lpNorm<Eigen::Infinity>();
}

// A contact of any kind, disc by disc, or bilateral rows.
double ConeSweeps::update_discs(int i, VecX& p) {
    const ConeBlock& block = (*blocks_)[i];
    const int first = w_->first_row(i);
    const int rows = w_->size(i);
    const auto diagonal = w_->diagonal(i);
    w_->multiply_row(i, p, carried_, local_.head(rows));
    const SmallVec u = local_.head(rows) + q_->segment(first, rows);
    const SmallVec before = p.segment(first, rows);
    if (block.is_bilateral) {
        SmallMat a = diagonal;
        a.diagonal().array() += 1e-12 * a.trace();
        p.segment(first, rows) -= a.ldlt().solve(u);
    } else {
        // Without the block's own impulses.
        if (block.sliding_rows == 2) {
            const Mat3 own = diagonal.topLeftCorner<3, 3>();
            p.segment<3>(first) = spatial_[i].solve(u.head<3>() - own * before.head<3>(), block.friction);
        } else if (block.sliding_rows == 1) {
            const Mat2 own = diagonal.topLeftCorner<2, 2>();
            p.segment<2>(first) = planar_[i].solve(u.head<2>() - own * before.head<2>(), block.friction);
        } else if (diagonal(0, 0) > 0) {
            p[first] = std::max(0.0, before[0] - u[0] / diagonal(0, 0));
        }
        for_each_disc(block, first, [&](const FrictionDisc& d) {
            if (d.first == first + 1 && block.sliding_rows > 0) return;  // solved with the normal
            const int own = d.first - first;
            const SmallVec changes = p.segment(first, rows) - before;
            const SmallVec now = u + diagonal.lazyProduct(changes);
            const double radius = d.coefficient * p[first];
            if (d.rows == 2) {
                const Mat2 a = diagonal.block<2, 2>(own, own);
                p.segment<2>(d.first) = solve_disc<2>(a, now.segment<2>(own) - a * before.segment<2>(own), radius);
            } else {
                const Mat<1> a = diagonal.block<1, 1>(own, own);
                p.segment<1>(d.first) = solve_disc<1>(a, now.segment<1>(own) - a * before.segment<1>(own), radius);
            }
        });
    }
    const SmallVec change = p.segment(first, rows) - before;
    if (change.isZero(0)) return 0;
    w_->add_carried(i, change.data(), carried_);
    return change.cwiseProduct(unit_->segment(first, rows)).lpNorm<Eigen::Infinity>();
}

bool ConeSweeps::has_sliding_rows_only(int i, int rows) const {
    const ConeBlock& block = (*blocks_)[i];
    return !block.is_bilateral && block.sliding_rows == rows && block.rows == 1 + rows;
}

double ConeSweeps::update_block(int i, VecX& p) {
    if (has_sliding_rows_only(i, 2)) return update_sliding<2>(i, spatial_[i], p);
    if (has_sliding_rows_only(i, 1)) return update_sliding<1>(i, planar_[i], p);
    return update_discs(i, p);
}

// Forwards and backwards in turn, so that nothing depends on which end of a stack comes first.
double ConeSweeps::sweep(bool backwards, VecX& p) {
    double change = 0;
    const int count = w_->block_count();
    for (int k = 0; k < count; ++k) change = std::max(change, update_block(backwards ? count - 1 - k : k, p));
    return change;
}

void ConeSweeps::remember(const VecX& p) {
    before_pair_ = p;
    carried_before_pair_ = carried_;
}

// Goes on in the direction of the pairs before, unless this one has changed more than the last.
void ConeSweeps::accelerate(VecX& p) {
    before_pair_ = p - before_pair_;
    carried_before_pair_ = carried_ - carried_before_pair_;
    const double change = before_pair_.cwiseAbs2().dot(*unit_);
    const double ratio = last_change_ > 0 ? change / last_change_ : 1;
    last_change_ = change;
    if (ratio < 1) {
        p += ratio * direction_;
        carried_ += ratio * carried_direction_;
        direction_ = before_pair_ + ratio * direction_;
        carried_direction_ = carried_before_pair_ + ratio * carried_direction_;
    } else {
        direction_ = before_pair_;
        carried_direction_ = carried_before_pair_;
    }
}

}  // namespace limber
