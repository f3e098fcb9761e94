#include "limber/kinematics/forces/beam_force.hpp"

#include "limber/kinematics/forces/beam_element.hpp"
#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {
namespace {

enum class Stresses { all, without_potential };

template <int D>
using Nodes = std::array<NodeMotion<D, double>, max_beam_nodes>;

template <int D>
Nodes<D> find_nodes(const ForceView<D>& at, int count) {
    Nodes<D> nodes;
    for (int k = 0; k < count; ++k) {
        const int first = k * (D + 1);
        NodeMotion<D, double>& node = nodes[k];
        node.place = at.value(first);
        node.velocity = at.rate(first);
        node.turning.setZero();
        for (int b = 0; b < D; ++b) {
            const Vec<D>& axis = at.value(first + 1 + b);
            const Vec<D>& rate = at.rate(first + 1 + b);
            node.axes.col(b) = axis;
            if constexpr (D == 2) {
                node.turning[0] += 0.5 * (axis.x() * rate.y() - axis.y() * rate.x());
            } else {
                node.turning += 0.5 * axis.cross(rate);
            }
        }
    }
    return nodes;
}

// `prediction`: the values that stresses by stiffness have in place of their own; they change as they do.
template <int D, class T>
void add_all_loads(const BeamForce<D>& beam, const NodeMotion<D, T>* nodes, Stresses which, const double* prediction,
                   NodeLoad<D, T>* loads) {
    BeamElement<D, T> element(beam, nodes);
    using Strain = typename BeamElement<D, T>::Strain;
    for (const BeamPoint<D>& point : beam.points) {
        element.move_to(point);
        Strain stress = Strain::Zero();
        if (which == Stresses::all) {
            const Strain strain = element.strain() - point.unstrained.template cast<T>();
            stress = point.stiffness.template cast<T>() * strain + point.prestress.template cast<T>();
            if (prediction != nullptr)
                for (int i = 0; i < strain_size<D>; ++i) stress[i] += T(*prediction++ - value_of(stress[i]));
        }
        if (beam.has_damping) stress += point.damping.template cast<T>() * element.strain_rate();
        element.add_loads(stress, loads);
    }
}

template <int D>
void put_on_features(const ForceView<D>& at, int node_count, const NodeLoad<D, double>* loads, Vec<D>* out) {
    for (int k = 0; k < node_count; ++k) {
        const int first = k * (D + 1);
        out[first] = loads[k].force;
        Vec3 moment = Vec3::Zero();
        moment.tail<turn_size<D>>() = loads[k].moment;
        const Mat<D> turn = half_turn<D>(moment);
        for (int b = 0; b < D; ++b) out[first + 1 + b] = turn * at.value(first + 1 + b);
    }
}

// 1/2 skew(e): the turn that belongs to a change of an axis.
template <int D>
Eigen::Matrix<double, turn_size<D>, D> turn_of_axis(const Vec<D>& e) {
    if constexpr (D == 2) {
        return 0.5 * Eigen::RowVector2d(-e.y(), e.x());
    } else {
        return 0.5 * skew(e);
    }
}

// Derivatives of all loads by place and turn of the nodes, at rates of the features that stay as they are; or by their
// velocities.
template <int D, int Count>
void add_blocks(const BeamForce<D>& beam, const ForceView<D>& at, bool by_rates, ForceBlocks<D>& blocks) {
    constexpr int per_node = D + turn_size<D>;
    using Number = Dual<Count * per_node>;
    const Nodes<D> plain = find_nodes(at, Count);
    std::array<NodeMotion<D, Number>, Count> nodes;
    for (int k = 0; k < Count; ++k) {
        const NodeMotion<D, double>& here = plain[k];
        NodeMotion<D, Number>& node = nodes[k];
        for (int i = 0; i < D; ++i) {
            node.place[i] = by_rates ? Number(here.place[i]) : Number::variable(here.place[i], k * per_node + i);
            node.velocity[i] =
                by_rates ? Number::variable(here.velocity[i], k * per_node + i) : Number(here.velocity[i]);
            for (int j = 0; j < D; ++j) node.axes(i, j) = Number(here.axes(i, j));
        }
        for (int i = 0; i < turn_size<D>; ++i) node.turning[i] = Number(here.turning[i]);
        for (int turn = 0; turn < turn_size<D>; ++turn) {
            const int partial = k * per_node + D + turn;
            if (by_rates) {
                node.turning[turn].partial[partial] = 1;
                continue;
            }
            if constexpr (D == 2) {
                for (int b = 0; b < D; ++b) {
                    node.axes(0, b).partial[partial] = -here.axes(1, b);
                    node.axes(1, b).partial[partial] = here.axes(0, b);
                }
            } else {
                const Vec3 about = Vec3::Unit(turn);
                for (int b = 0; b < D; ++b) {
                    const Vec3 change = about.cross(Vec3(here.axes.col(b)));
                    for (int i = 0; i < D; ++i) node.axes(i, b).partial[partial] = change[i];
                }
                // omega = 1/2 sum e x e', of which e turns and e' does not.
                const Vec3 change = 0.5 * about.cross(Vec3(here.turning));
                for (int i = 0; i < D; ++i) node.turning[i].partial[partial] = change[i];
            }
        }
    }
    std::array<NodeLoad<D, Number>, Count> loads;
    add_all_loads<D, Number>(beam, nodes.data(), by_rates ? Stresses::without_potential : Stresses::all, at.prediction,
                             loads.data());

    std::vector<Mat<D>>& values = by_rates ? blocks.damping : blocks.stiffness;
    const auto block = [&](int a, int b) -> Mat<D>& { return values[a * blocks.slots + b]; };
    for (int i = 0; i < Count; ++i) {
        // On the axes acts 1/2 M x e.
        std::array<Eigen::Matrix<double, D, turn_size<D>>, D> lever;
        for (int a = 0; a < D; ++a) lever[a] = -turn_of_axis<D>(at.value(i * (D + 1) + 1 + a)).transpose();
        for (int j = 0; j < Count; ++j) {
            Mat<D> force_by_place;
            Eigen::Matrix<double, D, turn_size<D>> force_by_turn;
            Eigen::Matrix<double, turn_size<D>, D> moment_by_place;
            Mat<turn_size<D>> moment_by_turn;
            for (int c = 0; c < D; ++c) {
                for (int r = 0; r < D; ++r) force_by_place(r, c) = loads[i].force[r].partial[j * per_node + c];
                for (int r = 0; r < turn_size<D>; ++r)
                    moment_by_place(r, c) = loads[i].moment[r].partial[j * per_node + c];
            }
            for (int c = 0; c < turn_size<D>; ++c) {
                for (int r = 0; r < D; ++r) force_by_turn(r, c) = loads[i].force[r].partial[j * per_node + D + c];
                for (int r = 0; r < turn_size<D>; ++r)
                    moment_by_turn(r, c) = loads[i].moment[r].partial[j * per_node + D + c];
            }
            const int row = i * (D + 1);
            const int column = j * (D + 1);
            block(row, column) -= force_by_place;
            for (int b = 0; b < D; ++b) {
                const auto turn = turn_of_axis<D>(at.value(column + 1 + b));
                block(row, column + 1 + b) -= force_by_turn * turn;
                for (int a = 0; a < D; ++a) block(row + 1 + a, column + 1 + b) += lever[a] * (moment_by_turn * turn);
            }
            for (int a = 0; a < D; ++a) block(row + 1 + a, column) += lever[a] * moment_by_place;
        }
        if (by_rates) continue;
        Vec3 moment = Vec3::Zero();
        for (int r = 0; r < turn_size<D>; ++r) moment[3 - turn_size<D> + r] = loads[i].moment[r].value;
        for (int a = 0; a < D; ++a) block(i * (D + 1) + 1 + a, i * (D + 1) + 1 + a) -= half_turn<D>(moment);
    }
}

template <int D>
void add_blocks(const BeamForce<D>& beam, const ForceView<D>& at, bool by_rates, ForceBlocks<D>& blocks) {
    switch (beam.node_count) {
        case 2: return add_blocks<D, 2>(beam, at, by_rates, blocks);
        case 3: return add_blocks<D, 3>(beam, at, by_rates, blocks);
        default: return add_blocks<D, 4>(beam, at, by_rates, blocks);
    }
}

}  // namespace

