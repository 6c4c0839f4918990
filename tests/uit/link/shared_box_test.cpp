#include <uit/link/shared_box.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <uit/support/bytes.hpp>
#include <uit/support/pause.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/shared_mailbox.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace uit;
using uit::testing::CheckThrows;
using uit::testing::HalfOverwritten;
using uit::testing::SharedMemory;

namespace {

/// A mailbox and both of its sides.
struct Mailbox {
  SharedMemory memory;
  shared_mailbox::Writer writer;
  shared_mailbox::Reader reader;

  explicit Mailbox(std::size_t largest)
      : memory(shared_mailbox::BytesFor(largest)),
        writer((shared_mailbox::Create(memory.Begin(), largest), memory.Begin())),
        reader(memory.Begin()) {}
};

constexpr std::size_t payload_bytes = 200;

/// A box with two ends, which has its own memory once it is shared.
struct Ends {
  std::shared_ptr<FrameBox> putting;
  std::shared_ptr<FrameBox> stepping;
  SharedMemory memory;

  explicit Ends(bool keeps_latest)
      : putting(keeps_latest ? FrameBox::Latest() : FrameBox::Every(4)),
        stepping(keeps_latest ? FrameBox::Latest() : FrameBox::Every(4)),
        memory(stepping->SharedBytes(payload_bytes)) {}
  void Share() {
    stepping->CreateShared(memory.All(), payload_bytes);
    stepping->ReceiveBy(memory.All(), payload_bytes);
    putting->SendBy(memory.All(), payload_bytes);
  }
};

/// A frame whose content and length are its number.
Frame Numbered(std::uint64_t number) {
  Frame frame{payload_bytes + 1};
  frame.Header().update = number;
  frame.Header().num_bytes = static_cast<std::uint32_t>(number);
  std::fill_n(frame.Payload(), number, static_cast<std::byte>(number));
  return frame;
}
bool TryPut(FrameBox& box, std::uint64_t number) {
  Frame frame = Numbered(number);
  return box.TryPut(frame);
}
/// Returns the number of the next frame, which must be whole, or 0 if none has come.
std::uint64_t TryStep(FrameBox& box) {
  if (!box.TryStep()) return 0;
  CHECK(std::ranges::equal(box.Get().Bytes(), Numbered(box.Get().Header().update).Bytes()));
  return box.Get().Header().update;
}

std::vector<std::byte> BytesOf(const Frame& frame) { return {frame.Bytes().begin(), frame.Bytes().end()}; }

/// Called before each load of the reader under test.
std::function<void()> before_load;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// A std::atomic_ref that calls a hook before each load.
template <typename V>
class InterruptedRef {
 public:
  explicit InterruptedRef(V& value) : ref_(value) {}
  V load(std::memory_order order) const {
    if (before_load) before_load();
    return ref_.load(order);
  }

 private:
  std::atomic_ref<V> ref_;
};

/// Frames that a writer writes while they are read.
class InterruptedInbox {
 public:
  static constexpr std::size_t most_bytes = 40;
  static constexpr std::size_t num_slots = 16;

  InterruptedInbox() {
    REQUIRE(shared_mailbox::NumSlots(sizeof(FrameHeader) + most_bytes) == num_slots);
    for (int i = 0; i < 3; ++i) Write();
    REQUIRE(inbox_.TryStep(1) == 1);
  }
  InterruptedInbox(const InterruptedInbox&) = delete;
  InterruptedInbox& operator=(const InterruptedInbox&) = delete;
  ~InterruptedInbox() { before_load = {}; }

  /// Writes a frame and steps. Before load `first` of the step, and before each load that is a multiple of `period` after it,
  /// that many more frames are written. Returns whether the step found a frame. Checks that the inbox shows a whole frame: a
  /// newer one after a step, otherwise the same as before.
  bool Step(int first, int period, int num_frames) {
    const auto before = BytesOf(inbox_.Get());
    const std::uint64_t number = inbox_.Get().Header().update;
    Write();
    before_load = [&, i = 0]() mutable {
      const int since = i++ - first;
      for (int n = 0; since >= 0 && since % period == 0 && n < num_frames; ++n) Write();
    };
    const bool has_stepped = inbox_.TryStep(1) != 0;
    before_load = {};
    const Frame& now = inbox_.Get();
    if (has_stepped) CHECK(now.Header().update > number);
    CHECK(BytesOf(now) == (has_stepped ? BytesOf(Made(now.Header().update)) : before));
    return has_stepped;
  }

