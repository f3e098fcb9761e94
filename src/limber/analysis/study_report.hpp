#pragma once
// A study as a table for other programs and as a work-precision plot.

#include "limber/analysis/study.hpp"
#include "limber/io/svg_plot.hpp"

namespace limber {

/// One line per run under a heading; `until` is the time simulated.
std::string format_study_csv(std::span<const StudyRun> runs, double until);
/// Reads it back: points, times, errors, energies and failures. Lines that start with # are skipped.
std::vector<StudyRun> parse_study_csv(const std::string& text);

/// Error over CPU time, one series per formulation and integrator. Of each series only the runs are drawn that no other
/// one of it beats in both.
Plot make_work_precision_plot(std::span<const StudyRun> runs, const std::string& title);

}  // namespace limber
