#include "limber/simulation/start_conditions.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/simulation.hpp"

namespace limber {
namespace {

constexpr int max_solve_steps = 50, max_solve_halvings = 12;
constexpr double solve_tolerance = 1e-9;       // of a parameter, over its size
constexpr double solve_last_tolerance = 1e-6;  // the same, where rounding lets the residual fall no further
constexpr double solve_difference = 1e-6;      // over the size of the parameter

class StartSolver {
public:
    StartSolver(Model model, SimulationOptions options)
        : model_(std::move(model)), options_(std::move(options)), conditions_(std::move(model_.simulation.conditions)) {
        model_.simulation.conditions.clear();
        options_of_equilibrium_ = options_;
        options_of_equilibrium_.from_equilibrium = true;
    }

    Model solve() {
        VecX p = first_guess();
        VecX r;
        try {
            r = find_residual(p);
        } catch (const Interrupted&) {
            throw;
        } catch (const std::runtime_error& error) {
            throw ModelError(fmt::format("{}: with the first guess {:.6g} nothing can be measured: {}", what(0), p[0],
                                         error.what()));
        }
        scale_ = VecX(r.size());
        for (Eigen::Index i = 0; i < r.size(); ++i) {
            scale_[i] = std::max(std::abs(r[i]), std::abs(wanted_[i]));
            if (scale_[i] == 0) scale_[i] = 1;
        }
        for (int k = 0; k < max_solve_steps; ++k) {
            const VecX step = find_step(p, r, k == 0);
            if (!(size_of(step, p) > solve_tolerance)) return with(p);
            if (!go(step, p, r)) {
                if (size_of(step, p) <= solve_last_tolerance) return with(p);
                break;
            }
        }
        fail(p);
    }

private:
    VecX first_guess() const {
        const ModelEvaluation evaluation(model_);
        VecX p(static_cast<Eigen::Index>(conditions_.size()));
        for (Eigen::Index j = 0; j < p.size(); ++j) p[j] = evaluation.number(Number(name_of(j)), what(j));
        return p;
    }
    const std::string& name_of(Eigen::Index j) const { return conditions_[static_cast<std::size_t>(j)].name; }
    std::string what(Eigen::Index j) const { return fmt::format("solve '{}'", name_of(j)); }

    Model with(const VecX& p) const {
        Model model = model_;
        for (Eigen::Index j = 0; j < p.size(); ++j) model.parameters.set(name_of(j), Number(p[j]));
        model.simulation.conditions = conditions_;
        return model;
    }

    /// Also the wanted values, which may depend on parameters.
    VecX find_residual(const VecX& p) {
        Model model = with(p);
        model.simulation.conditions.clear();
        std::unique_ptr<Simulation> started, balanced;
        const auto simulation = [&](StartPose at) -> Simulation& {
            const bool is_balanced = at == StartPose::equilibrium;
            auto& made = is_balanced ? balanced : started;
            if (!made) made = std::make_unique<Simulation>(model, is_balanced ? options_of_equilibrium_ : options_);
            return *made;
        };
        const ModelEvaluation evaluation(model);
        wanted_.resize(p.size());
        VecX r(p.size());
        for (Eigen::Index i = 0; i < p.size(); ++i) {
            const StartCondition& condition = conditions_[static_cast<std::size_t>(i)];
            wanted_[i] = evaluation.number(condition.equals, what(i));
            r[i] = simulation(condition.at).value(condition.sensor) - wanted_[i];
            if (!std::isfinite(r[i])) throw ModelError(fmt::format("{}: '{}' is no number", what(i), condition.sensor));
        }
        return r;
    }

    static double difference(double p) { return solve_difference * (p == 0 ? 1 : std::abs(p)); }

