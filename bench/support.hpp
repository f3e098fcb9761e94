#pragma once
// Models for benchmarks: the shipped examples.

#include "support/examples.hpp"

namespace limber::bench {

using examples::example;
using examples::options;
using examples::sense;

}  // namespace limber::bench
