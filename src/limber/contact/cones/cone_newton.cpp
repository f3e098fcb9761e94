#include "limber/contact/cones/cone_newton.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>

namespace limber {
namespace {

// Of the augmented Lagrangian: the first pass is easy for Newton's method, the later ones leave little of the error.
constexpr double first_penalty = 10;
constexpr double penalty_growth = 10;
constexpr double largest_penalty = 1e4;         // beyond it rounding outweighs what a pass gains
constexpr int max_proximal_steps = 40;          // of one pass
constexpr int max_length_trials = 30;           // of the line search
constexpr double proximal_tolerance = 0.1;      // part of the error that a pass, or a line search, may leave
constexpr double joint_rank_tolerance = 1e-14;  // of what joints pass on

using SmallVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
using SmallMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

/// The point of a contact's cone that is nearest to y, in place; `slope` is its derivative. Coefficients of discs are
/// scaled as y is.
///
/// For a normal part n, each disc is off by max(0, |y_d| - c_d n); n is the root of  n - y_n = sum of c_d times that,
/// an increasing concave function made of straight pieces, which Newton's method reaches from below after at most three
/// of them.
template <class Vector>
void project_onto_cone(const ConeBlock& block, const VecX& factor, int first, Vector&& y, SmallMat* slope) {
    std::array<FrictionDisc, 3> discs{};
    std::array<double, 3> length{};
    int count = 0;
    for_each_disc(block, 0, [&](const FrictionDisc& d) {
        const double own = d.coefficient * (factor[first] > 0 ? factor[first + d.first] / factor[first] : 0);
        length[count] = y.segment(d.first, d.rows).norm();
        discs[count++] = {d.first, d.rows, own};
    });
    const auto is_outside = [&](int k, double n) { return length[k] > discs[k].coefficient * n; };
    double n = y[0];
    double weight = 1;
    for (int pass = 0; pass <= count; ++pass) {
        double sum = y[0];
        weight = 1;
        for (int k = 0; k < count; ++k) {
            if (!is_outside(k, n)) continue;
            sum += discs[k].coefficient * length[k];
            weight += discs[k].coefficient * discs[k].coefficient;
        }
        n = sum / weight;
    }
    if (slope) slope->setZero(y.size(), y.size());
    if (!(n > 0)) {
        y.setZero();
        return;
    }
    SmallVec border = SmallVec::Zero(y.size());
    border[0] = 1;
    y[0] = n;
    for (int k = 0; k < count; ++k) {
        const FrictionDisc& d = discs[k];
        auto own = y.segment(d.first, d.rows);
        auto identity = SmallMat::Identity(d.rows, d.rows);
        if (!is_outside(k, n)) {
            if (slope) slope->block(d.first, d.first, d.rows, d.rows) = identity;
            continue;
        }
        const SmallVec direction = own / length[k];
        border.segment(d.first, d.rows) = d.coefficient * direction;
        own = d.coefficient * n * direction;
        if (slope)
            slope->block(d.first, d.first, d.rows, d.rows) =
                d.coefficient * n / length[k] * (identity - direction * direction.transpose());
    }
    if (slope) *slope += border * border.transpose() / weight;
}

}  // namespace

// ---------------------------------------------------------------- nodes and rows

void ConeNewton::start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& q, const VecX& unit,
                       const VecX& p) {
    w_ = &w;
    blocks_ = &blocks;
    scale(q, unit, p);
    number_nodes();
    factorise_joined();
    copy_rows();
    connect();
    penalty_ = first_penalty;
    // w = M^-1 J^T y
    gradient_.setZero(node_first_.back());
    subtract_transposed(y_, gradient_);
    divide_by_mass(gradient_, nodes_);
    nodes_ = -nodes_;
    multiply(nodes_, u_);
    u_ += q_;
}

void ConeNewton::scale(const VecX& q, const VecX& unit, const VecX& p) {
    factor_ = unit.cwiseMax(0).cwiseSqrt();
    // A row that nothing can move keeps out of everything.
    inverse_factor_ = factor_.unaryExpr([](double f) { return f > 0 ? 1 / f : 0.0; });
    q_ = q.cwiseProduct(inverse_factor_);
    y_ = p.cwiseProduct(factor_);
}

