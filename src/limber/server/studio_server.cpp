#include "limber/server/studio_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http.hpp>
#include <filesystem>
#include <map>
#include <thread>
#include <tuple>

#include "limber/server/live_connection.hpp"
#include "limber/simulation/journal.hpp"

namespace limber {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Response = http::response<http::string_body>;

constexpr auto request_timeout = std::chrono::seconds(15);
constexpr auto sweep_interval = std::chrono::seconds(1);
constexpr std::uint32_t longest_header = 16'384;
constexpr std::uint64_t longest_body = 0;  // requests have none

// Nothing but our own files, and no one may frame the page.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view content_type(std::string_view path) {
    const auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
    if (ends(".html")) return "text/html; charset=utf-8";
    if (ends(".js")) return "text/javascript; charset=utf-8";
    if (ends(".css")) return "text/css; charset=utf-8";
    if (ends(".svg")) return "image/svg+xml";
    return "text/plain; charset=utf-8";
}

std::string_view view(beast::string_view text) {
    return {text.data(), text.size()};
}

}  // namespace

class StudioServer::Implementation {
public:
    Implementation(const StudioOptions& options, std::span<const Asset> assets)
        : options_(options),
          library_(std::make_shared<Library>(assets, options.workspace)),
          acceptor_(io_),
          sweep_timer_(io_),
          rules_(0, {}, "") {
        const auto address = asio::ip::make_address(options.address);
        if (!address.is_loopback() && options.token.empty())
            throw std::runtime_error(
                fmt::format("the address {} can be reached by others: a token is needed", options.address));
        listen(tcp::endpoint(address, options.port));
        std::vector<std::string> hosts = options.hosts;
        hosts.push_back(address.is_v6() ? fmt::format("[{}]", options.address) : options.address);
        rules_ = AccessRules(port(), hosts, options.token);
        accept();
        sweep();
        thread_ = std::thread([this] { serve_sockets(); });
    }

    ~Implementation() {
        asio::post(io_, [this] {
            acceptor_.close();
            sweep_timer_.cancel();
        });
        io_.stop();
        thread_.join();
        for (auto& [id, entry] : sessions_) {
            entry->session->request_stop();
            // Session and connection hold each other; the connection goes with its pending operations, in io_.
            entry->session->detach(entry->connection.lock().get());
        }
        sessions_.clear();
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    std::size_t session_count() const { return session_count_; }

    std::string url() const {
        const bool is_any = options_.address == "0.0.0.0" || options_.address == "::";
        const std::string host = !options_.hosts.empty() ? options_.hosts.front()
                                 : is_any                ? "localhost"
                                                         : options_.address;
        return fmt::format("http://{}:{}/{}", host, port(),
                           options_.token.empty() ? "" : fmt::format("#token={}", options_.token));
    }

private:
    struct Entry {
        std::shared_ptr<LiveSession> session;
        std::weak_ptr<LiveConnection> connection;
        double idle = 0;  // [s] without a page
        bool is_ending = false;
    };

    /// One HTTP connection, until it ends or becomes a WebSocket.
    class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
    public:
        HttpConnection(Implementation& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
            ++server_.connection_count_;
        }
        ~HttpConnection() { --server_.connection_count_; }
        HttpConnection(const HttpConnection&) = delete;
        HttpConnection& operator=(const HttpConnection&) = delete;

        void read() {
            parser_.emplace();
            parser_->header_limit(longest_header);
            parser_->body_limit(longest_body);
            stream_.expires_after(request_timeout);
            http::async_read(stream_, buffer_, *parser_,
                             [self = shared_from_this()](beast::error_code error, std::size_t) {
                                 if (error) return;
                                 self->answer(self->parser_->release());
                             });
        }

    private:
        void answer(const LiveConnection::Request& request) {
            if (!beast::websocket::is_upgrade(request)) return respond(server_.serve(request), request.keep_alive());
            std::string refusal;
            const std::shared_ptr<Entry> entry = server_.admit(request, refusal);
            if (!entry) return respond(server_.refuse(request, http::status::forbidden, refusal), false);
            const auto connection = std::make_shared<LiveConnection>(std::move(stream_), server_.io_);
            if (const auto old = entry->connection.lock()) old->close("the session was opened in another window");
            entry->connection = connection;
            entry->idle = 0;
            connection->start(request, entry->session);
        }

        void respond(Response response, bool is_kept) {
            response_ = std::move(response);
            response_.keep_alive(is_kept);
            http::async_write(stream_, response_,
                              [self = shared_from_this(), is_kept](beast::error_code error, std::size_t) {
                                  if (error) return;
                                  if (is_kept) return self->read();
                                  beast::error_code ignored;
                                  std::ignore = self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                              });
        }

        Implementation& server_;
        beast::tcp_stream stream_;
        beast::flat_buffer buffer_;
        std::optional<http::request_parser<http::string_body>> parser_;
        Response response_;
    };

