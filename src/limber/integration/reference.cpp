#include "limber/integration/reference.hpp"

#include <arkode/arkode_erkstep.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace limber {

struct ReferenceStepper::Sundials {
    Sundials(std::unique_ptr<AccelerationSolver> acceleration_solver, double relative_tolerance)
        : solver(std::move(acceleration_solver)), tolerance(relative_tolerance) {
        const int n = solver->system().size();
        q = v = a = VecX::Zero(n);
        lambda = VecX::Zero(solver->system().rows());
        if (SUNContext_Create(nullptr, &context) != 0) throw std::runtime_error("SUNDIALS could not be started");
        y = N_VNew_Serial(std::max(1, 2 * n), context);
    }
    ~Sundials() {
        if (integrator != nullptr) ERKStepFree(&integrator);
        N_VDestroy(y);
        SUNContext_Free(&context);
    }
    Sundials(const Sundials&) = delete;
    Sundials& operator=(const Sundials&) = delete;

    static int right_hand_side(realtype t, N_Vector y, N_Vector y_rate, void* self) {
        return static_cast<Sundials*>(self)->evaluate(t, N_VGetArrayPointer(y), N_VGetArrayPointer(y_rate));
    }
    static int after_step(realtype t, N_Vector y, void* self) {
        return static_cast<Sundials*>(self)->project(t, N_VGetArrayPointer(y));
    }

    void load(const double* from) {
        std::copy(from, from + q.size(), q.data());
        std::copy(from + q.size(), from + 2 * q.size(), v.data());
    }
    void store(double* to) const {
        std::copy(q.data(), q.data() + q.size(), to);
        std::copy(v.data(), v.data() + v.size(), to + q.size());
    }

    // Positive results ask SUNDIALS to try a smaller step.
    int evaluate(double t, const double* from, double* rate) {
        load(from);
        ++evaluations;
        if (!solver->solve(t, q, v, memory, a, lambda)) return 1;
        std::copy(v.data(), v.data() + v.size(), rate);
        std::copy(a.data(), a.data() + a.size(), rate + v.size());
        return 0;
    }
    int project(double t, double* at) {
        load(at);
        if (!solver->project(t, q, v, memory)) return 1;
        store(at);
        solver->system().update_memory(solver->evaluation(), q, memory);
        return 0;
    }

    // A new start at the given state: first use, or the state was changed from outside.
    void restart(const State& state) {
        q = state.q;
        v = state.v;
        memory = state.memory;
        store(N_VGetArrayPointer(y));
        const double scale = solver->system().length_scale();
        if (integrator != nullptr) {
            ERKStepReset(integrator, state.t, y);
            return;
        }
        integrator = ERKStepCreate(&right_hand_side, state.t, y, context);
        ERKStepSetUserData(integrator, this);
        ERKStepSStolerances(integrator, tolerance, tolerance * 1e-2 * scale);
        ERKStepSetTableNum(integrator, ARKODE_FEHLBERG_13_7_8);
        ERKStepSetPostprocessStepFn(integrator, &after_step);
        ERKStepSetMaxNumSteps(integrator, 200000);
        ERKStepSetErrFile(integrator, nullptr);
    }

    std::unique_ptr<AccelerationSolver> solver;
    double tolerance;
    SUNContext context = nullptr;
    N_Vector y = nullptr;
    void* integrator = nullptr;
    VecX q, v, a, lambda;
    std::vector<double> memory;
    double reached = 0;  // time of the integrator's own state
    long evaluations = 0;
};

ReferenceStepper::ReferenceStepper(std::unique_ptr<AccelerationSolver> solver, double tolerance)
    : sundials_(std::make_unique<Sundials>(std::move(solver), tolerance)) {}

ReferenceStepper::~ReferenceStepper() = default;

const System& ReferenceStepper::system() const {
    return sundials_->solver->system();
}

StepReport ReferenceStepper::start(State& state) {
    Sundials& s = *sundials_;
    const StepReport report = start_state(*s.solver, state);
    s.restart(state);
    s.reached = state.t;
    return report;
}

StepReport ReferenceStepper::step(State& state, double h) {
    Sundials& s = *sundials_;
    StepReport report;
    const auto n = state.q.size();
    const double* y = N_VGetArrayPointer(s.y);
    const bool continues = s.integrator != nullptr && std::abs(s.reached - state.t) < 1e-9 * h &&
                           std::equal(y, y + n, state.q.data()) && std::equal(y + n, y + 2 * n, state.v.data());
    if (!continues) s.restart(state);
    const double end = state.t + h;
    const long before = s.evaluations;
    ERKStepSetStopTime(s.integrator, end);
    double reached = state.t;
    const int flag = ERKStepEvolve(s.integrator, end, s.y, &reached, ARK_NORMAL);
    report.iterations = static_cast<int>(s.evaluations - before);
    const auto fail = [&](std::string reason) {
        report.ok = false;
        report.reason = std::move(reason);
        s.reached = end - 2 * h;  // forces a restart
        return report;
    };
    if (flag < 0) return fail(fmt::format("SUNDIALS stopped with {}", ERKStepGetReturnFlagName(flag)));
    s.load(y);
    if (!s.solver->solve(end, s.q, s.v, s.memory, s.a, s.lambda)) return fail(s.solver->failure());
    s.reached = end;
    state.t = end;
    state.q = s.q;
    state.v = s.v;
    state.memory = s.memory;
    state.previous_a = state.a;
    state.previous_step = h;
    state.a = state.scheme_a = s.a;
    state.lambda = s.lambda;
    return report;
}

}  // namespace limber
