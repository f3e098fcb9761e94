#include "output_files.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "limber/io/files.hpp"
#include "limber/model/error.hpp"

namespace limber::app {

void OutputFiles::try_out(const std::string& path) const {
    try {
        check_writable(path);
    } catch (const ModelError& error) {
        fmt::print(stderr, "warning: {}; it is tried again at the end\n", error.what());
    }
}

bool OutputFiles::write(const std::string& path, const std::string& bytes) {
    try {
        write_file(path, bytes);
        return true;
    } catch (const ModelError& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        is_any_missing_ = true;
        return false;
    }
}

}  // namespace limber::app
