#include "limber/io/results.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <mutex>

#include "limber/io/files.hpp"
#include "limber/model/error.hpp"

namespace limber {

std::vector<double> ResultTable::column(std::size_t index) const {
    std::vector<double> result;
    result.reserve(rows());
    for (std::size_t row = 0; row < rows(); ++row) result.push_back(at(row, index));
    return result;
}

std::vector<double> ResultTable::column(const std::string& name) const {
    const auto it = std::find(columns.begin(), columns.end(), name);
    if (it == columns.end())
        throw ModelError(fmt::format("the results have no column '{}'{}", name, did_you_mean(name, columns)));
    return column(static_cast<std::size_t>(it - columns.begin()));
}

std::vector<std::size_t> ResultTable::find(const std::string& name) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i] == name || columns[i].starts_with(name + ".")) result.push_back(i);
    return result;
}

namespace {

std::string encode_csv(const ResultTable& table) {
    std::string text = fmt::format("{}\n", fmt::join(table.columns, ","));
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            fmt::format_to(std::back_inserter(text), "{}{:.15g}", i == 0 ? "" : ",", table.at(row, i));
        text += '\n';
    }
    return text;
}

void check(bool is_ok) {
    if (!is_ok) throw ModelError("the results cannot be put into HDF5");
}

// Closes an HDF5 object when it goes out of scope.
class Hdf5Handle {
public:
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) { check(id_ >= 0); }
    ~Hdf5Handle() { close_(id_); }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

void add_columns(const ResultTable& table, hid_t file) {
    const hsize_t rows = table.rows();
    const Hdf5Handle space(H5Screate_simple(1, &rows, nullptr), &H5Sclose);
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    // No time stamps: the same results are the same bytes.
    check(H5Pset_obj_track_times(properties, false) >= 0);
    if (rows > 1000) {
        const hsize_t chunk = 1000;
        H5Pset_chunk(properties, 1, &chunk);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 4);
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Hdf5Handle set(
            H5Dcreate2(file, table.columns[i].c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT),
            &H5Dclose);
        const std::vector<double> column = table.column(i);
        check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data()) >= 0);
    }
}

void add_title(const std::string& title, hid_t file) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
    H5Tset_size(type, title.size() + 1);
    const Hdf5Handle scalar(H5Screate(H5S_SCALAR), &H5Sclose);
    const Hdf5Handle attribute(H5Acreate2(file, "title", type, scalar, H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
    check(H5Awrite(attribute, type, title.c_str()) >= 0);
}

// One dataset per column, chunked and compressed, and the title as an attribute of the root. The file is made in
// memory.
std::string encode_hdf5(const ResultTable& table, const std::string& title) {
    static std::mutex library;  // Debian's HDF5 takes one thread at a time
    const std::scoped_lock lock(library);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    constexpr std::size_t growth = 1 << 16;
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
    check(H5Pset_fapl_core(access, growth, false) >= 0);
    const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), &H5Pclose);
    check(H5Pset_obj_track_times(creation, false) >= 0);
    const Hdf5Handle file(H5Fcreate("results", H5F_ACC_TRUNC, creation, access), &H5Fclose);
    add_columns(table, file);
    add_title(title, file);
    check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    check(size >= 0);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    check(H5Fget_file_image(file, bytes.data(), bytes.size()) == size);
    return bytes;
}

}  // namespace

std::string encode_results(const ResultTable& table, ResultFormat format, const std::string& title) {
    return format == ResultFormat::csv ? encode_csv(table) : encode_hdf5(table, title);
}

ResultFormat results_format(const std::string& path) {
    if (path.ends_with(".csv")) return ResultFormat::csv;
    if (path.ends_with(".h5") || path.ends_with(".hdf5")) return ResultFormat::hdf5;
    throw ModelError(fmt::format("cannot tell the format of '{}': expected a name ending in .csv, .h5 or .hdf5", path));
}

void write_results(const ResultTable& table, const std::string& path, const std::string& title) {
    write_file(path, encode_results(table, results_format(path), title));
}

}  // namespace limber
