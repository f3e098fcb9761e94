#include "limber/server/live_connection.hpp"

#include <boost/asio/post.hpp>

#include <nlohmann/json.hpp>

#include "limber/math/clock.hpp"

namespace limber {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;

// A page that moves the mouse and takes every frame sends about 130 messages a second.
constexpr double messages_per_second = 400;
constexpr double messages_at_once = 800;
// Messages that are not understood, until the connection is closed.
constexpr int max_offences = 20;
// A page that does not read: so many bytes wait for it, then it is let go.
constexpr std::size_t max_waiting_bytes = 64'000'000;

}  // namespace

LiveConnection::LiveConnection(beast::tcp_stream stream, boost::asio::io_context& io)
    : stream_(std::move(stream)), io_(io), rate_(messages_per_second, messages_at_once) {}

void LiveConnection::post(std::function<void()> work) {
    boost::asio::post(io_, [self = shared_from_this(), work = std::move(work)] { work(); });
}

void LiveConnection::start(const Request& request, std::shared_ptr<LiveSession> session) {
    session_ = std::move(session);
    beast::get_lowest_layer(stream_).expires_never();
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = std::chrono::seconds(10);
    timeout.idle_timeout = std::chrono::seconds(30);
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
    stream_.read_message_max(longest_message);
    stream_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
        if (error) return self->end();
        self->is_open_ = true;
        self->session_->attach(self);
        self->read();
    });
}

void LiveConnection::read() {
    stream_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
        if (error || !self->session_) return self->end();
        const std::string text = beast::buffers_to_string(self->buffer_.data());
        self->buffer_.consume(self->buffer_.size());
        if (!self->rate_.allow(steady_seconds())) return self->close("too many messages");
        if (!self->stream_.got_text()) return self->close("messages are text");
        self->receive(text);
        if (!self->is_closing_) self->read();
    });
}

void LiveConnection::receive(const std::string& text) {
    std::string refusal;
    try {
        if (session_->submit(decode_message(text))) return;
        refusal = "too many commands are waiting; try again in a moment";
    } catch (const ProtocolError& error) {
        refusal = error.what();
    }
    if (++offences_ > max_offences) return close("too many messages that are not understood");
    send_text(nlohmann::json{{"type", "note"}, {"level", "warning"}, {"text", refusal}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void LiveConnection::close(const std::string& reason) {
    post([this, reason] {
        if (is_closing_) return;
        is_closing_ = true;
        close_reason_ = reason.substr(0, 120);
        if (!is_writing_) write_next();
    });
}

void LiveConnection::send_text(std::string text) {
    post([this, text = std::move(text)]() mutable {
        if (!is_open_ || is_closing_) return;
        waiting_bytes_ += text.size();
        texts_.push_back(std::move(text));
        if (waiting_bytes_ > max_waiting_bytes) {
            beast::get_lowest_layer(stream_).cancel();
            return end();
        }
        if (!is_writing_) write_next();
    });
}

void LiveConnection::send_frame(std::vector<std::uint8_t> frame) {
    post([this, frame = std::move(frame)]() mutable {
        if (!is_open_ || is_closing_) return;
        frame_ = std::move(frame);
        if (!is_writing_) write_next();
    });
}

// Texts before frames: a frame means nothing without the scene it belongs to.
void LiveConnection::write_next() {
    const auto go_on = [self = shared_from_this()](beast::error_code error, std::size_t) {
        self->is_writing_ = false;
        if (error) return self->end();
        self->write_next();
    };
    if (is_open_ && !texts_.empty()) {
        text_under_way_ = std::move(texts_.front());
        texts_.pop_front();
        waiting_bytes_ -= text_under_way_.size();
        is_writing_ = true;
        stream_.text(true);
        stream_.async_write(boost::asio::buffer(text_under_way_), go_on);
    } else if (is_open_ && is_closing_) {
        is_open_ = false;
        stream_.async_close({websocket::close_code::policy_error, close_reason_},
                            [self = shared_from_this()](beast::error_code) { self->end(); });
    } else if (is_open_ && frame_) {
        frame_under_way_ = std::move(*frame_);
        frame_.reset();
        is_writing_ = true;
        stream_.binary(true);
        stream_.async_write(boost::asio::buffer(frame_under_way_), go_on);
    }
}

void LiveConnection::end() {
    is_open_ = false;
    is_closing_ = true;
    texts_.clear();
    frame_.reset();
    if (session_) session_->detach(this);
    session_.reset();
}

}  // namespace limber
