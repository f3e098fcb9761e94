#pragma once
// What a formulation is to the rest of the program.
//
//   AccelerationSolver  index 1: given t, q, v returns accelerations and multipliers; any scheme can integrate it
//   StepSolver          index 3: finds the positions at the end of a step by Newton's method (see global.hpp)
//
// A solver shares the immutable System and owns its scratch memory: one per thread. Solving allocates nothing.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "limber/dynamics/system/system.hpp"

namespace limber {

/// How constraint drift is kept down while accelerations are integrated.
enum class Stabilisation {
    automatic,   ///< gains for fixed-step structural schemes, helped out by projection; projection for the others
    gains,       ///< Baumgarte terms with gains tied to the step
    projection,  ///< positions and velocities are projected after each step
    none
};

/// What the formulation `penalty` puts in the place of a constraint.
enum class PenaltyForm {
    artificial_mass,  ///< mass, spring and damper: Seguy 2003 eqs. 7, 8
    springs           ///< spring and damper alone, as stiff as the step bears: eqs. 6, 17, 18, 21
};

/// The inertia that makes the stiffness of such a spring out of a frequency.
enum class RowInertia {
    response,  ///< what resists forces along the row: one over the sum of its row of |J M^-1 J^T|
    product    ///< diagonal of J M J^T, Seguy 2003 eq. 15: depends on the coordinates
};

/// Numbers that belong to the joints of these names.
using NumbersByJoint = std::vector<std::pair<std::string, double>>;

struct FormulationOptions {
    /// Penalty over the inertia met by a row. 0: 1e6 (`global`), 1e7 (accelerations), 1e8 where no multiplier iteration
    /// makes up for it (`penalty`). Beyond 1e9 rounding takes over.
    double penalty = 0;
    double penalty_or(double automatic) const { return penalty > 0 ? penalty : automatic; }
    /// Gains kp = (frequency / step)^2, kv = 2 damping frequency / step. 0: 0.2 pi and 0.1 (Joli 2008 eq. 12); under
    /// step control see step_control.hpp.
    double frequency = 0;
    double damping = 0;
    double frequency_or_usual() const { return frequency > 0 ? frequency : 0.2 * pi; }
    double damping_or_usual() const { return damping > 0 ? damping : 0.1; }
    /// Gain of rows for velocities, over the step (Seguy 2003 eq. 21).
    double velocity_gain = 0.1;
    /// The same for the rows of single joints.
    NumbersByJoint joint_frequency{}, joint_damping{};
    PenaltyForm penalty_form = PenaltyForm::artificial_mass;
    RowInertia row_inertia = RowInertia::response;  ///< of springs in place of joints
    Stabilisation stabilisation = Stabilisation::automatic;
    /// global, hybrid, semi-recursive: Newton's method with the tangent of the hybrid paper instead of the exact one.
    /// Cheaper per step, more iterations; the solution is the same.
    bool use_approximate_tangent = false;
    int max_iterations = 12;
    /// global, hybrid, semi-recursive: Newton's iteration stops when the acceleration A is known to this fraction of
    /// |A| times the square of its relative change in the step, (|A' - A| / |A|)^2, which is far below the error of the
    /// step itself; see newton_iteration.hpp.
    double tolerance = 1e-7;

    bool operator==(const FormulationOptions&) const = default;
};

/// Of eq. (12) for a step of this length.
Gains make_gains(const FormulationOptions& options, double step);
/// The same for a joint or driver of this name.
Gains make_gains(const FormulationOptions& options, double step, const std::string& joint);

class PenalizedMass;

class AccelerationSolver {
public:
    AccelerationSolver(std::shared_ptr<const System> system, const FormulationOptions& options);
    virtual ~AccelerationSolver();

    /// Fills a and lambda; lambda's value on entry may be used as a start. False: see failure().
    virtual bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                       VecX& lambda) = 0;
    /// Moves q and v onto the constraints, least in the metric of the masses.
    virtual bool project(double t, VecX& q, VecX& v, std::span<const double> memory);
    /// Ends a step of length h that began at t and `start` and has come to q without heeding the constraints there:
    /// constraint forces of the start act until q is on the constraints, which also changes v, then v is projected.
    /// With M constant this makes a symplectic step out of one of free bodies (Hairer, Lubich and Wanner 2006,
    /// VII.1.3).
    virtual bool project_step(const VecX& start, double t, double h, VecX& q, VecX& v, std::span<const double> memory);

