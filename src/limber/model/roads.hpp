#pragma once
// Roads: the height over the world's x axis as a sum of pieces. Lengths in m.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/description.hpp"
#include "limber/model/laws.hpp"

namespace limber {

struct RoadBump {
    static constexpr TypeNote type{"bump", "cosine bump: height/2 (1 - cos(2 pi s/length))"};
    Number from{}, length{}, height{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.from, {"from", "x at its start", true});
        visitor.field(self.length, {"length", "along x", true});
        visitor.field(self.height, {"height", "at its top", true});
    }
};

struct RoadRamp {
    static constexpr TypeNote type{"ramp", "straight slope"};
    Number from{}, to{}, height{};
    std::optional<Number> rounding{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.from, {"from", "x at its foot", true});
        visitor.field(self.to, {"to", "x at its top", true});
        visitor.field(self.height, {"height", "gained", true});
        visitor.field(self.rounding, {"rounding", "length of the parabolas at both ends (default 0: sharp)"});
    }
};

struct RoadStairs {
    static constexpr TypeNote type{"stairs", "steps whose risers are half cosines"};
    Number from{}, count{}, run{}, rise{}, riser{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.from, {"from", "x of the first riser", true});
        visitor.field(self.count, {"count", "number of steps", true});
        visitor.field(self.run, {"run", "distance of the risers", true});
        visitor.field(self.rise, {"rise", "height of a step, negative downwards", true});
        visitor.field(self.riser, {"riser", "length of a riser along x", true});
    }
};

/// Of ISO 8608; the roughness of each is four times that of the one before.
enum class RoadClass { a, b, c, d, e, f, g, h };

struct RandomRoad {
    static constexpr TypeNote type{"random", "random road of ISO 8608, classes A .. H"};
    RoadClass roughness = RoadClass::a;
    std::optional<Number> seed{}, from{};
    Number length{};

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.roughness, {"class", "A (very good) .. H (very poor)", true});
        visitor.field(self.seed,
                      {"seed", "of the random numbers (default 1): left and right tracks want different ones"});
        visitor.field(self.from, {"from", "x at its start (default 0)"});
        visitor.field(self.length, {"length", "along x", true});
    }
};

struct RoadTable {
    static constexpr TypeNote type{"table", "height over x"};
    TableDefinition table{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.table);
        visitor.field(self.table.interpolation, {"interpolation", "cubic (default) or linear"});
    }
};

struct RoadHeight {
    static constexpr TypeNote type{"height", "an expression of x"};
    Number height{};

    static void visit(auto& self, auto& visitor) { visitor.main(self.height, Variables::x); }
};

using RoadPiece = std::variant<RoadBump, RoadRamp, RoadStairs, RandomRoad, RoadTable, RoadHeight>;

struct RoadDefinition {
    static constexpr const char* kind = "road";
    std::string name{};
    std::vector<RoadPiece> pieces{};
};

}  // namespace limber
