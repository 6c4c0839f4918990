// A peer's bytes decode to a message or are refused. A decoded message encodes to the same bytes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/link/world.hpp>

#include "tests/fuzz/fuzz.hpp"

#if UIT_FUZZ_WITH_CEREAL
#include <map>
#include <memory>

#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <uit/codec/cereal_codec.hpp>

namespace {

/// Has a member of each kind whose length comes from the bytes, and nests.
struct Tree {
  std::string name;
  std::vector<std::uint16_t> numbers;
  std::vector<bool> bits;
  std::map<std::string, std::vector<std::string>> words;
  std::vector<Tree> children;
  std::unique_ptr<Tree> other;

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(name, numbers, bits, words, children, other);
  }
};

}  // namespace

template <>
inline constexpr uit::CerealCodec<Tree> uit::codec_for<Tree>{};
#endif

namespace {

using namespace uit;
using namespace uit::fuzz;

template <typename T>
Bytes Encoded(const T& message) {
  Bytes bytes(codec_for<T>.Size(message));
  codec_for<T>.Encode(message, bytes);
  return bytes;
}

template <typename T>
void TryBytes(ByteView from) {
  T message{};
  if (!codec_for<T>.TryDecode(from, message)) return;
  Demand(std::ranges::equal(Encoded(message), from), "a message encodes to the bytes that it was decoded from");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView from = InputBytes(data, size);
  TryBytes<std::uint32_t>(from);
  TryBytes<std::array<std::uint16_t, 3>>(from);
  TryBytes<std::vector<std::uint32_t>>(from);
  TryBytes<std::u16string>(from);
  TryBytes<std::string>(from);
#if UIT_FUZZ_WITH_CEREAL
  Tree tree;
  if (!codec_for<Tree>.TryDecode(from, tree)) {
    Encoded(tree);  // only partly decoded, but a valid value
    return 0;
  }
  const Bytes bytes = Encoded(tree);
  Tree again;
  Demand(codec_for<Tree>.TryDecode(bytes, again), "an object that was encoded can be decoded");
  Demand(Encoded(again) == bytes, "an object comes back as it was");
#endif
  return 0;
}
