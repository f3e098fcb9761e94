#pragma once
// Any stepper with stops: contacts close with an impact, hold without one, and open again, each at its own instant
// within the step.
//
//   step     with the contacts that are closed as ordinary rows (their flags are on)
//   event    first instant at which a gap would become negative, found by steps of other lengths from the same start;
//            or at which a closed contact would have to pull
//   impact   at closed gaps with rates u- < 0:  0 <= P,  u+ = u- + W P,  and by law
//              newton    u+ + e u- >= 0,                 P . (u+ + e u-) = 0
//              poisson   0 <= Pc, u_c >= 0, Pc . u_c = 0;  then  P >= (1 + e) Pc, u+ >= 0, (P - (1 + e) Pc) . u+ = 0
//              in-turn   contact by contact, the fastest first, each by Newton, until none approaches
//            No law may raise the energy; one that would, with different e, is replaced by Newton's with the smallest e
//            for all.
//   holding  of the contacts that do not separate, those hold that have to:  0 <= F,  u' = u'_free + W F >= 0,  F . u'
//            = 0
//
// With friction (dry_friction.hpp) impacts obey Coulomb's law (coulomb_impact.hpp), with Newton's restitution.
//
// And so on for the rest of the step. An infinite sequence of ever smaller bounces ends when the next flight would be,
// or the last one was, shorter than a small part of the step: then e = 0, and contacts that rest stay closed in the
// impact.

#include <limits>
#include <memory>
#include <vector>

#include "limber/contact/contact_options.hpp"
#include "limber/contact/friction/dry_friction.hpp"
#include "limber/contact/stops/complementarity.hpp"
#include "limber/contact/stops/coulomb_impact.hpp"
#include "limber/contact/stops/stop_response.hpp"
#include "limber/dynamics/system/system.hpp"
#include "limber/integration/stepper.hpp"

namespace limber {

template <int D>
class StopStepper final : public Stepper {
public:
    StopStepper(std::unique_ptr<Stepper> inner, std::shared_ptr<const MechanismSystem<D>> system,
                const ContactOptions& options);

    /// Refuses a state in which a stop is violated; contacts that are closed at the start collide or hold.
    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    /// Whether no stop that is open is violated.
    bool is_possible(const State& state);
    const System& system() const override { return *system_; }
    Stepper& inner() { return *inner_; }
    void expect_parts_of(double step) override { inner_->expect_parts_of(step); }
    Perturbation perturbation() const override { return inner_->perturbation(); }
    bool tell(StepListener* listener) override {
        listener_ = listener;
        return true;
    }

private:
    bool is_closed(const State& state, int contact) const { return m_.stops[contact].is_closed(state.memory); }
    bool is_latched(const State& state, int contact) const { return m_.stops[contact].is_latched(state.memory); }
    const std::string& name_of(int contact) const { return m_.elements[m_.stops[contact].element].name; }
    void add_event(StepReport& report, ContactEvent::Kind kind, double t, int contact) const;

    void begin_step(double h);
    void look(const State& state);
    /// Whether something happens in the step of length h from before_ to state; if so state is brought to that instant.
    bool find_event(State& state, double h, StepReport& report);
    /// From before_ by tau; the smallest gap of open contacts, as deep as they have become since before_. NaN: the step
    /// failed.
    double try_step(State& state, double tau, StepReport& report);
    double smallest_gap(const State& state) const;
    /// Where a gap dips below zero and comes back within the step; 0: nowhere.
    double find_dip(const State& state, double h) const;
    bool locate_contact(State& state, double high, StepReport& report);
    bool locate_release(State& state, double high, StepReport& report);
    /// Into list_, with latched contacts both ways.
    void list_contact(const State& state, int contact);
    void find_free_accelerations(const State& state);
    /// Forces at the contacts of list_ and the accelerations they leave. False: there are none.
    bool find_forces(const State& state);
    bool separates(std::size_t place) const;
    /// Whether all closed contacts push.
    bool do_contacts_hold(const State& state);
    /// ... and what sticks or slips goes on doing so.
    bool holds(const State& state) { return do_contacts_hold(state) && friction_.holds(*inner_, response_, state); }

    /// Impact and holding at the instant reached; events are added to the report.
    StepReport settle(State& state, StepReport& report);
    bool hold(State& state, StepReport& report);
    void turn(State& state, StepReport& report, int contact, ContactFlag flag);
    void find_impulses(const VecX& restitution);
    void collide_in_turn(const VecX& restitution);
    /// Relative to rest: half the sum of impulse times rate before and after.
    double energy_gain() const { return 0.5 * impulses_.dot(before_rates_ + after_rates_); }
    void change_velocities(const std::vector<double>& memory, double t, const VecX& restitution);
    /// Contacts at rest that the impact would lift for a moment only, as the corners of a block that rocks itself to
    /// rest, hold both ways in it: they are listed so and flagged in the memory. False: there are none.
    bool hold_hops(std::vector<double>& memory);
    /// Whether its last flight in this step was so short that it belongs to an infinite sequence.
    bool has_hardly_parted(int contact, double t) const;
    bool collide(State& state, StepReport& report);

    /// Since a contact's last impact.
    struct Flight {
        double begin = -std::numeric_limits<double>::infinity();
        double rate = 0;  // of the gap, at its begin
    };

    std::unique_ptr<Stepper> inner_;
    StepListener* listener_ = nullptr;
    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    ContactOptions options_;
    StopResponse<D> response_;
    ComplementaritySolver complementarity_;
    DryFriction<D> friction_;
    CoulombImpact<D> coulomb_impact_;
    double gap_tolerance_, speed_tolerance_;
    double step_ = 0;              // length of the whole step, the measure of what is short
    int impact_count_ = 0;         // within the step
    std::vector<Flight> flights_;  // within the step, of each contact
    State before_, start_;
    BodyStates<D> states_;
    VecX gaps_before_, rates_before_;  // at before_
    std::vector<int> list_;            // contacts under consideration; the vectors below are beside it
    VecX accelerations_, forces_, before_rates_, after_rates_, impulses_, bound_, compression_, touching_;
};

}  // namespace limber
