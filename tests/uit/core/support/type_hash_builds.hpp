#pragma once

#include <cstdint>
#include <map>
#include <string>

/// The values of TypeHash for types that two programs define with the same names, in type_hash_first_build.cpp and
/// type_hash_second_build.cpp. Each type differs between the two in one way.
namespace type_hash {

using Hashes = std::map<std::string, std::uint64_t>;  // by the difference
Hashes OfFirstBuild();
Hashes OfSecondBuild();

}  // namespace type_hash
