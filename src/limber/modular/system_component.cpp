#include "limber/modular/system_component.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/dynamics/system/system_like.hpp"
#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/methods/integrators.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

// Of a component that is led. What its penalty lets its joints yield adds up along a chain of bodies and is felt from
// outside: every iteration leaves that much of the error between components. A penalty of 1e6, good for a system by
// itself, leaves half of it in a chain of twenty components of fifty bodies, this one a hundredth.
constexpr double coupled_penalty = 1e8;

// Inertia that a freedom without any is lent where only its neighbours hold it: enough to be told from the rounding of
// the penalty. In a step it slows Newton's method by as much; at the start, where accelerations are found with it, the
// forces it takes at those found before are given back. So it leaves no trace in the motion.
constexpr double braced_inertia = 1e-4;

}  // namespace

template <int D>
std::shared_ptr<CompiledComponent<D>> compile_component(const Mechanism<D>& whole, const PartChoice& choice,
                                                        const std::vector<int>& ports,
                                                        const ComponentSettings& settings,
                                                        const FormulationOptions& formulation_options,
                                                        const IntegratorOptions& integrator_options) {
    auto compiled = std::make_shared<CompiledComponent<D>>();
    compiled->bodies = choice.bodies;
    compiled->ports = ports;
    compiled->settings = settings;
    compiled->formulation_options = formulation_options;
    compiled->integrator_options = integrator_options;
    Part<D> part = make_part(whole, choice);
    for (const int port : ports) {
        const auto it = std::find(choice.bodies.begin(), choice.bodies.end(), port);
        compiled->port_body.push_back(static_cast<int>(it - choice.bodies.begin()));
        part.add_port(compiled->port_body.back());
    }
    compiled->memory = part.memory;
    compiled->port_memory = part.port_memory;
    const FormulationInfo& formulation = find_formulation(settings.formulation);
    const std::string coordinates = !formulation.coordinates.empty() ? formulation.coordinates
                                    : settings.coordinates.empty()   ? "natural"
                                                                     : settings.coordinates;
    compiled->settings.coordinates = coordinates;
    compiled->massless_freedoms = count_massless_freedoms(part.mechanism);
    compiled->system = make_system<D>(std::make_shared<const Mechanism<D>>(std::move(part.mechanism)),
                                      parse_coordinate_kind(coordinates), !formulation.is_matrix_free);
    return compiled;
}

template <int D>
int count_massless_freedoms(const Mechanism<D>& m) {
    TwistConstraints<D> c(m, m.constraints);
    BodyStates<D> states;
    for (const auto& body : m.bodies) states.push_back(body.reference);
    c.update(states, m.initial_memory, 0);
    c.clear_matrix();
    c.add_mass(states, 0);
    c.add_normal_matrix(m.mass_scale);
    c.factorize();
    return c.frozen_freedoms();
}

template <int D>
void brace_component(CompiledComponent<D>& compiled) {
    Part<D> part;
    part.mechanism = compiled.system->mechanism();
    Mechanism<D>& weighted = part.mechanism;
    const double mass = braced_inertia * weighted.mass_scale;
    const double inertia = mass * weighted.length_scale * weighted.length_scale;
    for (std::size_t b = 0; b < weighted.bodies.size(); ++b) {
        auto& body = weighted.bodies[b];
        body.mass = std::max(body.mass, mass);
        for (int i = 0; i < angular_size<D>; ++i) body.inertia(i, i) = std::max(body.inertia(i, i), inertia);
        part.add_port(static_cast<int>(b));
    }
    compiled.weighted_system = make_system<D>(std::make_shared<const Mechanism<D>>(std::move(weighted)),
                                              parse_coordinate_kind(compiled.settings.coordinates));
    // States go to and fro between the two. With more inertia and ports on all bodies, what was a point or a bar is a
    // frame.
    compiled.system =
        make_system_like(*compiled.weighted_system, std::make_shared<const Mechanism<D>>(compiled.system->mechanism()));
}

