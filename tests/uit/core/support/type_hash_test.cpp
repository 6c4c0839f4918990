#include <uit/support/type_hash.hpp>

#include <any>
#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/uit/core/support/type_hash_builds.hpp"

namespace {

struct Empty {};
struct One {
  int a;
};
struct Defaults {
  int a = 1;
  std::optional<int> b{};
  std::string c = "three";
};
struct Arrays {
  int a[3];
  One b[2];
  std::array<double, 4> c;
  char d[2][2];
};
struct Nested {
  Arrays a;
  One b;
  std::pair<int, float> c;
};
struct Library {
  std::variant<int, float> a;
  std::chrono::nanoseconds b;
  std::complex<double> c;
  std::unique_ptr<int> d;
  std::vector<One> e;
  void (*f)(int);
  int Empty::*g;
};
struct Constants {
  const int a = 1;
  mutable int b;
  volatile int c;
  [[no_unique_address]] Empty d;
};
struct BitFields {
  unsigned a : 3;
  unsigned b : 5;
  int c;
};
struct Sixteen {
  char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o;
  int p;
};

struct Seventeen {
  char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
struct Derived : One {
  int b;
};
struct DerivedFromEmpty : Empty {
  int a, b;
};
struct OnlyBase : One {};
struct AnonymousUnion {
  int kind;
  union {
    int number;
    float value;
  };
};
union Either {
  int number;
  float value;
};
struct NamedUnion {
  Either either;
  int kind;
};
struct UnionInArray {
  int kind;
  Either either[2];
};
struct Reference {
  int a;
  int& b;
};
class NoDefault {
 public:
  explicit NoDefault(int value) : value_{value} {}

 private:
  [[maybe_unused]] int value_;
};
struct FieldWithoutDefault {
  int a;
  NoDefault b;
};
struct FieldWithInitialiser {
  int a;
  NoDefault b{3};
  int c = 1;
};
class Greedy {
 public:
  template <typename T>
  Greedy(const T&) {}
};
struct GreedyField {
  int a;
  Greedy b = 1;
};
struct AnyField {
  int a;
  std::any b;
};
struct GreedyFirst {
  Greedy a = 1;
  int b;
};
class NoAggregate {
 public:
  NoAggregate() {}
  int a = 0;
};
struct Virtual {
  virtual ~Virtual() = default;
  int a = 0;
};
struct Tuple {
  int a;
  int b;
};

template <typename T>
constexpr bool is_opaque = !uit::HasKnownFields<T>;

}  // namespace

template <>
struct std::tuple_size<Tuple> : std::integral_constant<std::size_t, 1> {};

TEST_CASE("fields of aggregates are counted, whatever they are") {
  CHECK(uit::num_fields<Empty> == 0);
  CHECK(uit::num_fields<One> == 1);
  CHECK(uit::num_fields<Defaults> == 3);
  CHECK(uit::num_fields<Arrays> == 4);
  CHECK(uit::num_fields<Nested> == 3);
  CHECK(uit::num_fields<Library> == 7);
  CHECK(uit::num_fields<Constants> == 4);
  CHECK(uit::num_fields<BitFields> == 3);
  CHECK(uit::num_fields<Sixteen> == 16);
}

TEST_CASE("types whose fields cannot be had are known by name, size, alignment and version, and compile") {
  STATIC_REQUIRE(is_opaque<Seventeen>);
  STATIC_REQUIRE(is_opaque<Derived>);
  STATIC_REQUIRE(is_opaque<DerivedFromEmpty>);
  STATIC_REQUIRE(is_opaque<OnlyBase>);
  STATIC_REQUIRE(is_opaque<AnonymousUnion>);
  STATIC_REQUIRE(is_opaque<NamedUnion>);
  STATIC_REQUIRE(is_opaque<UnionInArray>);
  STATIC_REQUIRE(is_opaque<Either>);
  STATIC_REQUIRE(is_opaque<Reference>);
  STATIC_REQUIRE(is_opaque<FieldWithoutDefault>);
  STATIC_REQUIRE(is_opaque<FieldWithInitialiser>);
  STATIC_REQUIRE(is_opaque<GreedyField>);
  STATIC_REQUIRE(is_opaque<GreedyFirst>);
  STATIC_REQUIRE(is_opaque<AnyField>);
  STATIC_REQUIRE(is_opaque<NoAggregate>);
  STATIC_REQUIRE(is_opaque<Virtual>);
  STATIC_REQUIRE(is_opaque<Tuple>);
  STATIC_REQUIRE(is_opaque<std::string>);
  STATIC_REQUIRE(is_opaque<std::array<int, 2>>);  // TypeHash knows std::array by itself
  STATIC_REQUIRE(is_opaque<int>);

  const std::vector<std::uint64_t> hashes{
      uit::TypeHash<Seventeen>(),     uit::TypeHash<Derived>(),   uit::TypeHash<DerivedFromEmpty>(),
      uit::TypeHash<OnlyBase>(),      uit::TypeHash<NamedUnion>(), uit::TypeHash<AnonymousUnion>(),
      uit::TypeHash<UnionInArray>(),  uit::TypeHash<Either>(),    uit::TypeHash<Reference>(),
      uit::TypeHash<GreedyField>(),   uit::TypeHash<GreedyFirst>(), uit::TypeHash<FieldWithoutDefault>(),
      uit::TypeHash<NoAggregate>(),   uit::TypeHash<Virtual>(),   uit::TypeHash<FieldWithInitialiser>(),
      uit::TypeHash<Tuple>(),         uit::TypeHash<std::string>(), uit::TypeHash<std::array<int, 2>>(),
      uit::TypeHash<std::array<int, 0>>(), uit::TypeHash<int>(),  uit::TypeHash<Library>(),
      uit::TypeHash<Constants>(),     uit::TypeHash<BitFields>(), uit::TypeHash<Nested>()};
  const std::vector<std::uint64_t> again{
      uit::TypeHash<Constants>(), uit::TypeHash<BitFields>(), uit::TypeHash<Nested>()};
  CHECK(std::vector(hashes.end() - 3, hashes.end()) == again);
  CHECK(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size() == hashes.size());
}

TEST_CASE("long names that differ only at their beginning have different hashes") {
  using Rest = std::map<std::vector<std::pair<long, double>>, std::set<std::vector<std::pair<double, long>>>>;
  using First = std::map<int, Rest>;
  using Second = std::map<char, Rest>;
  STATIC_REQUIRE(sizeof(First) == sizeof(Second));
  const std::string_view first = uit::detail::SpeltName<First>();
  const std::string_view second = uit::detail::SpeltName<Second>();
  REQUIRE(first.size() - first.find("int") > 100);
  CHECK(first.substr(first.find("int") + 3) == second.substr(second.find("char") + 4));
  CHECK(uit::TypeHash<First>() != uit::TypeHash<Second>());
}

namespace {

struct Fields1 { int a = 0; };
struct Fields2 { int a = 0, b = 0; };
struct Fields3 { int a = 0, b = 0, c = 0; };
struct Fields4 { int a = 0, b = 0, c = 0, d = 0; };
struct Fields5 { int a = 0, b = 0, c = 0, d = 0, e = 0; };
struct Fields6 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0; };
struct Fields7 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0; };
struct Fields8 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0; };
struct Fields9 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0; };
struct Fields10 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0; };
struct Fields11 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0; };
struct Fields12 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0; };
struct Fields13 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0; };
struct Fields14 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, o = 0; };
struct Fields15 { int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, o = 0, p = 0; };
struct Fields16 {
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, o = 0, p = 0, q = 0;
};

