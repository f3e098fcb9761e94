#pragma once
// Time-stepping for rigid bodies that touch (Moreau 1988, Jean 1999), in body space: one complementarity problem per
// step and island of bodies that touch each other, no search for the instants of impacts.
//
//   v_f = v + h M^-1 f                  without contacts; turning by the implicit midpoint rule in body axes, which
//                                       keeps the energy
//   v'  = v_f + M^-1 (G^T lambda + J^T p)
//              forces on bodies without mass, or about axes without inertia, act through the joints that hold them
//   joints     G (v + v')/2 + Phi_t = 0, G in the middle of the step, so that they do no work
//   contacts   0 <= p_n  complementary to  u_n + gap/h >= 0:  a gap may close within the step, not more; where it
//              would, Newton's restitution asks for u_n' + e u_n >= 0 instead; friction as in cone_complementarity.hpp,
//              with the static coefficient where the contact did not slide at the end of the step before, until it does
//   positions  by h v' for bodies of islands in which there are impulses, by h (v + v')/2 for all others
//   again      gaps of edges and corners, and of what turns, are not linear in the velocities: contacts that overlap
//              deeply at the end are added, with the gaps from which those velocities would have led there, and the
//              step is repeated
//
// For bodies under constant forces the energy then changes by  p.u' - 1/2 |v' - v|_M^2  in contact and not at all in
// flight (v with what turning freely makes of it): it cannot grow with e = 0, and with e > 0 restitution is reduced
// where it would. What rounding and turning leave of overlaps is taken back by moving bodies apart without giving them
// speed. That may lift them. In the motion itself, which is curved, the same work is done by what turns; so it is taken
// from what the step loses anyway, then from the energy of their turning, and bodies are lifted by no more than these
// two cover. Overlaps that are there at the start are given, and bodies that joints hold have no turning of their own:
// these are parted as they are. First order where contacts act, second order elsewhere.

#include <memory>
#include <vector>

#include "limber/contact/time_stepping/collision_world.hpp"
#include "limber/contact/time_stepping/contact_problem.hpp"
#include "limber/contact/time_stepping/overlap_parting.hpp"
#include "limber/integration/stepper.hpp"

namespace limber {

template <int D>
class MoreauJean final : public Stepper {
public:
    explicit MoreauJean(std::shared_ptr<const MechanismSystem<D>> system);

    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return *system_; }

private:
    static constexpr int T = twist_size<D>;
    static constexpr int A = angular_size<D>;

    void find_free_velocities(const State& state, double h);
    AngularVec<D> turn_freely(int body, const AngularVec<D>& torque, double h) const;
    void turn(int body, double h);
    void take_guess(const State& state, double h);
    /// Static coefficients where nothing slides.
    void choose_coefficients();
    bool solve_contacts(bool is_given, double h, StepReport& report);
    ConeReport solve_with_lift(int island, const DelassusMatrix& delassus, double h);
    ConeReport solve_with_friction(int island, const DelassusMatrix& delassus, double h);
    double slow_down(int island, double energy, double h);
    void take_back(int island, double gain, double h);
    ConeReport solve_island(int island, const DelassusMatrix& delassus, double h);
    void find_velocities(double h);
    double compute_allowance(int island, double h) const;
    double compute_lost_energy(int island, double h) const;
    /// Of the impulses of drivers in this step.
    double compute_driver_work();
    /// Contacts that slide under their static coefficient, by more than the solver's defect, get the kinetic one.
    /// False: there are none.
    bool let_go(int island, double defect);
    double slip_speed(int contact, const VecX& velocities);
    std::string describe_failure(const Contact& worst, double defect) const;
    bool has_impulses(int island) const;
    void move_bodies(double h);
    /// Where a point of a body at the end of the step was at its start.
    Vec3 find_origin(int body, const Vec3& point) const;
    /// Of a point of a body by the last move, to first order.
    Vec3 compute_way(int body, const Vec3& origin) const;
    /// Contacts that overlap deeply at the end of the step, for another trial. False: there are none.
    bool add_deep_contacts(double h);
    void keep_contacts(State& state, double h) const;
    void keep_account(State& state, double h, double driver_work) const;
    void keep_stops(State& state) const;
    /// At the front of contacts_.
    void add_stops(const State& state);

    /// What the solver is given of one island, row by row.
    struct Island {
        std::vector<ConeBlock> blocks;
        VecX before, working, free, bias, impulse, velocity;
    };

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    SteppedStops<D> stops_;
    JointProjector<D> joints_;
    CollisionWorld<D> world_;
    ContactProblem<D> problem_;
    OverlapParting<D> parting_;
    ConeSolver solver_;
    BodyStates<D> states_, middle_, next_, start_;
    FeatureState<D> features_;
    std::vector<Vec<D>> slot_force_;
    std::vector<Contact> contacts_, foreseen_, deep_;
    Island island_;
    std::vector<bool> feels_contact_;
    std::vector<bool> is_new_, slides_;  // beside contacts_
    double slip_tolerance_;
    std::vector<double> gained_;      // by each island, of what the solver has left
    double lost_ = 0, residual_ = 0;  // of this step: energy, and a velocity by which conditions are missed
    VecX wrench_, moved_, target_;
    VecX light_, passed_on_;  // impulses of forces on what has no inertia, and the twists that joints make of them
    bool has_light_ = false;
    VecX unjoined_, mean_,
        rows_;  // velocities without joints and contacts; mean ones of the step, and what contacts see of them
    VecX before_, coasting_,
        after_;  // velocities at the start; without forces and impulses, what turns freely; at the end
    struct {
        VecX before, coasting, after;
    } given_;  // before rotation gives the energy of lifts, and without impulses
    VecX u_before_, u_working_, u_free_, impulse_, velocity_, momenta_;
};

}  // namespace limber
