// Messages: what is accepted, and that nothing else is.

#include "limber/server/protocol.hpp"

#include <gtest/gtest.h>

namespace limber {
namespace {

TEST(Protocol, ReadsWhatPagesSend) {
    const ClientMessage open =
        decode_message(R"({"type":"open","id":7,"source":"text","name":"a","text":"limber: 1"})");
    EXPECT_EQ(open.id, 7);
    const auto& model = std::get<OpenModel>(open.command);
    EXPECT_EQ(model.source, OpenModel::Source::text);
    EXPECT_EQ(model.text, "limber: 1");
    EXPECT_EQ(std::get<EditModel>(decode_message(R"({"type":"edit","text":"undo"})").command).text, "undo");
    EXPECT_EQ(std::get<SetSpeed>(decode_message(R"({"type":"speed","factor":0.5})").command).factor, 0.5);
    EXPECT_EQ(std::get<AcknowledgeFrame>(decode_message(R"({"type":"ack","frame":4294967295})").command).number,
              4294967295U);
    EXPECT_EQ(std::get<ReadResults>(decode_message(R"({"type":"results","format":"hdf5"})").command).format,
              ResultFormat::hdf5);
    EXPECT_TRUE(std::get<ShowReactions>(decode_message(R"({"type":"reactions","on":true})").command).is_on);
}

TEST(Protocol, RefusesEverythingElse) {
    const std::string deep(100'000, '[');
    const std::string long_name(1000, 'x');
    for (const std::string& text : {
             std::string(),
             std::string("null"),
             std::string("[]"),
             std::string("{"),
             std::string("{}"),
             std::string(R"({"type":7})"),
             std::string(R"({"type":"shutdown"})"),
             std::string(R"({"type":"speed"})"),
             std::string(R"({"type":"speed","factor":"1"})"),
             std::string(R"({"type":"speed","factor":0})"),
             std::string(R"({"type":"speed","factor":1e999})"),
             std::string(R"({"type":"step","count":1e9})"),
             std::string(R"({"type":"step","count":-1})"),
             std::string(R"({"type":"open","source":"url","name":"x"})"),
             std::string(R"({"type":"open","source":"text","name":"x"})"),
             std::string(R"({"type":"edit","text":{"a":{"b":{"c":1}}}})"),
             std::string(R"({"type":"edit","text":"a\u0000b"})"),
             std::string(R"({"type":"edit","id":-1,"text":"undo"})"),
             std::string(R"({"type":"ack","frame":4294967296})"),
             std::string(R"({"type":"results","format":"xls"})"),
             std::string("\xff\xfe{\"type\":\"play\"}"),
             R"({"type":"describe","section":")" + long_name + R"(","name":"a"})",
             deep,
             R"({"type":"play","x":)" + deep,
             std::string(longest_message + 1, ' '),
         })
        EXPECT_THROW(decode_message(text), ProtocolError) << text.substr(0, 80);
}

}  // namespace
}  // namespace limber
