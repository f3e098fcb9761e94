#include "limber/simulation/fingerprint.hpp"

#include "limber/io/model_writer.hpp"
#include "limber/simulation/option_table.hpp"

namespace limber {

void Fingerprint::add(const SimulationOptions& options) {
    for (const auto& row : simulation_option_rows())
        if (row.changes_results) std::visit([this](const auto& value) { add(value); }, row.get(options));
}

namespace {

void add_surface(Fingerprint& fingerprint, const SurfaceMesh& surface) {
    fingerprint.add(surface.vertices);
    for (const auto& triangle : surface.triangles)
        for (const int corner : triangle) fingerprint.add(corner);
}

}  // namespace

std::uint64_t fingerprint_of(const Model& model) {
    Fingerprint fingerprint;
    fingerprint.add(write_model_text(model));
    for (const auto handle : model.bodies.handles()) {
        const Body& body = model.bodies.get(handle);
        if (!body.shapes) continue;
        // The text has the names of the files only.
        for (const ContactShape& shape : *body.shapes)
            std::visit(
                [&](const auto& one) {
                    if constexpr (requires { one.file; })
                        if (one.file.surface) add_surface(fingerprint, *one.file.surface);
                },
                shape);
    }
    return fingerprint.value();
}

}  // namespace limber
