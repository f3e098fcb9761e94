#pragma once
// Painleve's paradox: slip for which no contact forces exist, or more than one.
//
// With the forces N of the contacts that are closed, some of which slip along d_j with friction mu_j N_j,
//
//   u' = u'_free + A N >= 0,   N >= 0,   N . u' = 0,   A_ij = W(n_i, n_j) - mu_j W(n_i, t_j) . d_j
//
// has exactly one solution for all forces that may act, if and only if all principal minors of A are positive.

#include "limber/contact/stops/stop_response.hpp"
#include "limber/dynamics/system/state.hpp"

namespace limber {

/// Of the contacts that are closed and slip according to the memory of the state, at the states given; what sticks
/// holds like a joint. Leaves `response` prepared for them.
template <int D>
bool is_paradox(const Mechanism<D>& mechanism, StopResponse<D>& response, const BodyStates<D>& states,
                const State& state);

}  // namespace limber
