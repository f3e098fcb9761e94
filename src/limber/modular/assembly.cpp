#include "limber/modular/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace limber {
namespace {

// Errors of the joints that rounding leaves, over the length scale.
constexpr double rounding = 1e-14;
constexpr double tiny_acceleration = 1e-12;
// Forces to this part pass positions in which links fold.
constexpr double strict_tolerance = 1e-8;
// Passes that push velocities or accelerations onto the joints, and the part of the error that one may leave.
constexpr int most_pushes = 12;
constexpr double falls_enough = 0.5;
// Of joints at the end of a step, over the length scale: as undivided mechanisms have it.
constexpr double closed = 1e-9;
// Times that accelerations are found again where inertia was lent; each time leaves less than a hundredth of the error.
constexpr int most_returns = 6;
// An iteration that leaves more than this part of the error needs tangents from here.
constexpr double slow = 0.1;
// Swings of forces from step to step that may be noise, over the largest force and over the tolerance.
constexpr double noise = 1e-3;
constexpr double noise_of_tolerance = 10;

template <class Derived>
double largest(const Eigen::MatrixBase<Derived>& x) {
    return x.size() > 0 ? x.template lpNorm<Eigen::Infinity>() : 0;
}

}  // namespace

template <int D>
ModularAssembly<D>::ModularAssembly(Boxes boxes, std::unique_ptr<InterfaceJoints<D>> joints,
                                    const ModularOptions& options, const FormulationOptions& gains,
                                    int corrector_passes)
    : team_(std::move(boxes), options.threads),
      matrix_(team_),
      joints_(std::move(joints)),
      options_(options),
      gain_options_(gains),
      passes_(corrector_passes),
      pusher_(make_block_gradient_gluing()),
      swings_(team_.port_count(), joints_->mechanism().length_scale) {
    if (options_.gluing == Gluing::penalty) options_.coupling = Coupling::acceleration;
    for (int k = 0; k < team_.count(); ++k) has_lent_inertia_ = has_lent_inertia_ || team_[k].is_lent_inertia();
    const auto ports = static_cast<std::size_t>(team_.port_count());
    motion_.resize(ports);
    wrenches_.assign(ports, TwistVec<D>::Zero());
    forces_ = new_forces_ = rates_ = probe_ = settled_ = bend_ = wrenches_;
    known_ = asked_forces_ = force_changes_ = spring_wrenches_ = wrenches_;
    past_forces_.assign(3, forces_);
    past_wrenches_ = past_forces_;
    const auto boxes_in_all = static_cast<std::size_t>(team_.count());
    answers_.resize(boxes_in_all);
    kinds_.resize(boxes_in_all);
    reaches_.resize(boxes_in_all);
    balanced_.assign(boxes_in_all, 0);
    progress_.resize(boxes_in_all);
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
    multipliers_ = accepted_multipliers_ = before_multipliers_ = residual_ = correction_ = rows_ = VecX::Zero(rows);
    impulses_ = late_correction_ = expected_multipliers_ = expected_before_ = expected_earlier_ = VecX::Zero(rows);
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
    const VecX before = accepted_multipliers_;
    auto old_joints = std::move(joints_);
    joints_ = std::move(joints);
    connect();
    for (const auto& element : joints_->mechanism().elements) {
        const auto it = old.element_index.find(element.key());
        if (it == old.element_index.end() || old.elements[it->second].row_count != element.row_count) continue;
        accepted_multipliers_.segment(element.first_row, element.row_count) =
            before.segment(old.elements[it->second].first_row, element.row_count);
    }
    expected_multipliers_ = accepted_multipliers_;
    past_ = 0;
    return old_joints;
}

// ---------------------------------------------------------------- questions

