// Islands of contacts: by hand, and against reachability found the slow way.

#include <gtest/gtest.h>

#include "limber/contact/cones/contact_islands.hpp"

#include <rapidcheck/gtest.h>

#include <algorithm>

namespace limber {
namespace {

std::vector<int> list(std::span<const int> part) {
    return {part.begin(), part.end()};
}

TEST(ContactIslands, GroundDoesNotConnect) {
    const std::vector<std::array<int, 2>> ends{{-1, 4}, {-1, 1}, {1, 2}, {4, -1}, {0, 2}};
    ContactIslands islands;
    islands.find(ends, 6);
    ASSERT_EQ(islands.count(), 2);
    EXPECT_EQ(list(islands.contacts(0)), (std::vector{0, 3}));
    EXPECT_EQ(list(islands.bodies(0)), (std::vector{4}));
    EXPECT_EQ(list(islands.contacts(1)), (std::vector{1, 2, 4}));
    EXPECT_EQ(list(islands.bodies(1)), (std::vector{0, 1, 2}));
    EXPECT_EQ(islands.place(2), 2);
    islands.find({}, 6);
    EXPECT_EQ(islands.count(), 0);
}

RC_GTEST_PROP(ContactIslands, AreWhatCanBeReached, ()) {
    const int bodies = *rc::gen::inRange(1, 12);
    const int contacts = *rc::gen::inRange(0, 15);
    std::vector<std::array<int, 2>> ends;
    for (int k = 0; k < contacts; ++k) {
        const int a = *rc::gen::inRange(-1, bodies);
        const int b = *rc::gen::inRange(0, bodies);
        ends.push_back({a, b});
    }
    // Bodies take the least number of those they touch until nothing changes.
    std::vector<int> label(bodies);
    for (int b = 0; b < bodies; ++b) label[b] = b;
    for (int pass = 0; pass < bodies; ++pass)
        for (const auto& [a, b] : ends)
            if (a >= 0) label[a] = label[b] = std::min(label[a], label[b]);
    ContactIslands islands;
    islands.find(ends, bodies);
    int seen = 0;
    for (int island = 0; island < islands.count(); ++island) {
        const int own = label[ends[islands.contacts(island)[0]][1]];
        for (const int k : islands.contacts(island)) RC_ASSERT(label[ends[k][1]] == own);
        seen += static_cast<int>(islands.contacts(island).size());
        for (int k = 0; const int body : islands.bodies(island)) {
            RC_ASSERT(label[body] == own);
            RC_ASSERT(islands.place(body) == k++);
        }
        RC_ASSERT(std::count(label.begin(), label.end(), own) ==
                  static_cast<std::ptrdiff_t>(islands.bodies(island).size()));
    }
    RC_ASSERT(seen == contacts);
}

}  // namespace
}  // namespace limber
