#include "limber/io/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace limber {
namespace {

// Okabe and Ito's palette.
constexpr std::array<const char*, 8> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#e69f00", "#56b4e9", "#444444", "#b0a000"};

struct Axis {
    double low = 0, high = 1;
    bool is_log = false;
    std::vector<double> ticks;
    double pixel_low = 0, pixel_high = 1;

    // These ends and no others.
    void keep_to(double first, double last) {
        low = first;
        high = last;
        std::erase_if(ticks, [&](double t) { return t < low - 1e-9 || t > high + 1e-9 * std::abs(high); });
    }
    double transform(double v) const { return is_log ? std::log10(v) : v; }
    bool accepts(double v) const { return std::isfinite(v) && (!is_log || v > 0); }
    bool shows(double v) const { return transform(v) >= low && transform(v) <= high; }
    double pixel(double v) const { return pixel_low + (transform(v) - low) / (high - low) * (pixel_high - pixel_low); }
};

std::string escape(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            default: result += c;
        }
    }
    return result;
}

// Steps of 1, 2 or 5 times a power of ten.
double nice_step(double range, int count) {
    const double rough = range / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double fraction = rough / power;
    return power * (fraction < 1.5 ? 1 : fraction < 3.5 ? 2 : fraction < 7.5 ? 5 : 10);
}

Axis make_axis(double low, double high, bool is_log, int tick_count) {
    Axis axis;
    axis.is_log = is_log;
    if (!(high > low)) {
        const double margin = is_log ? 0.5 : std::max(0.5, std::abs(low) * 0.1);
        low -= margin;
        high += margin;
    }
    if (is_log) {
        axis.low = std::floor(low + 1e-9);
        axis.high = std::ceil(high - 1e-9);
        const double step = std::max(1.0, std::ceil((axis.high - axis.low) / tick_count));
        const int count = static_cast<int>((axis.high - axis.low) / step + 1e-9);
        for (int i = 0; i <= count; ++i) axis.ticks.push_back(std::pow(10, axis.low + i * step));
        return axis;
    }
    const double step = nice_step(high - low, tick_count);
    axis.low = std::floor(low / step + 1e-9) * step;
    axis.high = std::ceil(high / step - 1e-9) * step;
    for (int i = 0; axis.low + i * step <= axis.high + 0.5 * step; ++i) {
        const double tick = axis.low + i * step;
        axis.ticks.push_back(std::abs(tick) < 1e-9 * step ? 0 : tick);
    }
    return axis;
}

// Widens ranges (x from, to, y from, to) by a margin of 5 %, and the smaller one so that a unit is as long along both
// axes in a frame of that width and at most about that height; no flatter than a quarter of the width.
void fit_scales(double* range, double width, double height) {
    const auto widen = [](double* ends, double size) {
        const double middle = 0.5 * (ends[0] + ends[1]);
        ends[0] = middle - 0.5 * size;
        ends[1] = middle + 0.5 * size;
    };
    const double least = 1e-12 + 1e-6 * std::max(std::abs(range[1] + range[0]), std::abs(range[3] + range[2]));
    const double x = 1.1 * std::max(range[1] - range[0], least);
    const double y = std::max(1.1 * std::max(range[3] - range[2], least), 0.25 * x);
    const double tallest = 1.6 * height / width;
    widen(range, std::max(x, y / tallest));
    widen(range + 2, y);
}

std::string tick_label(const Axis& axis, double value) {
    if (!axis.is_log) return fmt::format("{:.6g}", value);
    return fmt::format("10<tspan dy=\"-6\" font-size=\"10\">{:.0f}</tspan>", std::log10(value));
}

std::string mark(int style, double x, double y, const char* colour) {
    switch (style % 4) {
        case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>", x, y, colour);
        case 1:
            return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\" fill=\"{}\"/>", x - 4, y - 4,
                               colour);
        case 2: return fmt::format("<path d=\"M{:.1f} {:.1f}l5 9h-10z\" fill=\"{}\"/>", x, y - 6, colour);
        default:
            return fmt::format("<path d=\"M{:.1f} {:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" fill=\"{}\"/>", x, y - 5.5,
                               colour);
    }
}

// Consecutive points closer than half a pixel look like one: keeps files of long runs small.
std::string polyline(const PlotSeries& s, const Axis& x, const Axis& y) {
    std::string path;
    bool pen_down = false;
    double last_x = 0;
    double last_y = 0;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
        if (!x.accepts(s.x[i]) || !y.accepts(s.y[i])) {
            pen_down = false;
            continue;
        }
        const double px = x.pixel(s.x[i]);
        const double py = y.pixel(s.y[i]);
        const bool is_last = i + 1 == s.x.size();
        if (pen_down && !is_last && std::abs(px - last_x) < 0.5 && std::abs(py - last_y) < 0.5) continue;
        fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", pen_down ? "L" : "M", px, py);
        pen_down = true;
        last_x = px;
        last_y = py;
    }
    return path;
}

}  // namespace

