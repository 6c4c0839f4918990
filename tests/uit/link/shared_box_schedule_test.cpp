// Frames in boxes with an end in each of two processes, under every schedule.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_box.ipp>  // for atomics of its own
#include <uit/link/shared_box.hpp>
#include <uit/link/shared_mailbox.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/explored_memory.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/link/support/explored_rings.hpp"

namespace {

using namespace uit::testing;
using uit::Frame;
using uit::FrameHeader;

/// The header and length of a frame. All of its bytes are its number.
struct Sketch {
  std::uint64_t update;
  std::uint64_t base;
  std::uint16_t last;
  std::uint32_t num_bytes;
};
/// Frames, from number 1 on. The second and the last have the same header as the one before, so they may be sent without it.
/// Each of the others differs in one field.
constexpr std::array sketches{Sketch{1, 1, 0, 3}, Sketch{1, 1, 0, 9}, Sketch{2, 1, 0, 0},
                              Sketch{2, 3, 0, 6}, Sketch{2, 3, 1, 9}, Sketch{2, 3, 1, 1}};
constexpr std::size_t payload_bytes = 9;

Frame Numbered(std::size_t number) {
  Frame frame{payload_bytes};
  const Sketch& sketch = sketches[number - 1];
  frame.Header().update = sketch.update;
  frame.Header().base = sketch.base;
  frame.Header().last = sketch.last;
  frame.Header().num_bytes = sketch.num_bytes;
  std::fill_n(frame.Payload(), payload_bytes, static_cast<std::byte>(number));
  return frame;
}
bool IsNumbered(const Frame& frame, std::size_t number) {
  return std::ranges::equal(frame.Bytes(), Numbered(number).Bytes());
}

/// One thread puts the frames, the other steps, and has seen the first `num_before` already. Without `keeps_all`, steps may
/// skip some.
template <typename Ends, std::size_t num_puts, int num_steps, std::size_t num_before = 0>
struct BoxScenario {
  Ends ends;
  std::array<std::size_t, num_puts> accepted{};
  std::size_t num_accepted = 0;
  std::size_t num_seen = 0;  // up to the last record that a step reached

  BoxScenario() {
    for (std::size_t number = 1; number <= num_before; ++number) {
      Put(number);
      Step();
    }
  }
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (std::size_t number = num_before + 1; number <= num_puts; ++number) Put(number);
    } else {
      for (int i = 0; i < num_steps; ++i) Step();
    }
  }
  void Finish() {
    while (Step()) {
    }
    Explorer::Expect(num_seen == num_accepted, "a frame was lost");
  }
  void Put(std::size_t number) {
    accepted[num_accepted] = number;
    num_accepted += ends.TryPut(Numbered(number)) ? 1 : 0;
  }
  bool Step() {
    const bool is_new = ends.TryStep();
    if (is_new && Ends::keeps_all) {
      Explorer::Expect(num_seen < num_puts && IsNumbered(ends.Get(), accepted[num_seen]), "a frame is torn, or out of order");
      ++num_seen;
    } else if (is_new) {
      const auto whole = std::ranges::find_if(accepted, [&](std::size_t n) { return n != 0 && IsNumbered(ends.Get(), n); });
      Explorer::Expect(whole != accepted.end(), "a frame is torn");
      const auto seen = static_cast<std::size_t>(whole - accepted.begin()) + 1;
      Explorer::Expect(seen > num_seen, "a frame is no newer");
      num_seen = seen;
    } else if (num_seen != 0) {
      Explorer::Expect(IsNumbered(ends.Get(), accepted[num_seen - 1]), "a step that found nothing changed the frame");
    }
    return is_new;
  }
};

/// A ring of `capacity` bytes with a box at each end.
template <std::size_t capacity, std::uint64_t start = 0>
struct RingEnds {
  static constexpr bool keeps_all = true;
  ExploredRing<capacity> ring{start};
  uit::SharedOutbox<StartingWriter<start>> outbox{StartingWriter<start>{ring.memory.Begin()}};
  uit::SharedInbox<StartingReader<start>> inbox{StartingReader<start>{ring.memory.Begin()}, payload_bytes};

