// Archetypes: types with the minimum that each concept requires.
#include <cstddef>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"

namespace {

struct LeastMessage {
  LeastMessage() = default;
  LeastMessage(LeastMessage&&) = default;
  LeastMessage& operator=(LeastMessage&&) = default;
};
static_assert(uit::Message<LeastMessage>);

struct LeastInletDuct : uit::RefCounted {
  bool TryPut(LeastMessage&&) { return false; }
};
static_assert(uit::InletDuct<LeastInletDuct, LeastMessage>);

struct LeastOutletDuct : uit::RefCounted {
  std::size_t TryStep(std::size_t) { return 0; }
  const LeastMessage& Get() const { return message; }
  LeastMessage message;
};
static_assert(uit::OutletDuct<LeastOutletDuct, LeastMessage>);
static_assert(!uit::Duct<LeastInletDuct, LeastMessage>);

struct LeastCodec {
  std::size_t Size(const LeastMessage&) const { return 0; }
  void Encode(const LeastMessage&, uit::MutableByteView) const {}
  bool TryDecode(uit::ByteView, LeastMessage&) const { return true; }
};
static_assert(uit::Codec<LeastCodec, LeastMessage>);

struct LeastTransport {
  template <typename T, uit::Policy policy>
  using InletDuctFor = uit::NullDuct<T>;
  template <typename T, uit::Policy policy>
  using OutletDuctFor = uit::NullDuct<T>;
};
static_assert(uit::Transport<LeastTransport>);
static_assert(uit::TransportSetFor<uit::TransportSet<LeastTransport, uit::Thread>, LeastMessage, uit::Policy{}>);

template <typename In, typename Out>
struct LeastHalves {
  template <typename T, uit::Policy policy>
  using InletDuctFor = In;
  template <typename T, uit::Policy policy>
  using OutletDuctFor = Out;
};
using LeastConduit = LeastHalves<LeastInletDuct, LeastOutletDuct>;
static_assert(uit::Transport<LeastConduit, LeastMessage>);

}  // namespace

TEST_CASE("Every concept accepts a type with its minimum interface") {
  uit::Inlet<LeastMessage> inlet;
  CHECK_FALSE(inlet.TryPut(LeastMessage{}));
  auto [in, out] = uit::Conduit<LeastMessage>{uit::Thread{}};
  CHECK(in.TryPut(LeastMessage{}));
  CHECK(out.Jump() == 1);
  uit::Splice(in, out, uit::Intra{});
  CHECK(in.TryPut(LeastMessage{}));
}
