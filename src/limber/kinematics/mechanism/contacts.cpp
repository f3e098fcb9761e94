// Shapes and rules of contact in numbers.

#include <algorithm>
#include <cmath>

#include "limber/kinematics/forces/compliant_contact.hpp"
#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/kinematics/mechanism/moving_rows.hpp"
#include "limber/math/interruption.hpp"
#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// Planar shapes are prisms: so thick that their ends are never the nearest way out.
constexpr double prism_thickness = 20;

// In the plane the corners of a polygon, at both ends of the prism.
template <int D>
std::vector<Vec3> convex_corners(const ContactShape& s, std::vector<Vec3> points) {
    if (s.surface) {
        // Corners come once for each triangle.
        points = s.surface->vertices;
        const auto before = [](const Vec3& a, const Vec3& b) {
            return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
        };
        std::sort(points.begin(), points.end(), before);
        points.erase(std::unique(points.begin(), points.end()), points.end());
        return points;
    }
    if (D == 3) return points;
    double size = 0;
    for (const Vec3& p : points) size = std::max(size, p.norm());
    const std::size_t count = points.size();
    for (std::size_t i = 0; i < count; ++i) {
        points.emplace_back(points[i] + Vec3(0, 0, prism_thickness / 2 * size));
        points[i].z() = -prism_thickness / 2 * size;
    }
    return points;
}

Shape height_field(const ContactShape& s, double x_size, double y_size, const std::vector<double>& heights) {
    const int columns = s.columns;
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

ContactShape as_contact_shape(const Solid& solid, double rod_length) {
    ContactShape shape;
    shape.placement = solid.placement;
    shape.size = solid.size;
    switch (solid.kind) {
        case Solid::Kind::box: shape.kind = ContactShape::Kind::box; break;
        case Solid::Kind::cylinder:
        case Solid::Kind::disc: shape.kind = ContactShape::Kind::cylinder; break;
        case Solid::Kind::rod: {
            shape.kind = ContactShape::Kind::capsule;
            shape.size = {solid.size[0], Number(rod_length)};
            break;
        }
        default: shape.kind = ContactShape::Kind::sphere; break;
    }
    return shape;
}

}  // namespace

template <int D>
void MechanismBuilder<D>::add_shape(const ContactShape& s, const Frame& body, int index, const std::string& what) {
    const auto positive = [&](std::size_t i) {
        const double value = evaluation_.number(s.size.at(i), what + ": size");
        if (!(value > 0))
            throw ModelError(fmt::format("{}: the size of a shape must be positive, found {}", what, value));
        return value;
    };
    CollisionShape placed;
    placed.body = index;
    placed.place = body * evaluation_.frame(s.placement, what + ": shape");
    const auto corners = [&](const ContactShape& source) {
        std::vector<Vec3> points;
        for (const Number3& p : source.points) points.push_back(evaluation_.vector(p, what + ": points"));
        return points;
    };
    const auto numbers = [&](const std::vector<Number>& list) {
        std::vector<double> values;
        for (const Number& n : list) values.push_back(evaluation_.number(n, what + ": heights"));
        return values;
    };
    Shape shape;
    using K = ContactShape::Kind;
    // z to where planar shapes have x or y.
    const auto turn = [&](const Vec3& z) { placed.place.axes *= shortest_rotation(Vec3::UnitZ(), z); };
    switch (s.kind) {
        case K::plane:
            shape = Shape::plane();
            if (D == 2) turn(Vec3::UnitY());
            break;
        case K::sphere: shape = Shape::sphere(positive(0)); break;
        case K::box:
            shape = D == 2
                        ? Shape::box({positive(0), positive(1), prism_thickness * std::max(positive(0), positive(1))})
                        : Shape::box({positive(0), positive(1), positive(2)});
            break;
        case K::cylinder:
            // A disc in the plane.
            shape =
                D == 2 ? Shape::sphere(positive(0)) : Shape::about_z(Shape::Kind::cylinder, positive(0), positive(1));
            break;
        case K::capsule:
            shape = Shape::about_z(Shape::Kind::capsule, positive(0), positive(1));
            if (D == 2) turn(Vec3::UnitX());
            break;
        case K::cone: shape = Shape::about_z(Shape::Kind::cone, positive(0), positive(1)); break;
        case K::convex: shape = Shape::convex(convex_corners<D>(s, corners(s))); break;
        case K::mesh: shape = Shape::mesh(s.surface->vertices, s.surface->triangles); break;
        case K::height_field: shape = height_field(s, positive(0), positive(1), numbers(s.heights)); break;
        case K::profile: {
            const double width = evaluation_.number(s.width, what + ": width");
            if (D == 3 && !(width > 0)) throw ModelError(what + ": a profile in space needs a width");
            shape = profile(corners(s), D == 2 ? 0 : width);
            break;
        }
    }
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
        if (solid.kind == Solid::Kind::point || solid.kind == Solid::Kind::general) continue;
        if (solid.kind != Solid::Kind::rod) {
            add_shape(as_contact_shape(solid, 0), frame, index, what);
            continue;
        }
        if (!(evaluation_.number(solid.size.at(0), what) > 0)) continue;  // a line touches nothing
        const double length = evaluation_.rod_length(handle);
        Frame middle;
        middle.position.x() = length / 2;
        if (D == 3) middle.axes = shortest_rotation(Vec3::UnitZ(), Vec3::UnitX());
        add_shape(as_contact_shape(solid, length), frame * middle, index, what);
    }
}