std::string render_svg(const Plot& asked) {
    Plot plot = asked;
    // Ranges.
    double range[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    Axis probe_x;
    Axis probe_y;
    probe_x.is_log = plot.log_x;
    probe_y.is_log = plot.log_y;
    for (const PlotSeries& s : plot.series)
        for (std::size_t i = 0; i < s.x.size(); ++i) {
            if (!probe_x.accepts(s.x[i]) || !probe_y.accepts(s.y[i])) continue;
            range[0] = std::min(range[0], probe_x.transform(s.x[i]));
            range[1] = std::max(range[1], probe_x.transform(s.x[i]));
            range[2] = std::min(range[2], probe_y.transform(s.y[i]));
            range[3] = std::max(range[3], probe_y.transform(s.y[i]));
        }
    if (!(range[1] >= range[0])) std::fill(std::begin(range), std::end(range), 0.0);
    if (plot.y_range) {
        range[2] = probe_y.transform(plot.y_range->first);
        range[3] = probe_y.transform(plot.y_range->second);
    }

    // Frame: room for labels at the left and below, for the legend at the right if there are several series.
    std::size_t longest = 0;
    for (const PlotSeries& s : plot.series) longest = std::max(longest, s.name.size());
    const bool has_legend = plot.series.size() > 1;
    const double left = 80;
    const double right = plot.width - (has_legend ? 50 + 7.2 * static_cast<double>(longest) : 30);
    const double top = plot.title.empty() ? 20 : 46;
    if (plot.has_equal_scales) {
        fit_scales(range, right - left, plot.height - 56 - top);
        plot.height =
            static_cast<int>(std::lround(56 + top + (right - left) * (range[3] - range[2]) / (range[1] - range[0])));
    }
    const double bottom = plot.height - 56;
    Axis x = make_axis(range[0], range[1], plot.log_x, 8);
    Axis y = make_axis(range[2], range[3], plot.log_y, 7);
    if (plot.has_equal_scales) {
        x.keep_to(range[0], range[1]);
        y.keep_to(range[2], range[3]);
    } else if (!plot.log_x && !plot.is_path) {  // no empty margin along time
        x.keep_to(range[0], range[1] > range[0] ? range[1] : range[0] + 1);
    }
    x.pixel_low = left;
    x.pixel_high = right;
    y.pixel_low = bottom;
    y.pixel_high = top;

    std::string svg;
    const auto out = std::back_inserter(svg);
    fmt::format_to(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                   "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n"
                   "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                   plot.width, plot.height);
    if (!plot.title.empty())
        fmt::format_to(out, "<text x=\"{:.1f}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n", left,
                       escape(plot.title));
    for (const double tick : y.ticks)
        fmt::format_to(out,
                       "<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#e2e2e2\"/>"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       left, y.pixel(tick), right, left - 8, y.pixel(tick) + 4, tick_label(y, tick));
    for (const double tick : x.ticks)
        fmt::format_to(out,
                       "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#e2e2e2\"/>"
                       "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
                       x.pixel(tick), bottom, top, bottom + 19, tick_label(x, tick));
    fmt::format_to(out, "<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" stroke=\"#444\"/>\n", left, top, bottom,
                   right);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + right) / 2,
                   plot.height - 14.0, escape(plot.x_label));
    fmt::format_to(out, "<text transform=\"translate(20 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                   (top + bottom) / 2, escape(plot.y_label));

    const char* clip = plot.y_range ? " clip-path=\"url(#frame)\"" : "";
    if (plot.y_range)
        fmt::format_to(out,
                       "<clipPath id=\"frame\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                       "height=\"{:.1f}\"/></clipPath>\n",
                       left, top, right - left, bottom - top);
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
        const PlotSeries& s = plot.series[i];
        const int style = s.style >= 0 ? s.style : static_cast<int>(i);
        const char* colour = colours[style % colours.size()];
        const char* dash = style >= static_cast<int>(colours.size()) ? " stroke-dasharray=\"6 4\"" : "";
        fmt::format_to(
            out, "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{}{}/>\n",
            polyline(s, x, y), colour, dash, clip);
        if (s.has_markers)
            for (std::size_t k = 0; k < s.x.size(); ++k)
                if (x.accepts(s.x[k]) && y.accepts(s.y[k]) && y.shows(s.y[k]))
                    svg += mark(style, x.pixel(s.x[k]), y.pixel(s.y[k]), colour) + "\n";
        for (std::size_t k = 0; k < s.x.size() && s.marks_start; ++k) {
            if (!x.accepts(s.x[k]) || !y.accepts(s.y[k])) continue;
            svg += mark(0, x.pixel(s.x[k]), y.pixel(s.y[k]), colour) + "\n";
            break;
        }
        if (has_legend) {
            const double ly = top + 12 + 20 * static_cast<double>(i);
            fmt::format_to(out, "<path d=\"M{:.1f} {:.1f}h18\" stroke=\"{}\" stroke-width=\"2.5\"{}/>", right + 10, ly,
                           colour, dash);
            if (s.has_markers) svg += mark(style, right + 19, ly, colour);
            fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", right + 34, ly + 4, escape(s.name));
        }
    }
    svg += "</svg>\n";
    return svg;
}

}  // namespace limber
