#include "limber/model/model.hpp"

#include <fmt/format.h>

#include <utility>

namespace limber {

Model::Model() {
    Body ground;
    ground.name = "ground";
    add_body(std::move(ground));
}

BodyHandle Model::ground() const {
    return bodies.find("ground");
}

BodyHandle Model::add_body(Body body) {
    const std::string name = body.name;
    const bool has_ends = body.ends.has_value();
    const BodyHandle handle = bodies.add(std::move(body));
    add_marker(handle, "origin");
    add_marker(handle, "com", {}, Marker::Kind::centre_of_mass);
    if (has_ends) {
        add_marker(handle, "from", {}, Marker::Kind::rod_start);
        add_marker(handle, "to", {}, Marker::Kind::rod_end);
    }
    return handle;
}

MarkerHandle Model::add_marker(BodyHandle body, const std::string& name, Placement placement, Marker::Kind place) {
    Marker marker;
    marker.name = std::as_const(bodies).get(body).name + "." + name;
    marker.body = body;
    marker.place = place;
    marker.placement = std::move(placement);
    return markers.add(std::move(marker));
}

MarkerHandle Model::marker(const std::string& name) const {
    const bool names_body = name.find('.') == std::string::npos;
    const MarkerHandle handle = markers.find(names_body ? name + ".origin" : name);
    if (!handle.is_null()) return handle;
    if (names_body) throw ModelError(fmt::format("there is no body '{}'{}", name, did_you_mean(name, bodies.names())));
    throw ModelError(fmt::format("there is no marker '{}'{}", name, did_you_mean(name, markers.names())));
}

}  // namespace limber
