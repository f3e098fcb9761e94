#pragma once
// How the multipliers of the interface are found. A method turns the residual of the rows (as accelerations) at some
// multipliers into a correction of these; all it can do beside is to ask for products with the admittance, each one
// more evaluation of the components.
//
//   uzawa               correction = -rho_j R                             (Joli 2008 eq. 27), rho per joint
//   conjugate-gradient  K correction = -R with products of the components, scaled by the inverse of the whole measured
//   K anderson            -P R with P the inverse blocks; past pairs of multipliers and P R choose the best combination
//   direct              the same with P the inverse of the whole measured K

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "limber/modular/admittance.hpp"
#include "limber/modular/options.hpp"

namespace limber {

/// result = K x, by evaluations of the components.
using AdmittanceProduct = std::function<void(const VecX& x, VecX& result)>;

class GluingMethod {
public:
    virtual ~GluingMethod() = default;
    virtual void start(Admittance& /*admittance*/) {}
    /// Fills the correction and returns how many products it took.
    virtual int correct(Admittance& admittance, const AdmittanceProduct& product, const VecX& multipliers,
                        const VecX& residual, VecX& correction) = 0;
    /// Whether it uses the whole measured matrix, which then must be fresh enough.
    virtual bool uses_whole_matrix() const { return false; }
    /// Whether a correction takes evaluations of its own, so that one should first know that it is needed.
    virtual bool asks() const { return false; }
    /// Whether it starts from the multipliers of the steps before, or from zero.
    virtual bool starts_warm() const { return true; }
};

/// rho: steps of uzawa, row by row; 0: by the inertia that the row meets.
std::unique_ptr<GluingMethod> make_gluing_method(const ModularOptions& options, VecX rho);
/// Conjugate gradients scaled by the measured block of each joint.
std::unique_ptr<GluingMethod> make_block_gradient_gluing();

/// Names for files and the command line, in the order of Gluing and Coupling.
const std::vector<std::string>& gluing_names();
const std::vector<std::string>& coupling_names();

}  // namespace limber