/// Whether the fields are visited one after another, as they lie in memory.
template <typename T>
bool VisitsInOrder() {
  const T fields{};
  std::vector<const int*> visited;
  uit::VisitFields(fields, [&](const int& field) { visited.push_back(&field); });
  const int* const first = visited.front();
  bool is_in_order = visited.size() == sizeof(T) / sizeof(int);
  for (std::size_t i = 0; i < visited.size(); ++i) is_in_order &= visited[i] == first + i;
  return is_in_order;
}

template <typename... Ts>
void CheckOrder() {
  for (const bool is_in_order : {VisitsInOrder<Ts>()...}) CHECK(is_in_order);
}

}  // namespace

TEST_CASE("fields of any number are visited in order") {
  CheckOrder<Fields1, Fields2, Fields3, Fields4, Fields5, Fields6, Fields7, Fields8,
             Fields9, Fields10, Fields11, Fields12, Fields13, Fields14, Fields15, Fields16>();
}

TEST_CASE("fields are visited in order, where they are") {
  Arrays arrays{};
  std::vector<const void*> visited;
  std::vector<std::size_t> sizes;
  uit::VisitFields(arrays, [&](const auto& field) {
    visited.push_back(&field);
    sizes.push_back(sizeof field);
  });
  CHECK(visited == std::vector<const void*>{&arrays.a, &arrays.b, &arrays.c, &arrays.d});
  CHECK(sizes == std::vector<std::size_t>{12, 8, 32, 4});
}

TEST_CASE("a type has the same hash in two programs, and another if one of them has changed it") {
  const type_hash::Hashes first = type_hash::OfFirstBuild();
  const type_hash::Hashes second = type_hash::OfSecondBuild();
  REQUIRE(first.size() == second.size());
  CHECK(first.size() == 17);
  for (const auto& [change, hash] : first) {
    CAPTURE(change);
    CHECK((hash == second.at(change)) == (change == "nothing"));
  }
}

TEST_CASE("threads may compute the hash of a type at once, also before any has computed it") {
  struct Fresh {
    int number;
    bool flag : 1;
    Library rest;
  };
  std::uint64_t here = 0;
  std::uint64_t there = 0;
  {
    const std::jthread thread{[&there] { there = uit::TypeHash<Fresh>(); }};
    here = uit::TypeHash<Fresh>();
  }
  CHECK(here == there);
}
