#include "limber/io/dependents.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "limber/io/marker_origin.hpp"
#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {
namespace {

// Asked once for every name in the model: mostly about kinds of which nothing goes.
class ElementSet {
public:
    bool contains(ElementKind kind, std::string_view name) const {
        const auto& names = names_[static_cast<std::size_t>(kind)];
        return !names.empty() && names.contains(name);
    }
    /// False if it is there already.
    bool insert(const ElementName& element) {
        const bool is_new = names_[static_cast<std::size_t>(element.kind)].insert(element.name).second;
        size_ += is_new ? 1 : 0;
        return is_new;
    }
    std::size_t size() const { return size_; }
    bool has_any(ElementKind kind) const { return !names_[static_cast<std::size_t>(kind)].empty(); }

private:
    std::array<std::set<std::string, std::less<>>, element_kind_count> names_;
    std::size_t size_ = 0;
};

template <class Element>
constexpr ElementKind kind_of() {
    using Tables = decltype(Model::tables_of(std::declval<const Model&>()));
    auto kind = static_cast<int>(ElementKind::table);
    [&]<class... T>(const std::tuple<const Table<T>&...>*) {
        static_cast<void>(((std::is_same_v<T, Element> || (++kind, false)) || ...));
    }(static_cast<const Tables*>(nullptr));
    return static_cast<ElementKind>(kind);
}
static_assert(kind_of<ContactRule>() == ElementKind::contact);

// Whether an element refers to one of those that go. Names in expressions are looked up as the compiler does: a joint
// coordinate before a sensor.
class ReferenceSearch {
public:
    ReferenceSearch(const Model& model, const ElementSet& gone) : model_(model), gone_(gone) {}

    bool is_gone(ElementKind kind, std::string_view name) const { return gone_.contains(kind, name); }
    /// Numbers that are no laws name parameters and tables only: often there is no need to look into them.
    bool may_be_in_numbers() const {
        return gone_.has_any(ElementKind::parameter) || gone_.has_any(ElementKind::table);
    }

    /// x, v and t have a meaning of their own where they are allowed, except for velocity joints, which know t only.
    bool needs(const Number& number, bool has_own_x_and_v = true) const {
        const auto& names = number.names();
        return needs_table(number) || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                   if (is_gone(ElementKind::parameter, name)) return true;
                   if (name == "t" || (has_own_x_and_v && (name == "x" || name == "v"))) return false;
                   return needs_scalar(name) && !model_.parameters.contains(name);
               });
    }
    template <class T>
    bool needs(const std::optional<T>& value) const {
        return value && needs(*value);
    }
    template <class List>
    bool needs_any(const List& list) const {
        return std::any_of(list.begin(), list.end(), [&](const auto& one) { return needs(one); });
    }
    template <class T>
    bool needs(const std::vector<T>& list) const {
        return needs_any(list);
    }
    template <class T, std::size_t N>
    bool needs(const std::array<T, N>& list) const {
        return needs_any(list);
    }
    template <class... T>
    bool needs(const std::variant<T...>& value) const {
        return std::visit([&](const auto& one) { return needs(one); }, value);
    }
    template <class T>
    bool needs(Handle<T> handle) const {
        const T* element = model_.table<T>().find(handle);
        return element != nullptr && is_gone(kind_of<T>(), element->name);
    }
    /// Words and texts name nothing; all the rest is described, some of it in several types.
    template <class T>
    bool needs(const T& value) const {
        if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
            return false;
        } else if constexpr (requires { value.note(); }) {
            return std::visit([&](const auto& type) { return needs_field_of(type); }, value.type);
        } else {
            return needs_field_of(value);
        }
    }
    bool needs(const std::pair<const std::string, Number>& entry) const { return needs(entry.second); }
    bool needs(const Placement& placement) const {
        return needs(placement.position) || needs(placement.orientation.values);
    }
    bool needs(const TableDefinition& table) const { return needs(table.x) || needs(table.y); }
    bool needs(const TimeLaw& law) const { return needs(law.expression) || needs(law.table); }
    bool needs(const RoadDefinition& road) const { return needs(road.pieces); }
    bool needs(const InertiaEntries& inertia) const { return needs(inertia.entries); }
    bool needs(const HeightGrid& grid) const { return needs(grid.heights); }
    bool needs(const PlanePoints& line) const { return needs(line.points); }
    bool needs(const SurfaceFile&) const { return false; }
    bool needs(const GroupNames&) const { return false; }
    /// They name what is there when the event comes.
    bool needs(const EditLines&) const { return false; }
    bool needs(const Marker& marker) const {
        return needs(marker.body) || needs(marker.base) || (may_be_in_numbers() && needs(marker.placement));
    }
    bool needs(const ScalarTerm& term) const { return needs_scalar(term.scalar) || needs(term.coefficient, false); }
    bool needs(const ScalarLaw& law) const {
        return needs(law.stiffness) || needs(law.damping) || needs(law.preload) || needs(law.coefficients) ||
               needs(law.table) || needs(law.expression);
    }
    bool needs(const MarkerPair& pair) const { return needs(pair.first) || needs(pair.second); }
    bool needs(const Coordinate& coordinate) const { return needs_scalar(coordinate.name); }
    bool needs(const CoordinatePair& pair) const { return needs_scalar(pair.first) || needs_scalar(pair.second); }
    bool needs(const AngularVector& vector) const { return needs(vector.components); }
    // Each body that is named, and one at least of each group.
    bool needs(const ContactSide& side) const {
        const auto is_group_gone = [&](const std::string& group) {
            const auto handles = model_.bodies.handles();
            return std::none_of(handles.begin(), handles.end(), [&](BodyHandle handle) {
                return !needs(handle) && model_.bodies.get(handle).groups.contains(group);
            });
        };
        return needs(side.bodies) || std::any_of(side.groups.begin(), side.groups.end(), is_group_gone);
    }
    bool needs(const ContactSides& between) const { return needs(between.first) || needs(between.second); }
    bool needs(const InitialValue& value) const { return needs_scalar(value.scalar) || needs(value.value); }
    bool needs(const SimulationDefaults& simulation) const {
        return needs_field_of(simulation) || needs(simulation.modular) || needs(simulation.components) ||
               needs(simulation.conditions);
    }
    bool needs(const StartCondition& condition) const {
        return is_gone(ElementKind::parameter, condition.name) || needs_scalar(condition.sensor) ||
               needs(condition.equals);
    }
    // The joint may go: the number does nothing then.
    bool needs(const JointNumber& number) const { return needs(number.value); }

