// Shapes and rules of contact in numbers.

#include <algorithm>
#include <cmath>

#include "limber/kinematics/forces/compliant_contact.hpp"
#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/kinematics/mechanism/contact_numbers.hpp"
#include "limber/kinematics/mechanism/moving_rows.hpp"
#include "limber/math/interruption.hpp"
#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// Planar shapes are prisms: so thick that their ends are never the nearest way out.
constexpr double prism_thickness = 20;

// Corners come once for each triangle.
std::vector<Vec3> corners_of(const SurfaceMesh& surface) {
    std::vector<Vec3> points = surface.vertices;
    const auto before = [](const Vec3& a, const Vec3& b) {
        return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
    };
    std::sort(points.begin(), points.end(), before);
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
}

// The corners of a polygon, at both ends of the prism.
std::vector<Vec3> prism(std::vector<Vec3> points) {
    double size = 0;
    for (const Vec3& p : points) size = std::max(size, p.norm());
    const std::size_t count = points.size();
    for (std::size_t i = 0; i < count; ++i) {
        points.emplace_back(points[i] + Vec3(0, 0, prism_thickness / 2 * size));
        points[i].z() = -prism_thickness / 2 * size;
    }
    return points;
}

Shape height_field(int columns, double x_size, double y_size, const std::vector<double>& heights) {
    const int rows = static_cast<int>(heights.size()) / columns;
    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles;
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < columns; ++i) {
            vertices.emplace_back(x_size * (static_cast<double>(i) / (columns - 1) - 0.5),
                                  y_size * (static_cast<double>(j) / (rows - 1) - 0.5), heights[j * columns + i]);
            if (i == 0 || j == 0) continue;
            const int here = j * columns + i;
            triangles.push_back({here - columns - 1, here - columns, here});
            triangles.push_back({here - columns - 1, here, here - 1});
        }
    return Shape::mesh(std::move(vertices), std::move(triangles));
}

// A strip along z over each piece of the line; its front is to the left of the direction of travel.
Shape profile(const std::vector<Vec3>& line, double width) {
    if (!(width > 0))
        for (const Vec3& p : line) width = std::max(width, prism_thickness * p.norm());
    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles;
    for (std::size_t i = 0; i < line.size(); ++i) {
        for (const double side : {-0.5, 0.5}) vertices.emplace_back(line[i].x(), line[i].y(), side * width);
        if (i == 0) continue;
        const int next = 2 * static_cast<int>(i);
        triangles.push_back({next - 2, next - 1, next + 1});
        triangles.push_back({next - 2, next + 1, next});
    }
    return Shape::mesh(std::move(vertices), std::move(triangles));
}

// By which a solid touches others, if it does.
class SolidShape {
public:
    explicit SolidShape(double rod_length) : rod_length_(rod_length) {}

    std::optional<ContactShape> operator()(const RodSolid& rod) const {
        return CapsuleShape{.radius = rod.radius, .length = rod_length_};
    }
    std::optional<ContactShape> operator()(const BoxSolid& box) const {
        return BoxShape{.size = box.size, .placement = box.common.placement};
    }
    std::optional<ContactShape> operator()(const CylinderSolid& cylinder) const {
        return CylinderShape{
            .radius = cylinder.radius, .length = cylinder.length, .placement = cylinder.common.placement};
    }
    std::optional<ContactShape> operator()(const DiscSolid& disc) const {
        return CylinderShape{.radius = disc.radius, .length = disc.thickness, .placement = disc.common.placement};
    }
    std::optional<ContactShape> operator()(const SphereSolid& sphere) const {
        return SphereShape{.radius = sphere.radius, .placement = sphere.common.placement};
    }
    std::optional<ContactShape> operator()(const PointSolid&) const { return std::nullopt; }

private:
    double rod_length_;
};

// A shape in numbers; `axes` are turned to where planar shapes have x or y.
template <int D>
class ShapeMaker {
public:
    ShapeMaker(const ModelEvaluation& evaluation, const std::string& what, Mat3& axes)
        : evaluation_(evaluation), what_(what), axes_(axes) {}

