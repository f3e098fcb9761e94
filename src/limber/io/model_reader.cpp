#include "limber/io/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "limber/io/field_reader.hpp"
#include "limber/io/field_words.hpp"
#include "limber/io/other_words.hpp"
#include "limber/io/regular_file.hpp"
#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {
namespace {

// Of a surface; texts are bounded by longest_yaml.
constexpr std::size_t largest_file = 64'000'000;

}  // namespace

std::string ModelFile::locate(const std::string& message) const {
    // Messages about elements begin with "joint 'name'".
    const auto first = message.find('\'');
    const auto second = first == std::string::npos ? first : message.find('\'', first + 1);
    if (second == std::string::npos) return message;
    const auto place = places.find(message.substr(0, second + 1));
    return place == places.end() ? message : place->second + ": " + message;
}

ModelReader::ModelReader(ParameterOverrides overrides, IncludeLoader loader, const ReadLimits& limits)
    : overrides_(std::move(overrides)),
      loader_(std::move(loader)),
      limits_(limits),
      context_(std::make_shared<YamlContext>()),
      model_(file_.model) {}

void ModelReader::load(const std::string& text, const std::string& name, int depth) {
    if (depth > 10) throw ModelError(fmt::format("{}: files include each other", name));
    if (std::find(loaded_.begin(), loaded_.end(), name) != loaded_.end()) return;
    loaded_.push_back(name);
    YamlNode node(parse_yaml(text, name), std::make_shared<const std::string>(name), context_);
    if (!node.is_map()) node.fail("expected a model: a mapping that starts with 'limber: 1'");
    node.check_keys(field_names(top_level_fields()));
    const auto include = node.child("include");
    if (include) {
        std::vector<YamlNode> names;
        if (include->is_sequence()) {
            names = include->items("a list of files");
        } else {
            names.push_back(*include);
        }
        for (const YamlNode& item : names) {
            const std::string file = item.text("the name of a file");
            if (!loader_) item.fail("this model may not include other files");
            const std::string path = (std::filesystem::path(name).parent_path() / file).lexically_normal().string();
            load(load_other(item, path), path, depth + 1);
        }
    }
    documents_.push_back(node);
}

std::string ModelReader::load_other(const YamlNode& place, const std::string& path) const {
    std::optional<std::string> content;
    try {
        content = loader_(path);
    } catch (const ModelError& error) {
        place.fail(error.what());
    }
    if (!content) place.fail(fmt::format("cannot read the file '{}'", path));
    return std::move(*content);
}

void ModelReader::each(const char* section, const YamlNode::UseEntry& read) {
    for (const YamlNode& document : documents_) {
        earlier_bodies_ = model_.bodies.slot_count();
        if (const auto node = document.child(section)) node->for_each_entry("a mapping of names", read);
    }
}

// A type of element that is none: name what was found, and what may have been meant.
void ModelReader::refuse_type(const YamlNode& node, const std::vector<TypeFormat>& formats, const char* what) {
    std::vector<std::string> names;
    std::vector<std::string> options;
    for (const TypeFormat& format : formats) {
        names.emplace_back(format.name);
        for (const FieldFormat& option : format.options) options.emplace_back(option.name);
    }
    const std::string expected = fmt::format("expected one of {}", fmt::join(names, ", "));
    std::vector<std::string> found;
    for (const auto& [key, child] : node.entries("a mapping")) {
        if (std::find(options.begin(), options.end(), key) == options.end())
            child.fail(fmt::format("unknown {} type '{}'{}; {}", what, key, suggest_word(key, names), expected));
        found.push_back(key);
    }
    node.fail(fmt::format("the type of the {} is missing{}; {}", what,
                          found.empty() ? "" : fmt::format(": found {} only", fmt::join(found, ", ")), expected));
}

