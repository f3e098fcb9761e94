#pragma once
// All that a program needs: models in code or from files, simulations, runs, live sessions, results. docs/cpp.md shows
// how.

#include "limber/io/edit_text.hpp"
#include "limber/io/model_file.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/io/results.hpp"
#include "limber/model/bodies.hpp"
#include "limber/model/error.hpp"
#include "limber/model/model.hpp"
#include "limber/simulation/equilibrium_path.hpp"
#include "limber/simulation/run.hpp"
#include "limber/simulation/session.hpp"
#include "limber/simulation/simulation.hpp"