template <int D>
SystemComponent<D>::SystemComponent(std::shared_ptr<const CompiledComponent<D>> compiled)
    : compiled_(std::move(compiled)), system_(*compiled_->system) {
    const ComponentSettings& s = compiled_->settings;
    const FormulationInfo& formulation = find_formulation(s.formulation);
    const IntegratorInfo& integrator = find_integrator(s.integrator);
    if (!integrator.can_be_coupled())
        throw ModelError(fmt::format(
            "component '{}': {} steps all bodies at once and cannot be that of a component: leave the mechanism "
            "undivided, or take {}",
            s.name, s.integrator, list_integrators([](const IntegratorInfo& info) { return info.can_be_coupled(); })));
    is_structural_ = integrator.is_structural();
    if (is_structural_) scheme_ = make_structural_scheme(s.integrator, compiled_->integrator_options);
    solver_ = make_acceleration_solver(s.formulation, is_braced() ? compiled_->weighted_system : compiled_->system,
                                       compiled_->formulation_options);
    if (formulation.is_step_solver() && is_structural_) {
        FormulationOptions options = compiled_->formulation_options;
        options.penalty = options.penalty_or(coupled_penalty);
        step_solver_ = make_step_solver(s.formulation, compiled_->system, options);
        coupled_ = step_solver_->as_coupled();
        if (coupled_ != nullptr && is_braced()) coupled_->brace(braced_inertia);
    }
    if (coupled_ == nullptr) step_solver_.reset();
    if (coupled_ == nullptr)
        stepper_ = make_stepper(s.formulation, s.integrator, compiled_->system, compiled_->formulation_options,
                                compiled_->integrator_options);
    const int n = system_.size();
    q_ = v_ = a_ = scheme_a_ = response_ = base_ = zero_ = VecX::Zero(n);
    lambda_ = response_lambda_ = VecX::Zero(system_.rows());
    wrench_.assign(compiled_->ports.size(), TwistVec<D>::Zero());
    start_wrench_ = bend_ = course_wrench_ = wrench_;
    states_.resize(compiled_->bodies.size());
    rates_.assign(compiled_->bodies.size(), TwistVec<D>::Zero());
}

template <int D>
void SystemComponent<D>::import_motion(double t, const BodyStates<D>& bodies, std::span<const double> memory) {
    state_ = State{};
    state_.t = t;
    state_.memory = system_.initial_memory();
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (compiled_->memory[i] >= 0) state_.memory[i] = memory[i];
    system_.import_states(bodies, state_.q, state_.v);
    state_.a = state_.scheme_a = VecX::Zero(system_.size());
    state_.lambda = VecX::Zero(system_.rows());
}

template <int D>
void SystemComponent<D>::export_motion(std::span<BodyState<D>> bodies, std::span<TwistVec<D>> rates) const {
    system_.export_states(state_.q, state_.v, states_);
    system_.export_twist_rates(state_.q, state_.v, state_.a, rates_);
    std::copy(states_.begin(), states_.end(), bodies.begin());
    std::copy(rates_.begin(), rates_.end(), rates.begin());
}

// ---------------------------------------------------------------- wrenches over a step

// The bend of a parabola is that of the steps before: multipliers of joints at the end of a step are good to the first
// order only, and a second difference with them would push the components on both sides of a joint by different
// impulses.
template <int D>
typename SystemComponent<D>::CourseWeights SystemComponent<D>::course_weights(double s) const {
    if (course_ == ForceCourse::hold) return {0, 1, 0};
    return {1 - s, s, s * (s - 1) / 2};
}

// The middle of a step has the impulse of a straight course. Two halves have that of a parabola, and its moment too, so
// that positions are as good as velocities.
template <int D>
std::span<const typename SystemComponent<D>::HeldPart> SystemComponent<D>::held_parts() const {
    static constexpr HeldPart whole[] = {{1, 0, 1, 0}};
    static constexpr HeldPart halves[] = {{0.5, 1.0 / 2, 2.0 / 3, -1.0 / 6}, {0.5, -1.0 / 6, 2.0 / 3, 1.0 / 2}};
    if (course_ == ForceCourse::quadratic) return halves;
    return whole;
}

// A unit mass under the part of the force that the end of the step decides.
template <int D>
Reach SystemComponent<D>::compute_reach() const {
    const double h = 1.0 / substeps_;
    double x = 0;
    double v = 0;
    double a = course_ == ForceCourse::hold ? 1 : 0;
    for (int i = 0; i < substeps_; ++i) {
        const double next = course_weights((i + 1) * h).end;
        if (coupled_ != nullptr) {
            const double beta = scheme_.looks_back ? 1.0 / 6.0 : scheme_.beta;
            const double gamma = scheme_.looks_back ? 0.5 : scheme_.gamma;
            x += h * v + h * h * ((0.5 - beta) * a + beta * next);
            v += h * ((1 - gamma) * a + gamma * next);
            a = next;
            continue;
        }
        for (const HeldPart& part : held_parts()) {
            const double dt = part.length * h;
            const double held = part.start * course_weights(i * h).end +
                                part.middle * course_weights((i + 0.5) * h).end + part.end * next;
            x += dt * v + 0.5 * dt * dt * held;
            v += dt * held;
        }
    }
    return {x, v};
}

