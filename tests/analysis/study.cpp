// Studies: ranges, points, the error of eq. (43), observed orders and the choice of the most efficient run.

#include "limber/analysis/study.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limber/analysis/study_report.hpp"
#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

TEST(Values, AreListsAndRangesWithBothEnds) {
    EXPECT_EQ(parse_values("0.5"), std::vector<double>{0.5});
    EXPECT_EQ(parse_values("1, 0.25"), (std::vector<double>{1, 0.25}));
    const auto range = parse_values("0.01:0.05:0.005");
    ASSERT_EQ(range.size(), 9U);
    EXPECT_EQ(range.front(), 0.01);
    EXPECT_EQ(range.back(), 0.05);
    EXPECT_EQ(parse_values("-1:0:0.5"), (std::vector<double>{-1, -0.5, 0}));
    EXPECT_EQ(parse_values("1:0:-0.5"), (std::vector<double>{1, 0.5, 0}));
    EXPECT_EQ(parse_values("0:0.3:0.2,1/2"), (std::vector<double>{0, 0.2, 0.5}));
    for (const char* wrong : {"", "1:2", "1:2:-1", "1:2:0", "0:1:1e-9", "1:2:3:4", "x"})
        EXPECT_THROW(parse_values(wrong), ModelError) << wrong;
}

TEST(StudyPoints, SweepAParameterOnlyWhereItBelongs) {
    const auto points = make_study_points({"global", "hybrid"}, {"trapezoidal", "generalized-alpha", "hht"}, {0.1, 0.2},
                                          {{"rho", {0, 0.5, 1}}});
    EXPECT_EQ(points.size(), 2 * 2 * (1 + 3 + 1));
    for (const StudyPoint& p : points) EXPECT_EQ(std::isnan(p.parameter), p.integrator != "generalized-alpha");
    EXPECT_THROW(make_study_points({"global"}, {"trapezoidal"}, {0.1}, {{"rho", {0}}}), ModelError);
    EXPECT_THROW(make_study_points({"globl"}, {"trapezoidal"}, {0.1}), ModelError);
}

// Two sensors, three instants, differences (0, 3, 4) and (0, 0, 2) from a line: (5 + 2) / (2 * 3).
TEST(PathError, IsThatOfEquation43) {
    const SensorPath reference{{0, 3, 6}, {{0, 0}, {3, 30}, {6, 60}}};
    const SensorPath run{{0, 2, 4}, {{0, 0}, {5, 20}, {0, 42}}};
    EXPECT_DOUBLE_EQ(compute_path_error(run, reference), 7.0 / 6);
    EXPECT_DOUBLE_EQ(compute_path_error(reference, reference), 0);
}

TEST(RmsError, IsTheRootOfTheMeanSquare) {
    const SensorPath reference{{0, 1}, {{0, 0}, {1, 2}}};
    const SensorPath run{{0, 1}, {{0, 0}, {4, 6}}};
    EXPECT_DOUBLE_EQ(compute_rms_error(run, reference), 2.5);
}

class PendulumStudy : public ::testing::TestWithParam<std::string> {
protected:
    static StudyOptions options() {
        StudyOptions o;
        o.until = 1;
        o.sensors = {"tip"};
        return o;
    }
};

// A sum over ns steps under a root, over ns + 1: of order p + 1/2.
TEST_P(PendulumStudy, ErrorsFallWithTheOrderOfTheScheme) {
    const Study study = run_study(example("double-pendulum.yaml"),
                                  make_study_points({GetParam()}, {"trapezoidal", "newmark", "generalized-alpha"},
                                                    {0.02, 0.01}, {{"xi", {-0.5}}, {"rho", {0, 1}}}),
                                  options(), 2e-4);
    ASSERT_EQ(study.references.size(), 1U);
    ASSERT_EQ(study.runs.size(), 8U);
    for (const StudyRun& run : study.runs) EXPECT_TRUE(run.is_done()) << run.failure;
    const auto order = [&](std::size_t coarse) {
        return std::log2(study.runs[coarse].error / study.runs[coarse + 1].error) - 0.5;
    };
    EXPECT_NEAR(order(0), 2, 0.15);                           // trapezoidal
    EXPECT_NEAR(order(2), 1, 0.25);                           // newmark with dissipation
    EXPECT_NEAR(order(4), 2, 0.3);                            // generalized-alpha, most dissipation
    EXPECT_NEAR(order(6), 2, 0.15);                           // and none
    EXPECT_GT(study.runs[3].error, 5 * study.runs[1].error);  // first order against second
    EXPECT_GT(study.runs[5].error, study.runs[7].error);      // dissipation costs accuracy
    EXPECT_LT(study.runs[1].energy_drift, study.runs[3].energy_drift);
}

