#pragma once
// How elements are described. Each type of element is a plain structure that says beside its fields what each is called
// in files, what it holds and what it means:
//
//   struct Drag {
//       static constexpr TypeNote type{"drag", "against the velocity of a point"};
//       MarkerHandle marker;
//       Number linear;
//       template <class Self, class Visitor>
//       static void visit(Self& self, Visitor& visitor) {
//           visitor.main(self.marker);                                              // what the type's own key holds
//           visitor.field(self.linear, {"linear", "force per speed"});
//       }
//   };
//
// A field that is a variant holds one of several kinds; formats show the first. Joints call `placed` in place of `main`
// for markers that 'at', 'axis' and 'x' may make. A type without a main field holds its fields in its key. Reader,
// writer, schema, manual, listing and the search for dependents are visitors: they know kinds of fields, not elements.

#include <vector>

namespace limber {

/// What a value of a model file is.
enum class FieldKind {
    number,   ///< a number or an expression
    vector,   ///< two or three numbers
    numbers,  ///< a list of numbers
    text,
    marker,       ///< "body.marker" or "body"
    two_markers,  ///< [first, second]
    coordinate,   ///< "joint.coordinate"
    two_coordinates,
    coordinate_map,  ///< {coordinate: number}
    joint_map,       ///< {joint: number}
    reference,       ///< the name of another element
    table,           ///< [[x, y], ...]
    object,          ///< a mapping described elsewhere
    truth,
    place,       ///< a vector, or the name of a marker
    names,       ///< a name or a list of names
    two_bodies,  ///< [first, second], each a body, a group, a list of them, or all
    points,      ///< a list of vectors
    edits        ///< a list of edits of the running mechanism
};

struct FieldFormat {
    const char* name;
    FieldKind kind;
    const char* meaning;
    bool is_required = false;
};

/// An element type that is recognised by its key: {revolute: [a, b], ...}.
struct TypeFormat {
    const char* name;
    FieldKind kind;  ///< what the key itself holds
    const char* meaning;
    bool is_spatial_only;
    std::vector<FieldFormat> options;
};

/// The key of a type, and what it means.
struct TypeNote {
    const char* name;
    const char* meaning;
    bool is_spatial_only = false;
    bool is_code = false;  ///< C++, which no file can hold; such types stand last in their variant
};

/// Which names an expression may use beside those of parameters.
enum class Variables {
    none,
    time,     ///< t
    x,        ///< x
    scalars,  ///< t, joint coordinates, sensors: checked when the model is compiled
    columns,  ///< t and columns of sensors, the same
    law,      ///< the same, and x and v of what the law acts along
    motion    ///< the same, and x, y, z and vx, vy, vz of a marker, world axes
};

/// The key of a field, and what it means. A field that is not required is left out of files where it has its default.
struct FieldNote {
    const char* name;
    const char* meaning;
    bool is_required = false;
    Variables variables = Variables::none;
    const char* expected = "";  ///< of a text: what a message asks for
    bool is_positive = false;   ///< of a number, which is computed when it is read
};
constexpr FieldNote text_note(const char* name, const char* expected, const char* meaning) {
    return {.name = name, .meaning = meaning, .expected = expected};
}

}  // namespace limber