template <int D>
void ModularAssembly<D>::begin(double h, Coupling coupling) {
    h_ = h;
    coupling_ = coupling;
    report_ = {};
    failure_.clear();
    gains_ = {};
    if (h > 0 && coupling == Coupling::acceleration) {
        const double omega = gain_options_.frequency / h;
        gains_ = {omega * omega, 2 * gain_options_.damping * omega, 0.1 / h};
    }
    const bool has_bend = options_.course == ForceCourse::quadratic && has_past(2);
    for (std::size_t p = 0; p < bend_.size() && has_bend; ++p)
        bend_[p] = past_wrenches_[0][p] - 2 * past_wrenches_[1][p] + past_wrenches_[2][p];
    team_.for_all([&](int k) {
        team_[k].begin(h, coupling, options_.course, team_.part(past_wrenches_[0], k),
                       has_bend ? team_.part(bend_, k) : std::span<TwistVec<D>>{});
    });
    for (const int k : team_.own()) {
        kinds_[k] = {team_[k].reach(), team_[k].is_led()};
        answers_[k] = {};
    }
    team_.exchange().share_boxes(kinds_);
    has_led_ = has_unled_ = false;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        (kinds_[k].is_led ? has_led_ : has_unled_) = true;
        reaches_[k] = kinds_[k].reach;
    }
    matrix_.begin(h, reaches_);
}

template <int D>
void ModularAssembly<D>::set_wrenches(const VecX& multipliers, const std::vector<TwistVec<D>>* forces,
                                      std::vector<TwistVec<D>>& wrenches) const {
    if (forces != nullptr) {
        wrenches = *forces;
    } else {
        wrenches.assign(wrenches.size(), TwistVec<D>::Zero());
    }
    joints_->add_wrenches(multipliers, wrenches);
}

template <int D>
void ModularAssembly<D>::update_joints() {
    team_.exchange().share_near(motion_);
    joints_->update(motion_, t_ + h_);
    if (joints_->has_forces()) joints_->find_forces(new_forces_);
}

template <int D>
bool ModularAssembly<D>::ask() {
    set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) { answers_[k] = team_[k].answer(team_.part(wrenches_, k), team_.part(motion_, k)); });
    ++report_.answers;
    if (!have_all_answered()) return false;
    update_joints();
    return true;
}

template <int D>
bool ModularAssembly<D>::open() {
    if (!has_led_) return ask();
    set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) {
        if (kinds_[k].is_led) {
            team_[k].open(team_.part(motion_, k));
        } else {
            answers_[k] = team_[k].answer(team_.part(wrenches_, k), team_.part(motion_, k));
        }
    });
    if (!have_all_answered()) return false;
    update_joints();
    return true;
}

template <int D>
void ModularAssembly<D>::approach(bool refresh) {
    set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) {
        if (!kinds_[k].is_led) return;
        const ApproachReport report = team_[k].approach(team_.part(wrenches_, k), refresh, team_.part(rates_, k));
        balanced_[k] = report.is_balanced ? 1 : 0;
        if (!report.ok) {
            answers_[k].ok = false;
            answers_[k].reason = "a component has no finite tangent";
        }
        for (TwistVec<D>& rate : team_.part(rates_, k)) rate *= matrix_.reach_share(k);
    });
    ++report_.answers;
}

template <int D>
bool ModularAssembly<D>::advance() {
    if (!has_led_) return ask();
    set_wrenches(correction_, iterates_with_springs() ? &spring_wrenches_ : nullptr, probe_);
    if (has_unled_) set_wrenches(multipliers_, &forces_, wrenches_);
    team_.for_all([&](int k) {
        if (kinds_[k].is_led) {
            progress_[k] = team_[k].advance(team_.part(probe_, k), team_.part(motion_, k));
        } else {
            answers_[k] = team_[k].answer(team_.part(wrenches_, k), team_.part(motion_, k));
        }
    });
    if (!have_all_answered()) return false;
    update_joints();
    return true;
}

template <int D>
bool ModularAssembly<D>::close() {
    if (!has_led_) return true;
    team_.for_all([&](int k) {
        if (kinds_[k].is_led) answers_[k] = team_[k].close(team_.part(motion_, k));
    });
    if (!have_all_answered()) return false;
    update_joints();
    return true;
}