void ConeNewton::number_nodes() {
    node_of_body_.assign(w_->body_count(), -1);
    for (int i = 0; i < w_->block_count(); ++i)
        for (int side = 0; side < 2; ++side)
            if (w_->end_body(i, side) >= 0) node_of_body_[w_->end_body(i, side)] = 0;
    node_body_.clear();
    node_first_.assign(1, 0);
    mass_.clear();
    for (int b = 0; b < w_->body_count(); ++b) {
        if (node_of_body_[b] < 0) continue;
        node_of_body_[b] = static_cast<int>(node_body_.size());
        node_body_.push_back(b);
        node_first_.push_back(node_first_.back() + w_->body_width());
        mass_.emplace_back(MassMatrix(w_->inverse_mass(b)).inverse());
    }
}

// S = L L^T with as many columns as S has independent rows: Cholesky's factors, the largest pivot first.
void ConeNewton::factorise_joined() {
    joined_blocks_.clear();
    int rows = 0;
    for (int i = 0; i < w_->block_count(); ++i) {
        if (!w_->is_joined(i)) continue;
        joined_blocks_.push_back(i);
        rows += w_->size(i);
    }
    if (rows == 0) return;
    std::vector<int> place(w_->block_count(), 0);
    for (int next = 0; const int i : joined_blocks_) {
        place[i] = next;
        next += w_->size(i);
    }
    joined_.setZero(rows, rows);
    for (const int i : joined_blocks_) {
        const auto scale_i = inverse_factor_.segment(w_->first_row(i), w_->size(i));
        w_->for_each_joined(i, [&](int j, const auto& block) {
            joined_.block(place[i], place[j], w_->size(i), w_->size(j)) =
                scale_i.asDiagonal() * block * inverse_factor_.segment(w_->first_row(j), w_->size(j)).asDiagonal();
        });
    }
    joined_factor_.setZero(rows, rows);
    const double largest = joined_.diagonal().maxCoeff();
    int rank = 0;
    for (; rank < rows; ++rank) {
        int pivot = 0;
        const double left = joined_.diagonal().maxCoeff(&pivot);
        if (!(left > joint_rank_tolerance * largest)) break;
        joined_factor_.col(rank) = joined_.col(pivot) / std::sqrt(left);
        joined_.noalias() -= joined_factor_.col(rank) * joined_factor_.col(rank).transpose();
    }
    joined_factor_.conservativeResize(Eigen::NoChange, rank);
    node_first_.push_back(node_first_.back() + rank);
}

void ConeNewton::copy_rows() {
    ends_.clear();
    rows_.clear();
    end_start_.assign(1, 0);
    const int joints = static_cast<int>(node_body_.size());
    int joined_row = 0;
    for (int i = 0; i < w_->block_count(); ++i) {
        const int size = w_->size(i);
        const auto add = [&](int node, const auto& rows) {
            ends_.push_back({node, rows_.size()});
            rows_.resize(rows_.size() + static_cast<std::size_t>(size) * width(node));
            end_rows(i, ends_.back()) = rows;
        };
        const auto own_scale = inverse_factor_.segment(w_->first_row(i), size).asDiagonal();
        for (int side = 0; side < 2; ++side)
            if (w_->end_body(i, side) >= 0)
                add(node_of_body_[w_->end_body(i, side)], own_scale * w_->end_rows(i, side));
        if (w_->is_joined(i)) {
            add(joints, joined_factor_.middleRows(joined_row, size));
            joined_row += size;
        }
        end_start_.push_back(static_cast<int>(ends_.size()));
    }
}

