#include "limber/geometry/broad_phase.hpp"

#include <algorithm>
#include <numeric>

namespace limber {
namespace {

// The axis along which the boxes' lower corners are scattered most.
int find_widest_axis(std::span<const Bounds> boxes) {
    Vec3 mean = Vec3::Zero();
    for (const Bounds& box : boxes) mean += box.low / static_cast<double>(boxes.size());
    Vec3 scatter = Vec3::Zero();
    for (const Bounds& box : boxes) scatter += (box.low - mean).cwiseAbs2();
    int axis = 0;
    scatter.maxCoeff(&axis);
    return axis;
}

}  // namespace

void BroadPhase::find_pairs(std::span<const Bounds> boxes, std::vector<std::pair<int, int>>& pairs) {
    pairs.clear();
    const int axis = find_widest_axis(boxes);
    const auto low = [&](int i) { return boxes[i].low[axis]; };
    if (order_.size() != boxes.size() || axis != axis_) {
        axis_ = axis;
        order_.resize(boxes.size());
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [&](int a, int b) { return low(a) < low(b); });
    }
    for (std::size_t i = 1; i < order_.size(); ++i) {
        const int moving = order_[i];
        std::size_t place = i;
        for (; place > 0 && low(order_[place - 1]) > low(moving); --place) order_[place] = order_[place - 1];
        order_[place] = moving;
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Bounds& box = boxes[order_[i]];
        for (std::size_t k = i + 1; k < order_.size() && low(order_[k]) <= box.high[axis]; ++k)
            if (box.overlaps(boxes[order_[k]])) pairs.emplace_back(std::minmax(order_[i], order_[k]));
    }
    std::sort(pairs.begin(), pairs.end());
}

}  // namespace limber
