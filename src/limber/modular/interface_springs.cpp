#include "limber/modular/interface_springs.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "limber/kinematics/mechanism/part.hpp"

namespace limber {

template <int D>
InterfaceSprings<D>::InterfaceSprings(const Mechanism<D>& mechanism) : mechanism_(mechanism) {
    const ForceSet<D>& forces = mechanism.forces;
    blocks_.reserve(forces.max_slots());
    for (std::size_t f = 0; f < forces.elements.size(); ++f) {
        const std::vector<int> ports = bodies_of_force(mechanism, static_cast<int>(f));
        if (ports.empty()) continue;
        const auto count = static_cast<Eigen::Index>(ports.size());
        VecX unit = VecX::Ones(count * twist_size<D>);
        for (Eigen::Index p = 0; p < count; ++p)
            unit.template segment<angular_size<D>>(p * twist_size<D> + D).setConstant(mechanism.length_scale);
        resistances_.push_back({static_cast<int>(f), ports, std::move(unit), {}, {}});
        // What all ports do together no force resists; one port moves against the ground.
        const int rows = twist_size<D> * std::max(1, static_cast<int>(ports.size()) - 1);
        for (int r = 0; r < rows; ++r) {
            entry_port_.insert(entry_port_.end(), ports.begin(), ports.end());
            row_start_.push_back(static_cast<int>(entry_port_.size()));
        }
        first_row_.push_back(row_count());
    }
    wrench_.assign(entry_port_.size(), TwistVec<D>::Zero());
}

template <int D>
void InterfaceSprings<D>::update(const BodyStates<D>& ports, const FeatureState<D>& features,
                                 const std::vector<double>& memory, double t, double position, double velocity) {
    constexpr int T = twist_size<D>;
    const ForceSet<D>& forces = mechanism_.forces;
    const MeasureContext<D> context{features, memory, mechanism_.curves};
    for (std::size_t i = 0; i < resistances_.size(); ++i) {
        Resistance& resistance = resistances_[i];
        const auto size = static_cast<Eigen::Index>(resistance.ports.size()) * T;
        resistance.matrix.setZero(size, size);
        if (forces.compute_blocks(resistance.force, mechanism_.constraints.measures, context, t, blocks_)) {
            // Wrenches of unit forces on a slot, as columns: also how its feature moves with its port.
            using SlotWrenches = Eigen::Matrix<double, T, D>;
            const int first_slot = forces.elements[resistance.force].first_slot;
            const auto place_of = [&](int slot, SlotWrenches& wrenches) -> Eigen::Index {
                const int f = forces.slot_feature[first_slot + slot];
                const int body = mechanism_.features[f].body;
                if (body < 0) return -1;
                for (int k = 0; k < D; ++k) {
                    TwistVec<D> wrench = TwistVec<D>::Zero();
                    add_wrench(mechanism_.features[f], features.value[f], ports[body].position, Vec<D>(Vec<D>::Unit(k)),
                               wrench);
                    wrenches.col(k) = wrench;
                }
                return T *
                       (std::find(resistance.ports.begin(), resistance.ports.end(), body) - resistance.ports.begin());
            };
            SlotWrenches left, right;
            for (int a = 0; a < blocks_.slots; ++a) {
                const Eigen::Index row = place_of(a, left);
                for (int b = 0; b < blocks_.slots && row >= 0; ++b) {
                    const Eigen::Index column = place_of(b, right);
                    if (column < 0) continue;
                    resistance.matrix.template block<T, T>(row, column) +=
                        left * (position * blocks_.k(a, b) + velocity * blocks_.c(a, b)) * right.transpose();
                }
            }
        }
        update_force(resistance, first_row_[i]);
    }
}

// B = L L^T, turns counted as lengths, largest resistances first.
template <int D>
void InterfaceSprings<D>::update_force(Resistance& resistance, int first_row) {
    constexpr int T = twist_size<D>;
    const VecX& unit = resistance.unit;
    MatX& comparable = resistance.comparable;
    const auto count = static_cast<Eigen::Index>(resistance.ports.size());
    comparable = 0.5 * (resistance.matrix + resistance.matrix.transpose());
    for (Eigen::Index i = 0; i < unit.size(); ++i)
        for (Eigen::Index j = 0; j < unit.size(); ++j) comparable(i, j) /= unit[i] * unit[j];
    const auto write_rows = [&](const auto& eigen) {
        const int rows = T * std::max(1, static_cast<int>(count) - 1);
        for (int r = 0; r < rows; ++r) {
            const Eigen::Index mode = count * T - 1 - r;
            const double size = std::sqrt(std::max(eigen.eigenvalues()[mode], 0.0) * compliance());
            for (Eigen::Index p = 0; p < count; ++p)
                for (int k = 0; k < T; ++k)
                    wrench_[row_start_[first_row + r] + p][k] =
                        size * unit[p * T + k] * eigen.eigenvectors()(p * T + k, mode);
        }
    };
    // Nearly all forces act between two bodies: these need no memory from the heap.
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 2 * T, 2 * T>;
    if (count <= 2) {
        write_rows(Eigen::SelfAdjointEigenSolver<Small>(Small(comparable)));
    } else {
        write_rows(Eigen::SelfAdjointEigenSolver<MatX>(comparable));
    }
}

template class InterfaceSprings<2>;
template class InterfaceSprings<3>;

}  // namespace limber
