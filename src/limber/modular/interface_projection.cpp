#include "limber/modular/interface_projection.hpp"

#include <limits>

namespace limber {
namespace {

constexpr int max_projections = 12;
// Part of the error that a projection may leave, unless the matrix is of another configuration.
constexpr double projection_falls_enough = 0.5;

}  // namespace

template <int D>
InterfaceProjection<D>::InterfaceProjection(ComponentTeam<D>& team, InterfaceMatrix<D>& matrix)
    : team_(team),
      matrix_(matrix),
      method_(make_block_gradient_gluing()),
      still_(static_cast<std::size_t>(team.port_count()), TwistVec<D>::Zero()),
      wrenches_(still_) {}

template <int D>
void InterfaceProjection<D>::connect(InterfaceJoints<D>& joints, bool use_whole_matrix) {
    joints_ = &joints;
    use_whole_matrix_ = use_whole_matrix;
    rows_ = correction_ = impulses_ = VecX::Zero(joints.row_count());
}

template <int D>
bool InterfaceProjection<D>::project(InterfaceStep<D>& step, bool velocities) {
    double before = std::numeric_limits<double>::infinity();
    bool is_fresh = step.report.unit_wrenches > 0;
    if (!matrix_.has_equal_reach() && matrix_.is_of_end()) matrix_.assemble(false);
    for (int pass = 0; pass < max_projections; ++pass) {
        joints_->update(step.motion, step.t + step.h);
        rows_ = velocities ? joints_->rate : joints_->acceleration;
        double size = 0;
        for (const int p : team_.exchange().own_ports()) {
            const PortMotion<D>& port = step.motion[p];
            size = std::max(size, velocities ? std::max(largest_entry(port.state.velocity),
                                                        largest_entry(port.state.angular_velocity))
                                             : largest_entry(port.rate));
        }
        team_.exchange().share_rows(rows_, {&size, 1});
        const double error = largest_entry(rows_);
        if (!(error > 1e-12 * size)) break;
        if (error > projection_falls_enough * before) {
            // An admittance of another configuration, unless it is from here: then this is all that rounding allows.
            if (is_fresh) break;
            step.report.unit_wrenches = matrix_.measure();
            if (!matrix_.has_equal_reach()) matrix_.assemble(false);
            is_fresh = true;
        }
        before = error;
        wrenches_.assign(wrenches_.size(), TwistVec<D>::Zero());
        if (use_whole_matrix_) {
            matrix_.solve(rows_, still_, correction_, wrenches_);
        } else {
            step.report.products +=
                method_->correct(matrix_.admittance(), matrix_.product(), step.multipliers, rows_, correction_);
        }
        joints_->add_wrenches(correction_, wrenches_);
        team_.for_all([&](int k) {
            if (velocities) {
                team_[k].push_velocities(team_.part(wrenches_, k), team_.part(step.motion, k));
            } else {
                team_[k].push_accelerations(team_.part(wrenches_, k), team_.part(step.motion, k));
            }
        });
        team_.exchange().share_near(step.motion);
        for (std::size_t p = 0; p < wrenches_.size() && !velocities; ++p) step.settled[p] += wrenches_[p];
        if (velocities) impulses_ += correction_;
        ++step.report.products;
    }
    return rows_.allFinite();
}

template class InterfaceProjection<2>;
template class InterfaceProjection<3>;

}  // namespace limber