  bool TryPut(Frame&& frame) { return outbox.TryPut(std::move(frame)); }
  bool TryStep() { return inbox.TryStep(1) != 0; }
  const Frame& Get() { return inbox.Get(); }
};

/// A mailbox with groups of one slot, and a box at each end.
struct MailboxEnds {
  static constexpr bool keeps_all = false;
  static constexpr std::size_t largest = sizeof(FrameHeader) + payload_bytes;
  static constexpr std::size_t num_slots = uit::shared_mailbox::num_groups;
  static constexpr std::size_t num_bytes = sizeof(uit::shared_mailbox::Head) + num_slots * uit::shared_mailbox::SlotBytes(largest);

  SharedWords<num_bytes> memory;
  std::optional<ExploredMemory> explored;
  std::optional<uit::SharedOutbox<uit::shared_mailbox::BasicWriter<ExploredRef>>> outbox;
  std::optional<uit::SharedInbox<ExploredMailboxReader>> inbox;

  MailboxEnds() {
    new (memory.Begin()) uit::shared_mailbox::Head{};
    explored.emplace(memory.words);
    const uit::MutableByteView all{memory.Begin(), num_bytes};
    outbox.emplace(uit::shared_mailbox::BasicWriter<ExploredRef>{all, largest, 1});
    inbox.emplace(ExploredMailboxReader{all, largest, 1}, payload_bytes);
  }
  bool TryPut(Frame&& frame) { return outbox->TryPut(std::move(frame)); }
  bool TryStep() { return inbox->TryStep(1) != 0; }
  const Frame& Get() { return inbox->Get(); }
};

/// A box of which each process has an end, as an exchange creates it. Unless `is_shared`, both ends are in one process.
template <bool keeps_every, bool is_shared>
struct FrameBoxEnds {
  static constexpr bool keeps_all = keeps_every;
  using Box = uit::BasicFrameBox<Explored, ExploredRef>;

  std::shared_ptr<Box> putting = keeps_every ? Box::Every(2) : Box::Latest();
  std::shared_ptr<Box> stepping = !is_shared ? putting : keeps_every ? Box::Every(2) : Box::Latest();
  SharedWords<is_shared ? 8192 : 8> memory;
  std::optional<ExploredMemory> explored;

  FrameBoxEnds() {
    if (!is_shared) return;
    const std::size_t num_bytes = stepping->SharedBytes(payload_bytes);
    Explorer::Expect(num_bytes <= sizeof memory.words, "the memory is too small");
    stepping->CreateShared({memory.Begin(), num_bytes}, payload_bytes);
    explored.emplace(memory.words);
    stepping->ReceiveBy({memory.Begin(), num_bytes}, payload_bytes);
    putting->SendBy({memory.Begin(), num_bytes}, payload_bytes);
  }
  bool TryPut(Frame&& frame) { return putting->TryPut(frame); }
  bool TryStep() { return stepping->TryStep(); }
  const Frame& Get() { return stepping->Get(); }
};

}  // namespace

TEST_CASE("No schedule makes a box between processes lose, repeat, tear or reorder a frame") {
  CheckExhaustedBetweenProcesses<BoxScenario<RingEnds<128>, 6, 5>>("inbox and outbox, of a ring");
  CheckExhaustedBetweenProcesses<BoxScenario<RingEnds<128, ~std::uint64_t{63}>, 4, 3>>("inbox and outbox, positions wrap");
  CheckExhaustedBetweenProcesses<BoxScenario<MailboxEnds, 4, 2>>("inbox and outbox, of a mailbox");
  CheckExhaustedBetweenProcesses<BoxScenario<MailboxEnds, 6, 3, 1>>("inbox and outbox, of a mailbox, from the second on");
  CheckExhaustedBetweenProcesses<BoxScenario<FrameBoxEnds<true, true>, 5, 4>>("frame box between processes, every");
  CheckExhaustedBetweenProcesses<BoxScenario<FrameBoxEnds<false, true>, 2, 1>>("frame box between processes, latest");
}

TEST_CASE("No schedule makes a box of a process lose, repeat, tear or reorder a frame") {
  CheckExhausted<BoxScenario<FrameBoxEnds<true, false>, 4, 4>>("frame box, every");
  CheckExhausted<BoxScenario<FrameBoxEnds<false, false>, 3, 3>>("frame box, latest");
}