template <int D>
bool ModularAssembly<D>::have_all_answered() {
    Status status = find_own_status();
    team_.exchange().find_largest(status);
    return take_status(status);
}

template <int D>
typename ModularAssembly<D>::Status ModularAssembly<D>::find_own_status() const {
    Status status{};
    auto& [failed, unbalanced, change, acceptable, opening] = status;
    for (const int k : team_.own()) {
        if (!answers_[k].ok) failed = 1;
        // Those that are not led answer in full: nothing of them is out of balance.
        if (!kinds_[k].is_led) continue;
        if (balanced_[k] == 0) unbalanced = 1;
        change = std::max(change, progress_[k].change);
        acceptable = std::max(acceptable, progress_[k].acceptable);
    }
    return status;
}

template <int D>
bool ModularAssembly<D>::take_status(const Status& status) {
    const auto& [failed, unbalanced, change, acceptable, opening] = status;
    is_balanced_ = unbalanced == 0;
    largest_progress_.change = change;
    largest_progress_.acceptable = acceptable;
    opening_ = opening;
    if (failed == 0) return true;
    using Words = std::array<char, 256>;
    std::vector<Words> reasons(static_cast<std::size_t>(team_.count()));
    for (const int k : team_.own()) {
        const std::string& reason = answers_[k].reason;
        if (!answers_[k].ok)
            std::copy_n(reason.begin(), std::min(reason.size(), sizeof(Words) - 1), reasons[k].begin());
    }
    team_.exchange().share_boxes(reasons);
    for (const Words& reason : reasons)
        if (failure_.empty()) failure_ = reason.data();
    return false;
}

template <int D>
double ModularAssembly<D>::find_largest_of_all(double own) {
    team_.exchange().find_largest({&own, 1});
    return own;
}

template <int D>
bool ModularAssembly<D>::find_residual() {
    for (int r = 0; r < joints_->row_count(); ++r) {
        const bool is_holonomic = joints_->is_holonomic(r);
        if (has_accelerations()) {
            residual_[r] = joints_->acceleration[r] +
                           (is_holonomic ? gains_.position * joints_->phi[r] + gains_.rate * joints_->rate[r]
                                         : gains_.velocity_row * joints_->rate[r]);
        } else {
            residual_[r] = is_holonomic ? joints_->phi[r] / (matrix_.reach().position * h_ * h_)
                                        : joints_->rate[r] / (matrix_.reach().velocity * h_);
        }
    }
    Status status = find_own_status();
    double& opening = status.back();
    for (const int r : team_.exchange().own_rows()) opening = std::max(opening, std::abs(residual_[r]));
    opening *= matrix_.reach().position * h_ * h_;
    if (has_led_ || iterates_with_springs()) {
        find_known_changes();
        joints_->multiply(known_, rows_);
        residual_ += rows_;
    }
    team_.exchange().share_rows(residual_, status);
    report_.residual = largest(residual_);
    return take_status(status);
}

template <int D>
void ModularAssembly<D>::measure() {
    matrix_.measure();
    report_.measures = std::max(report_.measures, matrix_.measuring_cost());
}

template <int D>
AdmittanceProduct ModularAssembly<D>::make_product() {
    return [this](const VecX& x, VecX& result) {
        ++report_.products;
        matrix_.multiply(x, result);
    };
}

template <int D>
void ModularAssembly<D>::find_known_changes() {
    for (const int k : team_.own()) {
        for (int p = team_.first_port(k); p < team_.first_port(k) + team_.port_count(k); ++p) {
            known_[p] = kinds_[k].is_led ? rates_[p] : TwistVec<D>(TwistVec<D>::Zero());
            force_changes_[p] = new_forces_[p] - asked_forces_[p];
        }
        if (!kinds_[k].is_led && iterates_with_springs()) matrix_.add_answer(k, force_changes_, known_);
    }
    team_.exchange().share_near(known_);
}

// ---------------------------------------------------------------- gluing