const TypeFormat& ModelReader::find_type(const YamlNode& node, const std::vector<TypeFormat>& formats,
                                         const char* what) const {
    if (!node.is_map()) node.fail(fmt::format("expected a mapping with the type of the {}", what));
    const TypeFormat* found = nullptr;
    for (const TypeFormat& format : formats) {
        if (!node.child(format.name)) continue;
        // An option of one type may be the name of another (a sensor of a 'force').
        if (found != nullptr) node.fail(fmt::format("both '{}' and '{}' are given", found->name, format.name));
        found = &format;
    }
    if (found == nullptr) refuse_type(node, formats, what);
    std::vector<FieldFormat> keys{{found->name, found->kind, found->meaning}};
    // What an object holds belongs to the object.
    if (found->kind != FieldKind::object) keys.insert(keys.end(), found->options.begin(), found->options.end());
    check_fields(node, keys);
    if (found->is_spatial_only && model_.planar)
        node.fail(fmt::format("a {} {} needs a spatial model; this one is planar", found->name, what));
    return *found;
}

const TypeFormat& ModelReader::find_shape(const YamlNode& item, const std::vector<TypeFormat>& formats) const {
    std::vector<std::string> names;
    const TypeFormat* found = nullptr;
    for (const TypeFormat& format : formats) {
        names.emplace_back(format.name);
        if (item.child(format.name)) found = &format;
    }
    item.check_keys(names);
    if (found == nullptr) item.fail(fmt::format("expected one of {}", fmt::join(names, ", ")));
    if (found->is_spatial_only && model_.planar)
        item.fail(fmt::format("a {} needs a spatial model; this one is planar", found->name));
    return *found;
}

ModelFile ModelReader::read(const std::string& text, const std::string& name) {
    load(text, name, 0);
    read_header();
    read_sections();
    documents_.clear();  // the tree is larger than the model, and no longer needed
    compile_once(name);
    return std::move(file_);
}

// Everything that needs the whole model is checked by compiling it once; a message about an element gets its line.
void ModelReader::compile_once(const std::string& name) {
    try {
        if (model_.planar) {
            make_mechanism<2>(model_);
        } else {
            make_mechanism<3>(model_);
        }
    } catch (const ModelError& error) {
        const std::string located = file_.locate(error.what());
        throw ModelError(located == error.what() ? fmt::format("{}: {}", name, located) : located);
    }
}

void ModelReader::read_sections() {
    read_parameters();
    read_gravity();
    const auto read_each = [this](const char* section, void (ModelReader::*read)(const std::string&, const YamlNode&)) {
        each(section, [&](const std::string& name, const YamlNode& node) { (this->*read)(name, node); });
    };
    read_each("tables", &ModelReader::read_table);
    read_each("curves", &ModelReader::read_curve);
    read_each("roads", &ModelReader::read_road);
    read_each("bodies", &ModelReader::read_body);
    read_each("markers", &ModelReader::read_marker_entry);
    read_each("joints", &ModelReader::read_joint);
    read_each("drivers", &ModelReader::read_driver);
    read_each("forces", &ModelReader::read_force);
    read_each("stops", &ModelReader::read_stop);
    read_each("contacts", &ModelReader::read_contact);
    read_each("sensors", &ModelReader::read_sensor);
    read_each("events", &ModelReader::read_event);
    read_initial();
    read_section("simulation", model_.simulation);
    read_each("solve", &ModelReader::read_condition);
    read_each("components", &ModelReader::read_component);
    read_section("modular", model_.simulation.modular);
}

ModelReader::ModelReader(Model model) : ModelReader(ParameterOverrides{}, nullptr) {
    file_.model = std::move(model);
}

void ModelReader::read_part(const YAML::Node& document, bool is_replacing) {
    documents_ = {YamlNode(document, std::make_shared<const std::string>("edit"), context_)};
    is_replacing_ = is_replacing;
    read_sections();
}

void ModelReader::read_header() {
    const YamlNode& main = documents_.back();
    const auto version = main.child("limber");
    if (!version) main.fail("'limber: 1' (the version of the format) is missing");
    if (version->text("the version of the format, 1") != "1")
        version->fail(fmt::format("expected version 1, found '{}'", version->text("1")));
    for (const YamlNode& document : documents_)
        if (const auto title = document.child("title")) model_.title = title->text("a title");
    for (const YamlNode& document : documents_)
        if (const auto plane = document.child("plane")) {
            plane->choice({"xy"});
            model_.planar = true;
        }
    model_.gravity = default_gravity(model_.planar);
}

