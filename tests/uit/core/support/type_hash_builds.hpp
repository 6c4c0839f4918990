#pragma once

#include <cstdint>
#include <map>
#include <string>

/// What TypeHash gives of types that two programs define by the same names, in type_hash_first_build.cpp and
/// type_hash_second_build.cpp, and of which each is changed in one way.
namespace type_hash {

using Hashes = std::map<std::string, std::uint64_t>;  // by what has changed
Hashes OfFirstBuild();
Hashes OfSecondBuild();

}  // namespace type_hash
