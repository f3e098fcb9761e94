#include "limber/modular/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace limber {
namespace {

// Times that accelerations are found again where inertia was borrowed; each time leaves less than a hundredth of the
// error.
constexpr int max_returns = 6;
// Swings of forces from step to step that may be noise, over the largest force and over the tolerance.
constexpr double noise = 1e-3;
constexpr double noise_of_tolerance = 10;

}  // namespace

template <int D>
ModularAssembly<D>::ModularAssembly(ComponentList<D> components, std::unique_ptr<InterfaceJoints<D>> joints,
                                    const ModularOptions& options, const FormulationOptions& gains,
                                    int corrector_passes)
    : team_(std::move(components), options.threads),
      matrix_(team_),
      joints_(std::move(joints)),
      options_(options),
      gain_options_(gains),
      passes_(corrector_passes),
      history_(team_.port_count()),
      pusher_(make_block_gradient_gluing()),
      swings_(team_.port_count(), joints_->mechanism().length_scale) {
    if (options_.gluing == Gluing::penalty) options_.coupling = Coupling::acceleration;
    for (int k = 0; k < team_.count(); ++k)
        improves_when_repeated_ = improves_when_repeated_ || team_[k].improves_when_repeated();
    const auto ports = static_cast<std::size_t>(team_.port_count());
    motion_.resize(ports);
    wrenches_.assign(ports, TwistVec<D>::Zero());
    forces_ = new_forces_ = rates_ = probe_ = settled_ = bend_ = wrenches_;
    known_ = asked_forces_ = force_changes_ = spring_wrenches_ = wrenches_;
    const auto in_all = static_cast<std::size_t>(team_.count());
    answers_.resize(in_all);
    kinds_.resize(in_all);
    reaches_.resize(in_all);
    balanced_.assign(in_all, 0);
    progress_.resize(in_all);
    connect();
}

template <int D>
void ModularAssembly<D>::spread(std::vector<int> owner) {
    team_.spread(options_.exchange, std::move(owner));
    connect();
}

// Everything that depends on the joints.
template <int D>
void ModularAssembly<D>::connect() {
    const int rows = joints_->row_count();
    multipliers_ = residual_ = correction_ = rows_ = impulses_ = late_correction_ = VecX::Zero(rows);
    history_.set_multipliers(multipliers_);
    const Mechanism<D>& m = joints_->mechanism();
    std::vector<Bond> bonds;
    bonds.reserve(m.elements.size() + m.forces.elements.size());
    for (int e = 0; e < joints_->element_count(); ++e)
        bonds.push_back({bodies_of_element(m, e), m.elements[e].row_count});
    for (std::size_t f = 0; f < m.forces.elements.size(); ++f)
        bonds.push_back({bodies_of_force(m, static_cast<int>(f)), 0});
    team_.exchange().connect(bonds);
    matrix_.connect(*joints_, uses_springs());
    method_ = make_gluing_method(options_, find_rho());
    refused_step_ = 0;
}

template <int D>
VecX ModularAssembly<D>::find_rho() const {
    const Mechanism<D>& m = joints_->mechanism();
    VecX rho = VecX::Constant(joints_->row_count(), options_.rho);
    for (const auto& [joint, value] : options_.joint_rho) {
        const auto it = m.element_index.find(joint);
        if (it == m.element_index.end()) continue;
        const ConstraintElement<D>& element = m.elements[it->second];
        rho.segment(element.first_row, element.row_count).setConstant(value);
    }
    return rho;
}

template <int D>
std::unique_ptr<InterfaceJoints<D>> ModularAssembly<D>::exchange_joints(std::unique_ptr<InterfaceJoints<D>> joints) {
    const Mechanism<D>& old = joints_->mechanism();
    const VecX before = history_.multipliers();
    auto old_joints = std::move(joints_);
    joints_ = std::move(joints);
    connect();
    for (const auto& element : joints_->mechanism().elements) {
        const auto it = old.element_index.find(element.key());
        if (it == old.element_index.end() || old.elements[it->second].row_count != element.row_count) continue;
        multipliers_.segment(element.first_row, element.row_count) =
            before.segment(old.elements[it->second].first_row, element.row_count);
    }
    history_.set_multipliers(multipliers_);
    return old_joints;
}

