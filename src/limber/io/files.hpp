#pragma once
// Writing files so that whoever looks finds the old one or the whole new one, and never a part.

#include <string>

namespace limber {

enum class Links {
    follow,  ///< what a link points to is written
    replace  ///< the link itself gives way, so that nothing outside the folder is written
};

/// A new file beside the old one is written, brought to the disk and renamed. A device or a pipe is written as it is.
/// Throws ModelError if that fails, and the old file is as it was.
void write_file(const std::string& path, const std::string& bytes, Links links = Links::follow);

/// Throws ModelError if write_file cannot succeed as things are. Leaves nothing behind.
void check_writable(const std::string& path);

}  // namespace limber
