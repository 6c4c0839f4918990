#include <uit/link/frame.hpp>

#include <cstring>
#include <utility>

#include "tests/support/catch.hpp"

using uit::Frame;

namespace {

Frame Holding(std::size_t capacity, const char* text) {
  Frame frame{capacity};
  frame.Header().num_bytes = static_cast<std::uint32_t>(std::strlen(text) + 1);
  std::memcpy(frame.Payload(), text, std::strlen(text) + 1);
  return frame;
}
const char* Text(const Frame& frame) { return reinterpret_cast<const char*>(frame.Payload()); }

}  // namespace

TEST_CASE("A frame moves by swap, so that buffers circulate") {
  Frame a = Holding(8, "a");
  Frame b = Holding(100, "b");
  const std::byte* const of_a = a.Payload();
  a = std::move(b);
  CHECK(Text(a) == std::string{"b"});
  CHECK(a.Capacity() == 100);
  CHECK(b.Payload() == of_a);
}

TEST_CASE("A frame grows only if it must") {
  Frame frame;
  CHECK_FALSE(frame.HasBuffer());
  frame.Reserve(0);
  CHECK(frame.HasBuffer());
  frame.Reserve(64);
  const std::byte* const before = frame.Payload();
  frame.Reserve(10);
  CHECK(frame.Payload() == before);
  CHECK(frame.Capacity() == 64);
}

TEST_CASE("Buffers of one size are swapped, others are copied, and all stay with their owners") {
  Frame small = Holding(8, "s");
  Frame other = Holding(8, "o");
  const std::byte* const of_other = other.Payload();
  small.Take(other);
  CHECK(small.Payload() == of_other);
  CHECK(Text(small) == std::string{"o"});

  Frame large{1000};
  const std::byte* const of_large = large.Payload();
  large.Take(small);
  CHECK(large.Payload() == of_large);
  CHECK(Text(large) == std::string{"o"});
  CHECK(large.Capacity() == 1000);
  CHECK(small.Payload() == of_other);

  other.Take(large);
  CHECK(other.Capacity() == 8);
  CHECK(Text(other) == std::string{"o"});
}

TEST_CASE("A frame is sent as its header and its payload") {
  Frame frame = Holding(100, "four");
  CHECK(frame.Bytes().size() == sizeof(uit::FrameHeader) + 5);
  CHECK(frame.Room().size() == sizeof(uit::FrameHeader) + 100);
  CHECK(frame.Bytes().data() == frame.Room().data());
}
