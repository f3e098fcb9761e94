#include "limber/simulation/pacing.hpp"

#include <algorithm>
#include <cmath>

namespace limber {

void Pacer::start(double t, double now) {
    start_t_ = t;
    start_now_ = now;
    is_paused_ = false;
    samples_.clear();
}

void Pacer::set_speed(double speed, double t, double now) {
    speed_ = speed;
    start_t_ = t;
    start_now_ = now;
    samples_.clear();
}

bool Pacer::is_due(double t, double h, double now) {
    if (is_paused_) return false;
    if (!std::isfinite(speed_)) return true;
    const double behind = (now - start_now_) - (t - start_t_) / speed_;
    if (behind > longest_debt + h / speed_) {
        // Given up: the simulation goes on from here.
        start_t_ = t;
        start_now_ = now - h / speed_;
        late_at_ = now;
    }
    return wait(t, h, now) <= 0;
}

double Pacer::wait(double t, double h, double now) const {
    if (is_paused_ || !std::isfinite(speed_)) return 0;
    return std::max(0.0, start_now_ + (t + h - start_t_) / speed_ - now);
}

void Pacer::observe(double t, double now) {
    // Back in time: what was measured says nothing any more.
    if (!samples_.empty() && t < samples_.back().t) {
        samples_.clear();
        start_t_ = t;
        start_now_ = now;
    }
    samples_.push_back({now, t});
    while (samples_.size() > 2 && samples_.front().now < now - 1) samples_.pop_front();
    const Sample& first = samples_.front();
    if (now > first.now) report_.real_time_factor = (t - first.t) / (now - first.now);
    report_.is_late = now - late_at_ < 1;
    report_.behind =
        is_paused_ || !std::isfinite(speed_) ? 0 : std::max(0.0, (now - start_now_) - (t - start_t_) / speed_);
}

}  // namespace limber
