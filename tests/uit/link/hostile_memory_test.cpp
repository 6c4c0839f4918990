// A peer stores values in shared memory that no writer or reader of the library would.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/open_links.hpp>
#include <uit/link/shared_places.hpp>
#include <uit/link/shared_box.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_memory_link.hpp>
#include <uit/link/shared_ring.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace uit;
using uit::testing::CheckThrows;
using uit::testing::SharedMemory;

namespace {

constexpr std::size_t payload_bytes = 100;
constexpr std::size_t largest = sizeof(FrameHeader) + payload_bytes;

/// Returns the bytes of a frame whose header claims `num_bytes`.
std::vector<std::byte> FrameBytes(std::size_t num_payload, std::size_t num_claimed, int fill = 7) {
  const FrameHeader header{.num_bytes = static_cast<std::uint32_t>(num_claimed)};
  std::vector<std::byte> bytes(sizeof header + num_payload, static_cast<std::byte>(fill));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}
std::vector<std::byte> Copied(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

/// The stepping end of a box that shows a frame, and a peer that may store anything.
template <typename Writer>
struct Victim {
  static constexpr bool keeps_latest = !Writer::keeps_order;
  std::shared_ptr<FrameBox> box = keeps_latest ? FrameBox::Latest() : FrameBox::Every(4);
  SharedMemory memory{box->SharedBytes(payload_bytes)};
  Writer peer;
  std::vector<std::byte> shown = FrameBytes(20, 20);

  Victim() : peer(MakePeer()) {
    box->ReceiveBy(memory.All(), payload_bytes);
    peer.Write(shown);
    REQUIRE(box->TryStep());
  }
  Writer MakePeer() {
    box->CreateShared(memory.All(), payload_bytes);
    if constexpr (keeps_latest) return Writer{memory.All(), largest};
    else return Writer{memory.Begin()};
  }
  std::uint64_t& Newest() { return reinterpret_cast<shared_mailbox::Head*>(memory.Begin())->newest; }
  shared_mailbox::SlotHead& SlotHeadAt(std::size_t slot) {
    std::byte* const slots = memory.Begin() + sizeof(shared_mailbox::Head);
    return *reinterpret_cast<shared_mailbox::SlotHead*>(slots + slot * shared_mailbox::SlotBytes(largest));
  }
  /// Steps to something that is no valid frame.
  void CheckRefused(const std::string& words) {
    CheckThrows([&] { box->TryStep(); }, words);
    CHECK(Copied(box->Get().Bytes()) == shown);
    CHECK_FALSE(box->TryStep());  // the error is thrown once
    peer.Write(FrameBytes(1, 1));
    CHECK_FALSE(box->TryStep());
    CHECK(Copied(box->Get().Bytes()) == shown);
  }
};
using RingVictim = Victim<shared_ring::Writer>;
using MailboxVictim = Victim<shared_mailbox::Writer>;

/// A ring of 256 bytes between two cache lines that must not be touched.
struct GuardedRing {
  static constexpr std::size_t capacity = 256;
  SharedMemory memory{cache_line + sizeof(shared_ring::Head) + capacity + cache_line};
  MutableByteView ring = memory.All().subspan(cache_line, sizeof(shared_ring::Head) + capacity);
  std::byte* records = ring.data() + sizeof(shared_ring::Head);

  GuardedRing() { shared_ring::Create(ring); }
  shared_ring::Head& Head() { return *reinterpret_cast<shared_ring::Head*>(ring.data()); }
  std::uint64_t& WordAt(std::size_t place) { return *reinterpret_cast<std::uint64_t*>(records + place); }
  bool IsGuarded() const {
    const auto is_blank = [](ByteView line) { return std::ranges::count(line, std::byte{0xA5}) == cache_line; };
    return is_blank(memory.All().first(cache_line)) && is_blank(memory.All().last(cache_line));
  }
};

}  // namespace

TEST_CASE("A record that would end beyond its ring is refused") {
  using shared_ring::written;
  for (std::size_t place = 0; place < GuardedRing::capacity; place += sizeof(std::uint64_t)) {
    GuardedRing ring;
    shared_ring::Writer writer{ring.ring};
    shared_ring::Reader reader{ring.ring};
    for (std::size_t i = 0; i < place; i += sizeof(std::uint64_t)) {
      writer.Write({});
      reader.Pop(reader.Front());
    }
    const std::size_t rest = GuardedRing::capacity - place - sizeof(std::uint64_t);
    ring.WordAt(place) = rest | written;
    CHECK(reader.Front().data() == ring.records + place + sizeof(std::uint64_t));
    CHECK(reader.Front().size() == rest);
    for (const std::uint64_t length : {rest + 1, rest + 8, std::size_t{4000}, (std::size_t{1} << 61U) + 1}) {
      ring.WordAt(place) = length | written;
      CHECK(reader.Front().data() == nullptr);
      CHECK(reader.Front().size() == length);
    }
  }
}

TEST_CASE("A ring whose wrap word leads to no record is refused") {
  GuardedRing ring;
  shared_ring::Writer writer{ring.ring};
  SharedInbox<shared_ring::Reader> inbox{shared_ring::Reader{ring.ring}, payload_bytes};
  writer.Write(FrameBytes(20, 20));
  REQUIRE(inbox.TryStep(1) == 1);
  const std::size_t place = shared_ring::RecordBytes(sizeof(FrameHeader) + 20);
  ring.WordAt(place) = shared_ring::wrap;
  SECTION("but to another such word") {
    ring.WordAt(0) = shared_ring::wrap;
    CheckThrows([&] { inbox.TryStep(1); }, "ends beyond its memory");
  }
  SECTION("but to no record") {
    ring.WordAt(0) = 0;
    CheckThrows([&] { inbox.TryStep(1); }, "0 bytes, which is too short");
  }
  CHECK(inbox.TryStep(1) == 0);
  CHECK(Copied(inbox.Get().Bytes()) == FrameBytes(20, 20));
}

TEST_CASE("A record that ends beyond its ring throws once and leaves the previous frame") {
  RingVictim victim;
  const std::size_t place = sizeof(shared_ring::Head) + shared_ring::RecordBytes(victim.shown.size());
  const std::uint64_t word = 4000 | shared_ring::written | GENERATE(std::uint64_t{0}, shared_ring::marked);
  std::memcpy(victim.memory.Begin() + place, &word, sizeof word);
  victim.CheckRefused("a record of 4000 bytes, which ends beyond its memory");
}

TEST_CASE("A frame that claims another length throws once and leaves the previous frame") {
  SECTION("in a ring, longer") {
    RingVictim victim;
    victim.peer.Write(FrameBytes(48, 512));
    victim.CheckRefused("a frame of 48 bytes that claims 512");
  }
  SECTION("in a ring, shorter") {
    RingVictim victim;
    victim.peer.Write(FrameBytes(48, 47));
    victim.CheckRefused("a frame of 48 bytes that claims 47");
  }
  SECTION("in a mailbox, longer") {
    MailboxVictim victim;
    victim.peer.Write(FrameBytes(48, 512));
    victim.CheckRefused("a frame of 48 bytes that claims 512");
  }
  SECTION("in a mailbox, shorter") {
    MailboxVictim victim;
    victim.peer.Write(FrameBytes(48, 0));
    victim.CheckRefused("a frame of 48 bytes that claims 0");
  }
}

TEST_CASE("A record of impossible length throws once and leaves the previous frame") {
  SECTION("in a ring, too short") {
    RingVictim victim;
    victim.peer.Write(std::vector<std::byte>(sizeof(FrameHeader) - 1));
    victim.CheckRefused("31 bytes, which is too short for a frame");
  }
  SECTION("in a ring, too long") {
    RingVictim victim;
    victim.peer.Write(FrameBytes(payload_bytes + 1, payload_bytes + 1));
    victim.CheckRefused("a frame of 101 bytes, which is larger than the 100");
  }
  SECTION("in a ring, too long without a header") {
    RingVictim victim;
    victim.peer.Write(std::vector<std::byte>(payload_bytes + 1), true);
    victim.CheckRefused("a frame of 101 bytes, which is larger than the 100");
  }
  SECTION("in a mailbox, too short") {
    MailboxVictim victim;
    victim.peer.Write(std::vector<std::byte>(sizeof(FrameHeader) - 1));
    victim.CheckRefused("31 bytes, which is too short for a frame");
  }
  SECTION("in a mailbox, longer than a slot") {
    const std::uint64_t length = GENERATE(std::uint64_t{4000}, ~std::uint64_t{0});
    MailboxVictim victim;
    victim.peer.Write(FrameBytes(1, 1));
    victim.SlotHeadAt(1).length = length;
    victim.CheckRefused("bytes, which ends beyond its memory");
  }
  SECTION("in a mailbox, longer than agreed on") {
    static_assert(shared_mailbox::SlotBytes(largest) - sizeof(shared_mailbox::SlotHead) > largest);
    MailboxVictim victim;
    victim.peer.Write(FrameBytes(payload_bytes + 1, payload_bytes + 1));
    victim.CheckRefused("a frame of 101 bytes, which is larger than the 100");
  }
  SECTION("in a mailbox, in no slot") {
    const std::uint64_t slot = GENERATE(0U, 65U, 255U);
    MailboxVictim victim;
    victim.Newest() = std::uint64_t{1} << 8U | slot;
    victim.CheckRefused("bytes, which ends beyond its memory");
  }
}

TEST_CASE("A mailbox stays within its slots whatever a peer stores in its head") {
  const auto putting = FrameBox::Latest();
  const auto stepping = FrameBox::Latest();
  SharedMemory memory{stepping->SharedBytes(payload_bytes)};
  stepping->CreateShared(memory.All(), payload_bytes);
  auto& head = *reinterpret_cast<shared_mailbox::Head*>(memory.Begin());
  stepping->ReceiveBy(memory.All(), payload_bytes);
  putting->SendBy(memory.All(), payload_bytes);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    head.held = i % 3 == 0 ? ~std::uint64_t{0} : i % 3 == 1 ? std::uint64_t{0xFF} : std::uint64_t{3} << i % 64U;
    Frame frame{payload_bytes};
    frame.Header().num_bytes = payload_bytes;
    frame.Header().update = i;
    REQUIRE(putting->TryPut(frame));  // finds a slot
    REQUIRE(stepping->TryStep());
    CHECK(stepping->Get().Header().update == i);
    head.newest += std::uint64_t{1} << 50U;  // another turn, and the same slot
    REQUIRE(stepping->TryStep());
    CHECK(stepping->Get().Header().update == i);
  }
}

