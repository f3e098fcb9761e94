#include "limber/server/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace limber {
namespace {

using Message = nlohmann::json;

constexpr int deepest_nesting = 2;
constexpr std::size_t longest_name = 200;
constexpr int max_steps = 10'000;

std::string text_field(const Message& message, const char* key, std::size_t longest, bool is_required = true) {
    const auto it = message.find(key);
    if (it == message.end() && !is_required) return "";
    if (it == message.end() || !it->is_string()) throw ProtocolError(fmt::format("'{}': expected a text", key));
    const std::string& text = it->get_ref<const std::string&>();
    if (text.size() > longest) throw ProtocolError(fmt::format("'{}' is longer than {} bytes", key, longest));
    if (text.find('\0') != std::string::npos) throw ProtocolError(fmt::format("'{}' contains a zero byte", key));
    return text;
}

double number_field(const Message& message, const char* key, double low, double high) {
    const auto it = message.find(key);
    if (it == message.end() || !it->is_number()) throw ProtocolError(fmt::format("'{}': expected a number", key));
    const double value = it->get<double>();
    if (!(value >= low && value <= high))
        throw ProtocolError(fmt::format("'{}': expected {} to {}, found {}", key, low, high, value));
    return value;
}

bool flag_field(const Message& message, const char* key) {
    const auto it = message.find(key);
    if (it == message.end() || !it->is_boolean()) throw ProtocolError(fmt::format("'{}': expected true or false", key));
    return it->get<bool>();
}

OpenModel read_open(const Message& message) {
    OpenModel open;
    const std::string source = text_field(message, "source", longest_name);
    if (source == "example") {
        open.source = OpenModel::Source::example;
    } else if (source == "file") {
        open.source = OpenModel::Source::file;
    } else if (source == "text") {
        open.source = OpenModel::Source::text;
    } else if (source == "journal") {
        open.source = OpenModel::Source::journal;
    } else {
        throw ProtocolError("'source': expected example, file, text or journal");
    }
    open.name = text_field(message, "name", longest_name);
    const bool has_text = open.source == OpenModel::Source::text || open.source == OpenModel::Source::journal;
    open.text = text_field(message, "text", longest_model, has_text);
    return open;
}

ReadResults read_results(const Message& message) {
    const std::string format = text_field(message, "format", longest_name);
    if (format == "csv") return {ResultFormat::csv};
    if (format == "hdf5") return {ResultFormat::hdf5};
    throw ProtocolError("'format': expected csv or hdf5");
}

struct MessageType {
    const char* name;
    std::function<Command(const Message&)> read;
};

const std::vector<MessageType>& message_types() {
    static const std::vector<MessageType> list{
        {"open", [](const Message& m) -> Command { return read_open(m); }},
        {"edit", [](const Message& m) -> Command { return EditModel{text_field(m, "text", longest_model)}; }},
        {"play", [](const Message&) -> Command { return Play{}; }},
        {"pause", [](const Message&) -> Command { return Pause{}; }},
        {"step",
         [](const Message& m) -> Command {
             return MakeSteps{static_cast<int>(number_field(m, "count", 1, max_steps))};
         }},
        {"speed", [](const Message& m) -> Command { return SetSpeed{number_field(m, "factor", 0.001, 100)}; }},
        {"describe",
         [](const Message& m) -> Command {
             return DescribeElement{text_field(m, "section", longest_name), text_field(m, "name", longest_name)};
         }},
        {"write", [](const Message& m) -> Command { return WriteModel{text_field(m, "file", longest_name, false)}; }},
        {"journal", [](const Message&) -> Command { return ReadJournal{}; }},
        {"results", [](const Message& m) -> Command { return read_results(m); }},
        {"ghost",
         [](const Message& m) -> Command {
             return SetGhost{text_field(m, "formulation", longest_name),
                             text_field(m, "integrator", longest_name, false)};
         }},
        {"reactions", [](const Message& m) -> Command { return ShowReactions{flag_field(m, "on")}; }},
        {"gallery", [](const Message&) -> Command { return ListGallery{}; }},
        {"files", [](const Message&) -> Command { return ListFiles{}; }},
        {"ack",
         [](const Message& m) -> Command {
             return AcknowledgeFrame{static_cast<std::uint32_t>(number_field(m, "frame", 0, 4294967295.0))};
         }},
    };
    return list;
}

}  // namespace

ClientMessage decode_message(std::string_view text) {
    if (text.size() > longest_message)
        throw ProtocolError(fmt::format("a message is longer than {} bytes", longest_message));
    bool is_too_deep = false;
    const auto check_depth = [&](int depth, Message::parse_event_t, Message&) {
        is_too_deep = is_too_deep || depth > deepest_nesting;
        return !is_too_deep;
    };
    const Message message = Message::parse(text.begin(), text.end(), check_depth, false);
    if (is_too_deep) throw ProtocolError("the message is nested too deeply");
    if (!message.is_object()) throw ProtocolError("expected a JSON object");
    ClientMessage result;
    if (message.contains("id")) result.id = static_cast<std::int64_t>(number_field(message, "id", 0, 9e15));
    const std::string type = text_field(message, "type", longest_name);
    const auto& types = message_types();
    const auto it = std::find_if(types.begin(), types.end(), [&](const MessageType& t) { return type == t.name; });
    if (it == types.end()) throw ProtocolError("'type': unknown message");
    result.command = it->read(message);
    return result;
}

}  // namespace limber