template <int D>
void SystemComponent<D>::set_wrench(std::vector<double>& memory, std::span<const TwistVec<D>> wrenches) const {
    for (std::size_t p = 0; p < wrenches.size(); ++p)
        std::copy(wrenches[p].data(), wrenches[p].data() + twist_size<D>, memory.begin() + compiled_->port_memory[p]);
}

template <int D>
void SystemComponent<D>::clear_wrench(std::vector<double>& memory) const {
    for (const int first : compiled_->port_memory) std::fill_n(memory.begin() + first, twist_size<D>, 0.0);
}

template <int D>
void SystemComponent<D>::set_wrench_of_course(std::vector<double>& memory, double s) {
    const auto [start, end, bend] = course_weights(s);
    for (std::size_t p = 0; p < wrench_.size(); ++p)
        course_wrench_[p] = start * start_wrench_[p] + end * wrench_[p] + bend * bend_[p];
    set_wrench(memory, course_wrench_);
}

template <int D>
void SystemComponent<D>::set_held_wrench(std::vector<double>& memory, int index, const HeldPart& part) {
    CourseWeights sum{0, 0, 0};
    for (const auto& [share, place] :
         {std::pair{part.start, 0.0}, std::pair{part.middle, 0.5}, std::pair{part.end, 1.0}}) {
        const CourseWeights at = course_weights((index + place) / substeps_);
        sum = {sum.start + share * at.start, sum.end + share * at.end, sum.bend + share * at.bend};
    }
    for (std::size_t p = 0; p < wrench_.size(); ++p)
        course_wrench_[p] = sum.start * start_wrench_[p] + sum.end * wrench_[p] + sum.bend * bend_[p];
    set_wrench(memory, course_wrench_);
}

// ---------------------------------------------------------------- a step

template <int D>
void SystemComponent<D>::begin(double h, Coupling coupling, ForceCourse course, Wrenches start, Wrenches bend) {
    std::copy(start.begin(), start.end(), start_wrench_.begin());
    std::fill(bend_.begin(), bend_.end(), TwistVec<D>::Zero());
    if (course == ForceCourse::quadratic) std::copy(bend.begin(), bend.end(), bend_.begin());
    // Whether the forces are other ones now than those the accelerations of the state belong to.
    has_jump_ = false;
    for (std::size_t p = 0; p < start.size(); ++p)
        has_jump_ = has_jump_ || !std::equal(start[p].data(), start[p].data() + twist_size<D>,
                                             state_.memory.begin() + compiled_->port_memory[p]);
    h_ = h;
    coupling_ = coupling;
    course_ = course;
    has_base_ = is_led_ = is_closed_ = false;
    end_ = state_;
    if (!asks_accelerations()) {
        // A step that was not accepted must not show in the next.
        if (coupled_ != nullptr) coupled_->forget();
        const double own = compiled_->settings.step;
        substeps_ = own > 0 ? std::max(1, static_cast<int>(std::ceil(h / own - 1e-6))) : 1;
        // A force that is held acts from the start of the step, where Newton's method of its end has no part.
        is_led_ = coupled_ != nullptr && substeps_ == 1 && course != ForceCourse::hold;
        reach_ = compute_reach();
        return;
    }
    reach_ = {1, 1};
    scheme_a_ = state_.scheme_a;
    if (h == 0) {
        solver_->use_no_gains();
        q_ = state_.q;
        v_ = state_.v;
        find_lent_wrenches(state_);
        return;
    }
    solver_->use_no_gains();
    solver_->use_gains_for_step(std::max(h, longest_step_));
    update_formulas(scheme_, state_, h, formulas_);
    q_ = formulas_.q_hat + (formulas_.beta * h * h) * scheme_a_;
    v_ = formulas_.v_hat + (formulas_.gamma * h) * scheme_a_;
}

