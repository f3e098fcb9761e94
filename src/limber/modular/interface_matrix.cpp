#include "limber/modular/interface_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace limber {

template <int D>
InterfaceMatrix<D>::InterfaceMatrix(ComponentTeam<D>& team) : team_(team), spring_exchange_(team.exchange()) {
    reaches_.resize(static_cast<std::size_t>(team.count()));
    component_measures_.resize(static_cast<std::size_t>(team.count()));
    probe_.assign(static_cast<std::size_t>(team.port_count()), TwistVec<D>::Zero());
    responses_ = probe_;
}

template <int D>
void InterfaceMatrix<D>::connect(InterfaceJoints<D>& joints, bool with_springs) {
    joints_ = &joints;
    const int rows = joints.row_count();
    std::vector<int> box_of_port(static_cast<std::size_t>(team_.port_count()), 0);
    for (int k = 0; k < team_.count(); ++k)
        for (int p = 0; p < team_.port_count(k); ++p) box_of_port[team_.first_port(k) + p] = k;
    spring_rows_ = with_springs ? joints.springs().row_count() : 0;
    box_rows_.assign(static_cast<std::size_t>(team_.count()), {});
    for (int r = 0; r < rows + spring_rows_; ++r)
        for_entries(r, [&](int port, const TwistVec<D>&) {
            std::vector<int>& list = box_rows_[box_of_port[port]];
            if (list.empty() || list.back() != r) list.push_back(r);
        });
    std::vector<int> first_row;
    for (const auto& element : joints.mechanism().elements) first_row.push_back(element.first_row);
    first_row.push_back(rows);
    if (spring_rows_ > 0)
        for (const int first : joints.springs().first_rows())
            if (first > 0) first_row.push_back(rows + first);
    admittance_ = std::make_unique<Admittance>(rows + spring_rows_, box_rows_, first_row);
    unknown_ = product_ = VecX::Zero(rows + spring_rows_);
    spring_changes_ = VecX::Zero(spring_rows_);
    is_old_ = true;
    first_measure_ = {0};
    for (const auto& list : box_rows_) {
        const int size = static_cast<int>(list.size());
        first_measure_.push_back(first_measure_.back() + size * (size + 1) / 2);
    }
    measures_.resize(static_cast<std::size_t>(first_measure_.back()));
    connect_springs();
}

template <int D>
void InterfaceMatrix<D>::connect_springs() {
    spring_exchange_ = team_.exchange();
    std::vector<Bond> bonds;
    const std::vector<int>& first_rows = joints_->springs().first_rows();
    for (std::size_t i = 0; i + 1 < first_rows.size() && spring_rows_ > 0; ++i)
        bonds.push_back({joints_->springs().ports(static_cast<int>(i)), first_rows[i + 1] - first_rows[i]});
    spring_exchange_.connect(bonds);
}

template <int D>
template <class Act>
void InterfaceMatrix<D>::for_entries(int row, const Act& act) const {
    const auto visit = [&](const auto& rows, int r) {
        const auto [first, last] = rows.entries(r);
        for (int e = first; e < last; ++e) act(rows.entry_port(e), rows.entry_wrench(e));
    };
    const int joint_rows = joints_->row_count();
    if (row < joint_rows) {
        visit(*joints_, row);
    } else {
        visit(joints_->springs(), row - joint_rows);
    }
}

template <int D>
void InterfaceMatrix<D>::begin(double h, double distance, const std::vector<Reach>& reaches) {
    h_ = h;
    distance_ = distance;
    reaches_ = reaches;
    reach_ = {0, 0};
    for (const Reach& reach : reaches_) {
        reach_.position += reach.position / team_.count();
        reach_.velocity += reach.velocity / team_.count();
    }
    has_equal_reach_ = std::all_of(reaches_.begin(), reaches_.end(),
                                   [&](const Reach& reach) { return reach.position == reaches_[0].position; });
}

// ---------------------------------------------------------------- measured and assembled

