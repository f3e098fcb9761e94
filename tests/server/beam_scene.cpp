// How a page is told of beams: piece by piece, markers on the piece that they move with.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "limber/math/rotation.hpp"
#include "limber/server/scene.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

Vec3 vector_of(const nlohmann::ordered_json& list) {
    return Vec3(list[0].get<double>(), list[1].get<double>(), list[2].get<double>());
}

TEST(BeamScene, HasEveryPieceAndMarkerWhereItIs) {
    Simulation s(read(R"yaml(
limber: 1
bodies:
  first: {rod: {from: [0, 0, 1], to: [0, 0, 0], mass: 1}}
  beam:
    beam:
      to: [1, 0.5, 0]
      elements: 3
      section: {box: {height: 0.02, width: 0.01}}
      material: {young: 1e9, density: 1000}
    markers: {third: [0.4, 0.01, 0.02], there: {at: [0.6, 0.3, 0.1], frame: world}}
  last: {rod: {from: [1, 0.5, 0], to: [1, 0.5, -1], mass: 1}}
joints:
  clamp: {fixed: [ground, beam.from], at: [0, 0, 0], axis: [0, 0, 1]}
  top: {spherical: [ground, first.from], at: [0, 0, 1]}
  hook: {spherical: [beam.to, last.from]}
sensors:
  third: {position: beam.third}
  there: {position: beam.there}
  to: {position: beam.to}
  last: {position: last.to}
)yaml"),
                 options("global", "trapezoidal", "reference-point"));
    ASSERT_TRUE(s.advance(0.2, 1e-3).ok);
    const nlohmann::ordered_json scene = describe_scene(s, s.observer());
    const auto& poses = scene["poses"];
    std::map<std::string, int> entries;
    double mass = 0;
    for (const auto& body : scene["bodies"]) {
        ++entries[body["name"]];
        const int index = body["index"];
        EXPECT_LT(index, static_cast<int>(poses.size()));
        if (body["name"] == "beam") mass += body["mass"].get<double>();
    }
    EXPECT_EQ(entries["first"], 1);
    EXPECT_EQ(entries["last"], 1);
    EXPECT_EQ(entries["beam"], static_cast<int>(poses.size()) - 2);
    EXPECT_NEAR(mass, 1000 * 0.02 * 0.01 * std::sqrt(1.25), 1e-12);
    int seen = 0;
    for (const auto& marker : scene["markers"]) {
        const std::string name = marker["name"];
        const std::string sensor = name.substr(name.find('.') + 1);
        if (name != "beam." + sensor && name != "last.to") continue;
        if (sensor != "third" && sensor != "there" && sensor != "to") continue;
        const auto& pose = poses[marker["body"].get<std::size_t>()];
        const Quat turn(pose[6].get<double>(), pose[3].get<double>(), pose[4].get<double>(), pose[5].get<double>());
        const Vec3 place = vector_of(pose) + turn * vector_of(marker["position"]);
        const std::string column = name == "last.to" ? "last" : sensor;
        const Vec3 expected(sense(s, column + ".x"), sense(s, column + ".y"), sense(s, column + ".z"));
        EXPECT_LT((place - expected).norm(), 1e-9) << name;
        ++seen;
    }
    EXPECT_EQ(seen, 4);
}

}  // namespace
}  // namespace limber::testing