// ---------------------------------------------------------------- a step

template <int D>
StepReport ModularAssembly<D>::make_report(bool ok) const {
    StepReport report;
    report.ok = ok;
    report.iterations = report_.questions();
    report.reason = failure_;
    return report;
}

template <int D>
StepReport ModularAssembly<D>::start(double t) {
    t_ = t;
    history_.restart();
    swings_.restart();
    begin(0, Coupling::acceleration);
    forces_.assign(forces_.size(), TwistVec<D>::Zero());
    matrix_.make_old();
    // Rows have wrenches only once the components have shown their motion.
    multipliers_.setZero();
    return make_report(find_accelerations());
}

template <int D>
bool ModularAssembly<D>::find_accelerations() {
    if (!glue()) return false;
    accept();
    for (int pass = 0; improves_when_repeated_ && pass < max_returns; ++pass) {
        begin(0, Coupling::acceleration);
        if (!glue()) return false;
        accept();
        const double change = largest(history_.multipliers() - history_.multipliers_before());
        if (change <= options_.tolerance * largest(multipliers_)) break;
    }
    matrix_.make_old();
    return true;
}

template <int D>
StepReport ModularAssembly<D>::restart_velocities(double t) {
    t_ = t;
    history_.restart();
    swings_.restart();
    begin(0, Coupling::acceleration);
    multipliers_.setZero();
    impulses_.setZero();
    forces_.assign(forces_.size(), TwistVec<D>::Zero());
    if (!ask() || !find_residual()) return make_report(false);
    measure();
    return make_report(push(true) && find_accelerations());
}

// Ports, multipliers and forces at the end of the step, as the past lets expect them.
template <int D>
void ModularAssembly<D>::predict() {
    for (PortMotion<D>& port : motion_) {
        TwistVec<D> twist;
        twist << port.state.velocity, port.state.angular_velocity;
        twist += 0.5 * h_ * port.rate;
        move(port.state, TwistVec<D>(h_ * twist));
    }
    joints_->update(motion_, t_ + h_);
    history_.predict_forces(h_, options_.course, forces_);
    if (!method_->starts_warm()) {
        multipliers_.setZero();
        return;
    }
    // Those of accelerations run smoothly; those found from positions swing from step to step.
    history_.predict_multipliers(h_, has_accelerations(), multipliers_);
    if (matrix_.admittance().is_ready() && matrix_.admittance().is_singular()) matrix_.project_joints(multipliers_);
}

// Shorter steps that are still unequal are not tried: each trial would widen the swings.
template <int D>
bool ModularAssembly<D>::is_step_refused() const {
    if (refused_step_ == 0 || are_springs_as_undivided()) return false;
    return iterates_forces() || h_ > (1 - 1e-6) * refused_step_;
}

template <int D>
bool ModularAssembly<D>::are_springs_resolved() {
    if (!joints_->has_forces() || are_springs_as_undivided()) return true;
    double force = 0;
    for (const int p : team_.exchange().own_ports()) force = std::max(force, largest(new_forces_[p]));
    std::array<double, 2> sizes{std::isfinite(force) ? force : 0, matrix_.force_sensitivity()};
    team_.exchange().find_largest(sizes);
    const double negligible =
        std::max(std::max(noise, noise_of_tolerance * options_.tolerance) * sizes[0], rounding * sizes[1]);
    double worst = -1;
    for (const int p : team_.exchange().own_ports())
        if (swings_.does_swing_out(p, new_forces_[p], h_, negligible)) worst = p;
    worst = find_largest_of_all(worst);
    if (worst < 0) {
        swings_.accept(team_.exchange().own_ports(), new_forces_, h_);
        return true;
    }
    const Mechanism<D>& m = joints_->mechanism();
    std::string names;
    for (std::size_t f = 0; f < m.forces.elements.size(); ++f) {
        const std::vector<int> ports = bodies_of_force(m, static_cast<int>(f));
        if (std::find(ports.begin(), ports.end(), static_cast<int>(worst)) != ports.end())
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", m.forces.elements[f].name);
    }
    refused_step_ = h_;
    failure_ = refusal_ = fmt::format(
        "forces between components swing ever wider, most at body '{}': steps of {:.4g} s are too long for {}. Make "
        "the "
        "step of the whole smaller, or let components take no steps of their own and iterate the forces",
        m.bodies[static_cast<std::size_t>(worst)].name, h_, names);
    return false;
}

