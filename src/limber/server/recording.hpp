#pragma once
// What the sensors of a session have shown, kept for download. Bounded: when it is full, every other instant is let go.

#include <string>
#include <vector>

#include "limber/io/results.hpp"

namespace limber {

class Recording {
public:
    /// `max_values` bounds the memory, eight bytes each.
    explicit Recording(std::size_t max_values = 150'000) : max_values_(max_values) {}

    void clear();
    /// Sensors that stay keep their past; those that are gone keep it too.
    void set_columns(const std::vector<std::string>& columns);
    /// Values beside the columns last set. Going back in time makes what came after untrue.
    void add(double time, const std::vector<double>& values);
    /// Time and all columns there have ever been; not-a-number where a sensor was not there.
    const ResultTable& table() const { return table_; }

private:
    void add_column(const std::string& name);
    void thin_out();

    std::size_t max_values_;
    ResultTable table_{{"t"}, {}};
    std::vector<std::size_t> present_;  // columns of the sensors of now
    double least_interval_ = 0;
};

}  // namespace limber
