// What a mechanism remembers: every number belongs to a named block, and a slot leads to numbers of its own kind only.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "limber/kinematics/mechanism/part.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// ---------------------------------------------------------------- what must not compile

template <class From, class To>
constexpr bool can_stand_for = std::is_constructible_v<MemorySlot<To>, MemorySlot<From>> ||
                               std::is_assignable_v<MemorySlot<To>&, MemorySlot<From>>;

static_assert(can_stand_for<ImpulseMemory, ImpulseMemory>);
static_assert(can_stand_for<ContactMemory, RowMemory> && can_stand_for<StickMemory, RowMemory>);
static_assert(can_stand_for<TurnMemory, MeasureMemory> && can_stand_for<CurveMemory, MeasureMemory>);

static_assert(!can_stand_for<ContactMemory, ImpulseMemory> && !can_stand_for<ImpulseMemory, ContactMemory>);
static_assert(!can_stand_for<ImpulseMemory, ImpactLossMemory> && !can_stand_for<StickMemory, ContactMemory>);
static_assert(!can_stand_for<RowMemory, ContactMemory> && !can_stand_for<TurnMemory, CurveMemory>);
static_assert(!can_stand_for<BristleMemory, SurfaceBristleMemory> && !can_stand_for<SlipMemory, BristleMemory>);
static_assert(!can_stand_for<TargetMemory<3>, WrenchMemory<2>>, "both have three numbers");

template <class Kind, class Value>
concept TakesValue = requires(MemorySlot<Kind> slot, std::vector<double>& memory, Value value) {
    slot.in(memory) = value;
};
template <class Kind>
concept CountsUp = requires(MemorySlot<Kind> slot, std::vector<double>& memory) {
    slot.in(memory) += 1.0;
};
template <class Kind>
concept ChangesWhatIsRead = requires(MemorySlot<Kind> slot, const std::vector<double>& memory, double value) {
    slot.in(memory) = value;
};
template <class Kind>
concept IsIndex = requires(MemorySlot<Kind> slot, std::vector<double>& memory) {
    memory[slot];
}
|| std::is_constructible_v<MemorySlot<Kind>, int> || std::is_convertible_v<MemorySlot<Kind>, int>;
template <class Kind>
concept HasName = requires {
    Kind::name;
};

static_assert(TakesValue<ImpulseMemory, double> && CountsUp<ImpulseMemory> && !ChangesWhatIsRead<ImpulseMemory>);
static_assert(TakesValue<ContactMemory, ContactFlag> && TakesValue<StickMemory, bool>);
static_assert(!TakesValue<ContactMemory, double> && !TakesValue<ContactMemory, int> && !CountsUp<ContactMemory>);
static_assert(!TakesValue<ContactMemory, bool> && !TakesValue<StickMemory, double> && !CountsUp<StickMemory>);
static_assert(!TakesValue<ImpulseMemory, ContactFlag> && !TakesValue<ImpulseMemory, FlagIn<double, bool>>);
static_assert(TakesValue<TargetMemory<2>, Vec2> && !TakesValue<SlipMemory, double> &&
              !TakesValue<WrenchMemory<3>, Vec3*>);
static_assert(!IsIndex<ImpulseMemory> && !IsIndex<ContactMemory> && !IsIndex<WrenchMemory<3>>);
static_assert(HasName<StickMemory> && !HasName<RowMemory> && !HasName<MeasureMemory>, "others cannot be added");

// ---------------------------------------------------------------- blocks

// Something of every kind.
const char* const full_model = R"(
limber: 1
curves:
  wire: {points: [[0, 0, 1], [0.5, 0.3, 0.4], [1, 0, 0.2], [1.5, -0.3, 0.5]]}
bodies:
  bead: {point: {mass: 0.2}, at: [0, 0, 1]}
  arm: {rod: {from: [0, 1, 0], to: [1, 1, 0], mass: 1, radius: 0.01}}
  ball: {sphere: {radius: 0.1, mass: 1}, at: [5, 0, 1]}
  pad: {box: {size: [1, 1, 1], mass: 1}, at: [9, 0, 0]}
joints:
  track: {point-on-curve: [ground, bead], curve: wire}
  hinge: {revolute: [ground, arm.from], axis: [0, 0, 1]}
drivers:
  crank: {coordinate: hinge.angle, follows: t}
stops:
  floor: {wall: [ground, ball], radius: 0.1, friction: 0.3}
