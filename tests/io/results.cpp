// Results in CSV and HDF5, and plots.

#include "limber/io/results.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "limber/io/svg_plot.hpp"
#include "limber/math/types.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

ResultTable table(int rows) {
    ResultTable t;
    t.columns = {"t", "tip.x", "tip.y"};
    for (int i = 0; i < rows; ++i)
        for (const double v : {0.1 * i, std::sin(0.1 * i), 1.0 / 3.0 * i}) t.values.push_back(v);
    return t;
}

std::string temporary(const std::string& name) {
    return (std::filesystem::temp_directory_path() / name).string();
}

TEST(Results, FindColumnsByNameAndByPrefix) {
    const ResultTable t = table(3);
    EXPECT_EQ(t.find("tip"), (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(t.find("tip.y"), (std::vector<std::size_t>{2}));
    EXPECT_TRUE(t.find("ti").empty());
}

TEST(Results, CsvHoldsEveryDigit) {
    const std::string path = temporary("limber_results.csv");
    const ResultTable t = table(50);
    write_results(t, path, "title");
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "t,tip.x,tip.y");
    for (std::size_t row = 0; row < t.rows(); ++row) {
        std::getline(file, line);
        std::istringstream cells(line);
        for (std::size_t i = 0; i < 3; ++i) {
            std::string cell;
            std::getline(cells, cell, ',');
            EXPECT_NEAR(std::stod(cell), t.at(row, i), 1e-14 * (1 + std::abs(t.at(row, i))));
        }
    }
    EXPECT_FALSE(std::getline(file, line));
    std::filesystem::remove(path);
}

TEST(Results, Hdf5HoldsEveryBit) {
    for (const int rows : {0, 5, 5000}) {
        const std::string path = temporary("limber_results.h5");
        const ResultTable t = table(rows);
        write_results(t, path, "Slider-crank");
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        ASSERT_GE(file, 0);
        for (std::size_t i = 0; i < 3; ++i) {
            const hid_t set = H5Dopen2(file, t.columns[i].c_str(), H5P_DEFAULT);
            ASSERT_GE(set, 0);
            std::vector<double> values(rows);
            H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
            EXPECT_EQ(values, t.column(i));
            H5Dclose(set);
        }
        H5Fclose(file);
        std::filesystem::remove(path);
    }
}

TEST(Results, CanBeEncodedByManyThreadsAtOnce) {
    const ResultTable t = table(2000);
    const std::string expected = encode_results(t, ResultFormat::hdf5, "one");
    EXPECT_EQ(expected.substr(1, 3), "HDF");
    std::vector<std::string> found(8);
    std::vector<std::thread> threads;
    for (std::string& bytes : found)
        threads.emplace_back([&] { bytes = encode_results(t, ResultFormat::hdf5, "one"); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& bytes : found) EXPECT_EQ(bytes, expected);
}

TEST(Results, Hdf5HasNoTimeInIt) {
    for (const int rows : {5, 2000}) {
        const std::string before = encode_results(table(rows), ResultFormat::hdf5, "one");
        std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times are in seconds
        EXPECT_EQ(encode_results(table(rows), ResultFormat::hdf5, "one"), before);
    }
}

TEST(Results, RefuseWhatTheyCannotWrite) {
    EXPECT_THROW(write_results(table(2), temporary("limber.txt"), ""), ModelError);
    EXPECT_THROW(write_results(table(2), "/no/such/folder/x.csv", ""), ModelError);
    EXPECT_THROW(write_results(table(2), "/no/such/folder/x.h5", ""), ModelError);
}

TEST(Plot, DrawsEverySeriesInsideItsFrame) {
    Plot plot;
    plot.title = "a < b & c";
    plot.x_label = "t [s]";
    plot.series.push_back({"one", {0, 1, 2}, {0, 5, -5}});
    plot.series.push_back({"two", {0, 1, 2}, {1, NAN, 1}, true});
    const std::string svg = render_svg(plot);
    EXPECT_EQ(svg.rfind("<svg", 0), 0U);
    EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
    EXPECT_NE(svg.find(">one<"), std::string::npos);
    EXPECT_NE(svg.find(">two<"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
}

// What lies beyond the range does not stretch the axis; its line is cut off at the frame, and its mark is left out.
TEST(Plot, ShowsTheRangeAskedFor) {
    Plot plot;
    plot.series.push_back({"one", {0, 1, 2}, {1, 5000, 2}, true});
    const auto count = [&](const std::string& word) {
        const std::string svg = render_svg(plot);
        int found = 0;
        for (auto at = svg.find(word); at != std::string::npos; at = svg.find(word, at + 1)) ++found;
        return found;
    };
    EXPECT_EQ(count(">5000<"), 1);
    EXPECT_EQ(count("<circle"), 3);
    EXPECT_EQ(count("clip-path"), 0);
    plot.y_range = {0, 10};
    EXPECT_EQ(count(">5000<"), 0);
    EXPECT_EQ(count(">10<"), 1);
    EXPECT_EQ(count("<circle"), 2);
    EXPECT_EQ(count("clip-path=\"url(#frame)\""), 1);
}

// A circle of radius 2 about (3, 1): as wide as high, in pixels too, and wholly inside the picture.
TEST(Plot, WithEqualScalesKeepsACircleRound) {
    Plot plot;
    plot.is_path = plot.has_equal_scales = true;
    PlotSeries circle{"circle", {}, {}};
    for (int k = 0; k <= 90; ++k) {
        circle.x.push_back(3 + 2 * std::cos(k * pi / 45));
        circle.y.push_back(1 + 2 * std::sin(k * pi / 45));
    }
    plot.series.push_back(circle);
    for (const double flat : {1.0, 0.3, 0.0}) {  // and ellipses down to a line
        plot.series[0].y = circle.y;
        for (double& y : plot.series[0].y) y = 1 + flat * (y - 1);
        const std::string svg = render_svg(plot);
        std::string points = svg.substr(svg.rfind("<path d=\"M") + 10);
        points = points.substr(0, points.find('"'));
        for (char& c : points)
            if (c == 'L') c = ' ';
        std::istringstream in(points);
        std::array<double, 4> box{1e9, -1e9, 1e9, -1e9};
        for (double x = 0, y = 0; in >> x >> y;) {
            box = {std::min(box[0], x), std::max(box[1], x), std::min(box[2], y), std::max(box[3], y)};
        }
        EXPECT_NEAR(box[3] - box[2], flat * (box[1] - box[0]), 1.5) << flat;
        EXPECT_GT(box[1] - box[0], 200);
        EXPECT_GT(box[0], 80);
        EXPECT_LT(box[1], plot.width - 30);
    }
}

TEST(Plot, SurvivesEmptyAndConstantData) {
    Plot plot;
    EXPECT_FALSE(render_svg(plot).empty());
    plot.series.push_back({"constant", {0, 1}, {3, 3}});
    EXPECT_EQ(render_svg(plot).find("nan"), std::string::npos);
    plot.log_x = plot.log_y = true;
    plot.series.push_back({"not positive", {-1, 0}, {0, -2}, true});
    const std::string svg = render_svg(plot);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace limber
