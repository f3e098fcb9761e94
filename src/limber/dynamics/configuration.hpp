#pragma once
// Where something was evaluated, so that it need not be evaluated there again.

#include <algorithm>
#include <span>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

class Configuration {
public:
    bool is_set() const { return is_set_; }
    void clear() { is_set_ = false; }
    /// The memory too: contacts may have opened or closed.
    bool is_at(double t, const VecX& q, std::span<const double> memory) const {
        return is_set_ && t_ == t && q_ == q &&
               std::equal(memory.begin(), memory.end(), memory_.begin(), memory_.end());
    }
    void set(double t, const VecX& q, std::span<const double> memory) {
        is_set_ = true;
        t_ = t;
        q_ = q;
        memory_.assign(memory.begin(), memory.end());
    }

private:
    bool is_set_ = false;
    double t_ = 0;
    VecX q_;
    std::vector<double> memory_;
};

}  // namespace limber
