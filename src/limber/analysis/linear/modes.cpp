#include "limber/analysis/linear/modes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/analysis/linear/steady_frame.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

// Accelerations of what is steady [m/s^2, 1/s^2], beside those that there are.
constexpr double steady = 1e-7;
// What statics leave to rounding on stiff springs: it has judged already what is an equilibrium.
constexpr double settled = 1e-4;
// How far the motion goes on to see whether it stays the same, in radians or lengths, and how well A agrees.
constexpr double way_on = 0.3, stays_same = 1e-6;
constexpr int terms_on = 20;
// The same as times; and what is at rest is looked at again after a while [s].
constexpr double longest_on = 10, at_rest_on = 0.1;
// Eigenvalues over the norm of A.
constexpr double zero_value = 1e-11, no_decay = 1e-9;
// A free motion beyond those that are named already.
constexpr double new_motion = 1e-4;

template <int D>
void refuse_kinks(const Mechanism<D>& m, const State& state) {
    for (const StopRow& stop : m.stops)
        if (stop.is_closed(state.memory))
            throw ModelError(
                fmt::format("stop '{}' touches: what can lift off is not smooth, and there is no "
                            "linearisation",
                            m.elements[stop.element].name));
    if (!m.friction.empty())
        throw ModelError(fmt::format("dry friction '{}' is not smooth where it sticks, and there is no linearisation",
                                     m.friction.front().name));
    if (m.has_contact_bristles())
        throw ModelError("the bristles of a contact are a state that linear analysis does not have");
    if (m.has_rigid_contacts())
        throw ModelError("contacts of rigid bodies are not smooth, and there is no linearisation");
}

// The matrix at the state, balanced: positions in units of velocities over a rate.
double find_rate(const MatX& a, int positions) {
    const int velocities = static_cast<int>(a.rows()) - positions;
    const double stiffness = a.bottomLeftCorner(velocities, positions).norm();
    return stiffness > 0 ? std::sqrt(stiffness) : 1;
}
MatX balance_states(MatX a, int positions, double rate) {
    a.topRows(positions) *= rate;
    a.leftCols(positions) /= rate;
    return a;
}

// Along q' = v0 + G (q - q0), v' = G v, by the series of exp(h G).
struct MovedState {
    double t = 0;
    VecX q, v;
    MatX turn;  ///< what has become of changes of q, and of v
};
MovedState move_on(const LinearFlow& flow, const MatX& g) {
    const double fastest = flow.v().lpNorm<Eigen::Infinity>();
    const double time = fastest > 0 ? std::min(way_on / fastest, longest_on) : at_rest_on;
    const int n = static_cast<int>(g.rows());
    MovedState s{flow.t() + time, flow.q() + time * flow.v(), flow.v(), MatX::Identity(n, n)};
    if (g.isZero(0)) return s;
    VecX q_term = time * flow.v();
    MatX term = s.turn;
    for (int k = 1; k < terms_on; ++k) {
        term = (time / k) * (g * term).eval();
        s.turn += term;
        q_term = (time / (k + 1)) * (g * q_term).eval();
        s.q += q_term;
    }
    s.v = s.turn * flow.v();
    return s;
}

// Whether the linearisation is the same further on, in a basis that has gone along.
bool is_same_further_on(const LinearFlow& flow, const MatX& g, const MatX& a, double rate, double bound) {
    const MovedState moved = move_on(flow, g);
    LinearFlow later(flow.system(), moved.t, moved.q, moved.v, flow.memory());
    if (later.states() != flow.states() || !(later.unsteadiness(g) <= bound)) return false;
    later.differentiate();
    const MatX carried = later.states_of(moved.turn * flow.position_tangents(), moved.turn * flow.velocity_tangents());
    const MatX before = balance_states(carried * a, flow.positions(), rate);
    const MatX after = balance_states(later.matrix(g) * carried, flow.positions(), rate);
    return (after - before).norm() <= stays_same * before.norm() + 1e-12;
}

template <int D>
LinearModel linearise_in(const Simulation& simulation, const LinearOptions& options) {
    const auto& own = dynamic_cast<const MechanismSystem<D>&>(simulation.system());
    const State& state = simulation.state();
    const Mechanism<D>& mechanism = own.mechanism();
    refuse_kinks(mechanism, state);
    // The mechanism lives in the simulation.
    const std::shared_ptr<const Mechanism<D>> shared(simulation.shared_system(), &mechanism);
    const auto system =
        std::dynamic_pointer_cast<const RelativeSystem<D>>(make_system<D>(shared, CoordinateKind::relative));
    BodyStates<D> states;
    own.export_states(state.q, options.at_rest ? VecX::Zero(own.size()) : state.v, states);
    VecX q;
    VecX v;
    system->import_states(states, q, v);
    LinearFlow flow(*system, state.t, q, v, state.memory);
    if (flow.states() > max_states)
        throw ModelError(fmt::format("linear analysis is dense and takes at most {} states; this model has {}",
                                     max_states, flow.states()));
    flow.differentiate();

    LinearModel model;
    model.positions = flow.positions();
    const NamedMotions named = name_motions(*system, flow.q());
    model.motions = named.names;
    model.shapes.resize(named.matrix.rows(), flow.states());
    model.shapes << named.matrix * flow.free_positions(), named.matrix * flow.free_velocities();
    model.inertia = (named.matrix.cwiseAbs2() * system->coordinate_inertia().cwiseInverse()).cwiseInverse().eval();

    const double size = std::max(1.0, flow.a().template lpNorm<Eigen::Infinity>());
    model.is_steady = false;
    for (const MatX& g : list_steady_frames(*system, flow)) {
        const MatX a = flow.matrix(g);
        if (model.a.size() == 0) model.a = a;
        const double unsteadiness = flow.unsteadiness(g);
        if (!(unsteadiness <= (options.at_rest ? settled : steady) * size)) {
            if (model.unsteady.empty())
                model.unsteady = fmt::format(
                    "the motion is not steady: accelerations of up to {:.3g} are left, so the linearisation holds for "
                    "an instant",
                    unsteadiness);
            continue;
        }
        if (!options.at_rest && !is_same_further_on(flow, g, a, find_rate(a, model.positions), 10 * steady * size)) {
            model.unsteady =
                "the motion is not steady: its linearisation changes on the way, so it holds for an instant";
            continue;
        }
        model.a = a;
        model.is_steady = true;
        model.unsteady.clear();
        break;
    }
    return model;
}

