#include "limber/simulation/journal_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/io/model_file.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/model/error.hpp"
#include "limber/simulation/fingerprint.hpp"
#include "limber/simulation/journal_options.hpp"
#include "limber/simulation/saved_fields.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uintmax_t longest_file = 1'000'000'000;

std::string snapshot_path(const std::string& journal) {
    return journal + ".snapshot";
}

State read_state(const nlohmann::json& json) {
    State state;
    SavedPlace(json, "state").read_fields(state);
    return state;
}

// Its lists fit each other; whether they fit the model is asked when it is compiled.
bool is_whole(const State& s) {
    const auto is_empty_or = [](const VecX& x, Eigen::Index size) { return x.size() == 0 || x.size() == size; };
    const Eigen::Index n = s.q.size();
    return s.v.size() == n && s.a.size() == n && is_empty_or(s.scheme_a, n) && is_empty_or(s.previous_a, n) &&
           s.q.allFinite() && s.v.allFinite() && s.a.allFinite() && s.lambda.allFinite() && s.scheme_a.allFinite() &&
           s.previous_a.allFinite();
}

bool can_be_written(const Situation& s) {
    if (!s.model.forces.find("mouse_pull").is_null()) return false;
    for (const auto handle : s.model.joints.handles())
        if (!s.model.joints.get(handle).closing.empty()) return false;
    return is_whole(s.state);
}

// Of a joint that has come before another whose marker it uses, the text no longer tells that its own markers go with
// it.
bool says_all(const std::string& text, const Model& model) {
    try {
        const Model again = read_model_text(text, "snapshot").model;
        const auto handles = model.markers.handles();
        return std::all_of(handles.begin(), handles.end(), [&](const MarkerHandle handle) {
            const Marker& marker = model.markers.get(handle);
            const Marker* found = again.markers.find(again.markers.find(marker.name));
            return found != nullptr && found->is_joints_own == marker.is_joints_own;
        });
    } catch (const ModelError&) {
        return false;
    }
}

std::optional<Json> read_file(const std::string& journal) {
    const std::string path = snapshot_path(journal);
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error || size > longest_file) return {};
    std::ifstream file(path, std::ios::binary);
    try {
        // Lengths that no memory could hold are thrown in any case.
        Json json = Json::from_cbor(file, true, false);
        if (!json.is_object() || json.value("limber_snapshot", 0) != 1) return {};
        return json;
    } catch (const Json::exception&) {
        return {};
    }
}

}  // namespace

std::string identify_journal(const std::string& line) {
    Fingerprint fingerprint;
    fingerprint.add_bytes(line.data(), line.size());
    return fmt::format("{:016x}-{}", fingerprint.value(), line.size());
}

std::string identify_journal_file(const std::string& journal) {
    std::ifstream file(journal, std::ios::binary);
    std::string line;
    std::getline(file, line);
    return identify_journal(line);
}

void write_snapshot(const std::string& journal, const JournalPlace& place, const Situation& s,
                    const SessionOptions& session_options) {
    if (!can_be_written(s)) return;
    const std::string model = write_model_text(s.model);
    if (!says_all(model, s.model)) return;
    Json rules = Json::array();
    for (const auto& rule : s.rules) rules.push_back({rule.name, rule.side, rule.is_done});
    const Json json{{"limber_snapshot", 1},
                    {"journal", place.identity},
                    {"bytes", place.bytes},
                    {"cost", place.cost},
                    {"fingerprint", place.fingerprint},
                    {"options", write_options({s.options, session_options})},
                    {"model", model},
                    {"step", s.step},
                    {"steps", s.steps},
                    {"state", Json(saved::encode(s.state))},
                    {"work", s.account.work},
                    {"longest_step", s.longest_step},
                    {"start_energy", s.account.start},
                    {"dissipated", s.account.dissipated},
                    {"rules", rules}};
    const std::vector<std::uint8_t> bytes = Json::to_cbor(json);
    // A whole new file takes the place of the old one.
    const std::string path = snapshot_path(journal);
    const std::string fresh = path + ".new";
    std::ofstream file(fresh, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file || std::rename(fresh.c_str(), path.c_str()) != 0) std::remove(fresh.c_str());
}

std::optional<JournalSnapshot> read_snapshot(const std::string& journal, const std::string& identity) {
    try {
        const auto json = read_file(journal);
        if (!json || json->at("journal") != identity) return {};
        JournalSnapshot snapshot;
        snapshot.place.identity = identity;
        snapshot.place.bytes = read_whole_number(*json, "bytes", 1, 1'000'000'000'000);
        snapshot.place.cost = read_number(*json, "cost", 0, 1e30);
        snapshot.place.fingerprint = json->at("fingerprint");
        Situation& s = snapshot.situation;
        s.options = read_options(json->at("options")).simulation;
        s.model = read_model_text(json->at("model"), snapshot_path(journal)).model;
        s.step = read_number(*json, "step", shortest_session_step, longest_session_step);
        s.steps = read_whole_number(*json, "steps", 0, 1'000'000'000'000'000);
        s.state = read_state(nlohmann::json(json->at("state")));
        if (!is_whole(s.state)) return {};
        s.account.work = read_number(*json, "work", -1e300, 1e300);
        s.longest_step = read_number(*json, "longest_step", 0, 1e30);
        s.account.start = read_number(*json, "start_energy", -1e300, 1e300);
        s.account.dissipated = read_number(*json, "dissipated", -1e300, 1e300);
        for (const Json& rule : json->at("rules")) s.rules.push_back({rule.at(0), rule.at(1), rule.at(2)});
        return snapshot;
    } catch (const Json::exception&) {
        return {};
    } catch (const ModelError&) {
        return {};
    }
}

double find_snapshot_cost(const std::string& journal) {
    const auto json = read_file(journal);
    const double cost =
        json && json->contains("cost") && json->at("cost").is_number() ? json->at("cost").get<double>() : 0;
    return std::isfinite(cost) && cost > 0 ? cost : 0;
}

void remove_snapshot(const std::string& journal) {
    std::remove(snapshot_path(journal).c_str());
}

}  // namespace limber