template <int D>
void InterfaceMatrix<D>::measure_component(int k) {
    constexpr int T = twist_size<D>;
    const int ports = team_.port_count(k);
    auto& [y, wrench, product, part, unit, rates] = component_measures_[k];
    y.resize(ports * T, ports * T);
    unit.assign(ports, TwistVec<D>::Zero());
    rates.resize(ports);
    for (int p = 0; p < ports; ++p)
        for (int i = 0; i < T; ++i) {
            unit[p][i] = 1;
            team_[k].respond(unit, rates);
            unit[p][i] = 0;
            for (int q = 0; q < ports; ++q) y.template block<T, 1>(q * T, p * T + i) = rates[q];
        }
    for (Eigen::Index i = 0; i < y.rows(); ++i)
        for (Eigen::Index j = 0; j <= i; ++j) y(i, j) = y(j, i) = 0.5 * (y(i, j) + y(j, i));
}

template <int D>
void InterfaceMatrix<D>::find_rows_of_component(int k) {
    constexpr int T = twist_size<D>;
    const int ports = team_.port_count(k);
    ComponentMeasure& measure = component_measures_[k];
    const MatX& y = measure.admittance;
    MatX& wrench = measure.wrench;
    const auto& rows = box_rows_[k];
    wrench.setZero(y.rows(), static_cast<Eigen::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for_entries(rows[i], [&](int of_all, const TwistVec<D>& w) {
            const int port = of_all - team_.first_port(k);
            if (port >= 0 && port < ports) wrench.template block<T, 1>(port * T, static_cast<Eigen::Index>(i)) += w;
        });
    measure.part.noalias() = wrench.transpose() * y;
    measure.product.noalias() = measure.part * wrench;
    auto place = measures_.begin() + first_measure_[k];
    for (Eigen::Index i = 0; i < measure.product.rows(); ++i)
        for (Eigen::Index j = 0; j <= i; ++j) *place++ = measure.product(i, j);
}

template <int D>
int InterfaceMatrix<D>::measure() {
    team_.for_all([&](int k) { measure_component(k); });
    assemble(true);
    is_old_ = false;
    best_evaluations_ = std::numeric_limits<int>::max();
    excess_evaluations_ = 0;
    return measuring_cost();
}

template <int D>
int InterfaceMatrix<D>::measuring_cost() const {
    int cost = 0;
    for (int k = 0; k < team_.count(); ++k) cost = std::max(cost, team_.port_count(k) * twist_size<D>);
    return cost;
}

template <int D>
void InterfaceMatrix<D>::judge(int evaluations) {
    best_evaluations_ = std::min(best_evaluations_, evaluations);
    excess_evaluations_ += evaluations - best_evaluations_;
    is_old_ = excess_evaluations_ > measuring_cost();
}

template <int D>
void InterfaceMatrix<D>::save(InterfaceMatrixSnapshot<D>& to) const {
    to.box_admittances.resize(component_measures_.size());
    for (const int k : team_.own()) to.box_admittances[k] = component_measures_[k].admittance;
    to.spring_wrenches = joints_->springs().wrenches();
    to.values = admittance_->values();
    to.is_ready = admittance_->is_ready();
    to.is_old = is_old_;
    to.is_of_end = is_of_end_;
    to.best_evaluations = best_evaluations_;
    to.excess_evaluations = excess_evaluations_;
    to.force_sensitivity = force_sensitivity_;
}

template <int D>
void InterfaceMatrix<D>::restore(const InterfaceMatrixSnapshot<D>& from) {
    for (const int k : team_.own()) component_measures_[k].admittance = from.box_admittances[k];
    joints_->springs().set_wrenches(from.spring_wrenches);
    admittance_->clear();
    admittance_->set_values(from.values);
    if (from.is_ready) admittance_->factorize();
    is_old_ = from.is_old;
    is_of_end_ = from.is_of_end;
    best_evaluations_ = from.best_evaluations;
    excess_evaluations_ = from.excess_evaluations;
    force_sensitivity_ = from.force_sensitivity;
}

// K = sum over components of G Y G^T.
template <int D>
void InterfaceMatrix<D>::assemble(bool at_the_end) {
    is_of_end_ = at_the_end;
    admittance_->clear();
    const int joint_rows = joints_->row_count();
    if (joints_->has_forces()) {
        double per_position = 0;
        for (const Reach& reach : reaches_) per_position += reach.velocity / reach.position / team_.count();
        const double position = reach_.position * h_ * h_;
        joints_->update_springs(position, reach_.position * h_ * per_position);
        if (h_ > 0)
            force_sensitivity_ = joints_->find_sensitivity_of_forces(team_.exchange().own_ports(), distance_, position);
    }
    for (int r = joint_rows; r < joint_rows + spring_rows_; ++r)
        admittance_->add(r, r, joints_->springs().compliance());
    team_.for_all([&](int k) { find_rows_of_component(k); });
    team_.exchange().share(measures_, first_measure_);
    auto value = measures_.cbegin();
    for (int k = 0; k < team_.count(); ++k) {
        const double part = at_the_end ? reach_share(k) : 1.0;
        for (std::size_t i = 0; i < box_rows_[k].size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) admittance_->add(box_rows_[k][i], box_rows_[k][j], part * *value++);
    }
    admittance_->factorize();
}

// ---------------------------------------------------------------- solved and multiplied

template <int D>
void InterfaceMatrix<D>::solve(const VecX& rows, const std::vector<TwistVec<D>>& known, VecX& correction,
                               std::vector<TwistVec<D>>& spring_wrenches) {
    const int joint_rows = joints_->row_count();
    unknown_.head(joint_rows) = -rows;
    for (int r = 0; r < spring_rows_; ++r) {
        spring_changes_[r] = 0;
        for_entries(joint_rows + r, [&](int port, const TwistVec<D>& w) { spring_changes_[r] += w.dot(known[port]); });
    }
    if (spring_rows_ > 0) spring_exchange_.share_rows(spring_changes_);
    unknown_.tail(spring_rows_) = -spring_changes_;
    admittance_->solve(unknown_);
    correction = unknown_.head(joint_rows);
    spring_wrenches.assign(spring_wrenches.size(), TwistVec<D>::Zero());
    for (int r = joint_rows; r < joint_rows + spring_rows_; ++r)
        for_entries(r, [&](int port, const TwistVec<D>& w) { spring_wrenches[port] += unknown_[r] * w; });
}

template <int D>
void InterfaceMatrix<D>::solve_joints(VecX& x) {
    unknown_.setZero();
    unknown_.head(x.size()) = x;
    admittance_->solve(unknown_);
    x = unknown_.head(x.size());
}

template <int D>
void InterfaceMatrix<D>::project_joints(VecX& x) {
    unknown_.setZero();
    unknown_.head(x.size()) = x;
    admittance_->project(unknown_);
    x = unknown_.head(x.size());
}

template <int D>
double InterfaceMatrix<D>::find_largest_force(const VecX& multipliers) {
    unknown_.setZero();
    unknown_.head(multipliers.size()) = multipliers;
    admittance_->multiply(unknown_, product_);
    double force = 0;
    for (int r = 0; r < multipliers.size(); ++r)
        if (admittance_->diagonal(r) > 0) force = std::max(force, std::abs(product_[r]) / admittance_->diagonal(r));
    return force;
}

template <int D>
void InterfaceMatrix<D>::multiply(const VecX& x, VecX& result) {
    probe_.assign(probe_.size(), TwistVec<D>::Zero());
    joints_->add_wrenches(x, probe_);
    team_.for_all([&](int k) {
        team_[k].respond(team_.part(probe_, k), team_.part(responses_, k));
        const double part = is_of_end_ ? reach_share(k) : 1.0;
        for (TwistVec<D>& response : team_.part(responses_, k)) response *= part;
    });
    team_.exchange().share_near(responses_);
    joints_->multiply(responses_, result);
    team_.exchange().share_rows(result);
}

template <int D>
void InterfaceMatrix<D>::add_answer(int component, const std::vector<TwistVec<D>>& wrenches,
                                    std::vector<TwistVec<D>>& changes) const {
    constexpr int T = twist_size<D>;
    const MatX& y = component_measures_[component].admittance;
    const int first = team_.first_port(component);
    for (int p = 0; p < team_.port_count(component); ++p)
        for (int q = 0; q < team_.port_count(component); ++q)
            changes[first + p] += reach_share(component) * y.template block<T, T>(p * T, q * T) * wrenches[first + q];
}

template class InterfaceMatrix<2>;
template class InterfaceMatrix<3>;

}  // namespace limber
