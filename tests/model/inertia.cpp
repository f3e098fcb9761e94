// Inertia that no body can have.

#include <gtest/gtest.h>

#include "support/models.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

TEST(ImpossibleInertia, IsRefusedWithBodyPlaceAndWhatWasExpected) {
    const auto message = [](const std::string& inertia, const std::string& first_line = "") {
        return refusal([&] {
            read_model_text("limber: 1\n" + first_line + "bodies:\n  top: {mass: 1, inertia: " + inertia + "}\n",
                            "test.yaml");
        });
    };
    for (const std::string inertia : {"[1, 1, 3]", "[1, 3, 1]", "[1, 1, 1, 0.9, 0, 0]"}) {
        const std::string text = message(inertia);
        EXPECT_EQ(text.find("test.yaml:3: body 'top': no body has such an inertia"), 0U) << inertia << ": " << text;
        EXPECT_NE(text.find("at most the sum of the other two, found principal moments"), std::string::npos) << text;
    }
    EXPECT_NE(message("[1, 1, 1, 2, 0, 0]").find("expected principal moments that are not negative"),
              std::string::npos);
    // A thin plate, a plate with three digits, a needle, and any number in the plane.
    for (const std::string inertia : {"[1, 1, 2]", "[0.333, 0.333, 0.667]", "[1e-9, 1, 1]"})
        EXPECT_EQ(message(inertia), "") << inertia;
    EXPECT_EQ(message("3", "plane: xy\n"), "");
    EXPECT_NE(message("-3", "plane: xy\n").find("must not be negative"), std::string::npos);
    EXPECT_EQ(message("[1, 1/0, 1]"), "test.yaml:3: body 'top': inertia is not a finite number: \"1/0\"");
}

}  // namespace
}  // namespace limber::testing
