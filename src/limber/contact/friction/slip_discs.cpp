#include "limber/contact/friction/slip_discs.hpp"

#include <algorithm>
#include <cmath>

#include "limber/contact/cones/local_contact.hpp"

namespace limber {
namespace {

constexpr int max_sweeps = 200;
constexpr double force_tolerance = 1e-11;  // of the forces, over the largest
constexpr double inside = 1e-9;            // of its size by which a force is smaller that holds
constexpr double blocked = 1e-9;           // mobility over that along the other direction
constexpr double share_accuracy = 1e-7;    // of forces that just do not bring slip to rest

// One alone. Other contacts may leave a slip one direction only: across it there are rounding errors, which must not
// ask for forces.
Vec<2> find_push(Mat<2> mobility, Vec<2> rate, double size, double still) {
    const PrincipalAxes<2> principal(mobility);
    const double largest = principal.values.maxCoeff();
    for (int k = 0; k < 2; ++k) {
        const Vec<2> axis = principal.axes.col(k);
        const double across = axis.dot(rate);
        if (principal.values[k] > blocked * largest || std::abs(across) > still) continue;
        rate -= across * axis;
        mobility += largest * axis * axis.transpose();
    }
    return solve_disc<2>(mobility, rate, size);
}

// Block Gauss-Seidel. Whether all slip.
bool sweep_discs(const MatX& mobility, const VecX& free, const VecX& sizes, double still, VecX& pushes) {
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        double change = 0;
        for (Eigen::Index j = 0; j < sizes.size(); ++j) {
            const Mat<2> own = mobility.block<2, 2>(2 * j, 2 * j);
            const Vec<2> old = pushes.segment<2>(2 * j);
            const Vec<2> others = free.segment<2>(2 * j) + mobility.middleRows(2 * j, 2) * pushes - own * old;
            pushes.segment<2>(2 * j) = find_push(own, others, sizes[j], still);
            change = std::max(change, (pushes.segment<2>(2 * j) - old).norm());
        }
        if (!(change > force_tolerance * pushes.lpNorm<Eigen::Infinity>())) break;
    }
    for (Eigen::Index j = 0; j < sizes.size(); ++j) {
        const double push = pushes.segment<2>(2 * j).norm();
        if (push > 0 && push < (1 - inside) * sizes[j]) return false;
    }
    return true;
}

}  // namespace

bool solve_slip_discs(const MatX& mobility, const VecX& free, const VecX& sizes, double still, VecX& pushes) {
    const VecX guess = pushes;
    if (sweep_discs(mobility, free, sizes, still, pushes)) return true;
    double low = 0;
    double high = 1;
    pushes = guess;
    while (high - low > share_accuracy) {
        const double share = 0.5 * (low + high);
        VecX trial = guess;
        const bool all_slip = sweep_discs(mobility, free, share * sizes, still, trial);
        (all_slip ? low : high) = share;
        if (all_slip) pushes = trial;
    }
    return false;
}

}  // namespace limber
