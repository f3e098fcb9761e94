#pragma once
// Moves velocities, then accelerations, of the ends of a step onto the joints between components, by the response of
// these to impulses and forces of the joints. With equal steps the end is then that of the undivided mechanism.

#include <memory>

#include "limber/modular/gluing.hpp"
#include "limber/modular/interface_matrix.hpp"
#include "limber/modular/interface_step.hpp"

namespace limber {

template <int D>
class InterfaceProjection {
public:
    /// Team and matrix must outlive it.
    InterfaceProjection(ComponentTeam<D>& team, InterfaceMatrix<D>& matrix);
    /// Other joints, which must outlive it, and whether all of their matrix is to be used.
    void connect(InterfaceJoints<D>& joints, bool use_whole_matrix);
    /// False: the motion is no longer finite.
    bool project_velocities(InterfaceStep<D>& step) { return project(step, true); }
    bool project_accelerations(InterfaceStep<D>& step) { return project(step, false); }
    /// Of the rows, summed over all projections of velocities since they were cleared.
    const VecX& impulses() const { return impulses_; }
    void clear_impulses() { impulses_.setZero(); }

private:
    bool project(InterfaceStep<D>& step, bool velocities);

    ComponentTeam<D>& team_;
    InterfaceMatrix<D>& matrix_;
    InterfaceJoints<D>* joints_ = nullptr;
    bool use_whole_matrix_ = false;
    std::unique_ptr<GluingMethod> method_;
    VecX rows_, correction_, impulses_;
    std::vector<TwistVec<D>> still_, wrenches_;  // of ports that do nothing by themselves; of a correction
};

}  // namespace limber