    /// Whether rows for velocities depend on each other or on the other rows. Gains then pull against each other;
    /// projection does not.
    virtual bool has_dependent_velocities() const { return false; }

    /// Gains follow the length of the step, of the longest one since use_no_gains(): gains of a short step are too
    /// stiff for a longer one that follows.
    void use_gains_for_step(double step);
    void use_no_gains() {
        gains_ = {};
        gain_step_ = 0;
    }
    /// Whether the constraints of the last solve have come apart, beyond anything stabilisation can mend; then
    /// failure() says which.
    bool has_come_apart();

    const System& system() const { return *system_; }
    std::shared_ptr<const System> shared_system() const { return system_; }
    const FormulationOptions& options() const { return options_; }
    Evaluation& evaluation() { return *evaluation_; }
    long iterations() const { return iterations_; }
    /// Why the last solve or projection failed; never empty then.
    std::string failure() const { return failure_.empty() ? "no accelerations were found" : failure_; }
    /// Sum of squares of the constraint-acceleration perturbation of the last solve, which gave the accelerations a: of
    /// kp Phi + kv Phi' what accelerations can follow, J a + bias, and so projected as in Seguy 2003 eq. (23). Without
    /// gains nothing is perturbed.
    virtual double perturbation(const VecX& a);

protected:
    /// bias + gain terms: what J a must cancel.
    void update_target();
    bool has_gains() const { return gains_.position != 0 || gains_.rate != 0; }
    // The two halves of a projection, with a matrix S = M + J^T W J factorised near by (positions) or here
    // (velocities). False: the matrix is from too far away.
    bool correct_positions(double t, VecX& q, std::span<const double> memory, PenalizedMass& mass, VecX& lambda);
    void correct_velocities(VecX& v, PenalizedMass& mass, VecX& lambda);

    std::shared_ptr<const System> system_;
    FormulationOptions options_;
    std::unique_ptr<Evaluation> evaluation_;
    Gains gains_;
    double gain_step_ = 0;
    VecX position_gains_, rate_gains_;  // row by row, if joints have their own; else empty
    VecX target_;
    long iterations_ = 0;
    std::string failure_;

private:
    struct Projector;
    Projector& projector();
    void update_row_gains();

    std::unique_ptr<Projector> projector_;  // made when first needed
    VecX rows_, unprojected_;
};

class StepSolver;

/// A formulation: how its solvers are made, and what it can do. The rest of the program asks these abilities, never its
/// name.
struct FormulationInfo {
    using MakeAccelerations = std::unique_ptr<AccelerationSolver> (*)(std::shared_ptr<const System>,
                                                                      const FormulationOptions&);
    using MakeSteps = std::unique_ptr<StepSolver> (*)(std::shared_ptr<const System>, const FormulationOptions&);

    std::string name, description;
    /// Of a step solver: what explicit integrators use in its place, and what finds the accelerations at the start.
    MakeAccelerations make_accelerations = nullptr;
    MakeSteps make_steps = nullptr;     ///< null: it solves for accelerations only
    std::string coordinates{};          ///< the only set it works in; empty: any
    bool is_matrix_free = false;        ///< needs no mass matrix
    bool always_projects = false;       ///< is defined with projection: gains are not its default
    bool has_penalty = true;            ///< the option acts on its accelerations, or on their projection
    bool has_step_penalty = false;      ///< the option acts on its steps
    bool has_step_multipliers = false;  ///< those of its steps alone do the work of drivers
    bool has_spring_form = false;       ///< can put springs without mass in the place of constraints

    bool is_step_solver() const { return make_steps != nullptr; }
};

/// All formulations, in the order in which they are listed.
const std::vector<FormulationInfo>& formulations();
const FormulationInfo& find_formulation(const std::string& name);

/// The acceleration solver of a formulation.
std::unique_ptr<AccelerationSolver> make_acceleration_solver(const std::string& formulation,
                                                             std::shared_ptr<const System> system,
                                                             const FormulationOptions& options = {});

}  // namespace limber
