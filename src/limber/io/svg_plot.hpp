#pragma once
// Line and scatter plots as SVG: readable axes, a legend, colours that colour-blind people can tell apart.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace limber {

struct PlotSeries {
    std::string name;
    std::vector<double> x, y;
    bool has_markers = false;  ///< a mark at every point
    int style = -1;            ///< colour and mark; -1: the next one
    bool marks_start = false;  ///< a mark at the first point
};

struct Plot {
    std::string title, x_label, y_label;
    std::vector<PlotSeries> series;
    bool log_x = false, log_y = false;
    std::optional<std::pair<double, double>> y_range{};  ///< what lies beyond is cut off (default: everything is shown)
    /// One against the other, as a path: x has margins as y has, and with equal scales a circle stays one; the height
    /// is then chosen to fit.
    bool is_path = false, has_equal_scales = false;
    int width = 900, height = 520;
};

/// Points that are not finite (or not positive on a logarithmic axis) are left out.
std::string render_svg(const Plot& plot);

}  // namespace limber
