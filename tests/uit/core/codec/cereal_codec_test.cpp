#include <uit/codec/cereal_codec.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include <uit/codec/codec.hpp>
#include <uit/support/bytes.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"

namespace {

enum class Kind : std::uint8_t { plain, odd };

struct Gene {
  Kind kind = Kind::plain;
  double weight = 0;
  std::string name;
  bool is_active = false;

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(kind, CEREAL_NVP(weight), name, is_active);
  }
  friend bool operator==(const Gene&, const Gene&) = default;
};

struct Genome {
  std::vector<Gene> genes;
  std::map<std::string, std::vector<int>> table;
  std::unique_ptr<Gene> best;
  std::vector<bool> mask;
  std::optional<std::vector<std::string>> notes;

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(genes, table, best, mask, notes);
  }
};

bool AreEqual(const Genome& a, const Genome& b) {
  const bool have_same_best = a.best == nullptr ? b.best == nullptr : b.best != nullptr && *a.best == *b.best;
  return have_same_best && a.genes == b.genes && a.table == b.table && a.mask == b.mask && a.notes == b.notes;
}

struct Chain {
  std::unique_ptr<Chain> next;

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

struct Nothing {
  template <typename Archive>
  void serialize(Archive&) {}
};

using Nested = std::vector<std::vector<std::vector<Nothing>>>;

}  // namespace

template <>
inline constexpr uit::CerealCodec<Genome> uit::codec_for<Genome>{};
template <>
inline constexpr uit::CerealCodec<Chain> uit::codec_for<Chain>{};
template <>
inline constexpr uit::CerealCodec<Nested> uit::codec_for<Nested>{};

namespace {

static_assert(uit::Encodable<Genome> && !uit::FixedSizeEncodable<Genome>);

Genome MakeGenome() {
  Genome genome;
  for (std::size_t i = 0; i < 7; ++i) {
    const Kind kind = i % 2 == 0 ? Kind::plain : Kind::odd;
    genome.genes.push_back({kind, static_cast<double>(i) / 2, std::string(i, 'x'), i > 3});
  }
  genome.table = {{"one", {1}}, {"none", {}}, {"three", {1, 2, 3}}};
  genome.best = std::make_unique<Gene>(genome.genes[3]);
  genome.mask = {true, false, true};
  genome.notes = {"a", "bc"};
  return genome;
}

template <typename T>
std::vector<std::byte> Encode(const T& message) {
  std::vector<std::byte> bytes(uit::codec_for<T>.Size(message));
  uit::codec_for<T>.Encode(message, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("A type that cereal serialises is decoded unchanged") {
  Genome back;
  for (const Genome& genome : {MakeGenome(), Genome{}}) {
    REQUIRE(uit::codec_for<Genome>.TryDecode(Encode(genome), back));
    CHECK(AreEqual(genome, back));
  }
}

TEST_CASE("An object cut short at any length, or followed by more, is refused, and leaves a valid value") {
  const std::vector<std::byte> bytes = Encode(MakeGenome());
  Genome into;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    REQUIRE_FALSE(uit::codec_for<Genome>.TryDecode(uit::ByteView{bytes}.first(length), into));
    Encode(into);
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_FALSE(uit::codec_for<Genome>.TryDecode(longer, into));
  CHECK(uit::codec_for<Genome>.TryDecode(bytes, into));
}

TEST_CASE("Corrupted bytes are refused without a large allocation") {
  const std::vector<std::byte> bytes = Encode(MakeGenome());
  Genome into;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      for (const std::size_t width : {std::size_t{1}, std::size_t{4}, std::size_t{8}}) {
        std::vector<std::byte> corrupted = bytes;
        const std::size_t end = std::min(at + width, bytes.size());
        for (std::size_t i = at; i < end; ++i) corrupted[i] = static_cast<std::byte>(value);
        uit::testing::LargestAllocation largest;
        uit::codec_for<Genome>.TryDecode(corrupted, into);
        REQUIRE(largest.NumBytes() <= bytes.size() * sizeof(Gene));
        Encode(into);
      }
    }
  }
}

TEST_CASE("A number of elements without bytes is bounded") {
  std::vector<std::byte> bytes(8 * 40, std::byte{0});
  for (std::size_t at = 0; at < bytes.size(); at += 8) bytes[at] = std::byte{200};
  Nested into;
  uit::testing::LargestAllocation largest;
  CHECK_FALSE(uit::codec_for<Nested>.TryDecode(bytes, into));
  CHECK(largest.NumBytes() <= 8 * 40 * sizeof(std::vector<int>));
}

TEST_CASE("Any number of objects may lie side by side") {
  Genome genome;
  genome.genes.resize(3000);  // more than may lie in each other
  genome.genes.back().name = "last";
  Genome back;
  REQUIRE(uit::codec_for<Genome>.TryDecode(Encode(genome), back));
  CHECK(AreEqual(genome, back));
}

TEST_CASE("Nesting is bounded on both sides") {
  Chain shallow;
  for (int i = 0; i < 100; ++i) shallow.next = std::make_unique<Chain>(Chain{std::move(shallow.next)});
  Chain back;
  CHECK(uit::codec_for<Chain>.TryDecode(Encode(shallow), back));

  CHECK_FALSE(uit::codec_for<Chain>.TryDecode(std::vector<std::byte>(100'000, std::byte{1}), back));
  Chain deep;
  for (int i = 0; i < 2000; ++i) deep.next = std::make_unique<Chain>(Chain{std::move(deep.next)});
  CHECK_THROWS_AS(uit::codec_for<Chain>.Size(deep), cereal::Exception);
}
