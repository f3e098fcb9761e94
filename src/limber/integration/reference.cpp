#include "limber/integration/reference.hpp"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace limber {
namespace {

// Internal steps within one step of the run after which the explicit pair gives way.
constexpr long explicit_patience = 5000;
constexpr long stiff_patience = 500000;

std::string flag_name(char* allocated) {
    std::string name = allocated;
    free(allocated);  // NOLINT(cppcoreguidelines-no-malloc): SUNDIALS hands out malloc'ed text
    return name;
}

}  // namespace

// y = (q, v), its rate and its projection onto the constraints.
struct ReferenceStepper::Problem {
    explicit Problem(std::unique_ptr<AccelerationSolver> acceleration_solver) : solver(std::move(acceleration_solver)) {
        const int n = solver->system().size();
        q = v = a = VecX::Zero(n);
        lambda = VecX::Zero(solver->system().rows());
        if (SUNContext_Create(nullptr, &context) != 0) throw std::runtime_error("SUNDIALS could not be started");
        y = N_VNew_Serial(std::max(1, 2 * n), context);
    }
    ~Problem() {
        N_VDestroy(y);
        SUNContext_Free(&context);
    }
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;

    void load(const double* from) {
        std::copy(from, from + q.size(), q.data());
        std::copy(from + q.size(), from + 2 * q.size(), v.data());
    }
    void store(double* to) const {
        std::copy(q.data(), q.data() + q.size(), to);
        std::copy(v.data(), v.data() + v.size(), to + q.size());
    }

    // Positive results ask SUNDIALS to try a smaller step.
    static int rate(realtype t, N_Vector y, N_Vector y_rate, void* self) {
        auto& p = *static_cast<Problem*>(self);
        p.load(N_VGetArrayPointer(y));
        ++p.evaluations;
        if (!p.solver->solve(t, p.q, p.v, p.memory, p.a, p.lambda)) return 1;
        double* out = N_VGetArrayPointer(y_rate);
        std::copy(p.v.data(), p.v.data() + p.v.size(), out);
        std::copy(p.a.data(), p.a.data() + p.a.size(), out + p.v.size());
        return 0;
    }
    bool project(double t, const double* from, double* to) {
        load(from);
        if (!solver->project(t, q, v, memory)) return false;
        store(to);
        return true;
    }
    void accept(double t) {
        solver->system().update_memory(solver->evaluation(), q, memory);
        if (listener == nullptr) return;
        copy_to(t, to);
        if (to.t > from.t) listener->add_stretch(from, to);
        std::swap(from, to);
    }
    void copy_to(double t, State& state) const {
        state.t = t;
        state.q = q;
        state.v = v;
        state.memory = memory;
    }
    void begin(double t) {
        if (listener == nullptr) return;
        listener->begin_step();
        copy_to(t, from);
    }

    std::unique_ptr<AccelerationSolver> solver;
    SUNContext context = nullptr;
    N_Vector y = nullptr;
    VecX q, v, a, lambda;
    std::vector<double> memory;
    long evaluations = 0;
    StepListener* listener = nullptr;
    State from, to;  // of the last internal step, for the listener
};

class ReferenceStepper::Engine {
public:
    Engine() = default;
    virtual ~Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    /// From the problem's y at t, without a past.
    virtual void restart(double t) = 0;
    /// Brings the problem's y to `end`; empty, or what went wrong.
    virtual std::string advance(double end) = 0;
    bool gave_up = false;  ///< advance() failed for too many internal steps
};

class ReferenceStepper::ExplicitEngine final : public Engine {
public:
    ExplicitEngine(Problem& problem, double tolerance) : p_(problem), tolerance_(tolerance) {}
    ~ExplicitEngine() override {
        if (memory_ != nullptr) ERKStepFree(&memory_);
    }

    void restart(double t) override {
        if (memory_ != nullptr) {
            ERKStepReset(memory_, t, p_.y);
            return;
        }
        memory_ = ERKStepCreate(&Problem::rate, t, p_.y, p_.context);
        ERKStepSetUserData(memory_, &p_);
        ERKStepSStolerances(memory_, tolerance_, tolerance_ * 1e-2 * p_.solver->system().length_scale());
        ERKStepSetTableNum(memory_, ARKODE_FEHLBERG_13_7_8);
        ERKStepSetPostprocessStepFn(memory_, &after_step);
        ERKStepSetMaxNumSteps(memory_, explicit_patience);
        ERKStepSetErrFile(memory_, nullptr);
    }

    std::string advance(double end) override {
        ERKStepSetStopTime(memory_, end);
        double reached = 0;
        const int flag = ERKStepEvolve(memory_, end, p_.y, &reached, ARK_NORMAL);
        gave_up = flag == ARK_TOO_MUCH_WORK || flag == ARK_ERR_FAILURE;
        return flag >= 0 ? "" : fmt::format("SUNDIALS stopped with {}", flag_name(ERKStepGetReturnFlagName(flag)));
    }

private:
    static int after_step(realtype t, N_Vector y, void* problem) {
        auto& p = *static_cast<Problem*>(problem);
        if (!p.project(t, N_VGetArrayPointer(y), N_VGetArrayPointer(y))) return 1;
        p.accept(t);
        return 0;
    }

