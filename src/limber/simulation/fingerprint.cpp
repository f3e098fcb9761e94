#include "limber/simulation/fingerprint.hpp"

#include "limber/io/model_writer.hpp"
#include "limber/simulation/option_table.hpp"

namespace limber {

void Fingerprint::add(const SimulationOptions& options) {
    for (const auto& row : simulation_option_rows())
        if (row.changes_results) std::visit([this](const auto& value) { add(value); }, row.get(options));
}

std::uint64_t fingerprint_of(const Model& model) {
    Fingerprint fingerprint;
    fingerprint.add(write_model_text(model));
    for (const auto handle : model.bodies.handles()) {
        const Body& body = model.bodies.get(handle);
        if (!body.shapes) continue;
        // The text has the names of the files only.
        for (const ContactShape& shape : *body.shapes) {
            if (!shape.surface) continue;
            fingerprint.add(shape.surface->vertices);
            for (const auto& triangle : shape.surface->triangles)
                for (const int corner : triangle) fingerprint.add(corner);
        }
    }
    return fingerprint.value();
}

}  // namespace limber
