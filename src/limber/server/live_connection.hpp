#pragma once
// A WebSocket between one page and its session. Internal to the room.

#include <boost/asio/io_context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limber/server/access.hpp"
#include "limber/server/live_session.hpp"

namespace limber {

class LiveConnection final : public Outlet, public std::enable_shared_from_this<LiveConnection> {
public:
    using Stream = boost::beast::websocket::stream<boost::beast::tcp_stream, false>;  // no compression
    using Request = boost::beast::http::request<boost::beast::http::string_body>;

    LiveConnection(boost::beast::tcp_stream stream, boost::asio::io_context& io);

    /// Finishes the handshake of a request that has been found to be in order, then attaches to the session.
    void start(const Request& request, std::shared_ptr<LiveSession> session);
    /// Says why and closes.
    void close(const std::string& reason);

    void send_text(std::string text) override;
    void send_frame(std::vector<std::uint8_t> frame) override;

private:
    void read();
    void receive(const std::string& text);
    void write_next();
    void end();
    void post(std::function<void()> work);

    Stream stream_;
    boost::asio::io_context& io_;
    std::shared_ptr<LiveSession> session_;
    boost::beast::flat_buffer buffer_;
    RateLimit rate_;
    int offences_ = 0;
    bool is_open_ = false, is_writing_ = false, is_closing_ = false;
    std::string close_reason_;
    std::deque<std::string> texts_;
    std::size_t waiting_bytes_ = 0;
    std::optional<std::vector<std::uint8_t>> frame_;  // only the newest waits
    std::string text_under_way_;
    std::vector<std::uint8_t> frame_under_way_;
};

}  // namespace limber