template <int D>
StepReport SystemComponent<D>::answer(Wrenches wrenches, Motion motion) {
    std::copy(wrenches.begin(), wrenches.end(), wrench_.begin());
    StepReport report;
    if (asks_accelerations()) {
        set_wrench(end_.memory, wrench_);
        report.iterations = 1;
        report.ok = solve_accelerations(state_.t + h_, q_, v_, end_.memory, a_, lambda_);
        if (!report.ok) report.reason = solver_->failure();
        show(q_, v_, a_, motion);
        return report;
    }
    report = answer_step();
    has_base_ = false;
    if (report.ok) show(end_.q, end_.v, end_.a, motion);
    return report;
}

// Of the solver of accelerations, which may be that of the weighted system: its memory has these wrenches at the end.
template <int D>
void SystemComponent<D>::find_lent_wrenches(const State& at) {
    if (!is_braced()) return;
    const Mechanism<D>& own = system_.mechanism();
    const Mechanism<D>& weighted = compiled_->weighted_system->mechanism();
    const Vec<D> gravity = own.gravity_at(at.t);
    system_.export_states(at.q, at.v, states_);
    system_.export_twist_rates(at.q, at.v, at.a, rates_);
    lent_.clear();
    for (std::size_t b = 0; b < own.bodies.size(); ++b) {
        TwistVec<D> taken = inertia_wrench(weighted.bodies[b], states_[b], rates_[b]) -
                            inertia_wrench(own.bodies[b], states_[b], rates_[b]);
        taken.template head<D>() -= (weighted.bodies[b].mass - own.bodies[b].mass) * gravity;
        lent_.insert(lent_.end(), taken.data(), taken.data() + twist_size<D>);
    }
}

template <int D>
bool SystemComponent<D>::solve_accelerations(double t, const VecX& q, const VecX& v, const std::vector<double>& memory,
                                             VecX& a, VecX& lambda) {
    if (!is_braced()) return solver_->solve(t, q, v, memory, a, lambda);
    solver_memory_ = memory;
    solver_memory_.insert(solver_memory_.end(), lent_.begin(), lent_.end());
    return solver_->solve(t, q, v, solver_memory_, a, lambda);
}

template <int D>
StepReport SystemComponent<D>::start_step() {
    end_ = state_;
    if (course_ != ForceCourse::hold && !has_jump_) return {};
    // The force jumps at the start of the step, and with it the accelerations.
    set_wrench(end_.memory, course_ == ForceCourse::hold ? wrench_ : start_wrench_);
    find_lent_wrenches(end_);
    const std::size_t own = end_.memory.size();
    end_.memory.insert(end_.memory.end(), lent_.begin(), lent_.end());
    const StepReport report = start_state(*solver_, end_);
    end_.memory.resize(own);
    return report;
}

template <int D>
StepReport SystemComponent<D>::answer_step() {
    StepReport total = start_step();
    total.substeps = substeps_;
    if (!total.ok) return total;
    for (int i = 0; i < substeps_; ++i) {
        const StepReport part = take_substep(i);
        total.iterations += part.iterations;
        if (part.ok) continue;
        total.ok = false;
        total.reason = part.reason;
        return total;
    }
    return total;
}

template <int D>
StepReport SystemComponent<D>::take_substep(int index) {
    const double h = h_ / substeps_;
    if (coupled_ != nullptr) {
        set_wrench_of_course(end_.memory, static_cast<double>(index + 1) / substeps_);
        update_formulas(scheme_, end_, h, formulas_);
        return coupled_->step(end_, formulas_);
    }
    // The memory stays as it is over such a step.
    StepReport report;
    for (const HeldPart& part : held_parts()) {
        set_held_wrench(end_.memory, index, part);
        const StepReport taken = stepper_->step(end_, part.length * h);
        report.iterations += taken.iterations;
        report.ok = taken.ok;
        report.reason = taken.reason;
        if (!report.ok) return report;
    }
    set_wrench_of_course(end_.memory, static_cast<double>(index + 1) / substeps_);
    report.ok = solve_end_accelerations();
    if (!report.ok) report.reason = solver_->failure();
    return report;
}

// ---------------------------------------------------------------- led through a step

template <int D>
void SystemComponent<D>::open(Motion motion) {
    opened_ = start_step();
    update_formulas(scheme_, end_, h_, formulas_);
    coupled_->open(end_, formulas_);
    show(coupled_->positions(), coupled_->velocities(), end_.a, motion);
}