template <int D>
bool ModularAssembly<D>::settles(double correction) const {
    const double length = joints_->mechanism().length_scale;
    // Where nothing acts, forces cannot be compared with themselves.
    const double tiny =
        has_accelerations() ? tiny_acceleration : rounding * length / (matrix_.reach().position * h_ * h_);
    return correction <= options_.tolerance * largest(multipliers_) || report_.residual <= tiny;
}

// Eq. (28) of Joli 2008 for what is still to be corrected, but not over the multipliers themselves: where links fold, those without effect grow
// without bounds, and a part of them would be no measure of anything. Over the forces that would move each row alone as much as they do.
template <int D>
bool ModularAssembly<D>::does_residual_settle() {
    if (report_.residual <= tiny_acceleration) return true;
    const double force = matrix_.find_largest_force(multipliers_);
    late_correction_ = -residual_;
    matrix_.solve_joints(late_correction_);
    const double left = largest(late_correction_);
    if (options_.tolerance <= strict_tolerance || left > options_.tolerance * force)
        return left <= options_.tolerance * force;
    // Errors that a loose tolerance leaves in the joints turn, where links fold, into the direction in which forces hardly move them. There
    // they must be as much smaller: by the weakest admittance, of which the correction has a part, over the largest.
    double strongest = 0;
    for (int r = 0; r < joints_->row_count(); ++r) strongest = std::max(strongest, matrix_.admittance().diagonal(r));
    weakest_ = late_correction_;
    matrix_.solve_joints(weakest_);
    const double weakest = late_correction_.norm() / weakest_.norm();
    return left <= std::max(strict_tolerance, options_.tolerance * std::min(1.0, weakest / strongest)) * force;
}

template <int D>
bool ModularAssembly<D>::forces_settle(double change) {
    if (!iterates_forces()) return true;
    double largest = 0;
    for (const int p : team_.exchange().own_ports())
        largest = std::max(largest, wrenches_[p].template lpNorm<Eigen::Infinity>());
    return change <= options_.tolerance * find_largest_of_all(largest);
}

// Of the forces between components, by the motion shown last.
template <int D>
double ModularAssembly<D>::find_force_change() {
    if (!iterates_forces()) return 0;
    double change = 0;
    for (const int p : team_.exchange().own_ports())
        change = std::max(change, (new_forces_[p] - forces_[p]).template lpNorm<Eigen::Infinity>());
    return find_largest_of_all(change);
}

// As Newton's method of an undivided mechanism decides: linear convergence with rate r leaves about r / (1 - r) of the last change.
template <int D>
bool ModularAssembly<D>::have_led_settled(double& before, bool& is_slow) const {
    const NewtonProgress& all = largest_progress_;
    const double rate = before > 0 ? all.change / before : 0;
    const double left = before > 0 ? all.change * rate / std::max(0.1, 1 - rate) : all.change;
    is_slow = rate > slow;
    before = all.change;
    return left <= all.acceptable;
}

template <int D>
std::string ModularAssembly<D>::describe_unsettled() const {
    const Mechanism<D>& m = joints_->mechanism();
    Eigen::Index worst = 0;
    if (residual_.size() > 0) residual_.cwiseAbs().maxCoeff(&worst);
    std::string place;
    for (const auto& element : m.elements)
        if (element.first_row <= worst && worst < element.first_row + element.row_count)
            place = fmt::format("; the largest error is at '{}'", element.name);
    const char* advice = method_->uses_whole_matrix() ? "" : "; gluing 'direct' heeds how joints act on each other";
    return fmt::format("the interface forces did not settle in {} questions to the components{}{}",
                       report_.answers + report_.products, place, advice);
}