    Shape operator()(const PlaneShape&) const {
        if (D == 2) turn(Vec3::UnitY());
        return Shape::plane();
    }
    Shape operator()(const SphereShape& sphere) const { return Shape::sphere(positive(sphere.radius)); }
    Shape operator()(const BoxShape& box) const {
        const double x = positive(box.size[0]);
        const double y = positive(box.size[1]);
        return Shape::box({x, y, D == 2 ? prism_thickness * std::max(x, y) : positive(box.size[2])});
    }
    Shape operator()(const CapsuleShape& capsule) const {
        if (D == 2) turn(Vec3::UnitX());
        return Shape::about_z(Shape::Kind::capsule, positive(capsule.radius), positive(capsule.length));
    }
    // A disc in the plane.
    Shape operator()(const CylinderShape& cylinder) const {
        const double radius = positive(cylinder.radius);
        return D == 2 ? Shape::sphere(radius)
                      : Shape::about_z(Shape::Kind::cylinder, radius, positive(cylinder.length));
    }
    Shape operator()(const ConeShape& cone) const {
        return Shape::about_z(Shape::Kind::cone, positive(cone.radius), positive(cone.length));
    }
    Shape operator()(const ConvexShape& convex) const {
        if (convex.file.surface) return Shape::convex(corners_of(*convex.file.surface));
        return Shape::convex(D == 2 ? prism(points(convex.points)) : points(convex.points));
    }
    Shape operator()(const MeshShape& mesh) const {
        if (!mesh.file.surface) throw ModelError(what_ + ": a mesh needs a surface");
        return Shape::mesh(mesh.file.surface->vertices, mesh.file.surface->triangles);
    }
    Shape operator()(const HeightFieldShape& field) const {
        std::vector<double> heights;
        for (const Number& n : field.heights.heights) heights.push_back(evaluation_.number(n, what_ + ": heights"));
        return height_field(field.heights.columns, positive(field.size[0]), positive(field.size[1]), heights);
    }
    Shape operator()(const ProfileShape& line) const {
        const double width = evaluation_.number(line.width, what_ + ": width");
        if (D == 3 && !(width > 0)) throw ModelError(what_ + ": a profile in space needs a width");
        return profile(points(line.line.points), D == 2 ? 0 : width);
    }

private:
    double positive(const Number& size) const {
        const double value = evaluation_.number(size, what_ + ": size");
        if (!(value > 0))
            throw ModelError(fmt::format("{}: the size of a shape must be positive, found {}", what_, value));
        return value;
    }
    std::vector<Vec3> points(const std::vector<Number3>& list) const {
        std::vector<Vec3> points;
        for (const Number3& p : list) points.push_back(evaluation_.vector(p, what_ + ": points"));
        return points;
    }
    void turn(const Vec3& z) const { axes_ *= shortest_rotation(Vec3::UnitZ(), z); }

    const ModelEvaluation& evaluation_;
    const std::string& what_;
    Mat3& axes_;
};

}  // namespace

template <int D>
void MechanismBuilder<D>::add_shape(const ContactShape& given, const Frame& body, int index, const std::string& what) {
    CollisionShape placed;
    placed.body = index;
    placed.place =
        body *
        std::visit([&](const auto& shape) { return evaluation_.frame(shape.placement, what + ": shape"); }, given);
    Shape shape = std::visit(ShapeMaker<D>(evaluation_, what, placed.place.axes), given);
    placed.shape = std::make_shared<const Shape>(std::move(shape));
    m_.shapes.push_back(std::move(placed));
}

template <int D>
void MechanismBuilder<D>::add_shapes(BodyHandle handle, int index) {
    const Body& body = model_.bodies.get(handle);
    const std::string what = fmt::format("body '{}'", body.name);
    // From the centre of mass, where bodies have their states.
    Frame frame = index < 0 ? evaluation_.body_frame(handle) : Frame{};
    if (index >= 0) frame.position.template head<D>() = -m_.bodies[index].centre;
    if (body.shapes) {
        for (const ContactShape& shape : *body.shapes) add_shape(shape, frame, index, what);
        return;
    }
    for (const Solid& solid : body.solids) {
        const auto* rod = std::get_if<RodSolid>(&solid);
        if (rod != nullptr && !(evaluation_.number(rod->radius, what) > 0)) continue;  // a line touches nothing
        const double length = evaluation_.rod_length(handle);
        Frame place = frame;
        if (rod != nullptr) {
            Frame middle;
            middle.position.x() = length / 2;
            if (D == 3) middle.axes = shortest_rotation(Vec3::UnitZ(), Vec3::UnitX());
            place = frame * middle;
        }
        if (const auto shape = std::visit(SolidShape(length), solid)) add_shape(*shape, place, index, what);
    }
}