// Names that tell free motions apart, the largest share of each first.
std::vector<std::string> name_free_motions(const LinearModel& model, const MatX& zero_space) {
    std::vector<std::string> names;
    const int p = model.positions;
    if (zero_space.cols() == 0 || model.motions.empty()) return names;
    const auto pick = [&](const MatX& parts, const char* form) {
        const MatX weighed = model.inertia.cwiseSqrt().asDiagonal() * parts;
        const Eigen::ColPivHouseholderQR<MatX> qr(weighed.transpose());
        const auto& order = qr.colsPermutation().indices();
        const int most = static_cast<int>(std::min(weighed.rows(), weighed.cols()));
        for (int k = 0; k < most && std::abs(qr.matrixR()(k, k)) > new_motion; ++k)
            names.push_back(fmt::format(fmt::runtime(form), model.motions[order[k]]));
    };
    const MatX moved = zero_space.topRows(p);
    pick(model.shapes.leftCols(p) * moved, "{}");
    return names;
}

ModeShape find_mode_shape(const LinearModel& model, const Eigen::VectorXcd& x) {
    const int p = model.positions;
    const int w = static_cast<int>(x.size()) - p;
    const double of_positions = x.head(p).norm();
    const bool has_positions = p > 0 && of_positions > 1e-9;
    ModeShape result;
    result.shape = has_positions ? Eigen::VectorXcd(model.shapes.leftCols(p) * (x.head(p) / of_positions))
                                 : Eigen::VectorXcd(model.shapes.rightCols(w) * (x.tail(w) / x.tail(w).norm()));
    int largest = 0;
    result.participation = model.inertia.cwiseProduct(result.shape.cwiseAbs2());
    const double sum = result.participation.sum();
    if (sum > 0) {
        result.participation.maxCoeff(&largest);
        result.shape *= std::conj(result.shape[largest]) / std::abs(result.shape[largest]);
        result.participation /= sum;
    }
    return result;
}

std::string describe_value(std::complex<double> value) {
    return value.imag() == 0 ? fmt::format("{:.6g} 1/s", value.real())
                             : fmt::format("{:.6g} +- {:.6g} i 1/s", value.real(), std::abs(value.imag()));
}

void judge(LinearModes& modes, double norm) {
    std::complex<double> last = -std::numeric_limits<double>::infinity();
    for (const std::complex<double>& value : modes.eigen.values)
        if (value != 0.0 && value.real() > last.real()) last = value;
    const bool has_motion = std::isfinite(last.real());
    if (!modes.model.is_steady) {
        modes.verdict = "unsteady";
        modes.reason = modes.model.unsteady;
    } else if (has_motion && last.real() > no_decay * norm) {
        modes.verdict = "unstable";
        modes.reason = fmt::format("{} grows", describe_value(last));
    } else if (has_motion && last.real() < -no_decay * norm) {
        modes.verdict = "stable";
        modes.reason = fmt::format("{} decays most slowly{}", describe_value(last),
                                   modes.eigen.zero_space.cols() > 0 ? "; nothing restores the free motions" : "");
    } else if (has_motion) {
        modes.verdict = "critical";
        modes.reason = fmt::format("{} neither grows nor decays: the linear terms do not decide", describe_value(last));
    } else {
        modes.verdict = "critical";
        modes.reason = modes.eigen.values.size() == 0 ? "nothing is free to move"
                                                      : "there are free motions only, which nothing restores";
    }
}

}  // namespace

LinearModel linearise(const Simulation& simulation, const LinearOptions& options) {
    return in_dimension(simulation.model().planar, [&]<int D> { return linearise_in<D>(simulation, options); });
}

LinearModes find_modes(LinearModel model) {
    LinearModes modes;
    modes.model = std::move(model);
    const LinearModel& m = modes.model;
    const double rate = find_rate(m.a, m.positions);
    const MatX scaled = balance_states(m.a, m.positions, rate);
    modes.eigen = find_eigenvalues(scaled, zero_value);
    const double norm = scaled.norm();
    const int n = static_cast<int>(m.a.rows());
    modes.eigen.vectors.topRows(m.positions) /= rate;
    modes.eigen.zero_space.topRows(m.positions) /= rate;
    modes.frequencies_hz = modes.eigen.values.imag() / (2 * pi);
    modes.damping_ratios.resize(n);
    for (int k = 0; k < n; ++k) {
        const std::complex<double> value = modes.eigen.values[k];
        modes.damping_ratios[k] = value == 0.0 ? NAN : -value.real() / std::abs(value);
        modes.shapes.push_back(find_mode_shape(m, modes.eigen.vectors.col(k)));
    }
    modes.zero = name_free_motions(m, modes.eigen.zero_space * rate);
    judge(modes, norm);
    return modes;
}

}  // namespace limber
