// Fuzz target: any text given as a model file must end in a model or in a ModelError, in bounded time and memory.

#include <cstddef>
#include <cstdint>
#include <string>

#include "limber/io/model_file.hpp"
#include "limber/model/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        limber::read_model_text(text, "fuzz.yaml");
    } catch (const limber::ModelError&) {
        // Refused with a message: as it should be.
    }
    return 0;
}
