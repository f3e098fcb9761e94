#pragma once
// Where something was evaluated, so that it need not be evaluated there again.

#include <algorithm>
#include <span>
#include <vector>

#include "limber/dynamics/system/system.hpp"

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

/// Evaluates positions and factorises what belongs to them, unless that was done there last. Returns what `factorize`
/// does.
template <class Factorize>
bool factorize_once_at(Configuration& last, const System& system, Evaluation& e, double t, const VecX& q,
                       std::span<const double> memory, const Factorize& factorize) {
    if (last.is_at(t, q, memory)) {
        e.q = &q;
        e.memory = memory;
        return true;
    }
    last.clear();
    system.update_positions(e, t, q, memory);
    if (!factorize()) return false;
    last.set(t, q, memory);
    return true;
}

}  // namespace limber
