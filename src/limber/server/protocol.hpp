#pragma once
// What a page may say to its session: JSON objects with a "type" and an optional "id" that the reply repeats.
// Everything is checked here; what comes out is safe to act on.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "limber/io/results.hpp"

namespace limber {

inline constexpr std::size_t longest_message = 2'000'000;  ///< bytes; a model with its quotes fits
inline constexpr std::size_t longest_model = 1'000'000;    ///< bytes of a model's text

/// A message that no page of ours sends. The text says what was expected.
class ProtocolError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct OpenModel {
    enum class Source { example, file, text, journal };
    Source source = Source::example;
    std::string name;  ///< of the example or file; of a text: what messages call it
    std::string text;  ///< of the model or journal
};
/// An edit in the words of io/edit_text.hpp.
struct EditModel {
    std::string text;
};
struct Play {};
struct Pause {};
struct MakeSteps {
    int count = 1;
};
struct SetSpeed {
    double factor = 1;  ///< simulated seconds per second
};
/// The properties of one element, for the inspector.
struct DescribeElement {
    std::string section, name;
};
/// The model as YAML; saved in the workspace if a file is named.
struct WriteModel {
    std::string file;
};
struct ReadJournal {};
/// What the sensors have shown, as a file.
struct ReadResults {
    ResultFormat format = ResultFormat::csv;
};
/// A second simulation of the same model beside the first; an empty formulation takes it away.
struct SetGhost {
    std::string formulation, integrator;
};
/// Whether frames carry joint reactions.
struct ShowReactions {
    bool is_on = false;
};
struct ListGallery {};
struct ListFiles {};
/// A frame has arrived; the next may be sent.
struct AcknowledgeFrame {
    std::uint32_t number = 0;
};

using Command =
    std::variant<OpenModel, EditModel, Play, Pause, MakeSteps, SetSpeed, DescribeElement, WriteModel, ReadJournal,
                 ReadResults, SetGhost, ShowReactions, ListGallery, ListFiles, AcknowledgeFrame>;

struct ClientMessage {
    std::int64_t id = 0;  ///< 0: no reply wanted
    Command command;
};

/// Throws ProtocolError for everything else than a valid message, in time and memory bounded by its length.
ClientMessage decode_message(std::string_view text);

}  // namespace limber