    VecX find_step(const VecX& p, const VecX& r, bool is_first) {
        const Eigen::Index n = p.size();
        MatX slope(n, n);
        for (Eigen::Index j = 0; j < n; ++j) {
            VecX q = p;
            q[j] += difference(p[j]);
            slope.col(j) = (find_residual(q) - r).cwiseQuotient(scale_) / (q[j] - p[j]);
            // Less than rounding makes of it is nothing.
            if (slope.col(j).lpNorm<Eigen::Infinity>() * std::abs(q[j]) > 1e-9) continue;
            if (!is_first) fail(p);  // it has run away
            throw ModelError(
                fmt::format("{}: the parameter has no effect on {} where it is {:.6g}", what(j), sensors(), p[j]));
        }
        const Eigen::ColPivHouseholderQR<MatX> factors(slope);
        if (factors.rank() < n)
            throw ModelError(fmt::format("{}: the conditions do not determine the parameters: all change {} alike",
                                         what(0), sensors()));
        return factors.solve(-r.cwiseQuotient(scale_));
    }

    double size_of(const VecX& step, const VecX& p) const {
        double most = 0;
        for (Eigen::Index j = 0; j < p.size(); ++j)
            most = std::max(most, std::abs(step[j]) / (p[j] == 0 ? 1 : std::abs(p[j])));
        return most;
    }

    /// As far along the step as it comes nearer. False: it does not.
    bool go(const VecX& step, VecX& p, VecX& r) {
        const double before = r.cwiseQuotient(scale_).norm();
        double part = 1;
        for (int k = 0; k < max_solve_halvings; ++k, part /= 2) {
            const VecX q = p + part * step;
            VecX there;
            try {
                there = find_residual(q);
            } catch (const Interrupted&) {
                throw;
            } catch (const std::runtime_error& error) {
                why_not_ = error.what();  // a mass or stiffness that cannot be, no equilibrium
                continue;
            }
            if (!(there.cwiseQuotient(scale_).norm() < before)) continue;
            p = q;
            r = there;
            return true;
        }
        return false;
    }

    std::string sensors() const {
        std::vector<std::string> names;
        for (const StartCondition& condition : conditions_) names.push_back("'" + condition.sensor + "'");
        return fmt::format("{}", fmt::join(names, ", "));
    }

    [[noreturn]] void fail(const VecX& p) {
        const VecX r = find_residual(p);
        Eigen::Index worst = 0;
        r.cwiseQuotient(scale_).cwiseAbs().maxCoeff(&worst);
        const StartCondition& condition = conditions_[static_cast<std::size_t>(worst)];
        std::vector<std::string> reached;
        for (Eigen::Index j = 0; j < p.size(); ++j) reached.push_back(fmt::format("{} = {:.6g}", name_of(j), p[j]));
        throw ModelError(fmt::format(
            "{}: no value was found for which '{}' is {:.6g}: nearest is {:.6g}, with {}; another first guess in "
            "'parameters' may lead there{}{}",
            what(worst), condition.sensor, wanted_[worst], wanted_[worst] + r[worst], fmt::join(reached, ", "),
            why_not_.empty() ? "" : "; beyond: ", why_not_));
    }

    Model model_;
    SimulationOptions options_, options_of_equilibrium_;
    std::vector<StartCondition> conditions_;
    VecX wanted_, scale_;
    std::string why_not_;
};

}  // namespace

Model solve_start_conditions(Model model, const SimulationOptions& options) {
    if (model.simulation.conditions.empty()) return model;
    return StartSolver(std::move(model), options).solve();
}

std::vector<std::string> describe_start_conditions(const Model& model) {
    std::vector<std::string> lines;
    const ModelEvaluation evaluation(model);
    for (const StartCondition& condition : model.simulation.conditions)
        lines.push_back(fmt::format("{} = {:.9g}: {} is {:.9g} {}", condition.name,
                                    evaluation.number(Number(condition.name), condition.name), condition.sensor,
                                    evaluation.number(condition.equals, condition.name),
                                    condition.at == StartPose::equilibrium ? "in equilibrium" : "at the start"));
    return lines;
}

}  // namespace limber