template <int D>
bool ModularAssembly<D>::glue() {
    if (options_.gluing == Gluing::penalty && h_ > 0) return glue_by_penalty();
    if (!open()) return false;
    if (has_accelerations() && joints_->has_forces()) {
        // The motion is predicted and so are its forces.
        forces_ = new_forces_;
        if (!ask()) return false;
    }
    late_correction_.setZero();
    const AdmittanceProduct product = make_product();
    const double length = joints_->mechanism().length_scale;
    double before = 0;
    bool refresh = true;
    for (int pass = 0;; ++pass) {
        const double change = find_force_change();
        asked_forces_ = forces_;
        if (has_led_) {
            if (iterates_forces()) forces_ = new_forces_;
            approach(refresh);
        }
        if (matrix_.is_old() || !matrix_.admittance().is_ready() ||
            (refresh && has_led_ && method_->uses_whole_matrix()))
            measure();
        if (!matrix_.is_of_end()) matrix_.assemble(true);
        if (!find_residual()) return false;
        if (pass == 0) method_->start(matrix_.admittance());
        const bool is_balanced = !has_led_ || (is_balanced_ && pass > 1);
        if (!has_unled_ && is_balanced && opening_ <= closed * length && forces_settle(change)) break;
        const bool settles_early = has_accelerations() && options_.gluing != Gluing::uzawa && does_residual_settle();
        if (settles_early && forces_settle(change)) break;
        if (method_->asks() && !has_led_ && !has_accelerations()) {
            correction_ = residual_;
            matrix_.admittance().solve_blocks(correction_);
            if (settles(10 * largest(correction_)) && forces_settle(change)) break;
        }
        if (options_.gluing == Gluing::direct && (has_led_ || matrix_.spring_rows() > 0)) {
            // Newton's method of all together: past passes could only spoil it.
            matrix_.solve(residual_, known_, correction_, spring_wrenches_);
        } else if (joints_->row_count() > 0) {
            method_->correct(matrix_.admittance(), product, multipliers_, residual_, correction_);
        }
        late_correction_.setZero();
        const bool rows_settle =
            (!has_accelerations() || options_.gluing == Gluing::uzawa) && settles(largest(correction_));
        if (has_unled_ && is_balanced && rows_settle && forces_settle(change)) break;
        if (!correction_.allFinite() || report_.answers + report_.products > options_.max_questions) {
            failure_ = describe_unsettled();
            return false;
        }
        multipliers_ += correction_;
        if (iterates_forces()) {
            forces_ = new_forces_;
            for (std::size_t p = 0; p < forces_.size() && matrix_.spring_rows() > 0; ++p)
                forces_[p] += spring_wrenches_[p];
        }
        if (!advance()) return false;
        if (!has_led_) continue;
        const bool is_close = have_led_settled(before, refresh);
        if (is_close && (!has_unled_ || rows_settle) && forces_settle(find_force_change())) break;
    }
    return close();
}

// Seguy 2003 eqs. (17), (18), (21), with the inertia that a row meets in place of (15): springs and dampers as stiff as the step
// bears, on the predicted motion. Ten steps per oscillation, as Joli 2008 eq. (11) has it; the three of (17) are at the very limit
// of stability of explicit schemes.
template <int D>
bool ModularAssembly<D>::glue_by_penalty() {
    if (!ask() || !find_residual()) return false;
    if (joints_->has_forces()) forces_ = new_forces_;
    measure();
    const double omega = gain_options_.frequency / h_;
    const double damping = 2 * gain_options_.damping * omega;
    const VecX sums = matrix_.admittance().row_sums();
    for (int r = 0; r < joints_->row_count(); ++r) {
        const double inertia = sums[r] > 0 ? 1 / sums[r] : 0;
        multipliers_[r] = joints_->is_holonomic(r)
                              ? -inertia * (omega * omega * joints_->phi[r] + damping * joints_->rate[r])
                              : -inertia * 0.1 / h_ * joints_->rate[r];
    }
    team_.exchange().share_rows(multipliers_);
    return ask();
}

