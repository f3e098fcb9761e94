#pragma once
// What most tests include, read once for all of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "limber/simulation/journal.hpp"
#include "limber/simulation/run.hpp"
#include "support/models.hpp"
