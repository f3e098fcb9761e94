#pragma once
// Bytes as letters, for files inside JSON.

#include <string>
#include <string_view>

namespace limber {

/// RFC 4648, with padding.
std::string encode_base64(std::string_view bytes);

}  // namespace limber