template <int D>
std::vector<bool> MechanismBuilder<D>::members(const ContactSide& side, const std::string& rule) const {
    std::vector<bool> is_member(m_.bodies.size() + 1, side.is_all());
    for (const BodyHandle body : side.bodies) {
        if (model_.bodies.get(body).beam)
            throw ModelError(fmt::format("contact '{}': body '{}' is a beam, which has no shapes that touch", rule,
                                         model_.bodies.get(body).name));
        is_member[body_of_slot_[body.index] + 1] = true;
    }
    for (const std::string& group : side.groups) {
        bool is_empty = true;
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            if (!model_.bodies.get(m_.bodies[b].handle).groups.contains(group)) continue;
            is_member[b + 1] = true;
            is_empty = false;
        }
        if (is_empty) throw ModelError(fmt::format("contact '{}': no body is in the group '{}'", rule, group));
    }
    return is_member;
}

template <int D>
void MechanismBuilder<D>::add_contacts() {
    if (model_.contacts.size() == 0) return;
    add_shapes(model_.ground(), -1);
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        check_interruption();
        add_shapes(m_.bodies[b].handle, static_cast<int>(b));
    }
    for (const auto handle : model_.contacts.handles()) {
        const ContactRule& rule = model_.contacts.get(handle);
        ContactRuleNumbers numbers;
        numbers.name = rule.name;
        numbers.law = evaluate_contact(rule, evaluation_);
        numbers.includes_joined = rule.includes_joined();
        numbers.is_first = members(rule.between().first, rule.name);
        numbers.is_second = members(rule.between().second, rule.name);
        if (numbers.law && numbers.law->kind == ContactLaw::Kind::rigid) {
            const auto add_once = [&]<class Kind>(MemorySlot<Kind>& slot) {
                if (!slot.exists()) slot = m_.template add_memory<Kind>("");
            };
            add_once(m_.impact_loss);
            add_once(m_.contact_residual);
            const bool has_drivers = model_.drivers.size() > 0 || has_moving_rows(m_.constraints);
            if (has_drivers) add_once(m_.driver_work);
            numbers.impulse = m_.template add_memory<ImpulseMemory>(rule.name);
        }
        m_.contact_rules.push_back(std::move(numbers));
    }
    for (const ConstraintElement<D>& element : m_.elements)
        if (element.has_markers) m_.joined_bodies.push_back(std::minmax(element.body_a, element.body_b));
    std::sort(m_.joined_bodies.begin(), m_.joined_bodies.end());
    refuse_surfaces_that_meet();
    add_compliant_contacts();
}

// A surface is touched by what has an inside: nothing else tells by how much two things overlap.
template <int D>
void MechanismBuilder<D>::refuse_surfaces_that_meet() const {
    const auto name = [&](int body) {
        return body < 0 ? std::string("ground") : model_.bodies.get(m_.bodies[body].handle).name;
    };
    for (const CollisionShape& a : m_.shapes) {
        if (a.shape->kind != Shape::Kind::mesh) continue;
        check_interruption();
        for (const CollisionShape& b : m_.shapes) {
            const int rule = b.shape->kind == Shape::Kind::mesh ? m_.find_contact_rule(a.body, b.body) : -1;
            if (rule < 0) continue;
            throw ModelError(
                fmt::format("contact '{}': the surfaces (mesh, height-field, profile) of '{}' and '{}' cannot touch "
                            "each other; give one of them convex shapes, or take the pair out by a rule 'none'",
                            m_.contact_rules[rule].name, name(a.body), name(b.body)));
        }
    }
}