TEST_CASE("Memory that is too small or holds another ring is refused") {
  const auto box = FrameBox::Every(4);
  SharedMemory memory{box->SharedBytes(payload_bytes)};
  const std::size_t capacity = memory.All().size() - sizeof(shared_ring::Head);
  box->CreateShared(memory.All(), payload_bytes);
  auto& head = *reinterpret_cast<shared_ring::Head*>(memory.Begin());
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{32}, std::uint64_t{96}, 2 * std::uint64_t{capacity},
                                    std::uint64_t{1} << 63U}) {
    head.capacity = wrong;
    CheckThrows([&] { box->SendBy(memory.All(), payload_bytes); }, "a ring of " + std::to_string(wrong) + " bytes");
    CheckThrows([&] { box->ReceiveBy(memory.All(), payload_bytes); }, "a ring of " + std::to_string(wrong) + " bytes");
  }
  head.capacity = capacity;
  for (const std::size_t num_bytes : {std::size_t{0}, sizeof(shared_ring::Head), memory.All().size() - 1})
    CheckThrows([&] { box->SendBy(memory.All().first(num_bytes), payload_bytes); }, "memory");
  for (const std::size_t num_bytes : {std::size_t{0}, shared_mailbox::BytesFor(largest) - 1})
    CheckThrows([&] { FrameBox::Latest()->SendBy(memory.All().first(num_bytes), payload_bytes); }, "too little memory");
  CHECK_FALSE(box->IsShared());
  box->SendBy(memory.All(), payload_bytes);
  CHECK(box->IsShared());
}