template <int D>
StepReport ModularAssembly<D>::step(double h) {
    struct Return {
        ModularAssembly& assembly;
        bool is_needed = true;
        ~Return() {
            if (is_needed) assembly.take_back();
        }
    };
    motion_before_ = motion_;
    matrix_.save(matrix_before_);
    Return on_failure{*this};
    begin(h, options_.coupling);
    const bool ok = attempt_step();
    if (ok) accept();
    on_failure.is_needed = !ok;
    return make_report(ok);
}

template <int D>
void ModularAssembly<D>::take_back() {
    motion_ = motion_before_;
    joints_->update(motion_, t_);
    matrix_.restore(matrix_before_);
}

template <int D>
bool ModularAssembly<D>::attempt_step() {
    if (is_step_refused()) {
        failure_ = refusal_;
        return false;
    }
    predict();
    if (coupling_ == Coupling::acceleration) {
        for (int pass = 0; pass < passes_; ++pass) {
            if (pass > 0) team_.for_all([&](int k) { team_[k].correct(); });
            if (!glue()) return false;
        }
    } else {
        if (!glue()) return false;
        settled_ = wrenches_;
        if (joints_->row_count() > 0 && !(push(true) && push(false))) return false;
        if (joints_->has_forces()) joints_->find_forces(new_forces_);
    }
    if (!are_springs_resolved()) return false;
    matrix_.judge(report_.answers + report_.products);
    return true;
}

template <int D>
void ModularAssembly<D>::accept() {
    team_.for_all([&](int k) { team_[k].accept(); });
    joints_->accept();
    // The wrenches that the accelerations of the end belong to; those found from positions swing about them from step
    // to step.
    if (has_accelerations()) settled_ = wrenches_;
    if (!options_.use_iteration && joints_->has_forces())
        for (std::size_t p = 0; p < settled_.size(); ++p) settled_[p] += new_forces_[p] - forces_[p];
    history_.accept(h_, multipliers_, late_correction_, joints_->has_forces() ? new_forces_ : forces_, settled_);
    t_ += h_;
}

template <int D>
std::span<const PortMotion<D>> ModularAssembly<D>::gather_motion() {
    team_.exchange().share_ports(motion_);
    return motion_;
}

template <int D>
void ModularAssembly<D>::save(AssemblySnapshot<D>& to) const {
    to.t = t_;
    to.history = history_;
    matrix_.save(to.matrix);
    to.motion = motion_;
    to.joint_memory = joints_->memory();
    to.swings = swings_;
    to.refused_step = refused_step_;
    to.refusal = refusal_;
    to.components.resize(static_cast<std::size_t>(team_.count()));
    for (const int k : team_.own()) to.components[k] = team_[k].save();
}

template <int D>
void ModularAssembly<D>::restore(const AssemblySnapshot<D>& from) {
    t_ = from.t;
    history_ = from.history;
    motion_ = from.motion;
    joints_->set_memory(from.joint_memory);
    joints_->update(motion_, t_);
    matrix_.restore(from.matrix);
    swings_ = from.swings;
    refused_step_ = from.refused_step;
    refusal_ = from.refusal;
    for (const int k : team_.own()) team_[k].restore(from.components[k]);
}

template <int D>
VecX ModularAssembly<D>::compute_multipliers() {
    VecX smallest = history_.multipliers();
    if (matrix_.admittance().is_ready() && matrix_.admittance().is_singular()) matrix_.project_joints(smallest);
    return smallest;
}

template class ModularAssembly<2>;
template class ModularAssembly<3>;

}  // namespace limber