template <int D>
ApproachReport SystemComponent<D>::approach(Wrenches wrenches, bool refresh, std::span<TwistVec<D>> rates) {
    std::copy(wrenches.begin(), wrenches.end(), wrench_.begin());
    set_wrench(end_.memory, wrench_);
    has_base_ = false;
    if (!opened_.ok || !coupled_->approach(end_, formulas_, refresh)) return {false, false};
    response_ = coupled_->change() / (formulas_.beta * h_ * h_);
    show_rates(coupled_->positions(), response_, rates);
    return {true, coupled_->is_balanced(formulas_)};
}

template <int D>
NewtonProgress SystemComponent<D>::advance(Wrenches further, Motion motion) {
    find_response(further);
    const NewtonProgress progress = coupled_->advance(formulas_, response_);
    has_base_ = false;
    show(coupled_->positions(), coupled_->velocities(), end_.a, motion);
    return progress;
}

template <int D>
StepReport SystemComponent<D>::close(Motion motion) {
    const StepReport report = coupled_->close(end_, formulas_);
    has_base_ = false;
    is_closed_ = true;
    show(end_.q, end_.v, end_.a, motion);
    return report;
}

template <int D>
bool SystemComponent<D>::solve_end_accelerations() {
    solver_->use_no_gains();
    if (!solver_->solve(end_.t, end_.q, end_.v, end_.memory, end_.a, end_.lambda)) return false;
    end_.scheme_a = end_.a;
    return true;
}

template <int D>
void SystemComponent<D>::update_scheme_acceleration() {
    scheme_a_ = ((1 - scheme_.delta_f) * a_ + scheme_.delta_f * state_.a - scheme_.delta_m * state_.scheme_a) /
                (1 - scheme_.delta_m);
}

template <int D>
void SystemComponent<D>::correct() {
    if (!asks_accelerations() || h_ == 0) return;
    update_scheme_acceleration();
    q_ = formulas_.q_hat + (formulas_.beta * h_ * h_) * scheme_a_;
    v_ = formulas_.v_hat + (formulas_.gamma * h_) * scheme_a_;
    has_base_ = false;
}

template <int D>
void SystemComponent<D>::accept() {
    if (h_ == 0) {
        state_.v = v_;
        state_.a = state_.scheme_a = a_;
        state_.lambda = lambda_;
        state_.previous_a.resize(0);
        state_.previous_step = 0;
        longest_step_ = 0;
        set_wrench(state_.memory, wrench_);
        return;
    }
    longest_step_ = std::max(longest_step_, h_);
    if (asks_accelerations()) {
        correct();
        end_.complete_step(state_.t + h_, h_, q_, v_, a_, scheme_a_, lambda_);
        system_.update_memory(solver_->evaluation(), end_.q, end_.memory);
    }
    std::swap(state_, end_);
}

// ---------------------------------------------------------------- what the ports show and how they yield

template <int D>
void SystemComponent<D>::show(const VecX& q, const VecX& v, const VecX& a, Motion motion) {
    system_.export_states_of(compiled_->port_body, q, v, states_);
    system_.export_twist_rates_of(compiled_->port_body, q, v, a, rates_);
    for (std::size_t p = 0; p < motion.size(); ++p)
        motion[p] = {states_[compiled_->port_body[p]], rates_[compiled_->port_body[p]]};
}

template <int D>
void SystemComponent<D>::show_rates(const VecX& q, const VecX& a, std::span<TwistVec<D>> rates) {
    system_.export_twist_rates_of(compiled_->port_body, q, zero_, a, rates_);
    for (std::size_t p = 0; p < rates.size(); ++p) rates[p] = rates_[compiled_->port_body[p]];
}

template <int D>
const VecX& SystemComponent<D>::end_positions() const {
    if (asks_accelerations()) return q_;
    return is_led_ && !is_closed_ ? coupled_->positions() : end_.q;
}

