#include "limber/modular/system_component.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/dynamics/system/state_fields.hpp"
#include "limber/methods/integrators.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

// Of a coupled component. What its penalty lets its joints yield adds up along a chain of bodies and is felt from
// outside: every iteration leaves that much of the error between components. A penalty of 1e6, good for a system by
// itself, leaves half of it in a chain of twenty components of fifty bodies, this one a hundredth.
constexpr double coupled_penalty = 1e8;

}  // namespace

template <int D>
SystemComponent<D>::SystemComponent(std::shared_ptr<const CompiledComponent<D>> compiled)
    : compiled_(std::move(compiled)), system_(*compiled_->system), course_(compiled_->ports.size()) {
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
    solver_ =
        make_acceleration_solver(s.formulation, borrows_inertia() ? compiled_->weighted_system : compiled_->system,
                                 compiled_->formulation_options);
    if (formulation.is_step_solver() && is_structural_) {
        FormulationOptions options = compiled_->formulation_options;
        options.penalty = options.penalty_or(coupled_penalty);
        step_solver_ = make_step_solver(s.formulation, compiled_->system, options);
        coupled_ = step_solver_->as_coupled();
        if (coupled_ != nullptr && borrows_inertia()) coupled_->borrow_inertia(borrowed_inertia);
    }
    if (coupled_ == nullptr) step_solver_.reset();
    if (coupled_ == nullptr) {
        IntegratorOptions options = compiled_->integrator_options;
        options.locate_kinks = false;  // gluing asks how a step answers forces: all parts of it would have to be asked
        stepper_ =
            make_stepper(s.formulation, s.integrator, compiled_->system, compiled_->formulation_options, options);
    }
    const int n = system_.size();
    q_ = v_ = a_ = scheme_a_ = response_ = base_ = zero_ = VecX::Zero(n);
    lambda_ = response_lambda_ = VecX::Zero(system_.rows());
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

// ---------------------------------------------------------------- wrenches

template <int D>
Reach SystemComponent<D>::compute_reach() const {
    if (coupled_ == nullptr) return course_.reach_of_held_parts();
    const double beta = scheme_.looks_back ? 1.0 / 6.0 : scheme_.beta;
    const double gamma = scheme_.looks_back ? 0.5 : scheme_.gamma;
    return course_.reach(beta, gamma);
}

template <int D>
void SystemComponent<D>::set_wrench(std::vector<double>& memory, std::span<const TwistVec<D>> wrenches) const {
    for (std::size_t p = 0; p < wrenches.size(); ++p) compiled_->port_memory[p].in(memory) = wrenches[p];
}

template <int D>
void SystemComponent<D>::clear_wrench(std::vector<double>& memory) const {
    for (const auto& port : compiled_->port_memory) port.in(memory).setZero();
}

// ---------------------------------------------------------------- a step

template <int D>
void SystemComponent<D>::begin(double h, Coupling coupling, ForceCourse course, Wrenches start, Wrenches bend) {
    h_ = h;
    coupling_ = coupling;
    const double own = compiled_->settings.step;
    const bool divides = !finds_accelerations() && own > 0;
    course_.begin(course, divides ? std::max(1, static_cast<int>(std::ceil(h / own - 1e-6))) : 1, start, bend);
    // Whether the forces are other ones now than those the accelerations of the state belong to.
    has_jump_ = false;
    for (std::size_t p = 0; p < start.size(); ++p)
        has_jump_ = has_jump_ || start[p] != compiled_->port_memory[p].in(state_.memory);
    has_base_ = is_coupled_ = is_closed_ = false;
    end_ = state_;
    if (!finds_accelerations()) {
        // A step that was not accepted must not show in the next.
        if (coupled_ != nullptr) coupled_->renew();
        // A force that is held acts from the start of the step, where Newton's method of its end has no part.
        is_coupled_ = coupled_ != nullptr && course_.steps() == 1 && course != ForceCourse::hold;
        reach_ = compute_reach();
        return;
    }
    reach_ = {1, 1};
    scheme_a_ = state_.scheme_a;
    if (h == 0) {
        solver_->use_no_gains();
        q_ = state_.q;
        v_ = state_.v;
        find_borrowed_wrenches(state_);
        return;
    }
    solver_->use_no_gains();
    solver_->use_gains_for_step(std::max({h, longest_step_, whole_step_}));
    update_formulas(scheme_, state_, h, formulas_);
    q_ = formulas_.q_hat + (formulas_.beta * h * h) * scheme_a_;
    v_ = formulas_.v_hat + (formulas_.gamma * h) * scheme_a_;
}

template <int D>
StepReport SystemComponent<D>::answer(Wrenches wrenches, Motion motion) {
    course_.set_end(wrenches);
    StepReport report;
    if (finds_accelerations()) {
        set_wrench(end_.memory, course_.end());
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
void SystemComponent<D>::find_borrowed_wrenches(const State& at) {
    if (!borrows_inertia()) return;
    const Mechanism<D>& own = system_.mechanism();
    const Mechanism<D>& weighted = compiled_->weighted_system->mechanism();
    const Vec<D> gravity = own.gravity_at(at.t);
    system_.export_states(at.q, at.v, states_);
    system_.export_twist_rates(at.q, at.v, at.a, rates_);
    borrowed_.clear();
    for (std::size_t b = 0; b < own.bodies.size(); ++b) {
        TwistVec<D> taken = inertia_wrench(weighted.bodies[b], states_[b], rates_[b]) -
                            inertia_wrench(own.bodies[b], states_[b], rates_[b]);
        taken.template head<D>() -= (weighted.bodies[b].mass - own.bodies[b].mass) * gravity;
        borrowed_.push_back(taken);
    }
}

template <int D>
void SystemComponent<D>::add_borrowed_wrenches(std::vector<double>& memory) const {
    if (!borrows_inertia()) return;
    memory.resize(compiled_->weighted_system->initial_memory().size());
    for (std::size_t b = 0; b < borrowed_.size(); ++b) compiled_->weighted_memory[b].in(memory) = borrowed_[b];
}

template <int D>
bool SystemComponent<D>::solve_accelerations(double t, const VecX& q, const VecX& v, const std::vector<double>& memory,
                                             VecX& a, VecX& lambda) {
    if (!borrows_inertia()) return solver_->solve(t, q, v, memory, a, lambda);
    solver_memory_ = memory;
    add_borrowed_wrenches(solver_memory_);
    return solver_->solve(t, q, v, solver_memory_, a, lambda);
}

template <int D>
StepReport SystemComponent<D>::start_step() {
    end_ = state_;
    if (course_.kind() != ForceCourse::hold && !has_jump_) return {};
    // The force jumps at the start of the step, and with it the accelerations.
    set_wrench(end_.memory, course_.kind() == ForceCourse::hold ? course_.end() : course_.start());
    find_borrowed_wrenches(end_);
    const std::size_t own = end_.memory.size();
    add_borrowed_wrenches(end_.memory);
    const StepReport report = start_state(*solver_, end_);
    end_.memory.resize(own);
    return report;
}

template <int D>
StepReport SystemComponent<D>::answer_step() {
    StepReport total = start_step();
    total.substeps = course_.steps();
    if (!total.ok) return total;
    for (int i = 0; i < course_.steps(); ++i) {
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
    const double h = h_ / course_.steps();
    if (coupled_ != nullptr) {
        set_wrench(end_.memory, course_.after_step(index));
        update_formulas(scheme_, end_, h, formulas_);
        return coupled_->step(end_, formulas_);
    }
    // The memory stays as it is over such a step.
    StepReport report;
    for (const HeldPart& part : course_.held_parts()) {
        set_wrench(end_.memory, course_.held(index, part));
        const StepReport taken = stepper_->step(end_, part.length * h);
        report.iterations += taken.iterations;
        report.ok = taken.ok;
        report.reason = taken.reason;
        if (!report.ok) return report;
    }
    set_wrench(end_.memory, course_.after_step(index));
    report.ok = solve_end_accelerations();
    if (!report.ok) report.reason = solver_->failure();
    return report;
}

// ---------------------------------------------------------------- coupled to the others

template <int D>
void SystemComponent<D>::open(Motion motion) {
    opened_ = start_step();
    update_formulas(scheme_, end_, h_, formulas_);
    coupled_->open(end_, formulas_);
    show(coupled_->positions(), coupled_->velocities(), end_.a, motion);
}

template <int D>
ApproachReport SystemComponent<D>::approach(Wrenches wrenches, bool refresh, std::span<TwistVec<D>> rates) {
    course_.set_end(wrenches);
    set_wrench(end_.memory, course_.end());
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
    if (!finds_accelerations() || h_ == 0) return;
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
        set_wrench(state_.memory, course_.end());
        return;
    }
    longest_step_ = std::max(longest_step_, h_);
    if (finds_accelerations()) {
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
    if (finds_accelerations()) return q_;
    return is_coupled_ && !is_closed_ ? coupled_->positions() : end_.q;
}

template <int D>
void SystemComponent<D>::find_response(Wrenches wrenches) {
    if (coupled_ != nullptr && !finds_accelerations()) {
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
    const bool is_instant = finds_accelerations();
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

// At the motion and the forces of the last answer.
template <int D>
std::optional<double> SystemComponent<D>::weigh(Wrenches wrenches) {
    Evaluation& e = solver_->evaluation();
    if (borrows_inertia() || e.mass.empty()) return {};
    probe_memory_ = end_.memory;
    clear_wrench(probe_memory_);
    has_base_ = false;
    e.memory = probe_memory_;
    system_.update_forces(e);
    response_ = e.force;
    set_wrench(probe_memory_, wrenches);
    system_.update_forces(e);
    response_ = e.force - response_;
    weighed_.resize(response_.size());
    multiply(system_.pattern(), e.mass, response_, weighed_);
    e.memory = end_.memory;
    return response_.dot(weighed_);
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
    for (std::size_t i = 0; i < wrenches.size(); ++i) compiled_->port_memory[i].in(end_.memory) += wrenches[i];
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
    void add(const Range& range) {
        add(static_cast<double>(range.size()));
        numbers.insert(numbers.end(), range.data(), range.data() + range.size());
    }
    void add(const std::vector<ContactPoint>&) {}  // components have none
    std::vector<double> numbers;
};

class Unpacker {
public:
    explicit Unpacker(std::span<const double> numbers) : rest_(numbers) {}
    void take(double& value) {
        value = rest_.front();
        rest_ = rest_.subspan(1);
    }
    template <class Range>
    void take(Range& range) {
        double count = 0;
        take(count);
        range.resize(static_cast<decltype(range.size())>(count));
        std::copy_n(rest_.begin(), range.size(), range.data());
        rest_ = rest_.subspan(range.size());
    }
    void take(std::vector<ContactPoint>&) {}

private:
    std::span<const double> rest_;
};

std::vector<double> pack(double longest_step, const State& state) {
    Packer packer;
    packer.add(longest_step);
    visit_fields(state, [&](const char*, const auto& field) { packer.add(field); });
    return packer.numbers;
}

void unpack(std::span<const double> saved, double& longest_step, State& state) {
    Unpacker unpacker(saved);
    unpacker.take(longest_step);
    visit_fields(state, [&](const char*, auto& field) { unpacker.take(field); });
}

}  // namespace

template <int D>
std::vector<double> SystemComponent<D>::save() const {
    return pack(longest_step_, state_);
}

template <int D>
void SystemComponent<D>::restore(std::span<const double> saved) {
    unpack(saved, longest_step_, state_);
}

template class SystemComponent<2>;
template class SystemComponent<3>;

}  // namespace limber