TEST_CASE("A writer stays within its ring whatever position the reader stores") {
  std::minstd_rand random{1};
  int num_refused = 0;
  for (int round = 0; round < 2000; ++round) {
    GuardedRing ring;
    SharedOutbox<shared_ring::Writer> outbox{shared_ring::Writer{ring.ring}};
    bool has_refused = false;
    for (int i = 0; i < 40; ++i) {
      Frame frame{payload_bytes};
      frame.Header().num_bytes = static_cast<std::uint32_t>(random() % (payload_bytes + 1));
      frame.Header().base = random() % 2;
      const std::uint64_t far = random() % 4 == 0 ? std::uint64_t{random()} << (random() % 34) : 0;
      ring.Head().read = random() % 3 == 0 ? random() % 1024 * 8 + far : ring.Head().read;
      try {
        outbox.TryPut(std::move(frame));
      } catch (const Error&) {
        REQUIRE_FALSE(has_refused);  // the error is thrown once
        has_refused = true;
        ++num_refused;
      }
    }
    REQUIRE(ring.IsGuarded());
    REQUIRE(ring.Head().capacity == GuardedRing::capacity);
  }
  CHECK(num_refused > 1000);
}

TEST_CASE("A reader that stores an impossible position is refused once") {
  GuardedRing ring;
  shared_ring::Writer writer{ring.ring};
  shared_ring::Reader reader{ring.ring};
  writer.Write(FrameBytes(20, 20));
  writer.Write(FrameBytes(20, 20));
  reader.Pop(reader.Front());
  REQUIRE_FALSE(writer.IsEmpty());
  const std::uint64_t read = ring.Head().read;
  ring.Head().read = GENERATE_COPY(read - 8, std::uint64_t{0}, 2 * read + 8, ~std::uint64_t{0}, std::uint64_t{1} << 63U);
  CheckThrows([&] { writer.IsEmpty(); }, "more from a ring than was written");
  CHECK_FALSE(writer.IsEmpty());
  CHECK_FALSE(writer.HasRoom(largest + 8));
}