template <int D>
bool ModularAssembly<D>::push(bool velocities) {
    double before = std::numeric_limits<double>::infinity();
    bool is_fresh = report_.measures > 0;
    const AdmittanceProduct product = make_product();
    known_.assign(known_.size(), TwistVec<D>::Zero());
    if (!matrix_.has_equal_reach() && matrix_.is_of_end()) matrix_.assemble(false);
    for (int pass = 0; pass < most_pushes; ++pass) {
        joints_->update(motion_, t_ + h_);
        rows_ = velocities ? joints_->rate : joints_->acceleration;
        double size = 0;
        for (const int p : team_.exchange().own_ports()) {
            const PortMotion<D>& port = motion_[p];
            size =
                std::max(size, velocities ? std::max(largest(port.state.velocity), largest(port.state.angular_velocity))
                                          : largest(port.rate));
        }
        team_.exchange().share_rows(rows_, {&size, 1});
        const double error = largest(rows_);
        if (!(error > 1e-12 * size)) break;
        if (error > falls_enough * before) {
            // An admittance of another configuration, unless it is from here: then this is all that rounding allows.
            if (is_fresh) break;
            measure();
            if (!matrix_.has_equal_reach()) matrix_.assemble(false);
            is_fresh = true;
        }
        before = error;
        if (method_->uses_whole_matrix()) {
            matrix_.solve(rows_, known_, correction_, spring_wrenches_);
        } else {
            pusher_->correct(matrix_.admittance(), product, multipliers_, rows_, correction_);
        }
        set_wrenches(correction_, matrix_.spring_rows() > 0 ? &spring_wrenches_ : nullptr, probe_);
        team_.for_all([&](int k) {
            if (velocities) {
                team_[k].push_velocities(team_.part(probe_, k), team_.part(motion_, k));
            } else {
                team_[k].push_accelerations(team_.part(probe_, k), team_.part(motion_, k));
            }
        });
        team_.exchange().share_near(motion_);
        for (std::size_t p = 0; p < probe_.size() && !velocities; ++p) settled_[p] += probe_[p];
        if (velocities) impulses_ += correction_;
        ++report_.products;
    }
    return rows_.allFinite();
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
    past_ = 0;
    swings_.restart();
    begin(0, Coupling::acceleration);
    forces_.assign(forces_.size(), TwistVec<D>::Zero());
    multipliers_ = accepted_multipliers_;
    matrix_.make_old();
    // Rows have wrenches only once the boxes have shown their motion.
    multipliers_.setZero();
    return make_report(find_accelerations());
}

template <int D>
bool ModularAssembly<D>::find_accelerations() {
    if (!glue()) return false;
    accept();
    for (int pass = 0; has_lent_inertia_ && pass < most_returns; ++pass) {
        begin(0, Coupling::acceleration);
        if (!glue()) return false;
        accept();
        if (largest(accepted_multipliers_ - before_multipliers_) <= options_.tolerance * largest(multipliers_)) break;
    }
    matrix_.make_old();
    return true;
}

template <int D>
StepReport ModularAssembly<D>::restart_velocities(double t) {
    t_ = t;
    past_ = 0;
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
    multipliers_ = expected_multipliers_;
    if (!method_->starts_warm()) {
        multipliers_.setZero();
    } else if (has_past(1)) {
        multipliers_ += expected_multipliers_ - expected_before_;
        // Those of accelerations run smoothly; those found from positions swing from step to step.
        if (has_accelerations() && foresees_parabola_)
            multipliers_ += expected_multipliers_ - 2 * expected_before_ + expected_earlier_;
    }
    if (method_->starts_warm() && matrix_.admittance().is_ready() && matrix_.admittance().is_singular())
        matrix_.project_joints(multipliers_);
    forces_ = past_forces_[0];
    if (!has_past(1) || options_.course == ForceCourse::hold) return;
    const bool is_quadratic = options_.course == ForceCourse::quadratic && has_past(2);
    for (std::size_t p = 0; p < forces_.size(); ++p) {
        const TwistVec<D> change = past_forces_[0][p] - past_forces_[1][p];
        forces_[p] += change;
        if (is_quadratic) forces_[p] += change - (past_forces_[1][p] - past_forces_[2][p]);
    }
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
    const double negligible = std::max(noise, noise_of_tolerance * options_.tolerance) *
                              find_largest_of_all(std::isfinite(force) ? force : 0);
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
    begin(h, options_.coupling);
    if (is_step_refused()) {
        failure_ = refusal_;
        return make_report(false);
    }
    predict();
    if (coupling_ == Coupling::acceleration) {
        for (int pass = 0; pass < passes_; ++pass) {
            if (pass > 0) team_.for_all([&](int k) { team_[k].correct(); });
            if (!glue()) return make_report(false);
        }
    } else {
        if (!glue()) return make_report(false);
        settled_ = wrenches_;
        if (joints_->row_count() > 0 && !(push(true) && push(false))) return make_report(false);
        if (joints_->has_forces()) joints_->find_forces(new_forces_);
    }
    if (!are_springs_resolved()) return make_report(false);
    matrix_.judge(report_.answers + report_.products);
    accept();
    return make_report(true);
}

