#pragma once
// Motions without inertia: twists x of the bodies that the joints allow, G x = 0, and that no mass resists, M x = 0.
//
// Where there are none, accelerations follow from forces and joints, however many bodies have no mass: a massless rod
// in a loop, a point mass on a massless rod. Where there are some, the forces on them must balance at every instant.
// What determines them then is how the forces change:
//
//   by dampers    C x = forces: the places at the start are as given, the velocities follow
//   by springs    the places follow from the balance of forces, the velocities from its change in time
//   by nothing    the model means no definite motion
//
// Turns that nothing sees (see idle_turns.hpp) do not count. Nor do motions that lose their inertia, or are allowed,
// only in a singular position.

#include <string>
#include <vector>

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/kinematics/mechanism/idle_turns.hpp"

namespace limber {

template <int D>
class InertialessMotions {
public:
    /// Finds them at a configuration that satisfies the constraints. Cheap if all bodies have mass and inertia.
    InertialessMotions(const Mechanism<D>& mechanism, const BodyStates<D>& states, const std::vector<double>& memory,
                       double t);

    bool empty() const { return count_ == 0; }
    /// Bodies that take part.
    const std::vector<int>& bodies() const { return bodies_; }

    /// Moves the bodies concerned to where the forces on them balance; all others stay. Throws ModelError with the name
    /// of a body whose motion nothing determines.
    void balance(BodyStates<D>& states, std::vector<double>& memory, double t);
    /// Gives the motions the velocities that keep the balance.
    void balance_velocities(BodyStates<D>& states, const std::vector<double>& memory, double t);

private:
    static constexpr int T = twist_size<D>;
    static constexpr int A = angular_size<D>;

    /// A body with directions of its twist that have no inertia, in their columns.
    struct LightBody {
        int body = -1;
        int first_column = 0, column_count = 0;
        int cluster = 0;  ///< of light bodies that rows connect
    };
    void find_light_bodies(const BodyStates<D>& states);
    void find_clusters();
    /// Orthonormal basis in units of lengths, columns of it for all bodies.
    MatX find_basis(const BodyStates<D>& states, const std::vector<double>& memory, double t);
    /// Of one body by itself: turns that move nothing that any element holds on to.
    MatX find_unseen(const LightBody& light, const BodyStates<D>& states, const std::vector<int>& rows) const;
    MatX find_cluster_basis(const std::vector<int>& members, const std::vector<int>& rows,
                            const std::vector<int>& place, const BodyStates<D>& states) const;
    MatX light_columns(const LightBody& light, const BodyStates<D>& states) const;

    /// Forces along the motions, as seen from a basis near by.
    VecX find_forces(const MatX& basis, const BodyStates<D>& states, const std::vector<double>& memory, double t);
    /// Change of these forces by a unit motion along each column, with the sign turned.
    MatX find_stiffness(const MatX& basis, const BodyStates<D>& states, const std::vector<double>& memory, double t);
    MatX find_damping(const MatX& basis, const BodyStates<D>& states, const std::vector<double>& memory, double t);
    /// The part of a basis that no damper resists.
    MatX find_undamped(const MatX& basis, const MatX& damping) const;
    void displace(BodyStates<D>& states, const VecX& twists, double factor) const;
    /// Light bodies alone, back onto the constraints.
    void close_gaps(BodyStates<D>& states, std::vector<double>& memory, double t);
    bool try_step(const MatX& basis, const VecX& step, BodyStates<D>& states, std::vector<double>& memory, double t,
                  double& size);
    void refuse_undetermined(const MatX& basis, const BodyStates<D>& states, const std::vector<double>& memory,
                             double t);
    std::string name_of(const VecX& motion) const;

    const Mechanism<D>& m_;
    TwistConstraints<D> rows_;
    std::vector<BodyTies<D>> force_ties_;
    std::vector<std::vector<int>> point_features_;  // of each body, used by rows
    std::vector<int> element_count_;
    std::vector<LightBody> light_;
    int clusters_ = 0;
    std::vector<int> bodies_;
    int count_ = 0;
    double load_ = 0;  // size of the forces on light bodies, at the last evaluation
    std::vector<Vec<D>> slot_force_;
};

}  // namespace limber
