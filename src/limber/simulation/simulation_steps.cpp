// Steps of a simulation, and what is known of the motion within them.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "limber/integration/step_path.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/simulation/simulation.hpp"

namespace limber {
namespace {

// Adds up the work of the stretches of a step, and keeps them for those who look between its ends.
class StepFollower final : public StepListener {
public:
    /// Null: nobody wants to know the work, or the path.
    StepFollower(Observer* meter, StepPath* path, const WorkSource& source)
        : meter_(meter), path_(path), source_(source) {}

    void begin_step() override {
        work_ = 0;
        if (path_ != nullptr) path_->begin();
    }
    void add_stretch(const State& from, const State& to) override {
        if (meter_ != nullptr) {
            const auto before = std::chrono::steady_clock::now();
            work_ += meter_->compute_work(from, to, source_);
            seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
        }
        // The internal steps of `reference` have no accelerations: its path is one piece.
        if (path_ != nullptr && to.a.size() == to.q.size()) path_->add_piece(from, to);
    }
    double work() const { return work_; }
    /// Spent on finding it.
    double seconds() const { return seconds_; }

private:
    Observer* meter_;
    StepPath* path_;
    WorkSource source_;
    double work_ = 0, seconds_ = 0;
};

// Of a step that failed: a joint of a user's class may give no number where the step was to lead.
std::string find_undefined_joint(const Model& model, const System& system, const State& state, double h) {
    for (const auto handle : model.joints.handles()) {
        const Joint& joint = model.joints.get(handle);
        if (joint.as<CustomJoint>() == nullptr) continue;
        const auto e = system.make_evaluation();
        system.update_positions(*e, state.t + h, state.q + h * state.v, state.memory);
        const std::string name = fmt::format("joint '{}'", joint.name);
        for (int r = 0; r < system.holonomic_rows(); ++r)
            if (system.row_name(r) == name && !std::isfinite(e->phi[r]))
                return fmt::format("; {}: a residual of its class becomes something that is not a number", name);
    }
    return "";
}

}  // namespace

WorkSource Simulation::work_source() const {
    const IntegratorInfo& integrator = find_integrator(options_.integrator);
    WorkSource source;
    source.order = integrator.order;
    // Those of global and hybrid share the work with the projections of the step where forces of drivers change fast.
    source.has_multipliers = !options_.modular.is_on() && !integrator.needs_accelerations() &&
                             find_formulation(options_.formulation).has_step_multipliers;
    return source;
}

StepReport Simulation::step(double h, StepPath* path) {
    observer_->follow_step(h);
    Observer* meter = watches_work_ && observer().has_work() ? &observer() : nullptr;
    if (meter == nullptr && path == nullptr) {
        StepReport report = stepper_->step(state_, h);
        if (!report.ok) report.reason += find_undefined_joint(model_, system(), state_, h);
        return report;
    }
    StepFollower follower(meter, path, work_source());
    follower.begin_step();
    before_ = state_;
    const bool tells = stepper_->tell(&follower);
    StepReport report = stepper_->step(state_, h);
    stepper_->tell(nullptr);
    if (report.ok && !tells) follower.add_stretch(before_, state_);
    metering_time_ += follower.seconds();
    if (!report.ok) {
        report.reason += find_undefined_joint(model_, system(), state_, h);
        return report;
    }
    report.work = follower.work();
    if (path != nullptr) {
        if (path->pieces() == 0) path->add_piece(before_, state_);
        path->end(state_, model_.planar ? shape_of_step<2>(before_) : shape_of_step<3>(before_));
    }
    return report;
}

template <int D>
StepPath::Shape Simulation::shape_of_step(const State& before) const {
    const IntegratorInfo& integrator = find_integrator(options_.integrator);
    const bool steps_over = integrator.kind == IntegratorKind::time_stepping;
    if (steps_over) {
        // Forces of contacts and impulses of stops stand for impacts anywhere in the step.
        const auto pushes = [](const ContactPoint& contact) { return !contact.force.isZero(0); };
        const auto was_hit = [&](const UnilateralRow& stop) {
            return state_.memory[stop.impulse] != before.memory[stop.impulse];
        };
        const auto& stops = system_as<D>().mechanism().unilateral;
        if (std::any_of(state_.contacts.begin(), state_.contacts.end(), pushes) ||
            std::any_of(stops.begin(), stops.end(), was_hit))
            return StepPath::Shape::jump;
    }
    // Accelerations of time-stepping, and of the whole where it is divided, are differences of what came before.
    if (steps_over || options_.modular.is_on()) return StepPath::Shape::plain;
    return integrator.order > 2 ? StepPath::Shape::quintic : StepPath::Shape::cubic;
}

void Simulation::interpolate(const StepPath& path, double t, State& state) const {
    path.find_state(t, state);
    const int piece = path.find_piece(t);
    const State& from = path.begin_of(piece);
    const State& to = path.end_of(piece);
    const auto set_memory = [&]<int D>(const Mechanism<D>& m) {
        // Friction that slips was found over the piece, and its end knows how; bristles start from where they were.
        for (const FrictionElement& friction : m.friction) {
            double* slip = state.memory.data() + friction.slip;
            const double* found = to.memory.data() + friction.slip;
            std::copy(found, found + slip_bend, slip);
            slip[slip_time] = from.t;
            slip[slip_time_after] = to.t;
        }
        if (m.driver_work < 0 || !(to.t > from.t)) return;
        const double share = (t - from.t) / (to.t - from.t);
        double& work = state.memory[m.driver_work];
        work += share * (to.memory[m.driver_work] - work);
    };
    if (model_.planar) {
        set_memory(system_as<2>().mechanism());
    } else {
        set_memory(system_as<3>().mechanism());
    }
}

}  // namespace limber
