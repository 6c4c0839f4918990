#include <array>
#include <cstdint>
#include <vector>

#include <uit/support/type_hash.hpp>

#include "tests/uit/core/support/type_hash_builds.hpp"

namespace {

struct Same {
  int a;
  float b;
  std::array<char, 3> c;
};
struct SwappedFields {
  int number;
  float value;
};
struct Inner {
  int number;
  float value;
};
struct SwappedNestedFields {
  char kind;
  Inner inner;
};
struct SwappedFieldsInArray {
  Inner inner[2];
};
struct SwappedFieldsInStdArray {
  std::array<Inner, 2> inner;
};
struct ShiftedField {
  char kind;
  char shifted;
  int number;
};
struct Aligned {
  int number[4];
};
struct OneFieldMore {
  std::int32_t number;
};
struct OtherVersion {
  static constexpr std::uint32_t message_version = 1;
  int number;
};
struct FirstVersion {
  int number;
};
struct InnerOfOtherVersion {
  static constexpr std::uint32_t message_version = 1;
  int number;
};
struct VersionInside {
  InnerOfOtherVersion inner;
};
struct OtherVersionFromOutside {
  int number;
};
enum class Kind : int { none };
struct OtherEnumeration {
  Kind kind;
};
struct OtherElements {
  short numbers[2];
};
struct OtherContainer {
  std::vector<int> numbers;
};
struct LongArrays {
  int many[4];
  int few[2];
};
class Opaque {
 public:
  Opaque() = default;

 private:
  [[maybe_unused]] char text_[8]{};
};

}  // namespace

template <>
inline constexpr std::uint64_t uit::message_version<OtherVersionFromOutside> = 1;

type_hash::Hashes type_hash::OfFirstBuild() {
  return {{"nothing", uit::TypeHash<Same>()},
          {"fields swapped", uit::TypeHash<SwappedFields>()},
          {"fields of a field swapped", uit::TypeHash<SwappedNestedFields>()},
          {"fields of an array's elements swapped", uit::TypeHash<SwappedFieldsInArray>()},
          {"fields of a std::array's elements swapped", uit::TypeHash<SwappedFieldsInStdArray>()},
          {"an offset", uit::TypeHash<ShiftedField>()},
          {"the alignment", uit::TypeHash<Aligned>()},
          {"a field more", uit::TypeHash<OneFieldMore>()},
          {"the version", uit::TypeHash<OtherVersion>()},
          {"no version before", uit::TypeHash<FirstVersion>()},
          {"the version of a field", uit::TypeHash<VersionInside>()},
          {"the version, given outside", uit::TypeHash<OtherVersionFromOutside>()},
          {"the sign of an enumeration", uit::TypeHash<OtherEnumeration>()},
          {"the elements of an array", uit::TypeHash<OtherElements>()},
          {"the elements of a container", uit::TypeHash<OtherContainer>()},
          {"lengths of arrays swapped", uit::TypeHash<LongArrays>()},
          {"the size of a class that is no aggregate", uit::TypeHash<Opaque>()}};
}