// Pairs of nodes in the order of the matrix; its structure is analysed anew only if they are not those of the last
// time.
void ConeNewton::connect() {
    const int count = static_cast<int>(node_first_.size()) - 1;
    const auto for_each_pair = [&](const auto& use) {
        for (int i = 0; i < w_->block_count(); ++i)
            for (int a = end_start_[i]; a < end_start_[i + 1]; ++a)
                for (int b = a; b < end_start_[i + 1]; ++b) {
                    const auto [first, second] = std::minmax(ends_[a].node, ends_[b].node);
                    use(Pair{first, second});
                }
    };
    pairs_.clear();
    for (int node = 0; node < count; ++node) pairs_.push_back({node, node});
    for_each_pair([&](const Pair& pair) { pairs_.push_back(pair); });
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    pair_of_ends_.clear();
    for_each_pair([&](const Pair& pair) {
        pair_of_ends_.push_back(
            static_cast<int>(std::lower_bound(pairs_.begin(), pairs_.end(), pair) - pairs_.begin()));
    });
    pair_start_.assign(1, 0);
    for (const Pair& pair : pairs_)
        pair_start_.push_back(pair_start_.back() + static_cast<std::size_t>(width(pair.first)) * width(pair.second));
    pair_values_.resize(pair_start_.back());
    if (pairs_ == last_pairs_ && node_first_ == last_first_) return;
    last_pairs_ = pairs_;
    last_first_ = node_first_;
    cholesky_.analyse(node_first_, pairs_);
}

void ConeNewton::multiply(const VecX& nodes, VecX& u) const {
    u.setZero(w_->rows());
    for (int i = 0; i < w_->block_count(); ++i)
        for (int e = end_start_[i]; e < end_start_[i + 1]; ++e)
            u.segment(w_->first_row(i), w_->size(i)) +=
                end_rows(i, ends_[e]).lazyProduct(nodes.segment(node_first_[ends_[e].node], width(ends_[e].node)));
}

void ConeNewton::subtract_transposed(const VecX& y, VecX& nodes) const {
    for (int i = 0; i < w_->block_count(); ++i)
        for (int e = end_start_[i]; e < end_start_[i + 1]; ++e)
            nodes.segment(node_first_[ends_[e].node], width(ends_[e].node)) -=
                end_rows(i, ends_[e]).transpose().lazyProduct(y.segment(w_->first_row(i), w_->size(i)));
}

void ConeNewton::multiply_by_mass(const VecX& nodes, VecX& result) const {
    result = nodes;
    for (std::size_t node = 0; node < node_body_.size(); ++node) {
        const int width = w_->body_width();
        result.segment(node_first_[node], width) = mass_[node].lazyProduct(nodes.segment(node_first_[node], width));
    }
}

void ConeNewton::divide_by_mass(const VecX& nodes, VecX& result) const {
    result = nodes;
    for (std::size_t node = 0; node < node_body_.size(); ++node) {
        const int width = w_->body_width();
        result.segment(node_first_[node], width) =
            w_->inverse_mass(node_body_[node]).lazyProduct(nodes.segment(node_first_[node], width));
    }
}

// ---------------------------------------------------------------- one pass

// What keeps sliding from lifting off.
void ConeNewton::update_shift() {
    shift_.setZero(w_->rows());
    for (int i = 0; i < w_->block_count(); ++i) {
        if ((*blocks_)[i].is_bilateral) continue;
        const int first = w_->first_row(i);
        for_each_disc((*blocks_)[i], first, [&](const FrictionDisc& d) {
            const double scaled = d.coefficient * factor_[d.first] * inverse_factor_[first];
            shift_[first] += scaled * u_.segment(d.first, d.rows).norm();
        });
    }
}

void ConeNewton::project(const VecX& u, VecX& y) const {
    y = centre_ - penalty_ * (u + shift_);
    for (int i = 0; i < w_->block_count(); ++i)
        if (!(*blocks_)[i].is_bilateral)
            project_onto_cone((*blocks_)[i], factor_, w_->first_row(i), y.segment(w_->first_row(i), w_->size(i)),
                              nullptr);
}

// Gradient M w - J^T y, and the largest velocity by which w differs from what y makes of it.
double ConeNewton::measure_defect() {
    multiply_by_mass(nodes_, gradient_);
    subtract_transposed(y_, gradient_);
    divide_by_mass(gradient_, change_);
    multiply(change_, u_change_);
    return u_change_.cwiseProduct(factor_).lpNorm<Eigen::Infinity>();
}

