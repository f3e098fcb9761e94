#include "limber/model/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace limber {
namespace {

// Levenshtein distance in which swapping two neighbouring letters counts as one slip.
int edit_distance(const std::string& a, const std::string& b) {
    const int n = static_cast<int>(a.size());
    const int m = static_cast<int>(b.size());
    std::vector<std::vector<int>> d(n + 1, std::vector<int>(m + 1));
    for (int i = 0; i <= n; ++i) d[i][0] = i;
    for (int j = 0; j <= m; ++j) d[0][j] = j;
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= m; ++j) {
            const int substitution = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, substitution});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

}  // namespace

std::string Subject::text() const {
    std::string words = kind_.empty() ? std::string(name_) : fmt::format("{} '{}'", kind_, name_);
    if (!detail_.empty()) words.append(": ").append(detail_);
    return words;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
    if (word.size() > 60) return "";
    int best = 1 + static_cast<int>(word.size()) / 3;
    const std::string* nearest = nullptr;
    for (const auto& candidate : candidates) {
        if (candidate.size() > 60) continue;
        const int distance = edit_distance(word, candidate);
        if (distance < best || (distance == best && nearest == nullptr)) {
            best = distance;
            nearest = &candidate;
        }
    }
    return nearest == nullptr ? "" : " (did you mean '" + *nearest + "'?)";
}

std::string suggest_name(const std::string& name, const std::string& expression,
                         const std::vector<std::string>& candidates) {
    const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    };
    for (std::size_t at = 0; at < expression.size();) {
        std::size_t end = at;
        while (end < expression.size() && is_part(expression[end])) ++end;
        std::string words = expression.substr(at, end - at);
        at = end + 1;
        if (words.find(name) == std::string::npos || words.find('-') == std::string::npos) continue;
        std::replace(words.begin(), words.end(), '-', '_');
        if (std::find(candidates.begin(), candidates.end(), words) != candidates.end())
            return " (a hyphen is a minus: did you mean '" + words + "'?)";
    }
    return did_you_mean(name, candidates);
}

}  // namespace limber