private:
    // Asks every field of a described element.
    class FieldSearch {
    public:
        explicit FieldSearch(const ReferenceSearch& search) : search_(search) {}
        template <class T>
        void main(const T& value, Variables variables = Variables::none) {
            field(value, {"", "", true, variables});
        }
        void placed(const MarkerPair& between) { main(between); }
        void field(const Number& value, const FieldNote& note) {
            found = found ||
                    (note.variables == Variables::columns ? search_.needs_column(value)
                                                          : search_.needs(value, note.variables != Variables::scalars));
        }
        void field(const std::vector<NamedExpression>& list, const FieldNote& note) {
            for (const NamedExpression& one : list) field(one.value, note);
        }
        template <class T>
        void field(const std::optional<T>& value, const FieldNote& note) {
            if (value) field(*value, note);
        }
        template <class T>
        void field(const T& value, const FieldNote&) {
            found = found || search_.needs(value);
        }
        void placement(const Placement& placement) { found = found || search_.needs(placement); }
        void solids(const std::vector<Solid>& solids) { found = found || search_.needs(solids); }
        void law(const ScalarLaw& law) { found = found || search_.needs(law); }
        void time_law(const TimeLaw& law, const FieldNote&, const char*) { found = found || search_.needs(law); }

        bool found = false;

    private:
        const ReferenceSearch& search_;
    };
    template <class Element>
    bool needs_field_of(const Element& element) const {
        FieldSearch search(*this);
        Element::visit(element, search);
        return search.found;
    }

    static std::string_view owner_of(std::string_view scalar) { return scalar.substr(0, scalar.find('.')); }

    // "crank.angle", "crank.angle.rate", "tip.x", "swing"
    bool needs_scalar(const std::string& scalar) const {
        const std::string_view owner = owner_of(scalar);
        const bool is_joint_gone = is_gone(ElementKind::joint, owner);
        const bool is_sensor_gone = is_gone(ElementKind::sensor, owner);
        if (is_joint_gone == is_sensor_gone) return is_joint_gone;
        return names_joint_coordinate(scalar, std::string(owner)) ? is_joint_gone : is_sensor_gone;
    }
    bool names_joint_coordinate(const std::string& scalar, const std::string& owner) const {
        const Joint* joint = model_.joints.find(model_.joints.find(owner));
        if (joint == nullptr || owner.size() == scalar.size()) return false;
        const auto names = coordinate_names(joint->type, model_.planar);
        return std::find(names.begin(), names.end(), owner_of(std::string_view(scalar).substr(owner.size() + 1))) !=
               names.end();
    }
    // An expression of sensors names their columns and no coordinates.
    bool needs_column(const Number& expression) const {
        const auto& names = expression.names();
        return needs_table(expression) || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                   const bool is_sensor = !model_.sensors.find(std::string(owner_of(name))).is_null();
                   return is_sensor ? is_gone(ElementKind::sensor, owner_of(name))
                                    : is_gone(ElementKind::parameter, name);
               });
    }
    bool needs_table(const Number& number) const {
        const auto& tables = number.table_names();
        return std::any_of(tables.begin(), tables.end(),
                           [&](const std::string& name) { return is_gone(ElementKind::table, name); });
    }

    const Model& model_;
    const ElementSet& gone_;
};