void ModelReader::apply_overrides(const std::vector<std::string>& names) {
    for (const auto& [name, value] : overrides_) {
        if (!model_.parameters.contains(name))
            throw ModelError(fmt::format("{}: there is no parameter '{}' to set{}{}", documents_.back().location(),
                                         name, did_you_mean(name, names),
                                         names.empty() ? "" : fmt::format("; known: {}", fmt::join(names, ", "))));
        try {
            model_.parameters.set(name, Number(value));
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("value of parameter '{}': {}", name, error.what()));
        }
    }
}

void ModelReader::read_parameters() {
    std::map<std::string, YamlNode> places;
    each("parameters", [&](const std::string& name, const YamlNode& node) {
        node.check_name(name);
        const auto& reserved = reserved_names();
        if (std::find(reserved.begin(), reserved.end(), name) != reserved.end())
            node.fail(fmt::format("'{}' has a meaning of its own in expressions, as have {}: take another name", name,
                                  fmt::join(reserved, ", ")));
        model_.parameters.set(name, node.number({}, true));
        places.insert_or_assign(name, node);
    });
    apply_overrides(model_.parameters.names());
    try {
        for (const auto& [name, value] : model_.parameters.evaluate()) {
            if (!std::isfinite(value))
                throw ModelError(fmt::format("parameter '{}': the value is not a finite number: {}", name, value));
            context_->parameters[name] = value;
        }
    } catch (const ModelError& error) {
        const std::string message = error.what();
        for (const auto& [name, node] : places)
            if (message.starts_with(fmt::format("parameter '{}'", name))) node.fail(message);
        throw;
    }
}

void ModelReader::read_gravity() {
    for (const YamlNode& document : documents_) {
        const auto node = document.child("gravity");
        if (!node) continue;
        model_.orbit.reset();
        if (node->is_map()) {
            check_fields(*node, orbit_fields());
            model_.orbit = positive_number(node->required("orbit"), ModelEvaluation(model_));
            model_.gravity = {0.0, 0.0, 0.0};
        } else if (node->is_scalar()) {
            node->choice({"none"});
            model_.gravity = {0.0, 0.0, 0.0};
        } else {
            model_.gravity = node->vector(model_.planar, {"t", "x", "y", "z"});
        }
    }
}

TableDefinition ModelReader::read_rows(const YamlNode& rows, const std::optional<YamlNode>& interpolation) const {
    TableDefinition table;
    for (const YamlNode& row : rows.items("rows [[x, y], ...]")) {
        const auto pair = row.items("a row [x, y]");
        if (pair.size() != 2) row.fail(fmt::format("expected a row [x, y], found {} numbers", pair.size()));
        table.x.push_back(pair[0].number());
        table.y.push_back(pair[1].number());
    }
    if (table.x.size() < 2) rows.fail("a table needs at least two rows");
    if (interpolation)
        table.interpolation = static_cast<Interpolation::Kind>(interpolation->choice(words_of(table.interpolation)));
    return table;
}

void ModelReader::read_table(const std::string& name, const YamlNode& node) {
    node.check_keys(field_names(table_fields()));
    const auto rows = node.child("rows");
    if (!rows) node.fail("'rows' is missing: [[x, y], ...]");
    for (const auto& builtin : Expression::builtin_names())
        if (name == builtin) node.fail(fmt::format("'{}' is a built-in function", name));
    TableDefinition table = read_rows(*rows, node.child("interpolation"));
    table.name = name;
    add(model_.tables, std::move(table), node);
}

void ModelReader::read_curve(const std::string& name, const YamlNode& node) {
    CurveDefinition curve{.name = name};
    FieldReader(*this, node, "").read_object(curve);
    const std::size_t least = curve.closed ? 3 : 2;
    if (curve.points.size() < least)
        node.required("points").fail(fmt::format("expected at least {} points, found {}", least, curve.points.size()));
    add(model_.curves, std::move(curve), node);
}