    // Whatever one connection brings about, the others go on.
    void serve_sockets() {
        while (!io_.stopped()) {
            try {
                io_.run();
            } catch (const std::exception& error) {
                fmt::print(stderr, "studio: a connection failed: {}\n", error.what());
            }
        }
    }

    void listen(const tcp::endpoint& endpoint) {
        try {
            acceptor_.open(endpoint.protocol());
            acceptor_.set_option(asio::socket_base::reuse_address(true));
            acceptor_.bind(endpoint);
            acceptor_.listen();
        } catch (const boost::system::system_error& error) {
            throw std::runtime_error(fmt::format("cannot listen on {} port {}: {}", options_.address, options_.port,
                                                 error.code().message()));
        }
    }

    void accept() {
        acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
            if (error == asio::error::operation_aborted) return;
            if (!error && connection_count_ < options_.max_connections) {
                beast::error_code ignored;
                std::ignore = socket.set_option(tcp::no_delay(true), ignored);
                std::make_shared<HttpConnection>(*this, std::move(socket))->read();
            }
            accept();
        });
    }

    // ------------------------------------------------------------ HTTP

    Response make_response(const LiveConnection::Request& request, http::status status) const {
        Response response(status, request.version());
        response.set("Content-Security-Policy", content_policy);
        response.set(http::field::x_frame_options, "DENY");
        response.set("X-Content-Type-Options", "nosniff");
        response.set("Referrer-Policy", "no-referrer");
        response.set("Cross-Origin-Resource-Policy", "same-origin");
        response.set(http::field::cache_control, "no-cache");
        return response;
    }

    Response refuse(const LiveConnection::Request& request, http::status status, const std::string& reason) const {
        Response response = make_response(request, status);
        response.set(http::field::content_type, "text/plain; charset=utf-8");
        response.body() = reason + "\n";
        response.prepare_payload();
        return response;
    }

    Response serve(const LiveConnection::Request& request) const {
        if (!rules_.allows_host(view(request[http::field::host])))
            return refuse(request, http::status::forbidden, "this host name is not known here");
        const bool is_head = request.method() == http::verb::head;
        if (request.method() != http::verb::get && !is_head)
            return refuse(request, http::status::method_not_allowed, "only GET and HEAD");
        std::string_view path = view(request.target());
        path = path.substr(0, path.find('?'));
        const Asset* asset = library_->find_asset(fmt::format("page{}", path == "/" ? "/index.html" : path));
        if (asset == nullptr) return refuse(request, http::status::not_found, "there is nothing here");
        Response response = make_response(request, http::status::ok);
        const std::string_view type = content_type(asset->path);
        response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
        if (is_head) {
            response.content_length(asset->content.size());
        } else {
            response.body() = std::string(asset->content);
            response.prepare_payload();
        }
        return response;
    }

    // ------------------------------------------------------------ sessions

    /// The session of a WebSocket request, or nothing and the reason why not.
    std::shared_ptr<Entry> admit(const LiveConnection::Request& request, std::string& refusal) {
        const std::string_view target = view(request.target());
        if (!rules_.allows_host(view(request[http::field::host]))) {
            refusal = "this host name is not known here";
        } else if (!rules_.allows_origin(view(request[http::field::origin]))) {
            refusal = "pages from elsewhere may not connect";
        } else if (!rules_.allows_token(query_value(target, "token"))) {
            refusal = "the token is missing or wrong";
        } else if (target.substr(0, target.find('?')) != "/live") {
            refusal = "there is nothing here";
        }
        if (!refusal.empty()) return nullptr;
        const std::string wanted = query_value(target, "session");
        const auto known = sessions_.find(wanted);
        if (known != sessions_.end() && !known->second->is_ending) return known->second;
        if (count_sessions() >= options_.max_sessions) end_abandoned();
        if (count_sessions() >= options_.max_sessions) {
            refusal = fmt::format("{} sessions are open already", count_sessions());
            return nullptr;
        }
        try {
            return add_session(wanted);
        } catch (const std::system_error&) {
            refusal = "the server cannot start another session now";
            return nullptr;
        }
    }

    // Without those that are on their way out.
    std::size_t count_sessions() const {
        return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(),
                                                      [](const auto& entry) { return !entry.second->is_ending; }));
    }

    std::shared_ptr<Entry> add_session(const std::string& wanted) {
        // A session of before the server was started again comes back from its journal,
        // unless another server on the same workspace has it.
        const bool has_journal = is_secret(wanted) && library_->has_workspace() &&
                                 std::filesystem::exists(library_->journal_path(wanted)) &&
                                 !Journal::is_in_use(library_->journal_path(wanted));
        const std::string id = has_journal ? wanted : make_secret();
        library_->drop_old_journals();
        const auto entry = std::make_shared<Entry>();
        entry->session = std::make_shared<LiveSession>(id, library_, options_.session_memory);
        if (has_journal) entry->session->resume();
        sessions_[id] = entry;
        session_count_ = count_sessions();
        return entry;
    }

    // Sessions whose page has gone and will not be missed, or has not come back in time.
    void end_abandoned() {
        for (const auto& [id, entry] : sessions_) {
            const bool is_left = !entry->session->is_attached() && entry->connection.expired();
            const bool is_due = entry->idle > options_.session_lifetime || (is_left && entry->session->is_empty());
            if (entry->is_ending || !is_due) continue;
            entry->is_ending = true;
            entry->session->request_stop();
        }
        session_count_ = count_sessions();
    }

    // Those that have ended are forgotten.
    void sweep() {
        for (const auto& [id, entry] : sessions_) entry->idle = entry->session->is_attached() ? 0 : entry->idle + 1;
        end_abandoned();
        std::erase_if(sessions_,
                      [](const auto& item) { return item.second->is_ending && item.second->session->is_finished(); });
        sweep_timer_.expires_after(sweep_interval);
        sweep_timer_.async_wait([this](beast::error_code error) {
            if (!error) sweep();
        });
    }

    const StudioOptions options_;
    std::shared_ptr<const Library> library_;
    asio::io_context io_;
    tcp::acceptor acceptor_;
    asio::steady_timer sweep_timer_;
    AccessRules rules_;
    std::size_t connection_count_ = 0;
    std::map<std::string, std::shared_ptr<Entry>> sessions_;
    std::atomic<std::size_t> session_count_ = 0;
    std::thread thread_;
};

StudioServer::StudioServer(const StudioOptions& options, std::span<const Asset> assets)
    : implementation_(std::make_unique<Implementation>(options, assets)) {}

StudioServer::~StudioServer() = default;

unsigned short StudioServer::port() const {
    return implementation_->port();
}

std::string StudioServer::url() const {
    return implementation_->url();
}

std::size_t StudioServer::session_count() const {
    return implementation_->session_count();
}

void StudioServer::wait_for_signal() {
    asio::io_context io;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([](beast::error_code, int) {});
    io.run();
}

}  // namespace limber
