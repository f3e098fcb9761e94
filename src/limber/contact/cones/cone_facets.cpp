#include "limber/contact/cones/cone_facets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace limber {

int ConeFacets::add_generator(int row, double value) {
    if (generators_ == generator_.cols()) generator_.conservativeResize(Eigen::NoChange, 2 * generators_ + 8);
    generator_.col(generators_).setZero();
    generator_(row, generators_) = value;
    return generators_++;
}

// Columns are scaled so that each alone gives its own row the velocity one.
void ConeFacets::add_contact(const ConeBlock& block, int first, const VecX& unit, int directions) {
    const int normal = add_generator(first, 1 / std::sqrt(unit[first]));
    for_each_disc(block, first, [&](const FrictionDisc& d) {
        const double size = 1 / std::sqrt(unit[d.first]);
        const int count = d.rows == 1 ? 2 : directions;
        limits_.push_back({normal, generators_, count, d.coefficient * std::sqrt(unit[d.first] / unit[first])});
        for (int k = 0; k < count; ++k) {
            const double angle = 2 * std::numbers::pi * k / count;
            const int column = add_generator(d.first, size * std::cos(angle));
            if (d.rows == 2) generator_(d.first + 1, column) = size * std::sin(angle);
        }
    });
}

bool ConeFacets::solve(const MatX& w, const std::vector<ConeBlock>& blocks, const VecX& q, const VecX& unit,
                       int directions, VecX& p) {
    generator_.resize(q.size(), 4 * q.size());
    generators_ = 0;
    limits_.clear();
    for (int first = 0; const ConeBlock& block : blocks) {
        if (block.is_bilateral) {
            // Each row pushes and pulls.
            for (int k = first; k < first + block.rows; ++k)
                for (const double sign : {1.0, -1.0}) add_generator(k, sign / std::sqrt(unit[k]));
        } else {
            add_contact(block, first, unit, directions);
        }
        first += block.rows;
    }
    const auto generator = generator_.leftCols(generators_);
    const int size = generators_ + static_cast<int>(limits_.size());
    matrix_.setZero(size, size);
    right_.setZero(size);
    response_.noalias() = w * generator;
    matrix_.topLeftCorner(generators_, generators_).noalias() = generator.transpose() * response_;
    right_.head(generators_).noalias() = generator.transpose() * q;
    for (int row = generators_; const Limit& limit : limits_) {
        matrix_.block(limit.first, row, limit.count, 1).setOnes();
        matrix_.block(row, limit.first, 1, limit.count).setConstant(-1);
        matrix_(row++, limit.normal) = limit.coefficient;
    }
    const double scale = right_.lpNorm<Eigen::Infinity>();
    if (!(scale > 0)) return false;
    right_ /= scale;
    if (!lemke_.solve(matrix_, right_, z_)) return false;
    p.noalias() = scale * (generator * z_.head(generators_));
    return p.allFinite();
}

}  // namespace limber