void ModelReader::read_initial() {
    for (const YamlNode& document : documents_) {
        const auto node = document.child("initial");
        if (!node) continue;
        node->check_keys(field_names(initial_fields()));
        const auto values = [&](const char* key, std::vector<InitialValue>& out) {
            const auto map = node->child(key);
            if (!map) return;
            for (const auto& [scalar, value] : map->entries("{coordinate: number}")) {
                out.push_back({scalar, value.number()});
                file_.places[fmt::format("initial value of '{}'", scalar)] = value.location();
            }
        };
        values("positions", model_.initial_positions);
        values("rates", model_.initial_rates);
        if (const auto velocities = node->child("velocities")) {
            model_.initial_velocities = static_cast<StartVelocities>(velocities->choice(words_of(StartVelocities{})));
            file_.places["initial velocities"] = velocities->location();
        }
    }
}

void ModelReader::check_fields(const YamlNode& node, const std::vector<FieldFormat>& fields) {
    if (!node.is_null()) node.check_keys(field_names(fields));
    for (const FieldFormat& field : fields)
        if (field.is_required && !node.child(field.name))
            node.fail(fmt::format("'{}' is missing: {}", field.name, field.meaning));
}

template <class Section>
void ModelReader::read_section(const char* name, Section& section) {
    for (const YamlNode& document : documents_)
        if (const auto node = document.child(name)) FieldReader(*this, *node, "").read_object(section);
}

void ModelReader::read_condition(const std::string& name, const YamlNode& node) {
    if (!model_.parameters.contains(name))
        node.fail(fmt::format("there is no parameter '{}' to solve for{}", name,
                              did_you_mean(name, model_.parameters.names())));
    StartCondition condition{.name = name};
    FieldReader(*this, node, "").read_object(condition);
    const std::string owner = condition.sensor.substr(0, condition.sensor.rfind('.'));
    if (model_.sensors.find(condition.sensor).is_null() && model_.sensors.find(owner).is_null())
        node.required("sensor").fail(fmt::format("there is no sensor '{}'{}", condition.sensor,
                                                 did_you_mean(condition.sensor, model_.sensors.names())));
    file_.places[fmt::format("solve '{}'", name)] = node.location();
    model_.simulation.conditions.push_back(std::move(condition));
}

void ModelReader::read_component(const std::string& name, const YamlNode& node) {
    node.check_name(name);
    ComponentGroup group{.name = name};
    FieldReader(*this, node, "").read_object(group);
    model_.simulation.components.push_back(std::move(group));
}

Number ModelReader::positive_number(const YamlNode& node, const ModelEvaluation& evaluation) const {
    Number number = node.number();
    const double value = evaluation.number(number, node.path());
    if (!(value > 0)) node.fail(fmt::format("expected a positive number, found {:.6g}", value));
    return number;
}

MarkerHandle ModelReader::marker(const YamlNode& node) const {
    const std::string name = node.text("a marker: body.marker, or body for its origin");
    try {
        return model_.marker(name);
    } catch (const ModelError& error) {
        node.fail(error.what());
    }
}

std::pair<MarkerHandle, MarkerHandle> ModelReader::two_markers(const YamlNode& node) const {
    const auto list = node.items("two markers [first, second]");
    if (list.size() != 2) node.fail(fmt::format("expected two markers [first, second], found {}", list.size()));
    return {marker(list[0]), marker(list[1])};
}

ModelFile read_model_text(const std::string& text, const std::string& name, const ParameterOverrides& overrides,
                          const IncludeLoader& loader, const ReadLimits& limits) {
    return ModelReader(overrides, loader, limits).read(text, name);
}

ModelFile read_model_file(const std::string& path, const ParameterOverrides& overrides) {
    const IncludeLoader loader = [](const std::string& file) -> std::optional<std::string> {
        return read_regular_file(file, largest_file);
    };
    return read_model_text(read_regular_file(path, longest_yaml), path, overrides, loader);
}

}  // namespace limber
