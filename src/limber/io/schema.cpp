// The model file format as a JSON Schema, made from the tables the reader itself uses.

#include <nlohmann/json.hpp>

#include "limber/io/format.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;

Json reference(const char* name) {
    return {{"$ref", std::string("#/$defs/") + name}};
}

Json field_schema(const FieldFormat& field) {
    Json schema;
    switch (field.kind) {
        case FieldKind::number: schema = reference("number"); break;
        case FieldKind::vector: schema = {{"anyOf", Json::array({reference("vector"), reference("number")})}}; break;
        case FieldKind::numbers: schema = {{"anyOf", Json::array({reference("numbers"), reference("number")})}}; break;
        case FieldKind::text:
        case FieldKind::marker:
        case FieldKind::coordinate:
        case FieldKind::reference: schema = {{"type", "string"}}; break;
        case FieldKind::two_markers:
        case FieldKind::two_coordinates:
            schema = {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 2}, {"maxItems", 2}};
            break;
        case FieldKind::coordinate_map:
        case FieldKind::joint_map: schema = reference("numbers_by_name"); break;
        case FieldKind::table: schema = reference("table"); break;
        case FieldKind::truth: schema = {{"type", "boolean"}}; break;
        case FieldKind::place: schema = {{"anyOf", Json::array({reference("vector"), {{"type", "string"}}})}}; break;
        case FieldKind::edits:
            schema = {{"type", "array"}, {"items", {{"type", Json::array({"string", "object"})}}}, {"minItems", 1}};
            break;
        case FieldKind::names:
            schema = {{"type", Json::array({"string", "array"})}, {"items", {{"type", "string"}}}};
            break;
        case FieldKind::two_bodies:
            schema = {{"type", "array"},
                      {"items", {{"type", Json::array({"string", "array"})}, {"items", {{"type", "string"}}}}},
                      {"minItems", 2},
                      {"maxItems", 2}};
            break;
        case FieldKind::points: schema = {{"type", "array"}, {"items", reference("vector")}, {"minItems", 2}}; break;
        case FieldKind::object: schema = Json::object(); break;
    }
    schema["description"] = field.meaning;
    return schema;
}

Json object_schema(const std::vector<FieldFormat>& fields) {
    Json schema{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
    Json required = Json::array();
    for (const FieldFormat& field : fields) {
        schema["properties"][field.name] = field_schema(field);
        if (field.is_required) required.push_back(field.name);
    }
    if (!required.empty()) schema["required"] = required;
    return schema;
}

// One alternative per type, recognised by its key.
Json typed_schema(const std::vector<TypeFormat>& formats) {
    Json alternatives = Json::array();
    for (const TypeFormat& format : formats) {
        std::vector<FieldFormat> fields = format.options;
        fields.insert(fields.begin(), FieldFormat{format.name, format.kind, format.meaning, true});
        Json schema = object_schema(fields);
        schema["title"] = format.name;
        alternatives.push_back(schema);
    }
    return {{"oneOf", alternatives}};
}

// A mapping of names to elements; keys may be loops "for i in a..b" whose value is again such a mapping.
Json named(const std::string& definition, const Json& element, Json& definitions) {
    const Json self = reference(definition.c_str());
    definitions[definition] = {{"type", Json::array({"object", "null"})},
                               {"patternProperties", {{"^for [A-Za-z_][A-Za-z0-9_]* in .+$", self}}},
                               {"additionalProperties", element}};
    return self;
}

}  // namespace

