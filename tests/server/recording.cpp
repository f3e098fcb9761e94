// What sensors have shown: sensors that come and go, going back in time, and the bound on memory.

#include "limber/server/recording.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limber/server/base64.hpp"

namespace limber {
namespace {

TEST(Recording, KeepsColumnsThatComeAndGo) {
    Recording recording;
    recording.set_columns({"a", "b"});
    recording.add(0, {1, 2});
    recording.set_columns({"b", "c"});
    recording.add(1, {3, 4});
    const ResultTable table = recording.table();
    EXPECT_EQ(table.columns, (std::vector<std::string>{"t", "a", "b", "c"}));
    ASSERT_EQ(table.rows(), 2U);
    EXPECT_EQ(table.at(0, 1), 1);
    EXPECT_TRUE(std::isnan(table.at(0, 3)));
    EXPECT_TRUE(std::isnan(table.at(1, 1)));
    EXPECT_EQ(table.at(1, 2), 3);
    EXPECT_EQ(table.at(1, 3), 4);
}

TEST(Recording, ForgetsTheFutureThatIsNoLonger) {
    Recording recording;
    recording.set_columns({"x"});
    for (int i = 0; i < 10; ++i) recording.add(i, {1.0 * i});
    recording.add(4.5, {-1});
    EXPECT_EQ(recording.table().column(0), (std::vector<double>{0, 1, 2, 3, 4, 4.5}));
    recording.add(4.5, {-2});
    EXPECT_EQ(recording.table().column(1).back(), -2);
}

TEST(Recording, StaysBelowItsBoundAndCoversAllTime) {
    Recording recording(1000);
    recording.set_columns({"x"});
    for (int i = 0; i < 100'000; ++i) {
        recording.add(0.01 * i, {1.0 * i});
        if (i % 997 == 0) {
            ASSERT_LE(recording.table().values.size(), 1000U);
        }
    }
    const std::vector<double> times = recording.table().column(0);
    EXPECT_EQ(times.front(), 0);
    EXPECT_GT(times.back(), 950);
    EXPECT_GT(times.size(), 200U);
    double widest = 0;
    for (std::size_t i = 1; i < times.size(); ++i) widest = std::max(widest, times[i] - times[i - 1]);
    EXPECT_LT(widest, 4 * 1000.0 / static_cast<double>(times.size()));
}

TEST(Base64, IsThatOfTheStandard) {
    EXPECT_EQ(encode_base64(""), "");
    EXPECT_EQ(encode_base64("f"), "Zg==");
    EXPECT_EQ(encode_base64("fo"), "Zm8=");
    EXPECT_EQ(encode_base64("foo"), "Zm9v");
    EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(encode_base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace limber
