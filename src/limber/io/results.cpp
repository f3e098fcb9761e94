#include "limber/io/results.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "limber/model/error.hpp"

namespace limber {

std::vector<double> ResultTable::column(std::size_t index) const {
    std::vector<double> result;
    result.reserve(rows());
    for (std::size_t row = 0; row < rows(); ++row) result.push_back(at(row, index));
    return result;
}

std::vector<std::size_t> ResultTable::find(const std::string& name) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i] == name || columns[i].rfind(name + ".", 0) == 0) result.push_back(i);
    return result;
}

void write_text_file(const std::string& path, const std::string& text) {
    std::ofstream stream(path, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) throw ModelError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

namespace {

bool ends_with(const std::string& text, const char* ending) {
    return text.ends_with(ending);
}

void write_csv(const ResultTable& table, const std::string& path) {
    std::string text = fmt::format("{}\n", fmt::join(table.columns, ","));
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            fmt::format_to(std::back_inserter(text), "{}{:.15g}", i == 0 ? "" : ",", table.at(row, i));
        text += '\n';
    }
    write_text_file(path, text);
}

// Closes an HDF5 object when it goes out of scope.
class Hdf5Handle {
public:
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const std::string& path) : id_(id), close_(close) {
        if (id_ < 0) throw ModelError(fmt::format("cannot write '{}' (HDF5)", path));
    }
    ~Hdf5Handle() { close_(id_); }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

// One dataset per column, chunked and compressed, and the title as an attribute of the root.
void write_hdf5(const ResultTable& table, const std::string& path, const std::string& title) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose, path);
    const hsize_t rows = table.rows();
    const Hdf5Handle space(H5Screate_simple(1, &rows, nullptr), &H5Sclose, path);
    const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose, path);
    if (rows > 1000) {
        const hsize_t chunk = 1000;
        H5Pset_chunk(properties, 1, &chunk);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 4);
    }
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Hdf5Handle set(
            H5Dcreate2(file, table.columns[i].c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT),
            &H5Dclose, path);
        const std::vector<double> column = table.column(i);
        if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data()) < 0)
            throw ModelError(fmt::format("cannot write '{}' (HDF5)", path));
    }
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), &H5Tclose, path);
    H5Tset_size(type, title.size() + 1);
    const Hdf5Handle scalar(H5Screate(H5S_SCALAR), &H5Sclose, path);
    const Hdf5Handle attribute(H5Acreate2(file, "title", type, scalar, H5P_DEFAULT, H5P_DEFAULT), &H5Aclose, path);
    H5Awrite(attribute, type, title.c_str());
}

}  // namespace

void check_results_path(const std::string& path) {
    if (!ends_with(path, ".csv") && !ends_with(path, ".h5") && !ends_with(path, ".hdf5"))
        throw ModelError(
            fmt::format("cannot tell the format of '{}': expected a name ending in .csv, .h5 or .hdf5", path));
}

void write_results(const ResultTable& table, const std::string& path, const std::string& title) {
    check_results_path(path);
    if (ends_with(path, ".csv")) {
        write_csv(table, path);
    } else {
        write_hdf5(table, path, title);
    }
}

}  // namespace limber
