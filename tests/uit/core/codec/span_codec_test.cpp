#include <uit/codec/span_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/support/bytes.hpp>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

struct Point {
  int x = 0;
  double y = 0;
};

/// A user's own container with the minimum interface.
struct Row {
  std::vector<float> values;
  auto begin() { return values.begin(); }
  auto end() { return values.end(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
  void resize(std::size_t count) { values.resize(count); }
};

static_assert(Encodable<std::vector<int>> && Encodable<std::string> && Encodable<std::u32string>);
static_assert(Encodable<std::vector<Point>> && Encodable<Row>);
static_assert(!FixedSizeEncodable<std::vector<int>> && FixedSizeEncodable<int[3]> == false);
static_assert(!Encodable<std::vector<bool>>, "it is no row of bytes");
static_assert(!Encodable<std::vector<std::string>> && !Encodable<std::deque<int>> && !Encodable<std::vector<int*>>);

template <typename T>
std::vector<std::byte> Encode(const T& message) {
  std::vector<std::byte> bytes(codec_for<T>.Size(message));
  codec_for<T>.Encode(message, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("Rows of any length are decoded unchanged, whatever the target held before") {
  std::vector<std::uint32_t> back{1, 2, 3};
  for (const std::size_t length : {0U, 1U, 2U, 1000U, 5U}) {
    std::vector<std::uint32_t> row(length);
    for (std::size_t i = 0; i < length; ++i) row[i] = static_cast<std::uint32_t>(i * i);
    const auto bytes = Encode(row);
    CHECK(bytes.size() == 4 * length);
    REQUIRE(codec_for<std::vector<std::uint32_t>>.TryDecode(bytes, back));
    CHECK(back == row);
  }
  std::string text;
  REQUIRE(codec_for<std::string>.TryDecode(Encode(std::string("Aye, and more")), text));
  CHECK(text == "Aye, and more");
  Row values;
  REQUIRE(codec_for<Row>.TryDecode(Encode(Row{{1, 2.5F}}), values));
  CHECK(values.values == std::vector<float>{1, 2.5F});
}

TEST_CASE("Bytes that are not a whole number of elements are refused, and change nothing") {
  std::vector<std::uint32_t> row{7, 8};
  for (const std::size_t num_bytes : {1U, 3U, 5U, 4001U})
    CHECK_FALSE(codec_for<std::vector<std::uint32_t>>.TryDecode(std::vector<std::byte>(num_bytes), row));
  CHECK(row == std::vector<std::uint32_t>{7, 8});
}