template <int D>
void ModularAssembly<D>::accept() {
    team_.for_all([&](int k) { team_[k].accept(); });
    joints_->accept();
    std::rotate(past_forces_.begin(), past_forces_.end() - 1, past_forces_.end());
    past_forces_[0] = joints_->has_forces() ? new_forces_ : forces_;
    before_multipliers_ = accepted_multipliers_;
    accepted_multipliers_ = multipliers_;
    rows_ = multipliers_ + late_correction_;
    const VecX& last = expected_multipliers_;
    foresees_parabola_ = has_past(2) && (rows_ - 3 * last + 3 * expected_before_ - expected_earlier_).norm() <
                                            (rows_ - 2 * last + expected_before_).norm();
    std::swap(expected_earlier_, expected_before_);
    expected_before_ = expected_multipliers_;
    expected_multipliers_ = rows_;
    std::rotate(past_wrenches_.begin(), past_wrenches_.end() - 1, past_wrenches_.end());
    // The wrenches that the accelerations of the end belong to; those found from positions swing about them from step to step.
    past_wrenches_[0] = has_accelerations() ? wrenches_ : settled_;
    if (!options_.use_iteration && joints_->has_forces())
        for (std::size_t p = 0; p < wrenches_.size(); ++p) past_wrenches_[0][p] += new_forces_[p] - forces_[p];
    if (h_ > 0) {
        past_ = std::abs(previous_h_ - h_) < 1e-6 * h_ ? past_ + 1 : 1;
        previous_h_ = h_;
    }
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
    to.previous_h = previous_h_;
    to.past = past_;
    to.multipliers = accepted_multipliers_;
    to.before_multipliers = before_multipliers_;
    to.past_wrenches = past_wrenches_;
    to.past_forces = past_forces_;
    to.motion = motion_;
    to.joint_memory = joints_->memory();
    to.swings = swings_;
    to.boxes.resize(static_cast<std::size_t>(team_.count()));
    for (const int k : team_.own()) to.boxes[k] = team_[k].save();
}

template <int D>
void ModularAssembly<D>::restore(const AssemblySnapshot<D>& from) {
    t_ = from.t;
    previous_h_ = from.previous_h;
    past_ = from.past;
    accepted_multipliers_ = from.multipliers;
    before_multipliers_ = from.before_multipliers;
    past_wrenches_ = from.past_wrenches;
    past_forces_ = from.past_forces;
    motion_ = from.motion;
    joints_->set_memory(from.joint_memory);
    swings_ = from.swings;
    for (const int k : team_.own()) team_[k].restore(from.boxes[k]);
}

template <int D>
VecX ModularAssembly<D>::compute_multipliers() {
    VecX smallest = accepted_multipliers_;
    if (matrix_.admittance().is_ready() && matrix_.admittance().is_singular()) matrix_.project_joints(smallest);
    return smallest;
}

template class ModularAssembly<2>;
template class ModularAssembly<3>;

}  // namespace limber
