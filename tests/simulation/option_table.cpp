#include "limber/simulation/option_table.hpp"

#include <gtest/gtest.h>

#include <set>

#include "limber/model/error.hpp"
#include "limber/simulation/option_needs.hpp"
#include "support/option_values.hpp"

namespace limber::testing {
namespace {

// A field that is added to a structure and not to the table would be missing in journals, checkpoints and fingerprints.
TEST(OptionTable, HasEveryField) {
    constexpr std::size_t nested = 4;  // structures of a simulation's options
    EXPECT_EQ(simulation_option_rows().size(),
              count_fields_of<SimulationOptions>() - nested + count_fields_of<FormulationOptions>() +
                  count_fields_of<IntegratorOptions>() + count_fields_of<ContactOptions>() +
                  count_fields_of<ModularOptions>() - 1);  // the exchange with other processes
    EXPECT_EQ(session_option_rows().size(), count_fields_of<SessionOptions>() - 1);  // the memory for snapshots
}

// Each row leads to a field of its own: changing one changes no other.
template <class Options>
void expect_separate(const std::vector<OptionRow<Options>>& rows) {
    std::set<std::string> names;
    for (const auto& row : rows) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        ASSERT_NE(row.need, nullptr) << row.name;
        const Options usual;
        Options changed;
        row.set(changed, another_value(row, usual));
        for (const auto& other : rows)
            EXPECT_EQ(other.get(changed) == other.get(usual), &other != &row) << row.name << ", " << other.name;
        row.set(changed, row.get(usual));
        EXPECT_EQ(row.get(changed), row.get(usual)) << row.name;
    }
}

TEST(OptionTable, HasAFieldForEachRow) {
    expect_separate(simulation_option_rows());
    expect_separate(session_option_rows());
}

TEST(OptionTable, ChecksValues) {
    SimulationOptions options;
    for (const auto& row : simulation_option_rows()) {
        const OptionValue usual = row.get(options);
        const bool is_number = std::holds_alternative<double>(usual) || std::holds_alternative<long>(usual);
        std::vector<OptionValue> wrong{7.5, 3L};
        if (!row.words.empty()) wrong = {"perhaps", "", 1L, true};
        if (is_number) wrong = {2 * row.most + 1, row.least - 0.5, "word", true, std::nan("")};
        for (const OptionValue& value : wrong) {
            EXPECT_THROW(row.set(options, value), ModelError) << row.name << " " << print(value);
            EXPECT_EQ(row.get(options), usual);
        }
    }
}

TEST(OptionTable, TakesWholeNumbersOnlyWhereItNeedsThem) {
    SimulationOptions options;
    EXPECT_THROW(set_option(options, "passes", "2.5"), ModelError);
    set_option(options, "passes", "2 + 1");
    EXPECT_EQ(options.integrator_options.corrector_passes, 3);
    // Zero leaves the choice to the program.
    set_option(options, "penalty", "0");
    EXPECT_THROW(set_option(options, "penalty", "0.5"), ModelError);
    // Those that have a place of their own are not set here.
    EXPECT_THROW(set_option(options, "formulation", "hybrid"), ModelError);
}

TEST(OptionTable, ListsWhatCanBeSet) {
    const std::string listed = "\n" + describe_options();
    for (const auto& row : simulation_option_rows())
        EXPECT_EQ(listed.find(std::string("\n") + row.name + " ") != std::string::npos, *row.meaning != '\0')
            << row.name;
}

}  // namespace
}  // namespace limber::testing
