#include "limber/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "limber/model/error.hpp"
#include "limber/simulation/start_conditions.hpp"

namespace limber {
namespace {

// Accelerations grow without bound before a lock, so steps fail before they reach it: by so many of them at most.
constexpr double steps_before_lock = 20;

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

Simulation::Simulation(Model model, const SimulationOptions& options, const EquilibriumRequest& request)
    : compiled_(CompiledModel::make(solve_start_conditions(std::move(model), options), options)),
      start_(compiled_->start(state_, request)) {}

Simulation::Simulation(const Model& model) : Simulation(model, simulation_options_of(model)) {}

Simulation::Simulation(Model model, SimulationOptions options, State state)
    : compiled_(CompiledModel::make(std::move(model), std::move(options))), state_(std::move(state)) {
    compiled_->go_on(state_);
}

TransferReport Simulation::transfer(Model model, SimulationOptions options, const TransferLimits& limits) {
    if (model.planar != this->model().planar) throw ModelError("a running model stays planar or spatial");
    TransferReport report = compiled_->transfer(state_, std::move(model), std::move(options), limits);
    start_.changes = {};
    count(report);
    return report;
}

TransferReport Simulation::apply_impulse(const std::string& marker, const Vec3& impulse, const Vec3& moment) {
    TransferReport report = compiled_->apply_impulse(state_, marker, impulse, moment);
    count(report);
    return report;
}

void Simulation::count(const TransferReport& report) {
    account_.dissipated += report.energy_before - report.energy_after + report.loss_forgotten;
}

WorkSource Simulation::work_source() const {
    const IntegratorInfo& integrator = find_integrator(options().integrator);
    WorkSource source;
    source.order = integrator.order;
    // Those of global and hybrid share the work with the projections of the step where forces of drivers change fast.
    source.has_multipliers = !options().modular.is_on() && !integrator.needs_accelerations() &&
                             find_formulation(options().formulation).has_step_multipliers;
    return source;
}

StepReport Simulation::step(double h, StepPath* path) {
    compiled_->last_observer().follow_step(h);
    Stepper& stepper = compiled_->stepper();
    Observer* meter = watches_work_ && observer().has_work() ? &observer() : nullptr;
    lock_.reset();
    const auto explain = [&](StepReport report) {
        if (report.ok) return report;
        report.reason += find_undefined_joint(model(), system(), state_, h);
        lock_ = find_lock(h);
        if (lock_) report.reason = fmt::format("{} ({})", lock_->describe(), report.reason);
        return report;
    };
    if (meter == nullptr && path == nullptr) return explain(stepper.step(state_, h));
    StepFollower follower(meter, path, work_source());
    follower.begin_step();
    before_ = state_;
    const bool tells = stepper.tell(&follower);
    StepReport report = stepper.step(state_, h);
    stepper.tell(nullptr);
    if (report.ok && !tells) follower.add_stretch(before_, state_);
    metering_time_ += follower.seconds();
    if (!report.ok) return explain(std::move(report));
    report.work = follower.work();
    account_.work += report.work;
    if (path != nullptr) {
        if (path->pieces() == 0) path->add_piece(before_, state_);
        path->end(state_, compiled_->shape_of_step(before_, state_));
    }
    return report;
}

std::optional<LockReport> Simulation::find_lock(const State& from, double step, double reached) const {
    return compiled_->find_lock(from, step, reached + steps_before_lock * step);
}

void Simulation::interpolate(const StepPath& path, double t, State& state) const {
    path.find_state(t, state);
    const int piece = path.find_piece(t);
    compiled_->interpolate_memory(path.begin_of(piece), path.end_of(piece), state);
}

StepReport Simulation::advance(double end, double h) {
    StepReport total;
    total.substeps = 0;
    // Whole steps are counted, not accumulated, so that the end is met without a sliver of a step.
    const double start = state_.t;
    const auto whole = static_cast<long>(std::floor((end - start) / h + 1e-9));
    const auto run = [&](double length) {
        const StepReport report = step(length);
        total.iterations += report.iterations;
        total.substeps += report.substeps;
        total.work += report.work;
        total.ok = report.ok;
        total.reason = report.reason;
        total.events.insert(total.events.end(), report.events.begin(), report.events.end());
        return report.ok;
    };
    for (long i = 0; i < whole; ++i) {
        if (!run(h)) return total;
        state_.t = start + static_cast<double>(i + 1) * h;
    }
    const double rest = end - state_.t;
    if (rest > 1e-9 * h && !run(rest)) return total;
    state_.t = end;
    return total;
}

double Simulation::value(const std::string& column) {
    const std::vector<std::string>& names = columns();
    const auto it = std::find(names.begin(), names.end(), column);
    if (it == names.end())
        throw ModelError(fmt::format("there is no sensor column '{}'{}", column, did_you_mean(column, names)));
    std::vector<double> values;
    observer().observe(state_, watches_work_ ? account_.work : std::nan(""), values);
    return values[it - names.begin()];
}

}  // namespace limber
