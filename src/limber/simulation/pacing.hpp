#pragma once
// Keeps a simulation at real time, or at a multiple of it. The clock is given, not read, so that tests need not wait.
//
// A machine that cannot keep up falls behind by a tenth of a second at most; what is beyond is given up, and the report
// says so. Steps are never piled up to be made good later.

#include <deque>
#include <limits>

namespace limber {

struct PaceReport {
    double real_time_factor = 0;  ///< simulated over real time, over the last second
    bool is_late = false;         ///< time had to be given up during the last second
    double behind = 0;            ///< real seconds that the simulation lags now
};

class Pacer {
public:
    static constexpr double as_fast_as_possible = std::numeric_limits<double>::infinity();

    /// speed: simulated seconds per real second.
    explicit Pacer(double speed = 1) : speed_(speed) {}

    double speed() const { return speed_; }
    bool is_paused() const { return is_paused_; }
    /// From the simulated time t, at the real time `now`.
    void start(double t, double now);
    void pause() { is_paused_ = true; }
    void set_speed(double speed, double t, double now);

    /// Whether a step of length h from the simulated time t is due.
    bool is_due(double t, double h, double now);
    /// Real seconds until it is; 0 if it is.
    double wait(double t, double h, double now) const;
    /// After some steps, or now and then: the simulated time is t.
    void observe(double t, double now);
    PaceReport report() const { return report_; }

private:
    struct Sample {
        double now, t;
    };
    static constexpr double longest_debt = 0.1;

    double speed_;
    bool is_paused_ = true;
    double start_t_ = 0, start_now_ = 0;
    double late_at_ = -std::numeric_limits<double>::infinity();
    std::deque<Sample> samples_;
    PaceReport report_;
};

}  // namespace limber
