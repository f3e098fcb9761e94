// Tables as values: copies share their elements and never see each other's changes.

#include "limber/model/table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <utility>

#include "limber/model/model.hpp"

namespace limber {
namespace {

struct Item {
    static constexpr const char* kind = "item";
    std::string name;
    int value = 0;
};
using Items = Table<Item>;

TEST(SharedTable, AnOldCopyKeepsItsContents) {
    Items now;
    const auto a = now.add({"a", 1});
    const auto b = now.add({"b", 2});
    const Items before = now;
    now.get(a).value = 10;
    now.remove(b);
    const auto c = now.add({"c", 3});
    EXPECT_EQ(before.get(a).value, 1);
    EXPECT_EQ(before.get(b).value, 2);
    EXPECT_TRUE(before.find("c").is_null());
    EXPECT_FALSE(before.contains(c)) << "the slot of b holds another generation there";
    EXPECT_EQ(before.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(std::as_const(now).get(a).value, 10);
    EXPECT_FALSE(now.contains(b));
    EXPECT_EQ(now.names(), (std::vector<std::string>{"a", "c"}));
}

// Whatever was removed before: the order of the elements says where the next one goes, so a table that was written and
// read again goes on alike.
TEST(SharedTable, WhatIsAddedComesLast) {
    Items table;
    const auto a = table.add({"a", 1});
    const auto b = table.add({"b", 2});
    const auto c = table.add({"c", 3});
    const Items before = table;
    table.remove(a);
    const auto d = table.add({"d", 4});
    EXPECT_EQ(table.names(), (std::vector<std::string>{"b", "c", "d"}));
    const auto changes = before.changes_to(table);
    // Slots behind all elements are used again, the first one first.
    table.remove(c);
    table.remove(d);
    const auto e = table.add({"e", 5});
    const auto f = table.add({"f", 6});
    EXPECT_EQ(e.index, d.index);
    EXPECT_GT(f.index, e.index);
    EXPECT_EQ(table.names(), (std::vector<std::string>{"b", "e", "f"}));
    EXPECT_TRUE(table.contains(b));
    EXPECT_FALSE(table.contains(d));
    // Taking changes back leaves the same rule behind.
    Items undone = before;
    undone.apply(changes, false);
    undone.apply(changes, true);
    EXPECT_EQ(undone.names(), before.names());
    undone.remove(undone.find("b"));
    undone.add({"g", 7});
    EXPECT_EQ(undone.names(), (std::vector<std::string>{"a", "c", "g"}));
}

TEST(SharedTable, ReadingDoesNotCopyAndChangingCopiesOnlyWhatChanges) {
    Items first;
    const auto a = first.add({"a", 1});
    const auto b = first.add({"b", 2});
    Items second = first;
    const Items& left = first;
    const Items& right = second;
    EXPECT_EQ(&left.get(a), &right.get(a));
    EXPECT_EQ(left.find(a), right.find(a));
    second.get(a).value = 5;
    EXPECT_NE(&left.get(a), &right.get(a));
    EXPECT_EQ(&left.get(b), &right.get(b));
    const Item* own = &right.get(a);
    second.get(a).value = 6;
    EXPECT_EQ(&right.get(a), own) << "what is not shared is changed in place";
}

TEST(SharedTable, ReplacingKeepsHandlesAndOrder) {
    Items table;
    const auto a = table.add({"a", 1});
    const auto b = table.add({"b", 2});
    const Items before = table;
    table.replace(a, {"z", 7});
    EXPECT_EQ(std::as_const(table).get(a).value, 7);
    EXPECT_EQ(table.find("z"), a);
    EXPECT_TRUE(table.find("a").is_null());
    EXPECT_EQ(table.names(), (std::vector<std::string>{"z", "b"}));
    EXPECT_THROW(table.replace(a, {"b", 0}), ModelError) << "the name is taken";
    EXPECT_EQ(std::as_const(table).get(a).name, "z");
    table.replace(a, {"z", 8});
    EXPECT_EQ(before.get(a).name, "a");
    table.remove(b);
    EXPECT_THROW(table.replace(b, {"b", 0}), ModelError) << "stale";
}

TEST(SharedTable, CanBeUsedAgainAfterMoving) {
    Items table;
    table.add({"a", 1});
    const Items taken = std::move(table);
    EXPECT_EQ(taken.size(), 1U);
    table = Items();
    EXPECT_EQ(table.size(), 0U);
    table.add({"a", 2});
    EXPECT_EQ(taken.get(taken.find("a")).value, 1);
}

// Against a std::map that is copied in full, with snapshots taken on the way.
TEST(SharedTable, RandomEditsAgreeWithAMap) {
    const bool holds = rc::check("edits of a table and of a map", [] {
        Items table;
        std::map<std::string, int> map;
        std::vector<std::pair<Items, std::map<std::string, int>>> snapshots;
        const int edits = *rc::gen::inRange(0, 400);
        for (int i = 0; i < edits; ++i) {
            const std::string name = "n" + std::to_string(*rc::gen::inRange(0, 60));
            const auto handle = table.find(name);
            RC_ASSERT(handle.is_null() == (map.count(name) == 0));
            switch (*rc::gen::inRange(0, 5)) {
                case 0:
                    if (!handle.is_null()) table.remove(handle);
                    map.erase(name);
                    break;
                case 1:
                    if (handle.is_null()) break;
                    table.get(handle).value = i;
                    map[name] = i;
                    break;
                case 2: {
                    const std::string other = "n" + std::to_string(*rc::gen::inRange(0, 60));
                    if (handle.is_null() || map.count(other) != 0) break;
                    table.replace(handle, {other, i});
                    map.erase(name);
                    map[other] = i;
                    break;
                }
                case 3: snapshots.emplace_back(table, map); break;
                default:
                    if (!handle.is_null()) break;
                    table.add({name, i});
                    map[name] = i;
            }
        }
        snapshots.emplace_back(table, map);
        for (const auto& [items, expected] : snapshots) {
            RC_ASSERT(items.size() == expected.size());
            RC_ASSERT(items.handles().size() == expected.size());
            for (const auto& [name, value] : expected) {
                RC_ASSERT(!items.find(name).is_null());
                RC_ASSERT(items.get(items.find(name)).value == value);
            }
        }
    });
    EXPECT_TRUE(holds);
}

TEST(SharedTable, ACopiedModelSharesItsElements) {
    Model model;
    Body body;
    body.name = "a";
    const BodyHandle a = model.add_body(body);
    Model copy = model;
    copy.add_marker(a, "tip");
    EXPECT_EQ(&std::as_const(model).bodies.get(a), &std::as_const(copy).bodies.get(a))
        << "adding a marker leaves the body alone";
    EXPECT_TRUE(model.markers.find("a.tip").is_null());
    EXPECT_FALSE(copy.markers.find("a.tip").is_null());
}

}  // namespace
}  // namespace limber