template <int D>
std::optional<ContactLaw> MechanismBuilder<D>::contact_law(const ContactRule& rule) const {
    if (rule.law == ContactRule::Law::none) return std::nullopt;
    const std::string what = fmt::format("contact '{}'", rule.name);
    const auto number = [&](const char* key, double fallback, double least, double most) {
        const auto it = rule.numbers.find(key);
        if (it == rule.numbers.end()) return fallback;
        const double value = evaluation_.number(it->second, what + ": " + key);
        if (!(value >= least && value <= most))
            throw ModelError(fmt::format("{}: {} must lie between {} and {}, found {}", what, key, least, most, value));
        return value;
    };
    constexpr double any = 1e300;
    ContactLaw law;
    law.friction = number("friction", 0, 0, any);
    law.rolling = number("rolling", 0, 0, any);
    law.spinning = number("spinning", 0, 0, any);
    law.static_friction = number("static-friction", law.friction, law.friction, any);
    if (rule.law == ContactRule::Law::rigid) {
        law.restitution = number("restitution", 0, 0, 1);
        return law;
    }
    law.kind = rule.law == ContactRule::Law::linear ? ContactLaw::Kind::linear : ContactLaw::Kind::power;
    law.stiffness = number("stiffness", 0, 0, any);
    law.damping = number("damping", 0, 0, any);
    law.full_depth = number("full-depth", 0, 0, any);
    law.exponent = number("exponent", rule.law == ContactRule::Law::linear ? 1 : 1.5, 1, 10);
    law.factor = number("factor", 0, 0, any);
    law.slip = number("slip", 1e-3, 1e-12, any);
    law.turn_slip = number("turn-slip", 1e-2, 1e-12, any);
    law.stribeck = number("stribeck", 1e-2, 1e-12, any);
    if (rule.numbers.contains("bend")) {
        if (!(law.friction > 0)) throw ModelError(what + ": bristles need friction above zero");
        FrictionLaw& bristles = law.bristles.emplace();
        bristles.kind = FrictionLaw::Kind::bristle;
        bristles.kinetic = law.friction;
        bristles.at_rest = law.static_friction;
        bristles.stribeck = law.stribeck;
        bristles.bend = number("bend", 0, 1e-12, any);
        bristles.damping = number("bristle-damping", 0, 0, any);
        bristles.dwell = number("dwell", 0, 0, any);
    }
    for (const char* key : {"bristle-damping", "dwell"})
        if (rule.numbers.contains(key) && !law.bristles)
            throw ModelError(fmt::format("{}: {} belongs to bristles: say with bend how far they give way", what, key));
    if (rule.law == ContactRule::Law::exact_restitution)
        law.factor = exact_damping_factor(number("restitution", 1, 1e-3, 1)) / number("speed", 1, 1e-12, any);
    return law;
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
            const std::vector<std::string>& groups = model_.bodies.get(m_.bodies[b].handle).groups;
            if (std::find(groups.begin(), groups.end(), group) == groups.end()) continue;
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
        numbers.law = contact_law(rule);
        numbers.includes_joined = rule.includes_joined;
        numbers.is_first = members(rule.first, rule.name);
        numbers.is_second = members(rule.second, rule.name);
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