forces:
  brake: {friction: hinge.angle, radius: 0.1, coefficient: 0.2, law: bristle}
  hand: {pull: ball, target: [1, 2, 3], stiffness: 40}
contacts:
  hits: {rigid: [arm, ball], friction: 0.3}
  rubs: {linear: [pad, ball], stiffness: 1e5, damping: 1, friction: 0.3, bend: 1e-4}
)";

std::vector<std::string> list_blocks(const MemoryLayout& layout) {
    std::vector<std::string> list;
    for (const MemoryBlock& block : layout.blocks) list.push_back(block.describe() + ": " + std::to_string(block.size));
    std::sort(list.begin(), list.end());
    return list;
}

// Block after block, without gaps, up to the last number.
void expect_full(const MemoryLayout& layout, const std::vector<double>& memory) {
    int next = 0;
    for (const MemoryBlock& block : layout.blocks) {
        EXPECT_EQ(block.first, next) << block.describe();
        EXPECT_EQ(&layout.block_from(next), &block);
        next += block.size;
    }
    EXPECT_EQ(next, static_cast<int>(memory.size()));
}

const MemoryBlock& block_named(const MemoryLayout& layout, const std::string& text) {
    const auto found = std::find_if(layout.blocks.begin(), layout.blocks.end(),
                                    [&](const MemoryBlock& block) { return block.describe() == text; });
    if (found == layout.blocks.end()) throw std::runtime_error("no block " + text);
    return *found;
}

const MemoryBlock& block_with(const MemoryLayout& layout, int number) {
    const auto next = std::find_if(layout.blocks.begin(), layout.blocks.end(),
                                   [&](const MemoryBlock& block) { return block.first > number; });
    return *std::prev(next);
}

TEST(Memory, NamesEveryBlockOfAMechanism) {
    const Mechanism<3> m = make_mechanism<3>(read(full_model));
    const std::vector<std::string> expected{
        "bristles of 'brake': 3",         // bend, place, rest
        "bristles of 'floor': 3",         //
        "contact flag of 'floor': 1",     //
        "contact residual: 1",            //
        "driver work: 1",                 //
        "impact loss: 1",                 //
        "impulse of 'floor': 1",          //
        "impulse of 'hits': 1",           //
        "place on curve of 'track': 1",   //
        "slip of 'brake': 7",             // is on, two forces, two times, direction
        "slip of 'floor': 7",             //
        "stick flag of 'brake': 1",       //
        "stick flag of 'floor': 1",       //
        "surface bristles of 'rubs': 5",  // time, bend, rest
        "target of 'hand': 3",            //
        "turns of 'hinge.angle': 1",      //
    };
    EXPECT_EQ(list_blocks(m.memory_layout), expected);
    expect_full(m.memory_layout, m.initial_memory);
    // What the file says stands where its block says.
    const int target = block_named(m.memory_layout, "target of 'hand'").first;
    EXPECT_EQ(std::vector<double>(m.initial_memory.begin() + target, m.initial_memory.begin() + target + 3),
              (std::vector<double>{1, 2, 3}));
}

TEST(Memory, SlotsLeadToTheirBlocks) {
    const Mechanism<3> m = make_mechanism<3>(read(full_model));
    std::vector<double> memory = m.initial_memory;
    const auto number = [&](const char* block, int k = 0) {
        return memory[block_named(m.memory_layout, block).first + k];
    };
    const StopRow& stop = m.stops.front();
    for (const ContactFlag flag : {ContactFlag::closed, ContactFlag::latched, ContactFlag::open}) {
        stop.flag.in(memory) = flag;
        EXPECT_EQ(number("contact flag of 'floor'"), static_cast<int>(flag));
        EXPECT_TRUE(stop.flag.in(memory) == flag);
        EXPECT_EQ(m.constraints.rows[stop.row].is_on(memory), flag != ContactFlag::open);
    }
    stop.impulse.in(memory) += 0.25;
    EXPECT_EQ(number("impulse of 'floor'"), 0.25);
    m.impact_loss.in(memory) = 2;
    EXPECT_EQ(number("impact loss"), 2);
    const FrictionElement& friction = m.friction.front();
    ASSERT_EQ(friction.name, "floor");
    friction.stick.in(memory) = true;
    EXPECT_EQ(number("stick flag of 'floor'"), 1);
    auto slip = friction.slip.in(memory);
    slip.is_on = true;
    slip.force = 2;
    slip.force_after = 3;
    slip.time = 4;
    slip.time_after = 5;
    slip.direction = Vec2(6, 7);
    for (int k = 0; k < SlipMemory::size; ++k) EXPECT_EQ(number("slip of 'floor'", k), k + 1);
    auto bristles = friction.bristles.in(memory);
    bristles.bend = 1;
    bristles.place = 2;
    bristles.rest = 3;
    for (int k = 0; k < BristleMemory::size; ++k) EXPECT_EQ(number("bristles of 'floor'", k), k + 1);
    // And nowhere else: what was written is all that differs.
    std::ptrdiff_t changed = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) changed += memory[i] != m.initial_memory[i] ? 1 : 0;
    EXPECT_EQ(changed, 1 + 1 + 1 + SlipMemory::size + BristleMemory::size);
}

