// Runs the benchmarks and writes one CSV row each (CPU time); behind them, for algorithms measured at several sizes,
// the exponent of the fit time ~ size^exponent. Benchmarks that fail are named on the error stream and make the program
// fail.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace limber::bench {
namespace {

class CsvReporter final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& /*context*/) override {  // NOLINT(readability-identifier-naming)
        fmt::print("name,ns,iterations,ns_per_size,label,error\n");
        return true;
    }

    void ReportRuns(const std::vector<Run>& runs) override {  // NOLINT(readability-identifier-naming)
        for (const Run& run : runs) {
            const std::string name = run.benchmark_name();
            if (run.error_occurred) {
                ++failures_;
                fmt::print("{},,,,,\"{}\"\n", name, run.error_message);
                fmt::print(stderr, "{}: {}\n", name, run.error_message);
                continue;
            }
            const double ns = 1e9 * run.cpu_accumulated_time / static_cast<double>(run.iterations);
            const auto size = static_cast<double>(run.complexity_n);
            fmt::print("{},{:.5g},{},{},{},\n", name, ns, run.iterations,
                       size > 0 ? fmt::format("{:.4g}", ns / size) : "", run.report_label);
            if (size > 0) sizes_[run.run_name.function_name].emplace_back(size, ns);
        }
        std::fflush(stdout);
    }

    void Finalize() override {  // NOLINT(readability-identifier-naming)
        fmt::print("\nname,exponent\n");
        for (const auto& [name, points] : sizes_)
            if (points.size() > 1) fmt::print("{},{:.3f}\n", name, fit_exponent(points));
    }

    int failures() const { return failures_; }

private:
    // Least squares in logarithms.
    static double fit_exponent(const std::vector<std::pair<double, double>>& points) {
        double mean_x = 0;
        double mean_y = 0;
        const auto count = static_cast<double>(points.size());
        for (const auto& [size, time] : points) {
            mean_x += std::log(size) / count;
            mean_y += std::log(time) / count;
        }
        double product = 0;
        double square = 0;
        for (const auto& [size, time] : points) {
            product += (std::log(size) - mean_x) * (std::log(time) - mean_y);
            square += (std::log(size) - mean_x) * (std::log(size) - mean_x);
        }
        return product / square;
    }

    std::map<std::string, std::vector<std::pair<double, double>>> sizes_;
    int failures_ = 0;
};

}  // namespace
}  // namespace limber::bench

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    limber::bench::CsvReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    return reporter.failures() > 0 ? 1 : 0;
}
