#include "limber/modular/assembly.hpp"

#include <algorithm>
#include <numeric>

namespace limber {
namespace {

// Times that accelerations are found again where inertia was borrowed; each time leaves less than a hundredth of the
// error.
constexpr int max_returns = 6;

// Springs as stiff as the step bears are found from accelerations.
ModularOptions with_fitting_coupling(ModularOptions options) {
    if (options.gluing == Gluing::penalty) options.coupling = Coupling::acceleration;
    return options;
}

}  // namespace

template <int D>
ModularAssembly<D>::ModularAssembly(ComponentList<D> components, std::unique_ptr<InterfaceJoints<D>> joints,
                                    const ModularOptions& options, const FormulationOptions& gains,
                                    int corrector_passes)
    : options_(with_fitting_coupling(options)),
      passes_(corrector_passes),
      team_(std::move(components), options.threads),
      evaluation_(team_),
      matrix_(team_),
      joints_(std::move(joints)),
      gluing_(team_, evaluation_, matrix_, options_, gains),
      projection_(team_, matrix_),
      history_(team_.port_count()),
      swings_(team_.port_count(), joints_->mechanism().length_scale),
      step_(team_.port_count()),
      bend_(step_.forces) {
    for (int k = 0; k < team_.count(); ++k)
        improves_when_repeated_ = improves_when_repeated_ || team_[k].improves_when_repeated();
    connect();
}

template <int D>
void ModularAssembly<D>::spread(std::vector<int> owner) {
    team_.spread(options_.exchange, std::move(owner));
    connect();
}

template <int D>
void ModularAssembly<D>::connect() {
    step_.multipliers = step_.late_correction = VecX::Zero(joints_->row_count());
    history_.set_multipliers(step_.multipliers);
    const Mechanism<D>& m = joints_->mechanism();
    std::vector<Bond> bonds;
    bonds.reserve(m.elements.size() + m.forces.elements.size());
    for (int e = 0; e < joints_->element_count(); ++e)
        bonds.push_back({bodies_of_element(m, e), m.elements[e].row_count});
    for (std::size_t f = 0; f < m.forces.elements.size(); ++f)
        bonds.push_back({bodies_of_force(m, static_cast<int>(f)), 0});
    team_.exchange().connect(bonds);
    matrix_.connect(*joints_, uses_springs());
    gluing_.connect(*joints_);
    projection_.connect(*joints_, gluing_.method().uses_whole_matrix());
    swings_.clear_refusal();
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
        step_.multipliers.segment(element.first_row, element.row_count) =
            before.segment(old.elements[it->second].first_row, element.row_count);
    }
    history_.set_multipliers(step_.multipliers);
    return old_joints;
}

// ---------------------------------------------------------------- from a motion without a past

template <int D>
void ModularAssembly<D>::restart(double t) {
    step_.t = t;
    history_.restart();
    swings_.restart();
    begin(0, Coupling::acceleration);
    step_.forces.assign(step_.forces.size(), TwistVec<D>::Zero());
    // Rows have wrenches only once the components have shown their motion.
    step_.multipliers.setZero();
}

template <int D>
StepReport ModularAssembly<D>::start(double t) {
    restart(t);
    matrix_.make_old();
    return make_report(find_accelerations());
}

template <int D>
StepReport ModularAssembly<D>::restart_velocities(double t) {
    restart(t);
    projection_.clear_impulses();
    if (!gluing_.evaluate(step_)) return make_report(false);
    step_.report.unit_wrenches = matrix_.measure();
    return make_report(projection_.project_velocities(step_) && find_accelerations());
}

template <int D>
bool ModularAssembly<D>::find_accelerations() {
    if (!gluing_.solve(step_)) return false;
    accept();
    for (int pass = 0; improves_when_repeated_ && pass < max_returns; ++pass) {
        begin(0, Coupling::acceleration);
        if (!gluing_.solve(step_)) return false;
        accept();
        const double change = largest_entry(history_.multipliers() - history_.multipliers_before());
        if (change <= options_.tolerance * largest_entry(step_.multipliers)) break;
    }
    matrix_.make_old();
    return true;
}

// ---------------------------------------------------------------- a step

template <int D>
void ModularAssembly<D>::begin(double h, Coupling coupling) {
    step_.h = h;
    step_.whole = std::max({h, whole_step_, longest_step_});
    step_.coupling = coupling;
    step_.report = {};
    step_.perturbation = {};
    step_.failure.clear();
    // A parabola through forces of the past needs three of them: the first two steps are iterated in any case.
    const bool is_quadratic = options_.course == ForceCourse::quadratic;
    const bool has_bend = is_quadratic && history_.has_steps(2, h);
    step_.iterates_forces =
        !step_.has_accelerations() && joints_->has_forces() && (options_.use_iteration || (is_quadratic && !has_bend));
    if (has_bend) history_.find_bend(bend_);
    team_.for_all([&](int k) {
        team_[k].begin(h, coupling, options_.course, team_.part(history_.wrenches(), k),
                       has_bend ? team_.part(bend_, k) : std::span<TwistVec<D>>{});
    });
    evaluation_.begin(step_.motion);
    matrix_.begin(h, std::max(joints_->mechanism().length_scale, evaluation_.distance()), evaluation_.reaches());
}

