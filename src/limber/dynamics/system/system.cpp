#include "limber/dynamics/system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/dynamics/system/relative_system.hpp"
#include "limber/dynamics/system/system_like.hpp"
#include "limber/dynamics/system/system_of.hpp"
#include "limber/kinematics/mechanism/idle_turns.hpp"
#include "limber/kinematics/natural/natural_coordinates.hpp"
#include "limber/kinematics/reference_point/reference_point_coordinates.hpp"
#include "limber/model/error.hpp"

namespace limber {

std::string System::row_name(int row) const {
    return row_names_[row];
}

std::string System::describe_worst_row(const VecX& errors) const {
    if (errors.size() == 0) return "there are no constraints";
    Eigen::Index worst = 0;
    errors.cwiseAbs().maxCoeff(&worst);
    return fmt::format("{} is off by {:.3g}", row_names_[worst], std::abs(errors[worst]));
}

void System::finish_patterns(SymmetricPatternBuilder& builder) {
    for (int i = 0; i < rows(); ++i) builder.add_clique(jacobian_pattern_.row(i));
    pattern_ = builder.build();
    outer_start_.assign(1, 0);
    for (int i = 0; i < rows(); ++i) {
        const auto columns = jacobian_pattern_.row(i);
        for (std::size_t a = 0; a < columns.size(); ++a)
            for (std::size_t b = 0; b <= a; ++b) outer_place_.push_back(pattern_.find(columns[a], columns[b]));
        outer_start_.push_back(static_cast<int>(outer_place_.size()));
    }
}

// The coordinates may satisfy a row by themselves, like that of a door's second hinge in relative coordinates. What is
// left of its Jacobian is the error of what placed the hinge: rounding, or the gap of another joint at the moment when
// this one was added to a running mechanism. Divided by its own size that would pass for a constraint.
double System::find_row_inertia(double admittance) const {
    constexpr double rounding = 1e-5;
    const double length = std::max(1.0, length_scale_);
    const double typical = 1 / (mass_scale_ * length * length);
    return admittance > rounding * rounding * typical ? 1 / admittance : mass_scale_;
}

void System::add_penalty(const Evaluation& e, const VecX& weight, std::vector<double>& values) const {
    const int* place = outer_place_.data();
    const int count = rows();
    for (int i = 0; i < count; ++i) {
        const double* row = e.jacobian.data() + jacobian_pattern_.start[i];
        const int columns = jacobian_pattern_.start[i + 1] - jacobian_pattern_.start[i];
        for (int a = 0; a < columns; ++a) {
            const double scaled = weight[i] * row[a];
            for (int b = 0; b <= a; ++b) values[*place++] += scaled * row[b];
        }
    }
}

void System::move(const VecX& q, double h, VecX& v, VecX& moved) const {
    moved = q + h * v;
    for (const int first : euler_parameters_) {
        const Eigen::Vector4d p = q.segment<4>(first).normalized();
        const Eigen::Vector4d tangent = v.segment<4>(first) - p.dot(v.segment<4>(first)) * p;
        const double speed = tangent.norm();
        if (!(speed > 0)) continue;
        const double c = std::cos(h * speed);
        const double s = std::sin(h * speed);
        moved.segment<4>(first) = c * p + s / speed * tangent;
        v.segment<4>(first) = c * tangent - s * speed * p;
    }
}

void System::choose_signs_near(const VecX& near, VecX& q, VecX& v) const {
    for (const int first : euler_parameters_) {
        if (!(near.segment<4>(first).dot(q.segment<4>(first)) < 0)) continue;
        q.segment<4>(first) *= -1;
        v.segment<4>(first) *= -1;
    }
}

std::vector<std::string> coordinate_kind_names() {
    return {"natural", "reference-point", "relative"};
}

CoordinateKind parse_coordinate_kind(const std::string& name) {
    if (name == "natural") return CoordinateKind::natural;
    if (name == "reference-point") return CoordinateKind::reference_point;
    if (name == "relative") return CoordinateKind::relative;
    throw ModelError(fmt::format("unknown coordinates '{}'{}; known: {}", name,
                                 did_you_mean(name, coordinate_kind_names()),
                                 fmt::join(coordinate_kind_names(), ", ")));
}

template <int D>
std::shared_ptr<const MechanismSystem<D>> make_system(std::shared_ptr<const Mechanism<D>> mechanism,
                                                      CoordinateKind kind, bool with_matrices) {
    // Natural coordinates of points and bars do not count turns that nothing sees.
    if (kind == CoordinateKind::natural) return std::make_shared<SystemOf<NaturalCoordinates<D>>>(std::move(mechanism));
    mechanism = with_idle_inertia<D>(std::move(mechanism));
    if (kind == CoordinateKind::reference_point)
        return std::make_shared<SystemOf<ReferencePointCoordinates<D>>>(std::move(mechanism));
    return std::make_shared<RelativeSystem<D>>(std::move(mechanism), with_matrices);
}

template <int D>
std::shared_ptr<const MechanismSystem<D>> make_system_like(const MechanismSystem<D>& like,
                                                           std::shared_ptr<const Mechanism<D>> mechanism) {
    const auto of = [&]<class Kind>(const Kind* kind) -> std::shared_ptr<const MechanismSystem<D>> {
        return kind == nullptr ? nullptr : std::make_shared<Kind>(mechanism, *kind);
    };
    if (auto system = of(dynamic_cast<const SystemOf<NaturalCoordinates<D>>*>(&like))) return system;
    mechanism = with_idle_inertia<D>(std::move(mechanism));
    if (auto system = of(dynamic_cast<const SystemOf<ReferencePointCoordinates<D>>*>(&like))) return system;
    return of(&dynamic_cast<const RelativeSystem<D>&>(like));
}

template std::shared_ptr<const MechanismSystem<2>> make_system_like(const MechanismSystem<2>&,
                                                                    std::shared_ptr<const Mechanism<2>>);
template std::shared_ptr<const MechanismSystem<3>> make_system_like(const MechanismSystem<3>&,
                                                                    std::shared_ptr<const Mechanism<3>>);
template std::shared_ptr<const MechanismSystem<2>> make_system(std::shared_ptr<const Mechanism<2>>, CoordinateKind,
                                                               bool);
template std::shared_ptr<const MechanismSystem<3>> make_system(std::shared_ptr<const Mechanism<3>>, CoordinateKind,
                                                               bool);

}  // namespace limber
