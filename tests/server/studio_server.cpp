// The server over real sockets: what it serves, whom it refuses, and that hostile clients harm nobody.

#include "limber/server/studio_server.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

// Boost 1.74 asks for std::result_of, which C++20 no longer has but by courtesy.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#pragma GCC diagnostic pop
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

namespace limber {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Json = nlohmann::json;

const Asset assets[] = {
    {"page/index.html", "<html>studio</html>"},
    {"page/studio.js", "run()"},
    {"examples/ball.yaml",
     "limber: 1\nplane: xy\nbodies: {ball: {point: {mass: 1}}}\nsensors: {p: {position: ball}}\n"},
};

tcp::socket connect(asio::io_context& io, unsigned short port) {
    tcp::socket socket(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    return socket;
}

struct Answer {
    unsigned status = 0;
    http::response<http::string_body> response;
};

Answer get(unsigned short port, const std::string& target, std::string host = "", http::verb verb = http::verb::get) {
    asio::io_context io;
    tcp::socket socket = connect(io, port);
    http::request<http::string_body> request(verb, target, 11);
    request.set(http::field::host, host.empty() ? "localhost:" + std::to_string(port) : host);
    http::write(socket, request);
    beast::flat_buffer buffer;
    Answer answer;
    http::read(socket, buffer, answer.response);
    answer.status = answer.response.result_int();
    return answer;
}

/// A page, as a browser would have it.
class Client {
public:
    explicit Client(unsigned short port, const std::string& query = "", const std::string& origin = "",
                    const std::string& host = "")
        : stream_(connect(io_, port)) {
        const std::string own = "localhost:" + std::to_string(port);
        stream_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
            request.set(http::field::origin, origin.empty() ? "http://" + own : origin);
        }));
        stream_.read_message_max(64'000'000);
        stream_.handshake(host.empty() ? own : host, "/live" + query);
    }
    void send(const std::string& text) { stream_.write(asio::buffer(text)); }
    void send(const Json& json) { send(json.dump()); }
    /// The next message that is JSON.
    Json receive() {
        for (;;) {
            beast::flat_buffer buffer;
            stream_.read(buffer);
            if (stream_.got_text()) return Json::parse(beast::buffers_to_string(buffer.data()));
        }
    }
    Json receive(const std::string& type) {
        for (;;) {
            Json json = receive();
            if (json["type"] == type) return json;
        }
    }
    Json ask(Json message) {
        message["id"] = 1;
        send(message);
        return receive("reply");
    }
    websocket::stream<tcp::socket>& stream() { return stream_; }

private:
    asio::io_context io_;
    websocket::stream<tcp::socket> stream_;
};

bool is_refused(unsigned short port, const std::string& query, const std::string& origin, const std::string& host) {
    try {
        const Client client(port, query, origin, host);
        return false;
    } catch (const boost::system::system_error&) {
        return true;
    }
}

TEST(StudioServer, ServesThePageWithItsPolicy) {
    const StudioServer server({}, assets);
    const Answer page = get(server.port(), "/");
    EXPECT_EQ(page.status, 200U);
    EXPECT_EQ(page.response.body(), "<html>studio</html>");
    EXPECT_NE(page.response["Content-Security-Policy"].find("default-src 'none'"), beast::string_view::npos);
    EXPECT_EQ(get(server.port(), "/studio.js?x=1").response["Content-Type"], "text/javascript; charset=utf-8");
    for (const char* target : {"/none", "/../page/index.html", "/examples/ball.yaml", "//index.html", "*", "/%2e%2e/"})
        EXPECT_EQ(get(server.port(), target).status, 404U) << target;
    EXPECT_EQ(get(server.port(), "/", "", http::verb::post).status, 405U);
}

