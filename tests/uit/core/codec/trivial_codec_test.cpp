#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/codec/trivial_codec.hpp>

#include "tests/support/catch.hpp"

namespace {

struct Cell {
  std::uint32_t color;
  double weight;
};

/// A type with its own codec: a byte with the length, then a string of up to 255 characters.
struct Name {
  std::string text;
};
struct NameCodec {
  std::size_t Size(const Name& name) const { return 1 + name.text.size(); }
  void Encode(const Name& name, uit::MutableByteView to) const {
    to[0] = static_cast<std::byte>(name.text.size());
    for (std::size_t i = 0; i < name.text.size(); ++i)
      to[i + 1] = static_cast<std::byte>(name.text[i]);
  }
  bool TryDecode(uit::ByteView from, Name& into) const {
    if (from.empty() || from.size() != 1 + static_cast<std::size_t>(from[0])) return false;
    into.text.clear();
    for (const std::byte byte : from.subspan(1)) into.text += static_cast<char>(byte);
    return true;
  }
};

}  // namespace

template <>
inline constexpr NameCodec uit::codec_for<Name>{};

TEST_CASE("A type that equals its bytes is sent as its bytes") {
  STATIC_REQUIRE(uit::FixedSizeEncodable<Cell>);
  const auto& codec = uit::codec_for<Cell>;
  std::array<std::byte, sizeof(Cell)> bytes{};
  const Cell cell{3, 0.25};
  REQUIRE(codec.Size(cell) == sizeof(Cell));
  codec.Encode(cell, bytes);
  Cell copy{};
  REQUIRE(codec.TryDecode(bytes, copy));
  CHECK(copy.color == 3);
  CHECK(copy.weight == 0.25);
}

TEST_CASE("Bytes of another size are refused") {
  std::vector<std::byte> bytes(sizeof(Cell) + 1);
  Cell cell{7, 1.0};
  CHECK_FALSE(uit::codec_for<Cell>.TryDecode(bytes, cell));
  CHECK_FALSE(uit::codec_for<Cell>.TryDecode({}, cell));
  CHECK(cell.color == 7);
}

TEST_CASE("A type may have its own codec") {
  STATIC_REQUIRE(uit::Encodable<Name>);
  STATIC_REQUIRE_FALSE(uit::FixedSizeEncodable<Name>);
  const Name name{"torus"};
  std::vector<std::byte> bytes(uit::codec_for<Name>.Size(name));
  uit::codec_for<Name>.Encode(name, bytes);
  Name copy;
  REQUIRE(uit::codec_for<Name>.TryDecode(bytes, copy));
  CHECK(copy.text == "torus");
}

TEST_CASE("Pointers and types that own memory have no codec by default") {
  STATIC_REQUIRE_FALSE(uit::Encodable<int*>);
  STATIC_REQUIRE_FALSE(uit::Encodable<std::string>);
  STATIC_REQUIRE_FALSE(uit::Encodable<std::vector<int>>);
}