template <int D>
void BeamForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    const Nodes<D> nodes = find_nodes(at, node_count);
    std::array<NodeLoad<D, double>, max_beam_nodes> loads;
    add_all_loads<D, double>(*this, nodes.data(), Stresses::all, at.prediction, loads.data());
    put_on_features(at, node_count, loads.data(), out);
}

template <int D>
void BeamForce<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    std::array<NodeLoad<D, double>, max_beam_nodes> loads;
    const Nodes<D> nodes = find_nodes(at, node_count);
    if (has_damping) add_all_loads<D, double>(*this, nodes.data(), Stresses::without_potential, nullptr, loads.data());
    put_on_features(at, node_count, loads.data(), out);
}

template <int D>
bool BeamForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    add_blocks(*this, at, false, blocks);
    if (has_damping) add_blocks(*this, at, true, blocks);
    return true;
}

template <int D>
StrainVec<D> BeamForce<D>::find_strain(const ForceView<D>& at, const BeamPoint<D>& point) const {
    const Nodes<D> nodes = find_nodes(at, node_count);
    BeamElement<D, double> element(*this, nodes.data());
    element.move_to(point);
    return element.strain() - point.unstrained;
}

template <int D>
StrainVec<D> BeamForce<D>::find_stress(const ForceView<D>& at, const BeamPoint<D>& point) const {
    const Nodes<D> nodes = find_nodes(at, node_count);
    BeamElement<D, double> element(*this, nodes.data());
    element.move_to(point);
    return point.stiffness * (element.strain() - point.unstrained) + point.prestress +
           point.damping * element.strain_rate();
}

template <int D>
void BeamForce<D>::predict(const ForceView<D>& at, double* prediction) const {
    const Nodes<D> nodes = find_nodes(at, node_count);
    BeamElement<D, double> element(*this, nodes.data());
    for (const BeamPoint<D>& point : points) {
        element.move_to(point);
        const StrainVec<D> strain = element.strain() - point.unstrained + element.strain_rate();
        Eigen::Map<StrainVec<D>> stress(prediction);
        stress = point.stiffness * strain + point.prestress;
        prediction += strain_size<D>;
    }
}

template <int D>
double BeamForce<D>::compute_size(const ForceView<D>& at) const {
    double sum = 0;
    double length = 0;
    for (const BeamPoint<D>& point : points) {
        sum += point.length * find_stress(at, point).template head<D>().norm();
        length += point.length;
    }
    return sum / length;
}

template <int D>
double BeamForce<D>::compute_potential(const ForceView<D>& at) const {
    double sum = 0;
    for (const BeamPoint<D>& point : points) {
        const StrainVec<D> strain = find_strain(at, point);
        sum += point.length * (0.5 * strain.dot(point.stiffness * strain) + point.prestress.dot(strain));
    }
    return sum;
}

template struct BeamForce<2>;
template struct BeamForce<3>;

}  // namespace limber
