#include <uit/exchange/frame_window.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace uit;
using uit::testing::CheckThrows;

namespace {

constexpr std::size_t report_bytes = 2 * sizeof(std::uint64_t);

/// A window of frames, and the memory that reports on them come through.
struct Window {
  Window() {
    reports->CreateShared(memory.All(), report_bytes);
    reports->ReceiveBy(memory.All(), report_bytes);
    reporting->SendBy(memory.All(), report_bytes);
  }
  /// Sends a frame if there is room.
  bool TryDepart() {
    Frame frame{0};
    return window.FindRoom() && window.TryDepart(frame, false);
  }
  /// Reports that so many frames have been pulled, as what ends an update of that number.
  void Report(std::uint64_t num_pulled, std::uint32_t num_bytes = report_bytes) {
    Frame frame{report_bytes};
    frame.Header() = {.num_bytes = num_bytes, .update = num_pulled, .base = num_pulled};
    std::memset(frame.Payload(), static_cast<int>(num_pulled), report_bytes);
    REQUIRE(reporting->TryPut(frame));
  }

  std::shared_ptr<FrameBox> frames = FrameBox::Every(8);
  std::shared_ptr<FrameBox> reporting = FrameBox::Latest();
  std::shared_ptr<FrameBox> reports = FrameBox::Latest();
  testing::SharedMemory memory{reports->SharedBytes(report_bytes)};
  FrameWindow window{3, OutPort{frames}, reports, report_bytes};
};

}  // namespace

TEST_CASE("An impossible report is refused once and the window keeps the previous one") {
  Window ends;
  while (ends.TryDepart()) {
  }
  ends.Report(2);
  REQUIRE(ends.window.TryReadReport());
  SECTION("too short for its channels") {
    ends.Report(3, report_bytes - 1);
    CheckThrows([&] { ends.window.TryReadReport(); }, "a report of 15 bytes, not 16");
  }
  SECTION("of frames that were never sent") {
    ends.Report(4);
    CheckThrows([&] { ends.window.TryReadReport(); }, "has pulled frame 4 of 3");
  }
  SECTION("of fewer frames than before") {
    ends.Report(1);
    CheckThrows([&] { ends.window.TryReadReport(); }, "has pulled frame 1 of 3");
  }
  CHECK_FALSE(ends.window.TryReadReport());
  CHECK(ends.window.Report()->Header().base == 2);
  CHECK(ends.window.Report()->Payload()[report_bytes - 1] == std::byte{2});
  CHECK_FALSE(ends.window.HasReport(3));
  CHECK(ends.TryDepart());
  CHECK(ends.TryDepart());
  CHECK_FALSE(ends.TryDepart());
  ends.Report(5);
  CHECK(ends.window.TryReadReport());
}
