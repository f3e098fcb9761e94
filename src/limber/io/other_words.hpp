#pragma once
// Words of other programs and textbooks for what a model file calls otherwise. Internal to the room.

#include <string>
#include <vector>

namespace limber {

/// For a word that is none of `allowed`: " (did you mean 'revolute'?)", ": a damper is a 'spring' with 'damping' ...",
/// or nothing.
std::string suggest_word(const std::string& word, const std::vector<std::string>& allowed);

}  // namespace limber