TEST(StudioServer, RefusesStrangers) {
    const StudioServer server({}, assets);
    const unsigned short port = server.port();
    const std::string own = "localhost:" + std::to_string(port);
    EXPECT_EQ(get(port, "/", "evil.example").status, 403U);
    EXPECT_TRUE(is_refused(port, "", "http://evil.example", own));
    EXPECT_TRUE(is_refused(port, "", "http://" + own, "evil.example"));
    EXPECT_TRUE(is_refused(port, "/elsewhere", "http://" + own, own));
    EXPECT_FALSE(is_refused(port, "", "http://" + own, own));
}

TEST(StudioServer, AsksForItsToken) {
    StudioOptions options;
    options.token = "0123";
    const StudioServer server(options, assets);
    EXPECT_NE(server.url().find("#token=0123"), std::string::npos);
    EXPECT_TRUE(is_refused(server.port(), "", "", ""));
    EXPECT_TRUE(is_refused(server.port(), "?token=0124", "", ""));
    EXPECT_FALSE(is_refused(server.port(), "?token=0123", "", ""));
    options.token.clear();
    options.address = "0.0.0.0";
    EXPECT_THROW(StudioServer(options, assets), std::runtime_error);
}

TEST(StudioServer, LimitsSessionsAndGivesThemBack) {
    StudioOptions options;
    options.max_sessions = 2;
    options.session_lifetime = 0.5;
    const StudioServer server(options, assets);
    auto first = std::make_unique<Client>(server.port());
    const Client second(server.port());
    EXPECT_TRUE(is_refused(server.port(), "", "", ""));
    first.reset();
    for (int i = 0; i < 100 && server.session_count() > 1; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(server.session_count(), 1U);
    EXPECT_FALSE(is_refused(server.port(), "", "", ""));
}

TEST(StudioServer, BringsASessionBackToItsPage) {
    const StudioServer server({}, assets);
    std::string id;
    {
        Client client(server.port());
        id = client.receive("hello")["session"];
        ASSERT_TRUE(client.ask({{"type", "open"}, {"source", "example"}, {"name", "ball.yaml"}})["ok"]);
    }
    Client client(server.port(), "?session=" + id);
    EXPECT_EQ(client.receive("hello")["session"], id);
    EXPECT_EQ(client.receive("scene")["name"], "ball.yaml");
    // Another page that asks for it takes it over; the first is told.
    Client other(server.port(), "?session=" + id);
    EXPECT_EQ(other.receive("hello")["session"], id);
    EXPECT_THROW(for (;;) client.receive(), boost::system::system_error);
    EXPECT_EQ(server.session_count(), 1U);
}

// Sixty-four pages that came and went without opening anything must not lock out everybody else for ten minutes.
TEST(StudioServer, GivesBackSessionsThatHoldNothingAtOnce) {
    StudioOptions options;
    options.max_sessions = 4;
    const StudioServer server(options, assets);
    const auto wait_until_admitted = [&] {
        for (int i = 0; i < 100 && is_refused(server.port(), "", "", ""); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return !is_refused(server.port(), "", "", "");
    };
    for (int round = 0; round < 5; ++round) {
        {
            std::vector<std::unique_ptr<Client>> pages;
            while (server.session_count() < options.max_sessions)
                pages.push_back(std::make_unique<Client>(server.port()));
        }
        EXPECT_TRUE(wait_until_admitted()) << round;
    }
    // One with a model waits for its page.
    {
        Client client(server.port());
        ASSERT_TRUE(client.ask({{"type", "open"}, {"source", "example"}, {"name", "ball.yaml"}})["ok"]);
    }
    for (int i = 0; i < 100 && server.session_count() > 1; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(server.session_count(), 1U);
}

TEST(StudioServer, GoesOnWhereNoThreadCanBeStarted) {
    const StudioServer server({}, assets);
    Client good(server.port());
    pthread_attr_t usual;
    pthread_attr_t endless;
    ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
    ASSERT_EQ(pthread_attr_init(&endless), 0);
    // A stack as large as all addresses there are.
    ASSERT_EQ(pthread_attr_setstacksize(&endless, std::size_t(1) << 47), 0);
    ASSERT_EQ(pthread_setattr_default_np(&endless), 0);
    EXPECT_TRUE(is_refused(server.port(), "", "", ""));
    ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&usual);
    pthread_attr_destroy(&endless);
    EXPECT_FALSE(is_refused(server.port(), "", "", ""));
    EXPECT_TRUE(good.ask({{"type", "open"}, {"source", "example"}, {"name", "ball.yaml"}})["ok"]);
}

TEST(StudioServer, LeavesTheSessionsOfAnotherServerAlone) {
    const std::string folder = ::testing::TempDir() + "limber-shared-" + std::to_string(::getpid());
    StudioOptions options;
    options.workspace = folder;
    {
        const StudioServer one(options, assets);
        const StudioServer other(options, assets);
        Client client(one.port());
        const std::string id = client.receive("hello")["session"];
        ASSERT_TRUE(client.ask({{"type", "open"}, {"source", "example"}, {"name", "ball.yaml"}})["ok"]);
        Client stranger(other.port(), "?session=" + id);
        EXPECT_NE(stranger.receive("hello")["session"], id);
        EXPECT_TRUE(client.ask({{"type", "edit"}, {"text", "set gravity [0, -1]"}})["ok"]);
    }
    std::filesystem::remove_all(folder);
}

// Two edits that once ended the server and every session with it.
TEST(StudioServer, DividesModelsWithoutBodies) {
    const StudioServer server({}, assets);
    Client client(server.port());
    ASSERT_TRUE(
        client.ask({{"type", "open"}, {"source", "text"}, {"name", "empty.yaml"}, {"text", "limber: 1"}})["ok"]);
    for (const char* edit : {"use division body", "use division tree", "add bodies.a {point: {mass: 1}}"})
        EXPECT_TRUE(client.ask({{"type", "edit"}, {"text", edit}})["ok"]) << edit;
    EXPECT_EQ(get(server.port(), "/").status, 200U);
}

TEST(StudioServer, HostileMessagesHarmNobody) {
    const StudioServer server({}, assets);
    Client good(server.port());
    ASSERT_TRUE(good.ask({{"type", "open"}, {"source", "example"}, {"name", "ball.yaml"}})["ok"]);
    std::mt19937 random(2003);
    for (int round = 0; round < 20; ++round) {
        try {
            Client bad(server.port());
            for (int i = 0; i < 40; ++i) {
                std::string text = R"({"type":"edit","id":3,"text":"add bodies.b {rod: {from: [0, 0], to: [1, 0]}}"})";
                for (int k = 0; k < round; ++k) text[random() % text.size()] = static_cast<char>(32 + random() % 95);
                bad.send(text);
            }
            if (round % 3 == 0) bad.stream().binary(true);
            bad.send(std::string(round % 2 == 0 ? 100 : 3'000'000, 'x'));
        } catch (const boost::system::system_error&) {
            // Closed on us: as it should be.
        }
    }
    // Bytes that are no HTTP at all, and half a request.
    for (const std::string& bytes : {std::string("\x16\x03\x01\x02\x00\x01\x00", 7), std::string("GET / HT"),
                                     "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n"}) {
        asio::io_context io;
        tcp::socket socket = connect(io, server.port());
        beast::error_code ignored;
        asio::write(socket, asio::buffer(bytes), ignored);
    }
    EXPECT_TRUE(good.ask({{"type", "edit"}, {"text", "set gravity [0, -1]"}})["ok"]);
    EXPECT_EQ(get(server.port(), "/").status, 200U);
}

TEST(StudioServer, EndsWhileSessionsRun) {
    auto server = std::make_unique<StudioServer>(StudioOptions{}, assets);
    Client client(server->port());
    ASSERT_TRUE(client.ask({{"type", "open"}, {"source", "example"}, {"name", "ball.yaml"}})["ok"]);
    client.ask({{"type", "play"}});
    server.reset();
    EXPECT_THROW(for (;;) client.receive(), boost::system::system_error);
}

}  // namespace
}  // namespace limber