template <int D>
void SystemComponent<D>::find_response(Wrenches wrenches) {
    if (coupled_ != nullptr && !asks_accelerations()) {
        // Wrenches enter the forces linearly: the difference to none is what they contribute.
        Evaluation& e = coupled_->evaluation();
        if (!has_base_) {
            probe_memory_ = end_.memory;
            clear_wrench(probe_memory_);
            e.memory = probe_memory_;
            system_.update_forces(e);
            base_ = e.force;
            has_base_ = true;
        }
        set_wrench(probe_memory_, wrenches);
        system_.update_forces(e);
        response_ = e.force - base_;
        coupled_->respond(response_);
        return;
    }
    const bool is_instant = asks_accelerations();
    const VecX& q = is_instant ? q_ : end_.q;
    const VecX& v = is_instant ? v_ : end_.v;
    const double t = is_instant ? state_.t + h_ : end_.t;
    if (!is_instant) solver_->use_no_gains();
    if (!has_base_) {
        probe_memory_ = end_.memory;
        clear_wrench(probe_memory_);
        solve_accelerations(t, q, v, probe_memory_, base_, response_lambda_);
        has_base_ = true;
    }
    set_wrench(probe_memory_, wrenches);
    solve_accelerations(t, q, v, probe_memory_, response_, response_lambda_);
    response_ -= base_;
}

template <int D>
void SystemComponent<D>::respond(Wrenches wrenches, std::span<TwistVec<D>> rates) {
    find_response(wrenches);
    show_rates(end_positions(), response_, rates);
}

template <int D>
void SystemComponent<D>::push_velocities(Wrenches wrenches, Motion motion) {
    find_response(wrenches);
    has_base_ = false;
    if (h_ == 0) {
        v_ += response_;
        show(q_, v_, a_, motion);
        return;
    }
    if (coupled_ != nullptr) {
        coupled_->change_velocities(end_, response_);
    } else {
        end_.v += response_;
        solve_end_accelerations();
    }
    show(end_.q, end_.v, end_.a, motion);
}

template <int D>
void SystemComponent<D>::push_accelerations(Wrenches wrenches, Motion motion) {
    find_response(wrenches);
    // The accelerations now are those of these wrenches too.
    for (std::size_t i = 0; i < wrenches.size(); ++i)
        for (int k = 0; k < twist_size<D>; ++k) end_.memory[compiled_->port_memory[i] + k] += wrenches[i][k];
    if (coupled_ != nullptr) {
        coupled_->change_accelerations(end_, response_);
    } else {
        end_.a += response_;
        end_.scheme_a += response_;
    }
    show(end_.q, end_.v, end_.a, motion);
}

// ---------------------------------------------------------------- as numbers

namespace {

class Packer {
public:
    void add(double value) { numbers.push_back(value); }
    template <class Range>
    void add_all(const Range& range) {
        add(static_cast<double>(range.size()));
        numbers.insert(numbers.end(), range.data(), range.data() + range.size());
    }
    std::vector<double> numbers;
};

class Unpacker {
public:
    explicit Unpacker(std::span<const double> numbers) : rest_(numbers) {}
    double take() {
        const double value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }
    template <class Range>
    void take_all(Range& range) {
        const auto count = static_cast<std::size_t>(take());
        range.resize(static_cast<decltype(range.size())>(count));
        std::copy_n(rest_.begin(), count, range.data());
        rest_ = rest_.subspan(count);
    }

private:
    std::span<const double> rest_;
};

}  // namespace

template <int D>
std::vector<double> SystemComponent<D>::save() const {
    Packer packer;
    packer.add(state_.t);
    packer.add(state_.previous_step);
    packer.add(longest_step_);
    for (const VecX* x : {&state_.q, &state_.v, &state_.a, &state_.lambda, &state_.scheme_a, &state_.previous_a})
        packer.add_all(*x);
    packer.add_all(state_.memory);
    return packer.numbers;
}

template <int D>
void SystemComponent<D>::restore(std::span<const double> saved) {
    Unpacker unpacker(saved);
    state_.t = unpacker.take();
    state_.previous_step = unpacker.take();
    longest_step_ = unpacker.take();
    for (VecX* x : {&state_.q, &state_.v, &state_.a, &state_.lambda, &state_.scheme_a, &state_.previous_a})
        unpacker.take_all(*x);
    unpacker.take_all(state_.memory);
}

#define LIMBER_INSTANTIATE(D)                                                                      \
    template int count_massless_freedoms(const Mechanism<D>&);                                     \
    template void brace_component(CompiledComponent<D>&);                                          \
    template class SystemComponent<D>;                                                             \
    template std::shared_ptr<CompiledComponent<D>> compile_component(                              \
        const Mechanism<D>&, const PartChoice&, const std::vector<int>&, const ComponentSettings&, \
        const FormulationOptions&, const IntegratorOptions&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
