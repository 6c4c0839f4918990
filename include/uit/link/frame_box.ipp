#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include <uit/config.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/shared_box.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/sync.hpp>

namespace uit {

template <Synchronization Sync, template <typename> class AtomicRef>
std::shared_ptr<BasicFrameBox<Sync, AtomicRef>> BasicFrameBox<Sync, AtomicRef>::Every(std::size_t depth) {
  return std::shared_ptr<BasicFrameBox>(new BasicFrameBox(std::in_place_type<Ring>, depth));
}

template <Synchronization Sync, template <typename> class AtomicRef>
std::shared_ptr<BasicFrameBox<Sync, AtomicRef>> BasicFrameBox<Sync, AtomicRef>::Latest() {
  return std::shared_ptr<BasicFrameBox>(new BasicFrameBox(std::in_place_type<Mailbox>));
}

template <Synchronization Sync, template <typename> class AtomicRef>
BasicFrameBox<Sync, AtomicRef>::~BasicFrameBox() = default;

template <Synchronization Sync, template <typename> class AtomicRef>
std::size_t BasicFrameBox<Sync, AtomicRef>::SharedBytes(std::size_t payload_bytes) const {
  const std::size_t largest = sizeof(FrameHeader) + payload_bytes;
  if (KeepsLatest()) return shared_mailbox::BytesFor(largest);
  return shared_ring::BytesFor(largest, depth_ + (Lends() ? 1 : 0));  // one may be lent
}

template <Synchronization Sync, template <typename> class AtomicRef>
std::size_t BasicFrameBox<Sync, AtomicRef>::SharedFrameBytes(std::size_t payload_bytes) const {
  return SharedBytes(payload_bytes) - (KeepsLatest() ? sizeof(shared_mailbox::Head) : sizeof(shared_ring::Head));
}

template <Synchronization Sync, template <typename> class AtomicRef>
void BasicFrameBox<Sync, AtomicRef>::CreateShared(MutableByteView memory, std::size_t payload_bytes) const {
  if (KeepsLatest()) shared_mailbox::Create(memory.data(), sizeof(FrameHeader) + payload_bytes);
  else shared_ring::Create(memory);
}

template <Synchronization Sync, template <typename> class AtomicRef>
void BasicFrameBox<Sync, AtomicRef>::SendBy(MutableByteView memory, std::size_t payload_bytes) {
  if (KeepsLatest()) BecomeOutbox(shared_mailbox::BasicWriter<AtomicRef>{memory, sizeof(FrameHeader) + payload_bytes});
  else BecomeOutbox(shared_ring::BasicWriter<AtomicRef>{memory});
}

template <Synchronization Sync, template <typename> class AtomicRef>
void BasicFrameBox<Sync, AtomicRef>::ReceiveBy(MutableByteView memory, std::size_t payload_bytes) {
  const std::size_t largest = sizeof(FrameHeader) + payload_bytes;
  if (KeepsLatest()) BecomeInbox(shared_mailbox::BasicReader<AtomicRef>{memory, largest}, payload_bytes);
  else BecomeInbox(shared_ring::BasicReader<AtomicRef>{memory}, payload_bytes);
}

template <Synchronization Sync, template <typename> class AtomicRef>
void BasicFrameBox<Sync, AtomicRef>::JoinEnds(BasicFrameBox& putting, BasicFrameBox& stepping, std::size_t payload_bytes) {
  UIT_ASSERT(putting.depth_ == stepping.depth_, "the ends of a box keep the same frames");
  const std::size_t num_bytes = stepping.SharedBytes(payload_bytes);
  struct alignas(cache_line) Line {
    std::byte bytes[cache_line];
  };
  const std::shared_ptr<Line[]> lines(new Line[(num_bytes + sizeof(Line) - 1) / sizeof(Line)]);
  const MutableByteView memory{lines[0].bytes, num_bytes};
  stepping.CreateShared(memory, payload_bytes);
  stepping.ReceiveBy(memory, payload_bytes);
  putting.SendBy(memory, payload_bytes);
  putting.memory_ = stepping.memory_ = lines;
}

template <Synchronization Sync, template <typename> class AtomicRef>
void BasicFrameBox<Sync, AtomicRef>::Detach() {
  std::visit(
      []<typename D>(D& duct) {
        if constexpr (requires { duct.Detach(); }) duct.Detach();
      },
      duct_);
}

template <Synchronization Sync, template <typename> class AtomicRef>
std::uint64_t BasicFrameBox<Sync, AtomicRef>::NumReceived() const {
  return std::visit(
      []<typename D>(const D& duct) -> std::uint64_t {
        if constexpr (requires { duct.NumReceived(); }) return duct.NumReceived();
        else return 0;
      },
      duct_);
}

template <Synchronization Sync, template <typename> class AtomicRef>
BasicFrameBox<Sync, AtomicRef>::BasicFrameBox(std::in_place_type_t<Mailbox> kind) : duct_(kind) {}

template <Synchronization Sync, template <typename> class AtomicRef>
BasicFrameBox<Sync, AtomicRef>::BasicFrameBox(std::in_place_type_t<Ring> kind, std::size_t depth)
    : depth_(depth), duct_(kind, depth) {}

template <Synchronization Sync, template <typename> class AtomicRef>
template <typename Writer>
void BasicFrameBox<Sync, AtomicRef>::BecomeOutbox(const Writer& writer) {
  SharedOutbox<Writer> outbox{writer};
  while (TryStep()) outbox.TryPut(std::move(Get()));  // the shared box has at least as much room
  duct_.template emplace<SharedOutbox<Writer>>(outbox);
}

template <Synchronization Sync, template <typename> class AtomicRef>
template <typename Reader>
void BasicFrameBox<Sync, AtomicRef>::BecomeInbox(const Reader& reader, std::size_t payload_bytes) {
  duct_.template emplace<SharedInbox<Reader>>(reader, payload_bytes, Lends() ? lend_from_ : ~std::size_t{0});
}

}  // namespace uit

#if UIT_COMPILED
template class uit::BasicFrameBox<uit::Spsc>;
#endif