template <int D>
void ModularAssembly<D>::predict() {
    for (PortMotion<D>& port : step_.motion) {
        TwistVec<D> twist;
        twist << port.state.velocity, port.state.angular_velocity;
        twist += 0.5 * step_.h * port.rate;
        move(port.state, TwistVec<D>(step_.h * twist));
    }
    joints_->update(step_.motion, step_.t + step_.h);
    history_.predict_forces(step_.h, options_.course, step_.forces);
    if (!gluing_.method().starts_warm()) {
        step_.multipliers.setZero();
        return;
    }
    // Those of accelerations run smoothly; those found from positions swing from step to step.
    history_.predict_multipliers(step_.h, step_.has_accelerations(), step_.multipliers);
    if (matrix_.admittance().is_ready() && matrix_.admittance().is_singular())
        matrix_.project_joints(step_.multipliers);
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
    motion_before_ = step_.motion;
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
    step_.motion = motion_before_;
    joints_->update(step_.motion, step_.t);
    matrix_.restore(matrix_before_);
}

template <int D>
void ModularAssembly<D>::expect_parts_of(double step) {
    whole_step_ = step;
    for (const int k : team_.own()) team_[k].expect_parts_of(step);
}

// Inside the components and between them.
template <int D>
bool ModularAssembly<D>::is_smooth() {
    if (!(perturbation_limit_ < std::numeric_limits<double>::infinity())) return true;
    gluing_.find_perturbations(step_, row_perturbations_);
    team_.exchange().share_rows(row_perturbations_);
    own_perturbations_.assign(static_cast<std::size_t>(team_.count()), 0.0);
    for (const int k : team_.own()) own_perturbations_[k] = team_[k].perturbation();
    team_.exchange().share_components(own_perturbations_);
    step_.perturbation.add(
        std::accumulate(own_perturbations_.begin(), own_perturbations_.end(), row_perturbations_.squaredNorm()));
    if (step_.perturbation.last <= perturbation_limit_) return true;
    step_.failure = too_rough;
    return false;
}

template <int D>
bool ModularAssembly<D>::attempt_step() {
    if (!are_springs_as_undivided() && swings_.is_refused(step_.h, step_.iterates_forces)) {
        step_.failure = swings_.refusal();
        return false;
    }
    predict();
    if (step_.coupling == Coupling::acceleration) {
        for (int pass = 0; pass < passes_; ++pass) {
            if (pass > 0) team_.for_all([&](int k) { team_[k].correct(); });
            if (!gluing_.solve(step_) || !is_smooth()) return false;
        }
    } else {
        if (!gluing_.solve(step_)) return false;
        step_.settled = step_.wrenches;
        if (joints_->row_count() > 0 &&
            !(projection_.project_velocities(step_) && projection_.project_accelerations(step_)))
            return false;
        if (joints_->has_forces()) joints_->find_forces(step_.new_forces);
    }
    if (joints_->has_forces() && !are_springs_as_undivided() &&
        !swings_.accept_unless_swinging(team_.exchange(), joints_->mechanism(), step_.new_forces, step_.h,
                                        options_.tolerance, matrix_.force_sensitivity())) {
        step_.failure = swings_.refusal();
        return false;
    }
    matrix_.judge(step_.report.evaluations + step_.report.products);
    return true;
}

template <int D>
void ModularAssembly<D>::accept() {
    team_.for_all([&](int k) { team_[k].accept(); });
    longest_step_ = step_.h > 0 ? std::max(longest_step_, step_.h) : 0;
    joints_->accept();
    // The wrenches that the accelerations of the end belong to; those found from positions swing about them from step
    // to step.
    if (step_.has_accelerations()) step_.settled = step_.wrenches;
    if (!options_.use_iteration && joints_->has_forces())
        for (std::size_t p = 0; p < step_.settled.size(); ++p)
            step_.settled[p] += step_.new_forces[p] - step_.forces[p];
    history_.accept(step_.h, step_.multipliers, step_.late_correction,
                    joints_->has_forces() ? step_.new_forces : step_.forces, step_.settled);
    step_.t += step_.h;
}

template <int D>
StepReport ModularAssembly<D>::make_report(bool ok) const {
    StepReport report;
    report.ok = ok;
    report.iterations = step_.report.total();
    report.reason = step_.failure.empty() ? evaluation_.failure() : step_.failure;
    return report;
}

// ---------------------------------------------------------------- for others

template <int D>
std::span<const PortMotion<D>> ModularAssembly<D>::gather_motion() {
    team_.exchange().share_ports(step_.motion);
    return step_.motion;
}

template <int D>
void ModularAssembly<D>::save(AssemblySnapshot<D>& to) const {
    to.t = step_.t;
    to.longest_step = longest_step_;
    to.history = history_;
    matrix_.save(to.matrix);
    to.motion = step_.motion;
    to.joint_memory = joints_->memory();
    to.swings = swings_;
    to.components.resize(static_cast<std::size_t>(team_.count()));
    for (const int k : team_.own()) to.components[k] = team_[k].save();
}

template <int D>
void ModularAssembly<D>::restore(const AssemblySnapshot<D>& from) {
    step_.t = from.t;
    longest_step_ = from.longest_step;
    history_ = from.history;
    step_.motion = from.motion;
    joints_->set_memory(from.joint_memory);
    joints_->update(step_.motion, step_.t);
    matrix_.restore(from.matrix);
    swings_ = from.swings;
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