INSTANTIATE_TEST_SUITE_P(Some, PendulumStudy, ::testing::Values("global", "hybrid", "semi-recursive"),
                         [](const auto& info) { return test_name(info.param); });

TEST_F(PendulumStudy, GivesUpRunsThatTakeTooLong) {
    StudyOptions o = options();
    o.longest_run = 0;
    const StudyRun run = run_study_point(example("double-pendulum.yaml"), {"global", "trapezoidal", NAN, 0.01}, o);
    EXPECT_NE(run.failure.find("given up"), std::string::npos) << run.failure;
}

TEST_F(PendulumStudy, NamesASensorThatIsNotThere) {
    StudyOptions o = options();
    o.sensors = {"tp"};
    EXPECT_THROW(run_study_point(example("double-pendulum.yaml"), {"global", "trapezoidal", NAN, 0.01}, o), ModelError);
}

StudyRun made_run(const std::string& integrator, double cpu_time, double error) {
    StudyRun run;
    run.point = {"global", integrator, NAN, 0.01};
    run.cpu_time = cpu_time;
    run.error = error;
    return run;
}

TEST(AcceptedRuns, AreThoseWhoseSmallerStepsAreAcceptedToo) {
    const auto with = [](double step, double error, double drift, double parameter) {
        StudyRun run;
        run.point = {"global", "hht", parameter, step};
        run.error = error;
        run.energy_drift = drift;
        return run;
    };
    // The run at 0.04 is small by chance: the one at 0.03 is not. Another parameter does not ask for these.
    std::vector<StudyRun> runs{with(0.04, 1e-3, 1, 0.1), with(0.01, 1e-4, 1, 0.1), with(0.03, 1e-2, 1, 0.1),
                               with(0.02, 4e-3, 1, 0.1), with(0.04, 1e-3, 1, 0.2), with(0.01, 1e-3, 9, NAN),
                               with(0.02, 1e-3, 1, NAN)};
    const auto steps = [&] {
        std::vector<double> list;
        for (const StudyRun& run : find_accepted(runs, {5e-3, 5})) list.push_back(run.point.step);
        return list;
    };
    EXPECT_EQ(steps(), (std::vector<double>{0.01, 0.02, 0.04}));
    runs[1].failure = "t = 1 s: no";
    EXPECT_EQ(steps(), std::vector<double>{0.04});
}

TEST(MostEfficientRun, IsTheFastestAcceptedOne) {
    std::vector<StudyRun> runs{made_run("hht", 3, 1e-4), made_run("hht", 2, 1e-3), made_run("hht", 1, 1e-1),
                               made_run("newmark", 1.5, 1e-3), made_run("hht", 0.5, NAN)};
    runs.push_back(made_run("hht", 0.1, 1e-5));
    runs.back().failure = "t = 1 s: no";
    EXPECT_EQ(find_most_efficient(runs, 5e-3, "global", "hht"), &runs[1]);
    EXPECT_EQ(find_most_efficient(runs, 5e-3, "global"), &runs[3]);
    EXPECT_EQ(find_most_efficient(runs, 1e-5, "global", "hht"), nullptr);
    EXPECT_EQ(find_most_efficient(runs, 5e-3, "hybrid"), nullptr);

    const Plot plot = make_work_precision_plot(runs, "");
    ASSERT_EQ(plot.series.size(), 2U);
    EXPECT_EQ(plot.series[0].x, (std::vector<double>{1, 2, 3}));

    const auto read = parse_study_csv("# machine\n" + format_study_csv(runs, 8));
    ASSERT_EQ(read.size(), runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        EXPECT_EQ(read[i].point.integrator, runs[i].point.integrator);
        EXPECT_TRUE(std::isnan(read[i].point.parameter));
        EXPECT_EQ(read[i].point.step, 0.01);
        EXPECT_DOUBLE_EQ(read[i].cpu_time, runs[i].cpu_time);
        EXPECT_EQ(read[i].failure, runs[i].failure);
    }
    EXPECT_DOUBLE_EQ(read[1].error, 1e-3);
}

}  // namespace
}  // namespace limber::testing