TEST(Memory, OfAPartHasTheBlocksOfItsElementsAndPorts) {
    const Mechanism<3> whole = make_mechanism<3>(read(full_model));
    PartChoice choice;
    for (std::size_t b = 0; b < whole.bodies.size(); ++b)
        if (whole.bodies[b].name == "ball") choice.bodies.push_back(static_cast<int>(b));
    choice.elements = {whole.element_index.at("stop floor")};
    for (const char* force : {"hand", "floor"})
        for (std::size_t f = 0; f < whole.forces.elements.size(); ++f)
            if (whole.forces.elements[f].name == force) choice.forces.push_back(static_cast<int>(f));
    Part<3> part = make_part(whole, choice);
    part.add_port(0);
    const std::vector<std::string> expected{"bristles of 'floor': 3",        "contact flag of 'floor': 1",
                                            "port wrench of 'ball.port': 6", "slip of 'floor': 7",
                                            "stick flag of 'floor': 1",      "target of 'hand': 3"};
    EXPECT_EQ(list_blocks(part.mechanism.memory_layout), expected);
    expect_full(part.mechanism.memory_layout, part.mechanism.initial_memory);
    // Number by number the same as in the whole; those of the port are its own.
    ASSERT_EQ(part.memory.size(), part.mechanism.initial_memory.size());
    for (std::size_t i = 0; i < part.memory.size(); ++i) {
        const MemoryBlock& own = block_with(part.mechanism.memory_layout, static_cast<int>(i));
        if (own.owner == "ball.port") {
            EXPECT_EQ(part.memory[i], -1);
            continue;
        }
        const MemoryBlock& other = block_with(whole.memory_layout, part.memory[i]);
        EXPECT_EQ(own.describe(), other.describe());
        EXPECT_EQ(static_cast<int>(i) - own.first, part.memory[i] - other.first);
    }
    std::vector<double> memory = part.mechanism.initial_memory;
    part.port_memory.front().in(memory) << 1, 2, 3, 4, 5, 6;
    const int port = block_named(part.mechanism.memory_layout, "port wrench of 'ball.port'").first;
    for (int k = 0; k < 6; ++k) EXPECT_EQ(memory[port + k], k + 1);
}

TEST(Memory, IsCopiedOnlyWhereBothHaveIt) {
    MemoryLayout from, to;
    std::vector<double> memory, other;
    to.add<TurnMemory>("first", other);
    const auto here = from.add<SurfaceBristleMemory>("a", memory);
    const auto there = to.add<SurfaceBristleMemory>("a", other);
    std::iota(memory.begin(), memory.end(), 1.0);
    there.copy(other, here, memory);
    EXPECT_EQ(other, (std::vector<double>{0, 1, 2, 3, 4, 5}));
    there.copy(other, {}, memory);
    MemorySlot<SurfaceBristleMemory>{}.copy(other, here, memory);
    EXPECT_EQ(other, (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(there.in(other).time, 1);
    EXPECT_EQ(there.in(other).bend, Vec3(2, 3, 4));
    EXPECT_EQ(there.in(other).rest, 5);
}

// A state that is not one is refused by the name of what is wrong with it.
TEST(Memory, IsNamedWhereAStateIsRefused) {
    const Model model = read(R"(
limber: 1
plane: xy
bodies:
  ball: {disc: {radius: 0.1, mass: 1}, at: [0, 1]}
stops:
  floor: {wall: [ground, ball], radius: 0.1}
)");
    Simulation simulation(model, SimulationOptions{});
    State state = simulation.state();
    state.memory[block_named(make_mechanism<2>(model).memory_layout, "impulse of 'floor'").first] = NAN;
    try {
        const Simulation taken(model, SimulationOptions{}, state);
        FAIL() << "it was taken, at " << taken.time() << " s";
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("impulse of 'floor'"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace limber::testing