 private:
  /// A frame whose content and length follow from its number.
  static Frame Made(std::uint64_t number) {
    Frame frame{most_bytes};
    frame.Header() = {.num_bytes = static_cast<std::uint32_t>(number * 11 % (most_bytes + 1)), .update = number};
    std::fill_n(frame.Payload(), most_bytes, static_cast<std::byte>(number));
    return frame;
  }
  void Write() { outbox_.TryPut(Made(++num_written_)); }

  SharedMemory memory_{shared_mailbox::BytesFor(sizeof(FrameHeader) + most_bytes)};
  SharedOutbox<shared_mailbox::Writer> outbox_{
      (shared_mailbox::Create(memory_.Begin(), sizeof(FrameHeader) + most_bytes), memory_.Begin())};
  SharedInbox<shared_mailbox::BasicReader<InterruptedRef>> inbox_{memory_.Begin(), most_bytes};
  std::uint64_t num_written_ = 0;
};

}  // namespace

TEST_CASE("A shared mailbox gives the newest record once") {
  constexpr std::size_t largest = 101;
  Mailbox mailbox{largest};
  std::vector<std::byte> room(largest);
  CHECK_FALSE(mailbox.reader.TryRead(room));
  std::uint64_t last = 0;
  for (std::size_t num_bytes = 0; num_bytes <= largest; ++num_bytes) {
    std::vector<std::byte> record(num_bytes);
    for (std::size_t i = 0; i <= num_bytes; ++i) {
      std::ranges::fill(record, static_cast<std::byte>(++last));
      mailbox.writer.Write(record);
    }
    CHECK(mailbox.reader.TryRead(room) == num_bytes);
    CHECK(std::ranges::equal(record, std::span(room).first(num_bytes)));
    CHECK_FALSE(mailbox.reader.TryRead(room));
  }
}

TEST_CASE("A shared mailbox gives no record that its writer has begun to overwrite") {
  constexpr std::size_t largest = 8;
  Mailbox mailbox{largest};
  std::array<std::byte, largest> room{};
  for (std::uint64_t i = 0; i < shared_mailbox::NumSlots(largest); ++i) mailbox.writer.Write(BytesOf(i));
  std::byte* const slots = mailbox.memory.Begin() + sizeof(shared_mailbox::Head);
  auto* const first_slot = reinterpret_cast<shared_mailbox::SlotHead*>(slots);
  const std::uint64_t number = first_slot->number;  // the number of the newest record, because one round has been written
  first_slot->number = number + shared_mailbox::NumSlots(largest);
  CHECK_FALSE(mailbox.reader.TryRead(room));
  first_slot->number = number;
  CHECK(mailbox.reader.TryRead(room) == largest);
}

TEST_CASE("A shared mailbox gives whole records, never an older one, and in the end the last") {
  using Record = std::array<std::uint64_t, 40>;
  constexpr std::uint64_t num_records = 200'000;
  Mailbox mailbox{sizeof(Record)};
  std::thread writing{[&] {
    for (std::uint64_t number = 1; number <= num_records; ++number) {
      Record written;
      written.fill(number);
      mailbox.writer.Write(BytesOf(written));
    }
  }};
  std::uint64_t last = 0;
  std::uint64_t num_wrong = 0;
  Record record;
  WaitUntil([&] {
    if (!mailbox.reader.TryRead(std::as_writable_bytes(std::span(record)))) return false;
    num_wrong += record.front() <= last || std::ranges::count(record, record.front()) != 40 ? 1 : 0;
    last = record.front();
    return last == num_records;
  });
  writing.join();
  CHECK(num_wrong == 0);
}

TEST_CASE("Frames with equal headers arrive unchanged") {
  Ends ends{false};
  ends.Share();
  for (std::uint64_t number = 0; number < 1000; ++number) {
    Frame frame{payload_bytes};
    frame.Header().update = number / 7 % 3;
    frame.Header().base = number / 5 % 2;
    frame.Header().last = number % 11 == 0 ? 1 : 0;
    frame.Header().num_bytes = static_cast<std::uint32_t>(number % (payload_bytes + 1));
    std::fill_n(frame.Payload(), payload_bytes, static_cast<std::byte>(number));
    REQUIRE(ends.putting->TryPut(frame));
    REQUIRE(ends.stepping->TryStep());
    CHECK(std::ranges::equal(ends.stepping->Get().Bytes(), frame.Bytes()));
  }
  CHECK(ends.stepping->NumReceived() == 1000);
}

