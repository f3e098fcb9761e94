// What one core can do, for bench/roofline: "name;value" lines, Gflop/s and GB/s, the best of several tries.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

namespace {

constexpr int tries = 7;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Makes the compiler believe that a value is used and changed.
template <class T>
void touch(T& value) {
    asm volatile("" : "+m"(value) : : "memory");
}

/// Amount per second of work that is done by each call.
template <class Work>
double best_rate(double amount, const Work& work) {
    double best = 0;
    for (int i = 0; i < tries; ++i) {
        const double start = cpu_seconds();
        work();
        best = std::max(best, amount / (cpu_seconds() - start));
    }
    return best;
}

constexpr int rounds = 4000000;

// Independent sums, enough of them to fill all units whatever their latency. Full vectors of this processor.
double measure_fused() {
#if defined(__AVX512F__)
    constexpr int lanes = 8;
#elif defined(__AVX__)
    constexpr int lanes = 4;
#else
    constexpr int lanes = 2;
#endif
    constexpr int sums = 10;
    using Vector [[gnu::vector_size(8 * lanes)]] = double;
    Vector sum[sums] = {};
    Vector factor = Vector{} + 0.999;
    Vector term = Vector{} + 1e-3;
    touch(factor);
    touch(term);
    const auto work = [&] {
        Vector s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3], s4 = sum[4];
        Vector s5 = sum[5], s6 = sum[6], s7 = sum[7], s8 = sum[8], s9 = sum[9];
        for (int i = 0; i < rounds; ++i) {
            s0 = s0 * factor + term, s1 = s1 * factor + term, s2 = s2 * factor + term, s3 = s3 * factor + term;
            s4 = s4 * factor + term, s5 = s5 * factor + term, s6 = s6 * factor + term, s7 = s7 * factor + term;
            s8 = s8 * factor + term, s9 = s9 * factor + term;
        }
        sum[0] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9;
        touch(sum[0]);
    };
    return best_rate(2.0 * lanes * sums * rounds, work);
}

double measure_loads(std::size_t doubles, int passes) {
    std::vector<double> data(doubles, 1.0);
    double total = 0;
    const auto work = [&] {
        for (int p = 0; p < passes; ++p) {
            std::array<double, 64> sum{};
            for (std::size_t i = 0; i < doubles; i += sum.size())
                for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += data[i + k];
            for (const double s : sum) total += s;
            touch(total);
        }
    };
    return best_rate(8.0 * static_cast<double>(doubles) * passes, work);
}

}  // namespace

int main() {
    std::printf("fused;%.4g\n", 1e-9 * measure_fused());
    std::printf("near;%.4g\n", 1e-9 * measure_loads(2048, 20000));
    std::printf("far;%.4g\n", 1e-9 * measure_loads(std::size_t{1} << 25, 1));
}