// A force for every two shapes that may touch by a compliant law.
template <int D>
void MechanismBuilder<D>::add_compliant_contacts() {
    constexpr std::size_t max_pairs = 20000;
    const auto frame_features = [&](int body) {
        std::vector<int> slots{feature(body, true, Vec<D>::Zero())};
        for (int k = 0; k < D; ++k) slots.push_back(feature(body, false, Vec<D>::Unit(k)));
        return slots;
    };
    const auto reach = [&](const CollisionShape& s) {
        if (s.shape->kind == Shape::Kind::plane) return 1e150;
        const Bounds bounds = compute_bounds(*s.shape, Frame{});
        return s.place.position.norm() + bounds.low.cwiseAbs().cwiseMax(bounds.high.cwiseAbs()).norm();
    };
    const bool has_compliant = std::any_of(m_.contact_rules.begin(), m_.contact_rules.end(), [](const auto& rule) {
        return rule.law && rule.law->kind != ContactLaw::Kind::rigid;
    });
    if (!has_compliant) return;
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < m_.shapes.size(); ++i) {
        check_interruption();
        for (std::size_t j = i + 1; j < m_.shapes.size(); ++j) {
            const CollisionShape& a = m_.shapes[i];
            const CollisionShape& b = m_.shapes[j];
            const int rule = m_.find_contact_rule(a.body, b.body);
            if (rule < 0) continue;
            const ContactLaw& law = m_.contact_rules[rule].law.value();
            if (law.kind == ContactLaw::Kind::rigid) continue;
            if (++pairs > max_pairs)
                throw ModelError(fmt::format("contact '{}': more than {} pairs of shapes may touch; name the bodies",
                                             m_.contact_rules[rule].name, max_pairs));
            auto contact = std::make_shared<CompliantContact<D>>();
            contact->pair = std::make_shared<const ContactPair>(
                ContactPair{a.shape, b.shape, a.place, b.place, reach(a), reach(b), law, rule});
            if (law.bristles)
                contact->bristles = m_.template add_memory<SurfaceBristleMemory>(m_.contact_rules[rule].name);
            std::vector<int> slots = frame_features(a.body);
            const std::vector<int> more = frame_features(b.body);
            slots.insert(slots.end(), more.begin(), more.end());
            m_.forces.add(m_.contact_rules[rule].name, std::move(contact), slots);
        }
    }
}

template <int D>
int Mechanism<D>::find_contact_rule(int a, int b) const {
    if (a == b) return -1;
    const std::pair<int, int> both = std::minmax(a, b);
    int found = -1;
    for (std::size_t i = 0; i < contact_rules.size(); ++i) {
        const ContactRuleNumbers& rule = contact_rules[i];
        const bool applies =
            (rule.is_first[a + 1] && rule.is_second[b + 1]) || (rule.is_first[b + 1] && rule.is_second[a + 1]);
        if (applies) found = static_cast<int>(i);
    }
    if (found < 0 || !contact_rules[found].law) return -1;
    if (!contact_rules[found].includes_joined && std::binary_search(joined_bodies.begin(), joined_bodies.end(), both))
        return -1;
    return found;
}

template <int D>
bool Mechanism<D>::has_rigid_contacts() const {
    return std::any_of(contact_rules.begin(), contact_rules.end(), [](const ContactRuleNumbers& rule) {
        return rule.law && rule.law->kind == ContactLaw::Kind::rigid;
    });
}

template <int D>
bool Mechanism<D>::has_contact_bristles() const {
    return std::any_of(forces.elements.begin(), forces.elements.end(), [](const ForceElement<D>& e) {
        const auto* contact = e.template as<CompliantContact>();
        return contact != nullptr && contact->bristles.exists();
    });
}

template int Mechanism<2>::find_contact_rule(int, int) const;
template int Mechanism<3>::find_contact_rule(int, int) const;
template bool Mechanism<2>::has_rigid_contacts() const;
template bool Mechanism<3>::has_rigid_contacts() const;
template bool Mechanism<2>::has_contact_bristles() const;
template bool Mechanism<3>::has_contact_bristles() const;
template void MechanismBuilder<2>::add_contacts();
template void MechanismBuilder<3>::add_contacts();

}  // namespace limber
