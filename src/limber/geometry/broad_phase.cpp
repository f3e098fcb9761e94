#include "limber/geometry/broad_phase.hpp"

#include <algorithm>
#include <numeric>

namespace limber {

void BroadPhase::find_pairs(std::span<const Bounds> boxes, std::vector<std::pair<int, int>>& pairs) {
    pairs.clear();
    if (order_.size() != boxes.size()) {
        order_.resize(boxes.size());
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [&](int a, int b) { return boxes[a].low.x() < boxes[b].low.x(); });
    }
    for (std::size_t i = 1; i < order_.size(); ++i) {
        const int moving = order_[i];
        std::size_t place = i;
        for (; place > 0 && boxes[order_[place - 1]].low.x() > boxes[moving].low.x(); --place)
            order_[place] = order_[place - 1];
        order_[place] = moving;
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Bounds& box = boxes[order_[i]];
        for (std::size_t k = i + 1; k < order_.size() && boxes[order_[k]].low.x() <= box.high.x(); ++k)
            if (box.overlaps(boxes[order_[k]])) pairs.push_back(std::minmax(order_[i], order_[k]));
    }
    std::sort(pairs.begin(), pairs.end());
}

}  // namespace limber
