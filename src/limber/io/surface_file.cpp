#include "limber/io/surface_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr std::size_t max_triangles = 200'000;

void add_triangle(SurfaceMesh& mesh, const Vec3& a, const Vec3& b, const Vec3& c, const std::string& name) {
    check_interruption();
    if (mesh.triangles.size() == max_triangles)
        throw ModelError(fmt::format("{}: more than {} triangles", name, max_triangles));
    if (!a.allFinite() || !b.allFinite() || !c.allFinite())
        throw ModelError(fmt::format("{}: a corner of a triangle is not finite", name));
    const int first = static_cast<int>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), {a, b, c});
    mesh.triangles.push_back({first, first + 1, first + 2});
}

// 80 bytes of anything, the number of triangles, then 50 bytes for each: normal, three corners, two bytes of anything.
bool is_binary_stl(const std::string& content, std::uint32_t& count) {
    if (content.size() < 84) return false;
    std::memcpy(&count, content.data() + 80, sizeof(count));
    return content.size() == 84 + 50 * static_cast<std::size_t>(count);
}

SurfaceMesh read_stl(const std::string& content, const std::string& name) {
    SurfaceMesh mesh;
    std::uint32_t count = 0;
    if (is_binary_stl(content, count)) {
        for (std::uint32_t i = 0; i < count; ++i) {
            std::array<float, 12> numbers{};
            std::memcpy(numbers.data(), content.data() + 84 + 50 * static_cast<std::size_t>(i), sizeof(numbers));
            const auto corner = [&](int k) { return Vec3(numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]); };
            add_triangle(mesh, corner(1), corner(2), corner(3), name);
        }
        return mesh;
    }
    std::istringstream stream(content);
    std::string word;
    std::vector<Vec3> corners;
    while (stream >> word) {
        if (word != "vertex") continue;
        check_interruption();
        if (corners.size() >= 3 * max_triangles)
            throw ModelError(fmt::format("{}: more than {} triangles", name, max_triangles));
        Vec3 v;
        if (!(stream >> v.x() >> v.y() >> v.z()))
            throw ModelError(fmt::format("{}: a vertex needs three numbers", name));
        corners.push_back(v);
    }
    if (corners.size() % 3 != 0) throw ModelError(fmt::format("{}: a triangle has not three corners", name));
    for (std::size_t i = 0; i < corners.size(); i += 3)
        add_triangle(mesh, corners[i], corners[i + 1], corners[i + 2], name);
    return mesh;
}

// Faces "f 1 2 3", "f 1/4/2 ..." and with negative numbers, counted from the end; polygons as fans.
SurfaceMesh read_obj(const std::string& content, const std::string& name) {
    SurfaceMesh mesh;
    std::vector<Vec3> vertices;
    std::istringstream stream(content);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
        check_interruption();
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "v") {
            Vec3 v;
            if (!(words >> v.x() >> v.y() >> v.z()))
                throw ModelError(fmt::format("{}:{}: a vertex needs three numbers", name, number));
            vertices.push_back(v);
        } else if (key == "f") {
            std::vector<Vec3> corners;
            for (std::string word; words >> word;) {
                long index = 0;
                if (!(std::istringstream(word) >> index))
                    throw ModelError(
                        fmt::format("{}:{}: expected the number of a vertex, found '{}'", name, number, word));
                const long place = index < 0 ? static_cast<long>(vertices.size()) + index : index - 1;
                if (place < 0 || place >= static_cast<long>(vertices.size()))
                    throw ModelError(fmt::format("{}:{}: there is no vertex {}", name, number, index));
                corners.push_back(vertices[place]);
            }
            for (std::size_t k = 2; k < corners.size(); ++k)
                add_triangle(mesh, corners[0], corners[k - 1], corners[k], name);
        }
    }
    return mesh;
}

}  // namespace

SurfaceMesh read_surface(const std::string& content, const std::string& name) {
    std::string ending = name.size() < 4 ? name : name.substr(name.size() - 4);
    std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
    if (ending != ".stl" && ending != ".obj") throw ModelError(fmt::format("{}: expected a file .stl or .obj", name));
    SurfaceMesh mesh = ending == ".stl" ? read_stl(content, name) : read_obj(content, name);
    if (mesh.triangles.empty()) throw ModelError(fmt::format("{}: there are no triangles", name));
    return mesh;
}

}  // namespace limber