// Derivative of J^T y of block i; its pairs of nodes begin at k.
void ConeNewton::add_stiffness(int i, int k) {
    const int first = w_->first_row(i);
    const int size = w_->size(i);
    const bool is_bilateral = (*blocks_)[i].is_bilateral;
    SmallMat slope;
    if (!is_bilateral) {
        SmallVec y = centre_.segment(first, size) - penalty_ * (u_.segment(first, size) + shift_.segment(first, size));
        project_onto_cone((*blocks_)[i], factor_, first, y, &slope);
        if (slope(0, 0) == 0) return;  // no contact
    }
    for (int a = end_start_[i]; a < end_start_[i + 1]; ++a)
        for (int b = a; b < end_start_[i + 1]; ++b, ++k) {
            const bool in_order = ends_[a].node <= ends_[b].node;
            const End& low = in_order ? ends_[a] : ends_[b];
            const End& high = in_order ? ends_[b] : ends_[a];
            Rows block(&pair_values_[pair_start_[pair_of_ends_[k]]], width(high.node), width(low.node));
            const auto rows_high = end_rows(i, high);
            const auto rows_low = end_rows(i, low);
            if (is_bilateral) {
                block += penalty_ * rows_high.transpose().lazyProduct(rows_low);
            } else if (size == 3 && block.size() == 36) {
                using Sliding = Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>>;
                const Eigen::Matrix<double, 3, 6> turned =
                    penalty_ * slope.topLeftCorner<3, 3>() * Sliding(rows_low.data());
                Eigen::Map<Eigen::Matrix<double, 6, 6, Eigen::RowMajor>>(block.data()).noalias() +=
                    Sliding(rows_high.data()).transpose() * turned;
            } else {
                block += penalty_ * rows_high.transpose().lazyProduct(slope.lazyProduct(rows_low));
            }
        }
}

bool ConeNewton::find_step() {
    std::fill(pair_values_.begin(), pair_values_.end(), 0.0);
    for (int i = 0, k = 0; i < w_->block_count(); ++i) {
        add_stiffness(i, k);
        const int count = end_start_[i + 1] - end_start_[i];
        k += count * (count + 1) / 2;
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const auto [node, other] = pairs_[k];
        if (node != other) continue;
        Rows diagonal(&pair_values_[pair_start_[k]], width(node), width(node));
        if (node < static_cast<int>(node_body_.size())) {
            diagonal += mass_[node];
        } else {
            diagonal.diagonal().array() += 1;
        }
    }
    if (!cholesky_.factorize(pair_values_)) return false;
    step_ = -gradient_;
    cholesky_.solve(step_);
    return step_.allFinite();
}

// Where the convex function along the step is least: the root of its increasing slope, up to a tenth of that at the
// start.
double ConeNewton::find_length() {
    // Of 1/2 w.M w at the start, and its growth.
    multiply_by_mass(step_, momentum_);
    const double mass_slope = momentum_.dot(nodes_);
    const double mass_growth = momentum_.dot(step_);
    const auto slope = [&](double length) {
        u_trial_ = u_ + length * u_step_;
        project(u_trial_, y_trial_);
        return mass_slope + length * mass_growth - u_step_.dot(y_trial_);
    };
    double low = 0;
    double high = 1;
    double slope_low = mass_slope - u_step_.dot(y_);
    double slope_high = slope(1);
    const double enough = proximal_tolerance * std::abs(slope_low);
    if (slope_high <= enough) return 1;
    double length = 1;
    for (int k = 0; k < max_length_trials; ++k) {
        length = low + (high - low) * std::clamp(-slope_low / (slope_high - slope_low), 0.1, 0.9);
        const double here = slope(length);
        if (std::abs(here) <= enough) break;
        (here < 0 ? low : high) = length;
        (here < 0 ? slope_low : slope_high) = here;
    }
    return length;
}

int ConeNewton::pass(double tolerance, VecX& p) {
    centre_ = y_;
    update_shift();
    int steps = 0;
    project(u_, y_);
    for (; steps < max_proximal_steps; ++steps) {
        const double defect = measure_defect();
        const double moved = (y_ - centre_).cwiseProduct(factor_).lpNorm<Eigen::Infinity>() / penalty_;
        if (defect <= proximal_tolerance * std::max(tolerance, moved) || !find_step()) break;
        multiply(step_, u_step_);
        const double length = find_length();
        nodes_ += length * step_;
        u_ += length * u_step_;
        project(u_, y_);
    }
    penalty_ = std::min(largest_penalty, penalty_growth * penalty_);
    p = y_.cwiseProduct(inverse_factor_);
    return steps;
}

}  // namespace limber
