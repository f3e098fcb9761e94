#pragma once
// Who may talk to the server: requests must name a host the server was told it has, and come from its own pages.

#include <string>
#include <string_view>
#include <vector>

namespace limber {

class AccessRules {
public:
    /// Hosts beside those of loopback; an empty token asks for none.
    AccessRules(unsigned short port, std::vector<std::string> hosts, std::string token);

    /// A page elsewhere may point a name of its own at this machine; its requests carry that name.
    bool allows_host(std::string_view host) const;
    /// Only pages of this server: "http://" and an allowed host.
    bool allows_origin(std::string_view origin) const;
    bool allows_token(std::string_view token) const;

private:
    std::vector<std::string> hosts_;
    std::string token_;
};

/// The value of a key in the query of a request's target; empty if it is not there.
std::string query_value(std::string_view target, std::string_view key);

/// 128 random bits, as 32 hexadecimal digits.
std::string make_secret();
/// Whether a text could have come from make_secret().
bool is_secret(std::string_view text);

/// Allows so many messages per second on average, and some more at a time.
class RateLimit {
public:
    RateLimit(double per_second, double burst) : per_second_(per_second), burst_(burst), left_(burst) {}
    /// False: too fast. `now` in seconds.
    bool allow(double now);

private:
    double per_second_, burst_, left_;
    double last_ = 0;
};

}  // namespace limber
