#pragma once
// The words of files for enumerators, in the order of these.

#include <string>
#include <vector>

#include "limber/model/forces.hpp"

namespace limber {

inline const std::vector<std::string>& words_of(ForceFrame) {
    static const std::vector<std::string> words{"world", "body"};
    return words;
}
inline const std::vector<std::string>& words_of(FrictionKind) {
    static const std::vector<std::string> words{"coulomb", "regularised", "bristle"};
    return words;
}

}  // namespace limber
