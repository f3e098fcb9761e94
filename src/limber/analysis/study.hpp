#pragma once
// Studies: one model under many formulations, integrators, parameters and steps; every run with its cost and its error.
//
// The error of a run against a reference, z being the watched sensors (k of them):
//
//   compute_rms_error    root of the mean of (z - z*)^2 over sensors and common instants
//   compute_path_error   1 / (k (ns + 1)) sum_i sqrt( sum_j (z_ij - z*_ij)^2 ), j = 0 .. ns over all steps of the run,
//                        the reference interpolated (Cuadrado and Dopico, hybrid formulation, eq. 43)

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "limber/simulation/simulation.hpp"

namespace limber {

/// One way to compute the motion of a model.
struct StudyPoint {
    std::string formulation, integrator;
    /// Of the integrator, see IntegratorInfo::parameter. NaN: it has none, or the one of the options.
    double parameter = std::numeric_limits<double>::quiet_NaN();
    double step = 0;
};

struct StudyOptions {
    SimulationOptions simulation;      ///< what the points leave open
    double until = 10;                 ///< end of every run
    std::vector<std::string> sensors;  ///< to compare by; empty: all positions and coordinates
    std::vector<double> instants;      ///< to compare at; empty: after every step
    double longest_run = std::numeric_limits<double>::infinity();  ///< seconds of stepping before a run is given up
    int repeats = 1;                                               ///< the least time of so many counts
    std::function<bool()> should_stop;  ///< asked before every step; true gives the run up. May be empty.

    bool is_stopped() const { return should_stop && should_stop(); }
};

/// Watched sensors along a run.
struct SensorPath {
    std::vector<double> times;
    std::vector<std::vector<double>> values;  ///< per instant
};

struct StudyRun {
    StudyPoint point;
    std::string failure;      ///< when and why; empty: reached the end
    bool is_stopped = false;  ///< given up because it was asked to: tells nothing about the method
    double error = std::numeric_limits<double>::quiet_NaN();
    double cpu_time = 0;          ///< seconds of stepping alone
    double slowest_step = 0;      ///< seconds
    double energy_drift = 0;      ///< largest |kinetic + potential + contact loss - work - start|
    double exchanged_energy = 0;  ///< largest kinetic energy minus the least
    ConstraintErrors constraint_errors;
    double iterations_per_step = 0;
    SensorPath path;

    bool is_done() const { return failure.empty(); }
};

/// Called before each run.
using StudyProgress = std::function<void(const StudyPoint& point)>;

/// Runs once to look and `repeats` times by the clock. Throws ModelError if the model or the choice is wrong.
StudyRun run_study_point(const Model& model, const StudyPoint& point, const StudyOptions& options);

/// Both runs at the same instants.
double compute_rms_error(const SensorPath& path, const SensorPath& reference);
/// Eq. (43); the reference reaches as far as the run.
double compute_path_error(const SensorPath& path, const SensorPath& reference);

struct Study {
    std::vector<StudyRun> references;  ///< one per formulation
    std::vector<StudyRun> runs;        ///< of all points, or of those before the study was stopped
};

/// Runs all points, with errors by eq. (43) against the same formulation with the trapezoidal rule at `reference_step`.
/// Where that fails, the errors are NaN. Paths are kept for the references only.
Study run_study(const Model& model, const std::vector<StudyPoint>& points, const StudyOptions& options,
                double reference_step, const StudyProgress& progress = {});

/// What a run has to keep within to be believed.
struct Acceptance {
    double error = 0, energy_drift = 0;
};

/// The runs that keep within it and whose neighbours, all with the same formulation, integrator and parameter and
/// smaller steps, do so as well: an error that is small by chance does not count.
std::vector<StudyRun> find_accepted(std::span<const StudyRun> runs, const Acceptance& acceptance);

/// The fastest run with an error below the accepted one, or nothing; an empty integrator stands for any.
const StudyRun* find_most_efficient(std::span<const StudyRun> runs, double accepted_error,
                                    const std::string& formulation, const std::string& integrator = "");

/// Values of one parameter, by the name of its option.
struct Sweep {
    std::string name;
    std::vector<double> values;
};

/// "0.01,0.02" or "0.01:0.05:0.005": from, to and by, both ends included; or a mixture.
std::vector<double> parse_values(const std::string& text);

/// All combinations. A sweep applies to the integrators that have its parameter; ModelError if there is none.
std::vector<StudyPoint> make_study_points(const std::vector<std::string>& formulations,
                                          const std::vector<std::string>& integrators, const std::vector<double>& steps,
                                          const std::vector<Sweep>& sweeps = {});

}  // namespace limber