std::string make_json_schema() {
    Json schema{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "Limber model"},
        {"description",
         "A mechanism: bodies, joints, forces, sensors. Wherever a number may stand, an expression of parameters "
         "(and of t, where a law of time makes sense) may stand too."}};
    Json definitions = Json::object();
    definitions["number"] = {{"type", Json::array({"number", "string"})},
                             {"description", "a number or an expression: 2*m*l^2, 30 deg"}};
    definitions["vector"] = {{"type", "array"}, {"items", reference("number")}, {"minItems", 2}, {"maxItems", 3}};
    definitions["numbers"] = {
        {"type", "array"},
        {"items",
         {{"anyOf", Json::array({reference("number"), {{"type", "array"}, {"items", reference("number")}}})}}}};
    named("numbers_by_name", reference("number"), definitions);
    definitions["table"] = {
        {"type", "array"},
        {"items", {{"type", "array"}, {"items", reference("number")}, {"minItems", 2}, {"maxItems", 2}}},
        {"minItems", 2}};

    Json marker = object_schema(marker_fields());
    Json solids = Json::array();
    Json body = object_schema(body_fields());
    for (const TypeFormat& solid : solid_formats()) {
        Json solid_schema = object_schema(solid.options);
        body["properties"][solid.name] = solid_schema;
        solids.push_back({{"type", "object"},
                          {"properties", {{solid.name, solid_schema}}},
                          {"required", {solid.name}},
                          {"additionalProperties", false}});
    }
    Json shapes = Json::array();
    for (const TypeFormat& shape : shape_formats())
        shapes.push_back({{"type", "object"},
                          {"properties", {{shape.name, object_schema(shape.options)}}},
                          {"required", {shape.name}},
                          {"additionalProperties", false}});
    Json beam = object_schema(beam_fields());
    Json sections = Json::array();
    for (const TypeFormat& section : section_formats())
        sections.push_back({{"type", "object"},
                            {"properties", {{section.name, object_schema(section.options)}}},
                            {"required", {section.name}},
                            {"additionalProperties", false}});
    beam["properties"]["section"] = {{"oneOf", sections}};
    beam["properties"]["material"] = object_schema(beam_material_fields());
    beam["properties"]["arc"] = object_schema(beam_arc_fields());
    body["properties"]["beam"] = beam;
    body["properties"]["shapes"] = {{"type", "array"}, {"items", {{"oneOf", shapes}}}};
    body["properties"]["solids"] = {{"type", "array"}, {"items", {{"oneOf", solids}}}};
    body["properties"]["markers"] =
        named("markers", {{"anyOf", Json::array({reference("vector"), marker})}}, definitions);
    body["type"] = Json::array({"object", "null"});

    Json top = object_schema(top_level_fields());
    Json& properties = top["properties"];
    properties["limber"] = {{"const", 1}, {"description", "version of the format"}};
    properties["plane"] = {{"const", "xy"}};
    properties["include"] = {
        {"anyOf", Json::array({{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}})}};
    properties["gravity"] = {
        {"anyOf", Json::array({reference("vector"), {{"const", "none"}}, object_schema(orbit_fields())})}};
    properties["parameters"] = named("parameters", reference("number"), definitions);
    properties["tables"] = named("tables", object_schema(table_fields()), definitions);
    properties["curves"] = named("curves", object_schema(curve_fields()), definitions);
    // A road: one piece, or a list of pieces.
    Json road_types = Json::array();
    for (const TypeFormat& format : road_formats()) {
        std::vector<FieldFormat> options;
        Json main = object_schema(format.options);
        if (format.kind != FieldKind::object) {
            options = format.options;
            main = field_schema({format.name, format.kind, format.meaning, true});
        }
        Json piece = object_schema(options);
        piece["properties"][format.name] = main;
        piece["required"] = Json::array({format.name});
        road_types.push_back(piece);
    }
    const Json road_piece{{"oneOf", road_types}};
    properties["roads"] =
        named("roads", {{"anyOf", Json::array({road_piece, {{"type", "array"}, {"items", road_piece}}})}}, definitions);
    properties["bodies"] = named("bodies", body, definitions);
    properties["joints"] = named("joints", typed_schema(joint_formats()), definitions);
    properties["drivers"] = named("drivers", object_schema(driver_fields()), definitions);
    properties["stops"] = named("stops", typed_schema(stop_formats()), definitions);
    properties["forces"] = named("forces", typed_schema(force_formats()), definitions);
    properties["contacts"] = named("contacts", typed_schema(contact_formats()), definitions);
    properties["sensors"] = named("sensors", typed_schema(sensor_formats()), definitions);
    properties["events"] = named("events", typed_schema(event_formats()), definitions);
    properties["initial"] = object_schema(initial_fields());
    properties["simulation"] = object_schema(simulation_fields());
    properties["solve"] = named("solve", object_schema(solve_fields()), definitions);
    Json component = object_schema(component_fields());
    component["properties"]["bodies"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
    properties["components"] = named("components", component, definitions);
    properties["modular"] = object_schema(modular_fields());
    schema.update(top);
    schema["$defs"] = definitions;
    return schema.dump(2);
}

}  // namespace limber
