#include "limber/kinematics/forces/user_force.hpp"

namespace limber {
namespace {

constexpr int in_space_size = 3;

}  // namespace

template <int D>
template <class T, class MakeNumber>
void UserForce<D>::act(const ForceView<D>& at, const MakeNumber& number,
                       std::array<Vector3<T>, 2 * (D + 1)>& out) const {
    const auto vector = [&](int slot, bool is_rate) {
        Vector3<T> v = Vector3<T>::Zero();
        for (int k = 0; k < D; ++k) v[k] = number(slot, k, is_rate, is_rate ? at.rate(slot)[k] : at.value(slot)[k]);
        return v;
    };
    std::array<MarkerMotion<T>, 2> motion;
    std::array<MarkerLoad<T>, 2> load;
    for (int m = 0; m < 2; ++m) {
        const int first = m * (D + 1);
        motion[m].position = vector(first, false);
        motion[m].velocity = vector(first, true);
        for (int k = 0; k < D; ++k) {
            motion[m].axes.col(k) = vector(first + 1 + k, false);
            motion[m].angular_velocity +=
                T(0.5) * Vector3<T>(Vector3<T>(motion[m].axes.col(k)).cross(vector(first + 1 + k, true)));
        }
    }
    law->act(motion[0], motion[1], at.t, load[0], load[1]);
    for (int m = 0; m < 2; ++m) {
        const int first = m * (D + 1);
        out[first] = load[m].force;
        if (D == 2) load[m].torque.template head<2>().setZero();
        for (int k = 0; k < D; ++k)
            out[first + 1 + k] = T(0.5) * load[m].torque.cross(Vector3<T>(motion[m].axes.col(k)));
    }
}

template <int D>
void UserForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    std::array<Vector3<double>, 2 * (D + 1)> forces;
    act<double>(
        at, [](int, int, bool, double value) { return value; }, forces);
    for (int k = 0; k < at.slot_count; ++k) out[k] = forces[k].template head<D>();
}

template <int D>
double UserForce<D>::compute_size(const ForceView<D>& at) const {
    std::array<Vector3<double>, 2 * (D + 1)> forces;
    act<double>(
        at, [](int, int, bool, double value) { return value; }, forces);
    return forces[D + 1].norm();
}

template <int D>
bool UserForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    std::array<Vector3<ForceDual>, 2 * (D + 1)> forces;
    for (int b = 0; b < at.slot_count; ++b) {
        act<ForceDual>(
            at,
            [b](int slot, int component, bool is_rate, double value) {
                return slot == b ? ForceDual::variable(value, component + (is_rate ? in_space_size : 0))
                                 : ForceDual(value);
            },
            forces);
        for (int a = 0; a < at.slot_count; ++a)
            for (int i = 0; i < D; ++i)
                for (int j = 0; j < D; ++j) {
                    blocks.k(a, b)(i, j) = -forces[a][i].partial[j];
                    blocks.c(a, b)(i, j) = -forces[a][i].partial[in_space_size + j];
                }
    }
    return true;
}

template struct UserForce<2>;
template struct UserForce<3>;

}  // namespace limber
