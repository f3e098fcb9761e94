#include "run_plots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limber/model/error.hpp"

namespace limber::app {
namespace {

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : list + ",") {
        if (c == ',') {
            if (!part.empty()) parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    return parts;
}

// Of all names in a request, in its order; a sensor stands for all its columns.
std::vector<std::size_t> find_columns(const ResultTable& table, const std::string& sensors) {
    std::vector<std::size_t> found;
    for (const std::string& name : split(sensors))
        for (const std::size_t index : table.find(name)) found.push_back(index);
    return found;
}

void check_request(const PlotRequest& request, const char* option, const std::vector<std::string>& columns) {
    const auto& [sensors, path] = request;
    ResultTable table;
    table.columns = columns;
    std::vector<std::string> names = columns;
    for (const std::string& column : columns) names.push_back(column.substr(0, column.rfind('.')));
    if (!path.ends_with(".svg"))
        throw ModelError(fmt::format("{}: expected a file name ending in .svg, found '{}'", option, path));
    for (const std::string& name : split(sensors))
        if (table.find(name).empty())
            throw ModelError(fmt::format("{}: there is no sensor '{}'{}; known: {}", option, name,
                                         did_you_mean(name, names), fmt::join(columns, ", ")));
}

/// Names and units of columns, t included.
struct Labels {
    std::vector<std::string> units;

    Labels(const ResultTable& table, const std::vector<std::string>& given) : units(table.columns.size(), "") {
        units[0] = "s";
        for (std::size_t k = 0; k < given.size() && k + 1 < units.size(); ++k) units[k + 1] = given[k];
    }
    std::string bracketed(std::size_t column) const {
        return units[column].empty() ? "" : fmt::format(" [{}]", units[column]);
    }
    /// Of an axis that several columns share: their names if there are few, and the unit if it is one.
    std::string axis(const ResultTable& table, const std::vector<std::size_t>& columns, bool with_names) const {
        const std::size_t first = columns.front();
        const bool is_one_unit =
            std::all_of(columns.begin(), columns.end(), [&](std::size_t c) { return units[c] == units[first]; });
        std::vector<std::string> names;
        for (const std::size_t c : columns)
            if (std::find(names.begin(), names.end(), table.columns[c]) == names.end())
                names.push_back(table.columns[c]);
        if (!is_one_unit) return "";
        if (names.size() > 3 || (names.size() > 1 && !with_names))
            return units[first].empty() ? "" : fmt::format("[{}]", units[first]);
        return fmt::format("{}{}", fmt::join(names, ", "), bracketed(first));
    }
};

Plot make_over_time(const ResultTable& table, const Labels& labels, const std::string& sensors) {
    Plot plot;
    plot.x_label = "t [s]";
    const std::vector<std::size_t> columns = find_columns(table, sensors);
    plot.y_label = labels.axis(table, columns, false);
    // One axis cannot say the units of several: the legend does.
    const bool says_units = plot.y_label.empty() && columns.size() > 1;
    for (const std::size_t c : columns)
        plot.series.push_back(
            {table.columns[c] + (says_units ? labels.bracketed(c) : ""), table.column(0), table.column(c)});
    return plot;
}

// "tip" of tip.x and tip.y, "a, b" of others.
std::string name_path(const std::string& x, const std::string& y) {
    const std::string sensor = x.substr(0, x.rfind('.'));
    return x.rfind('.') != std::string::npos && sensor == y.substr(0, y.rfind('.')) ? sensor : x + ", " + y;
}

Plot make_path(const ResultTable& table, const Labels& labels, const std::string& sensors) {
    Plot plot;
    plot.is_path = true;
    const std::vector<std::size_t> columns = find_columns(table, sensors);
    std::vector<std::size_t> along_x;
    std::vector<std::size_t> along_y;
    for (std::size_t k = 0; k + 1 < columns.size(); k += 2) {
        along_x.push_back(columns[k]);
        along_y.push_back(columns[k + 1]);
        PlotSeries series{name_path(table.columns[columns[k]], table.columns[columns[k + 1]]), table.column(columns[k]),
                          table.column(columns[k + 1])};
        series.marks_start = true;
        plot.series.push_back(std::move(series));
    }
    plot.x_label = labels.axis(table, along_x, true);
    plot.y_label = labels.axis(table, along_y, true);
    const std::string& unit = labels.units[columns.front()];
    plot.has_equal_scales = !unit.empty() && std::all_of(columns.begin(), columns.end(),
                                                         [&](std::size_t c) { return labels.units[c] == unit; });
    return plot;
}

}  // namespace

void RunPlots::check(const std::vector<std::string>& columns) const {
    for (const PlotRequest& request : over_time) check_request(request, "--plot", columns);
    std::vector<std::string> with_time = columns;
    with_time.insert(with_time.begin(), "t");
    ResultTable table;
    table.columns = with_time;
    for (const PlotRequest& request : paths) {
        check_request(request, "--plot-xy", with_time);
        const std::size_t count = find_columns(table, request.first).size();
        if (count == 0 || count % 2 != 0)
            throw ModelError(
                fmt::format("--plot-xy: expected pairs of columns x,y, as in tip.x,tip.y; '{}' stands for {} of them",
                            request.first, count));
    }
}

std::vector<std::pair<PlotRequest, Plot>> RunPlots::make(const ResultTable& table,
                                                         const std::vector<std::string>& units,
                                                         const std::string& title) const {
    const Labels labels(table, units);
    std::vector<std::pair<PlotRequest, Plot>> plots;
    for (const PlotRequest& request : over_time)
        plots.emplace_back(request, make_over_time(table, labels, request.first));
    for (const PlotRequest& request : paths) plots.emplace_back(request, make_path(table, labels, request.first));
    for (auto& [request, plot] : plots) plot.title = title;
    return plots;
}

}  // namespace limber::app
