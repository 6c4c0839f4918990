// A codec whose decoding cannot fail is refused.
#include <uit/codec/codec.hpp>
struct Credulous {
  std::size_t Size(const int&) const { return 4; }
  void Encode(const int&, uit::MutableByteView) const {}
  void TryDecode(uit::ByteView, int&) const {}
};
static_assert(uit::Codec<Credulous, int>);
