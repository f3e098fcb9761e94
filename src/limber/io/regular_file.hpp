#pragma once
// Reading files that others have named: models, what they include, surfaces, journals.

#include <cstddef>
#include <string>

namespace limber {

/// The whole content. Only regular files are read, so that a pipe without a writer cannot hold up the program nor a
/// device fill its memory; and no more than `most` bytes. Throws ModelError that says why it was not read.
std::string read_regular_file(const std::string& path, std::size_t most);

}  // namespace limber
