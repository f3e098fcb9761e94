// Fuzz target: any bytes given as a message of a page must end in a command or in a ProtocolError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "limber/server/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        limber::decode_message({reinterpret_cast<const char*>(data), size});
    } catch (const limber::ProtocolError&) {
        // Refused with a message: as it should be.
    }
    return 0;
}