class RemovalSearch {
public:
    explicit RemovalSearch(const Model& model) : model_(model), search_(model, gone_) {}

    Removal find(const ElementName& element) {
        take(element, removal_.owned);
        // Each pass finds what refers to what the passes before have found.
        for (std::size_t before = 0; before != gone_.size();) {
            before = gone_.size();
            pass();
        }
        return std::move(removal_);
    }

private:
    void pass() {
        if (search_.may_be_in_numbers()) scan_numbers();
        // Beams run along curves.
        if (gone_.has_any(ElementKind::curve)) scan(ElementKind::body, model_.bodies);
        for (const auto handle : model_.markers.handles()) scan_marker(handle);
        scan(ElementKind::joint, model_.joints);
        scan(ElementKind::driver, model_.drivers);
        scan(ElementKind::stop, model_.stops);
        scan(ElementKind::force, model_.forces);
        scan(ElementKind::sensor, model_.sensors);
        scan(ElementKind::event, model_.events);
        scan(ElementKind::contact, model_.contacts);
        if (search_.needs(model_.simulation.conditions)) take({ElementKind::simulation, ""}, removal_.dependents);
        for (const InitialValue& value : model_.initial_positions)
            if (search_.needs(value)) take({ElementKind::initial_position, value.scalar}, removal_.dependents);
        for (const InitialValue& value : model_.initial_rates)
            if (search_.needs(value)) take({ElementKind::initial_rate, value.scalar}, removal_.dependents);
    }
    void scan_numbers() {
        for (const auto& name : model_.parameters.names())
            if (search_.needs(model_.parameters.definition(name)))
                take({ElementKind::parameter, name}, removal_.dependents);
        scan(ElementKind::table, model_.tables);
        scan(ElementKind::curve, model_.curves);
        scan(ElementKind::road, model_.roads);
        scan(ElementKind::body, model_.bodies);
        if (search_.needs(model_.gravity) || search_.needs(model_.orbit))
            take({ElementKind::gravity, ""}, removal_.dependents);
        if (search_.needs(model_.simulation)) take({ElementKind::simulation, ""}, removal_.dependents);
    }
    template <class Element>
    void scan(ElementKind kind, const Table<Element>& table) {
        for (const auto handle : table.handles()) {
            const Element& element = table.get(handle);
            if (search_.needs(element)) take({kind, element.name}, removal_.dependents);
        }
    }
    // A marker goes with its body; one that a joint has made goes with the joint, and takes the joint along.
    void scan_marker(MarkerHandle handle) {
        const Marker& marker = model_.markers.get(handle);
        if (!search_.needs(marker)) return;
        const bool goes_with_body = search_.is_gone(ElementKind::body, model_.bodies.get(marker.body).name);
        const bool is_owned = goes_with_body || !find_maker(model_, handle).is_null();
        take({ElementKind::marker, marker.name}, is_owned ? removal_.owned : removal_.dependents);
    }
    void take(const ElementName& element, std::vector<ElementName>& list) {
        if (!gone_.insert(element)) return;
        list.push_back(element);
        if (element.kind != ElementKind::joint) return;
        const Joint& joint = model_.joints.get(model_.joints.find(element.name));
        if (!owns_markers(model_, joint)) return;
        for (const MarkerHandle marker : {joint.ends().first, joint.ends().second})
            take({ElementKind::marker, model_.markers.get(marker).name}, removal_.owned);
    }

    const Model& model_;
    ElementSet gone_;
    ReferenceSearch search_;
    Removal removal_;
};

}  // namespace

std::string describe(const ElementName& element) {
    constexpr const char* words[] = {
        "parameter",  TableDefinition::kind, CurveDefinition::kind, RoadDefinition::kind, Body::kind,
        Marker::kind, Joint::kind,           Driver::kind,          Stop::kind,           Force::kind,
        Sensor::kind, EventRule::kind,       ContactRule::kind,     "initial value of",   "initial rate of",
        "gravity",    "simulation"};
    static_assert(std::size(words) == element_kind_count);
    const std::string word = words[static_cast<std::size_t>(element.kind)];
    return element.kind >= ElementKind::gravity ? word : word + " '" + element.name + "'";
}

std::string describe(const std::vector<ElementName>& elements) {
    std::string text;
    for (std::size_t i = 0; i < elements.size(); ++i)
        text += (i == 0 ? "" : i + 1 < elements.size() ? ", " : " and ") + describe(elements[i]);
    return text;
}

Removal find_removal(const Model& model, const ElementName& element) {
    return RemovalSearch(model).find(element);
}

}  // namespace limber
