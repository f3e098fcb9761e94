#pragma once
// What the sensors of a session have shown, kept for download. Bounded: when it is full, every other instant is let go.

#include <string>
#include <vector>

#include "limber/io/results.hpp"

namespace limber {

class Recording {
public:
    /// `most_values` bounds the memory, eight bytes each.
    explicit Recording(std::size_t most_values = 500'000) : most_values_(most_values) {}

    void clear();
    /// Sensors that stay keep their past; those that are gone keep it too.
    void set_columns(const std::vector<std::string>& columns);
    /// Values beside the columns last set. Going back in time makes what came after untrue.
    void add(double time, const std::vector<double>& values);
    /// Not-a-number where a sensor was not there.
    ResultTable make_table() const;

private:
    struct Instant {
        double time;
        std::vector<double> values;  // of columns_, as many as there were
    };
    void thin_out();

    std::size_t most_values_;
    std::vector<std::string> columns_;  // all there have ever been
    std::vector<std::size_t> present_;  // those of the sensors of now
    std::vector<Instant> instants_;
    double least_interval_ = 0;
};

}  // namespace limber