TEST_CASE("A box with ends in two processes keeps what its kind promises") {
  const bool keeps_latest = GENERATE(false, true);
  Ends ends{keeps_latest};
  REQUIRE(TryPut(*ends.putting, 1));
  REQUIRE(TryPut(*ends.putting, 2));
  CHECK_FALSE(ends.putting->IsShared());
  ends.Share();
  CHECK(ends.putting->IsShared());
  CHECK(ends.putting->KeepsLatest() == keeps_latest);
  CHECK(ends.stepping->KeepsLatest() == keeps_latest);
  REQUIRE(TryPut(*ends.putting, 3));
  REQUIRE(TryPut(*ends.putting, payload_bytes));
  if (!keeps_latest) {
    for (const std::uint64_t number : {1U, 2U, 3U}) CHECK(TryStep(*ends.stepping) == number);
  }
  CHECK(TryStep(*ends.stepping) == payload_bytes);
  CHECK(TryStep(*ends.stepping) == 0);
  CHECK(ends.stepping->NumReceived() == (keeps_latest ? 1 : 4));

  SECTION("a frame that is larger than agreed on is an error") {
    if (keeps_latest) return;  // a mailbox has no room to wait
    REQUIRE(TryPut(*ends.putting, payload_bytes + 1));
    CheckThrows([&] { ends.stepping->TryStep(); }, "larger");
  }
  SECTION("and nothing more once it is detached") {
    ends.putting->Detach();
    CHECK_FALSE(TryPut(*ends.putting, 5));
    ends.stepping->Detach();
    CHECK(TryStep(*ends.stepping) == 0);
    CHECK(ends.stepping->Get().Header().update == payload_bytes);
  }
}

TEST_CASE("A step that finds nothing leaves every kind of box unchanged") {
  const bool keeps_latest = GENERATE(false, true);
  const bool is_shared = GENERATE(false, true);
  Ends ends{keeps_latest};
  if (is_shared) ends.Share();
  FrameBox& putting = is_shared ? *ends.putting : *ends.stepping;
  for (std::uint64_t number = 1; number < 30; ++number) {
    REQUIRE(TryPut(putting, number * 5));
    REQUIRE(TryStep(*ends.stepping) == number * 5);
    const auto before = BytesOf(ends.stepping->Get());
    CHECK_FALSE(ends.stepping->TryStep());
    CHECK(BytesOf(ends.stepping->Get()) == before);
    while (!keeps_latest && TryPut(putting, number)) {
    }
    CHECK(BytesOf(ends.stepping->Get()) == before);  // a put does not change the frame that the last step ended at
    while (!keeps_latest && TryStep(*ends.stepping) != 0) {
    }
  }
}

TEST_CASE("A step to a frame that is being overwritten leaves the previous frame unchanged") {
  Ends ends{true};
  ends.Share();
  REQUIRE(TryPut(*ends.putting, 100));
  REQUIRE(TryStep(*ends.stepping) == 100);
  const auto before = BytesOf(ends.stepping->Get());
  REQUIRE(TryPut(*ends.putting, 150));
  {
    const HalfOverwritten torn{ends.memory.Begin()};
    CHECK_FALSE(ends.stepping->TryStep());
    CHECK(BytesOf(ends.stepping->Get()) == before);
  }
  CHECK(TryStep(*ends.stepping) == 150);
}

TEST_CASE("A box shows whole frames whenever the writer interrupts a copy") {
  InterruptedInbox inbox;
  int num_stepped = 0;
  int num_not = 0;
  for (int first = 0; first < 60; ++first) {  // at most four attempts of 13 loads
    for (int period = 1; period < 60; ++period) {
      for (const int num_frames : {1, 15, 16, 17})
        (inbox.Step(first, period, num_frames) ? num_stepped : num_not) += 1;
    }
  }
  CHECK(num_stepped > 1000);
  CHECK(num_not > 100);
}
