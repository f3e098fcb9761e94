#include "limber/server/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace limber {

AccessRules::AccessRules(unsigned short port, std::vector<std::string> hosts, std::string token)
    : token_(std::move(token)) {
    for (const char* name : {"localhost", "127.0.0.1", "[::1]"}) hosts.emplace_back(name);
    for (const std::string& name : hosts) {
        hosts_.push_back(fmt::format("{}:{}", name, port));
        if (port == 80) hosts_.push_back(name);
    }
}

bool AccessRules::allows_host(std::string_view host) const {
    return std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end();
}

bool AccessRules::allows_origin(std::string_view origin) const {
    constexpr std::string_view scheme = "http://";
    return origin.starts_with(scheme) && allows_host(origin.substr(scheme.size()));
}

bool AccessRules::allows_token(std::string_view token) const {
    if (token_.empty()) return true;
    // In the same time whatever differs, so that nothing can be learnt from it.
    unsigned difference = token.size() == token_.size() ? 0 : 1;
    for (std::size_t i = 0; i < token_.size(); ++i)
        difference |= static_cast<unsigned char>(token_[i]) ^
                      static_cast<unsigned char>(token.empty() ? 0 : token[i % token.size()]);
    return difference == 0;
}

std::string query_value(std::string_view target, std::string_view key) {
    const auto question = target.find('?');
    if (question == std::string_view::npos) return "";
    std::string_view rest = target.substr(question + 1);
    while (!rest.empty()) {
        const auto end = std::min(rest.find('&'), rest.size());
        const std::string_view pair = rest.substr(0, end);
        const auto equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == key)
            return std::string(pair.substr(equals + 1));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return "";
}

std::string make_secret() {
    std::random_device device;
    std::string text;
    for (int i = 0; i < 4; ++i) text += fmt::format("{:08x}", static_cast<std::uint32_t>(device()));
    return text;
}

bool is_secret(std::string_view text) {
    return text.size() == 32 && std::all_of(text.begin(), text.end(),
                                            [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool RateLimit::allow(double now) {
    left_ = std::min(burst_, left_ + per_second_ * std::max(0.0, now - last_));
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
}

}  // namespace limber
