#include <uit/link/shared_box.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <uit/support/assert.hpp>
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
using uit::testing::SharedMemory;

namespace {

/// A mailbox and both of its sides.
struct Mailbox {
  SharedMemory memory;
  shared_mailbox::Writer writer;
  shared_mailbox::Reader reader;

  explicit Mailbox(std::size_t largest)
      : memory(shared_mailbox::BytesFor(largest)),
        writer((shared_mailbox::Create(memory.Begin(), largest), memory.All()), largest),
        reader(memory.All(), largest) {}
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

/// Called before each load or exchange of the reader under test.
std::function<void()> before_load;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// A std::atomic_ref that calls a hook before each load or exchange.
template <typename V>
class InterruptedRef {
 public:
  explicit InterruptedRef(V& value) : ref_(value) {}
  V load(std::memory_order order) const {
    if (before_load) before_load();
    return ref_.load(order);
  }
  V exchange(V value, std::memory_order order) const {
    if (before_load) before_load();
    return ref_.exchange(value, order);
  }

 private:
  std::atomic_ref<V> ref_;
};

/// Frames that a writer writes while they are read, from a copy or in place.
class InterruptedInbox {
 public:
  static constexpr std::size_t most_bytes = 40;
  static constexpr std::size_t largest = sizeof(FrameHeader) + most_bytes;
  static constexpr std::size_t num_slots = 64;

  explicit InterruptedInbox(bool reads_in_place)
      : inbox_{shared_mailbox::BasicReader<InterruptedRef>{memory_.All(), largest}, most_bytes,
               reads_in_place ? 1 : most_bytes + 1} {
    REQUIRE(shared_mailbox::NumSlots(largest) == num_slots);
    for (int i = 0; i < 3; ++i) Write();
    REQUIRE(inbox_.TryStep(1) == 1);
  }
  InterruptedInbox(const InterruptedInbox&) = delete;
  InterruptedInbox& operator=(const InterruptedInbox&) = delete;
  ~InterruptedInbox() { before_load = {}; }

  /// Writes a frame and steps. Before load `first` of the step, and before each load that is a multiple of `period` after it,
  /// that many more frames are written. Returns whether the step found a frame. Checks that the inbox shows a whole frame, also after
  /// more frames: a newer one after a step, otherwise the same as before.
  bool Step(int first, int period, int num_frames) {
    const std::uint64_t number = inbox_.Get().Header().update;
    Write();
    before_load = [&, i = 0]() mutable {
      const int since = i++ - first;
      for (int n = 0; since >= 0 && since % period == 0 && n < num_frames; ++n) Write();
    };
    const bool has_stepped = inbox_.TryStep(1) != 0;
    before_load = {};
    if (has_stepped) CHECK(inbox_.Get().Header().update > number);
    else CHECK(inbox_.Get().Header().update == number);
    CheckShown();
    for (int n = 0; n < num_frames; ++n) Write();
    CheckShown();
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
  void CheckShown() {
    const Frame& shown = inbox_.Get();
    const Frame made = Made(shown.Header().update);
    REQUIRE(std::memcmp(&shown.Header(), &made.Header(), sizeof(FrameHeader)) == 0);
    const ByteView payload = inbox_.Lent().empty() ? ByteView{shown.Payload(), shown.Header().num_bytes} : inbox_.Lent();
    CHECK(std::ranges::equal(payload, made.Bytes().subspan(sizeof(FrameHeader))));
  }

  SharedMemory memory_{shared_mailbox::BytesFor(largest)};
  SharedOutbox<shared_mailbox::Writer> outbox_{
      shared_mailbox::Writer{(shared_mailbox::Create(memory_.Begin(), largest), memory_.All()), largest}};
  SharedInbox<shared_mailbox::BasicReader<InterruptedRef>> inbox_;
  std::uint64_t num_written_ = 0;
};

}  // namespace

TEST_CASE("A shared mailbox gives the newest record once") {
  constexpr std::size_t largest = 101;
  Mailbox mailbox{largest};
  CHECK(mailbox.reader.Front().data() == nullptr);
  std::uint64_t last = 0;
  for (std::size_t num_bytes = 0; num_bytes <= largest; ++num_bytes) {
    std::vector<std::byte> record(num_bytes);
    for (std::size_t i = 0; i <= num_bytes; ++i) {
      std::ranges::fill(record, static_cast<std::byte>(++last));
      mailbox.writer.Write(record);
    }
    const ByteView front = mailbox.reader.Front();
    CHECK(front.data() != nullptr);
    CHECK(std::ranges::equal(record, front));
    CHECK(mailbox.reader.Front().data() == nullptr);
  }
}

TEST_CASE("The writer of a shared mailbox leaves the record that its reader shows as it is") {
  const std::size_t largest = GENERATE(8U, 2000U, 100'000U);
  Mailbox mailbox{largest};
  std::uint64_t last = 0;
  const auto write = [&] { mailbox.writer.Write(BytesOf(++last)); };
  for (std::size_t num_between = 1; num_between < 50; ++num_between) {
    for (std::size_t i = 0; i < num_between; ++i) write();
    const ByteView shown = mailbox.reader.Front();
    REQUIRE(shown.size() == sizeof last);
    const std::uint64_t number = LoadBytes<std::uint64_t>(shown);
    CHECK(number == last);
    for (int i = 0; i < 50; ++i) {
      write();
      CHECK(LoadBytes<std::uint64_t>(shown) == number);
    }
  }
}

TEST_CASE("A record of a shared mailbox is written where it lies") {
  Mailbox mailbox{8};
  for (std::uint64_t number = 1; number < 100; ++number) {
    std::byte* const place = mailbox.writer.Reserve(8);
    CHECK(mailbox.writer.Reserve(8) == place);
    StoreBytes(number, {place, 8});
    CHECK(mailbox.reader.Front().data() == nullptr);  // not committed yet
    mailbox.writer.Commit(8, 8);
    CHECK(mailbox.reader.Front().data() == place);
  }
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
  ByteView shown;
  const auto check = [&] {
    if (shown.empty()) return;
    const auto record = LoadBytes<Record>(shown);
    num_wrong += record.front() != last || std::ranges::count(record, last) != 40 ? 1 : 0;
  };
  WaitUntil([&] {
    check();  // the writer has gone on meanwhile
    const ByteView front = mailbox.reader.Front();
    if (front.data() == nullptr) return false;
    shown = front;
    const std::uint64_t number = LoadBytes<Record>(shown).front();
    num_wrong += number <= last ? 1 : 0;
    last = number;
    check();
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

#if UIT_ASSERT_LEVEL >= 1
TEST_CASE("The putting side of a box in shared memory has no frame to get") {
  const bool keeps_latest = GENERATE(false, true);
  Ends ends{keeps_latest};
  ends.Share();
  CHECK_THROWS_AS(ends.putting->Get(), uit::AssertionError);
}
#endif

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

TEST_CASE("A box shows whole frames whenever the writer interrupts a step") {
  InterruptedInbox inbox{GENERATE(false, true)};
  int num_stepped = 0;
  int num_not = 0;
  for (int first = 0; first < 16; ++first) {  // at most four attempts of three or four accesses
    for (int period = 1; period < 12; ++period) {
      for (const int num_frames : {1, 15, 16, 17, 48, 64, 65, 200})
        (inbox.Step(first, period, num_frames) ? num_stepped : num_not) += 1;
    }
  }
  CHECK(num_stepped > 500);
  CHECK(num_not > 20);
}