TEST_CASE("A link in shared memory refuses a malformed frame and continues with the next") {
  const LinkOptions options{.num_sends = 4, .num_receives = 4, .payload_bytes = payload_bytes};
  SharedMemory memory{SharedMemoryLink::RingBytes(options)};
  SharedMemory unused{SharedMemoryLink::RingBytes(options)};
  shared_ring::Create(memory.All());
  shared_ring::Create(unused.All());
  shared_ring::Writer peer{memory.All()};
  SharedMemoryLink link{unused.All(), memory.All(), options};
  Frame frame;
  const auto check_refused = [&](const std::vector<std::byte>& record, const std::string& words) {
    peer.Write(record);
    CheckThrows([&] { link.TryReceive(frame); }, words);
    peer.Write(FrameBytes(3, 3));
    REQUIRE(link.TryReceive(frame));
    CHECK(Copied(frame.Bytes()) == FrameBytes(3, 3));
  };
  check_refused(FrameBytes(48, 512), "a frame of 48 bytes that claims 512");
  check_refused(FrameBytes(48, 47), "a frame of 48 bytes that claims 47");
  check_refused({}, "0 bytes, which is not a frame");
  check_refused(std::vector<std::byte>(sizeof(FrameHeader) - 1), "31 bytes, which is not a frame");
  check_refused(FrameBytes(payload_bytes + 1, payload_bytes + 1), "133 bytes, which is not a frame of its link of 100");
  std::uint64_t word = 0;
  peer.Write(FrameBytes(3, 3));
  for (std::size_t at = sizeof(shared_ring::Head); at < memory.All().size(); at += sizeof word) {
    std::memcpy(&word, memory.Begin() + at, sizeof word);
    if (word == (shared_ring::written | (sizeof(FrameHeader) + 3))) word = shared_ring::written | std::uint64_t{1 << 20};
    std::memcpy(memory.Begin() + at, &word, sizeof word);
  }
  CheckThrows([&] { link.TryReceive(frame); }, "ends beyond its ring");
  CHECK_FALSE(link.TryReceive(frame));
}

TEST_CASE("Places that a peer names outside its memory are refused") {
  using detail::SharedPlaces;
  SharedMemory memory{256};
  CHECK(detail::PartOf(memory.All(), 0).size() == 256);
  CHECK(detail::PartOf(memory.All(), 256).empty());
  for (const std::uint64_t offset : {std::uint64_t{320}, std::uint64_t{1} << 63U, ~std::uint64_t{63}, std::uint64_t{8}})
    CheckThrows([&] { detail::PartOf(memory.All(), offset); }, "offset " + std::to_string(offset));
  const SharedPlaces places{.link = 64, .boxes = {{1, 2}, {3, 4}}};
  const auto packed = places.Pack();
  CHECK(SharedPlaces::Unpack(packed).boxes[1].offset == 4);
  for (std::size_t num_bytes = 0; num_bytes < packed.size(); ++num_bytes) {
    const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(num_bytes));
    if ((num_bytes + 8) % 16 == 0) CHECK_NOTHROW(SharedPlaces::Unpack(cut));
    else CheckThrows([&] { SharedPlaces::Unpack(cut); }, "malformed description of its memory");
  }
}

TEST_CASE("A traced frame of impossible length or times is refused and changes nothing") {
  const TraceClock clock{};
  FrameTrace trace{clock};
  Frame frame{FrameTrace::num_bytes + 10};
  FrameStamp stamp{.num_touches = 4};
  frame.Header().num_bytes = FrameTrace::num_bytes + 10;
  const auto store = [&] { std::memcpy(frame.Payload() + 10, &stamp, sizeof stamp); };
  store();
  SECTION("shorter than a stamp") {
    frame.Header().num_bytes = FrameTrace::num_bytes - 1;
    CheckThrows([&] { trace.Take(frame); }, "without a stamp");
  }
  SECTION("longer than its buffer") {
    frame.Header().num_bytes = GENERATE(std::uint32_t{FrameTrace::num_bytes + 11}, 0xFFFF'FFFFU);
    CheckThrows([&] { trace.Take(frame); }, "without a stamp");
  }
  SECTION("with a time beyond all clocks") {
    const auto time = GENERATE(&FrameStamp::touched, &FrameStamp::begun, &FrameStamp::departed);
    stamp.*time = GENERATE(TimePoint::max(), TimePoint::min());
    store();
    CheckThrows([&] { trace.Take(frame); }, "impossible time");
    CHECK(frame.Header().num_bytes == FrameTrace::num_bytes + 10);
  }
  CHECK(trace.NumTouches() == 0);
  CHECK(trace.Arrived().empty());
  frame.Header().num_bytes = FrameTrace::num_bytes + 10;
  stamp = {.num_touches = 4};
  store();
  trace.Take(frame);
  CHECK(frame.Header().num_bytes == 10);
  CHECK(trace.NumTouches() == 5);
}
