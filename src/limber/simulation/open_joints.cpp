#include "limber/simulation/open_joints.hpp"

#include <fmt/format.h>

#include <string_view>

namespace limber {
namespace {

// What a designer may have overlooked.
std::string_view advice(const Model& model, const WorstRow& row) {
    const Joint* joint = model.joints.find(model.joints.find(row.element));
    if (row.subject.starts_with("driver"))
        return "what it asks for cannot be reached: look at its value at the start, and at lengths and places";
    if (joint == nullptr || !row.subject.starts_with("joint"))
        return "this value cannot be reached: joints, drivers or other initial values contradict it";
    const bool is_turned = row.quantity == RowQuantity::direction || row.quantity == RowQuantity::angle;
    if (is_turned && joint->as<Universal>() != nullptr)
        return "the axes of its cross, x of the first marker and y of the second, must be perpendicular: turn one of "
               "the "
               "markers, or give the joint 'at', 'axis' and 'x'";
    if (is_turned && joint->as<PerpendicularAxes>() != nullptr)
        return model.planar ? "x of its two markers must be perpendicular: turn one of them"
                            : "z of its two markers must be perpendicular: turn one of them";
    if (is_turned)
        return "other joints and drivers keep its two markers from being turned alike: look at the axes of the joints "
               "around it";
    if (row.quantity == RowQuantity::length)
        return "other joints and drivers keep its two markers from meeting: look at the lengths and places of the "
               "bodies "
               "around it";
    return "other joints and drivers keep its coordinates from having these values";
}

}  // namespace

std::string describe_open_joint(const Model& model, const WorstRow& row, const std::string& what) {
    return fmt::format("{}: {}: it stays open by {}; {}", row.subject, what,
                       describe_row_error(row.error, row.quantity), advice(model, row));
}

std::string describe_contradiction(const WorstRow& row, const std::string& what) {
    return fmt::format("{}: {}: it is off by {}", row.subject, what, describe_row_error(row.error, row.quantity, true));
}

}  // namespace limber
