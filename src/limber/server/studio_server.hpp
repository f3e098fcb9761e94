#pragma once
// The door of the studio: an HTTP server for the page and a WebSocket for each session. One thread moves bytes; each
// session computes in its own.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/server/library.hpp"

namespace limber {

struct StudioOptions {
    std::string address = "127.0.0.1";
    unsigned short port = 0;         ///< 0: any free one
    std::vector<std::string> hosts;  ///< names under which the server is reached, beside those of loopback
    std::string token;               ///< asked for if not empty; needed for addresses other than loopback
    std::string workspace;           ///< folder for models; empty: none
    std::size_t max_sessions = 64;
    std::size_t max_connections = 256;
    double session_lifetime =
        600;  ///< [s] a session with a model waits for its page to come back; one without does not
    std::size_t session_memory = std::size_t{1} << 30;  ///< bytes that a session may use; 0: any (memory_account.hpp)
};

class StudioServer {
public:
    /// Listens at once. Throws std::runtime_error if it cannot, or if the address needs a token and there is none.
    StudioServer(const StudioOptions& options, std::span<const Asset> assets);
    /// Ends all sessions.
    ~StudioServer();
    StudioServer(const StudioServer&) = delete;
    StudioServer& operator=(const StudioServer&) = delete;

    unsigned short port() const;
    /// Where a browser finds it.
    std::string url() const;
    std::size_t session_count() const;
    /// Blocks until SIGINT or SIGTERM.
    void wait_for_signal();

private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace limber