    Problem& p_;
    double tolerance_;
    void* memory_ = nullptr;
};

class ReferenceStepper::StiffEngine final : public Engine {
public:
    StiffEngine(Problem& problem, double tolerance) : p_(problem) {
        memory_ = CVodeCreate(CV_BDF, p_.context);
        CVodeInit(memory_, &Problem::rate, 0, p_.y);
        CVodeSetUserData(memory_, &p_);
        CVodeSStolerances(memory_, tolerance, tolerance * 1e-2 * p_.solver->system().length_scale());
        const sunindextype size = N_VGetLength(p_.y);
        matrix_ = SUNDenseMatrix(size, size, p_.context);
        linear_ = SUNLinSol_Dense(p_.y, matrix_, p_.context);
        CVodeSetLinearSolver(memory_, linear_, matrix_);
        CVodeSetProjFn(memory_, &correction);
        CVodeSetProjErrEst(memory_, SUNFALSE);
        CVodeSetErrFile(memory_, nullptr);
    }
    ~StiffEngine() override {
        CVodeFree(&memory_);
        SUNLinSolFree(linear_);
        SUNMatDestroy(matrix_);
    }

    void restart(double t) override { CVodeReInit(memory_, t, p_.y); }

    std::string advance(double end) override {
        CVodeSetStopTime(memory_, end);
        double reached = 0;
        for (long i = 0; i < stiff_patience; ++i) {
            const int flag = CVode(memory_, end, p_.y, &reached, CV_ONE_STEP);
            if (flag < 0) return fmt::format("SUNDIALS stopped with {}", flag_name(CVodeGetReturnFlagName(flag)));
            p_.load(N_VGetArrayPointer(p_.y));
            p_.accept(reached);
            if (flag == CV_TSTOP_RETURN) return "";
        }
        gave_up = true;
        return "SUNDIALS needs too many steps";
    }

private:
    static int correction(realtype t, N_Vector y, N_Vector change, realtype /*tolerance*/, N_Vector /*error*/,
                          void* problem) {
        auto& p = *static_cast<Problem*>(problem);
        double* out = N_VGetArrayPointer(change);
        const double* from = N_VGetArrayPointer(y);
        if (!p.project(t, from, out)) return 1;
        for (Eigen::Index i = 0; i < 2 * p.q.size(); ++i) out[i] -= from[i];
        return 0;
    }

    Problem& p_;
    void* memory_ = nullptr;
    SUNMatrix matrix_ = nullptr;
    SUNLinearSolver linear_ = nullptr;
};

ReferenceStepper::ReferenceStepper(std::unique_ptr<AccelerationSolver> solver, double tolerance)
    : problem_(std::make_unique<Problem>(std::move(solver))), tolerance_(tolerance) {
    engine_ = std::make_unique<ExplicitEngine>(*problem_, tolerance);
}

ReferenceStepper::~ReferenceStepper() = default;

const System& ReferenceStepper::system() const {
    return problem_->solver->system();
}

bool ReferenceStepper::tell(StepListener* listener) {
    problem_->listener = listener;
    return true;
}

bool ReferenceStepper::is_stiff() const {
    return dynamic_cast<const StiffEngine*>(engine_.get()) != nullptr;
}

StepReport ReferenceStepper::start(State& state) {
    is_started_ = false;
    return start_state(*problem_->solver, state);
}

bool ReferenceStepper::continues(const State& state, double h) const {
    const auto n = state.q.size();
    const double* y = N_VGetArrayPointer(problem_->y);
    return is_started_ && std::abs(reached_ - state.t) < 1e-9 * h && std::equal(y, y + n, state.q.data()) &&
           std::equal(y + n, y + 2 * n, state.v.data()) && problem_->memory == state.memory;
}

StepReport ReferenceStepper::step(State& state, double h) {
    Problem& p = *problem_;
    StepReport report;
    const double end = state.t + h;
    const long before = p.evaluations;
    const auto restart = [&] {
        p.q = state.q;
        p.v = state.v;
        p.memory = state.memory;
        p.store(N_VGetArrayPointer(p.y));
        engine_->restart(state.t);
    };
    if (!continues(state, h)) restart();
    p.load(N_VGetArrayPointer(p.y));
    p.begin(state.t);
    std::string failure = engine_->advance(end);
    if (engine_->gave_up && !is_stiff()) {
        engine_ = std::make_unique<StiffEngine>(p, tolerance_);
        restart();
        p.begin(state.t);
        failure = engine_->advance(end);
    }
    if (failure.empty()) {
        p.load(N_VGetArrayPointer(p.y));
        if (!p.solver->solve(end, p.q, p.v, p.memory, p.a, p.lambda)) failure = p.solver->failure();
    }
    report.iterations = static_cast<int>(p.evaluations - before);
    is_started_ = failure.empty();
    if (!failure.empty()) {
        report.ok = false;
        report.reason = failure;
        return report;
    }
    reached_ = end;
    state.t = end;
    state.q = p.q;
    state.v = p.v;
    state.memory = p.memory;
    state.previous_a = state.a;
    state.previous_step = h;
    state.a = state.scheme_a = p.a;
    state.lambda = p.lambda;
    return report;
}

}  // namespace limber
