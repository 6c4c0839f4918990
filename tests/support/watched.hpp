#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/support/schedule_explorer.hpp"

namespace uit::testing {

/// A message that reports a read or write that is not ordered after the last write, and a write that is not ordered after all
/// reads.
class Watched {
 public:
  Watched() { NoteWrite(); }
  Watched(int value) : value_{value} { NoteWrite(); }  // NOLINT: a number is a message
  ~Watched() {
    if (Explorer::Current() == nullptr) return;
    const Explorer::Unbroken unbroken;
    NoteWrite();
  }
  Watched(const Watched& other) : value_{other.Value()} { NoteWrite(); }
  Watched& operator=(const Watched& other) {
    const int value = other.Value();
    NoteWrite();
    value_ = value;
    return *this;
  }

  int Value() const {
    NoteRead();
    return value_;
  }

 private:
  void NoteRead() const {
    Explorer* const explorer = Explorer::Current();
    if (explorer == nullptr || explorer->IsLeaving()) return;
    if (write_time_ > explorer->Clock()[writer_])
      explorer->Fail("a message was read while it was written");
    reads_[explorer->Thread()] = explorer->Tick();
  }

  void NoteWrite() {
    Explorer* const explorer = Explorer::Current();
    if (explorer == nullptr || explorer->IsLeaving()) return;
    if (write_time_ > explorer->Clock()[writer_])
      explorer->Fail("a message was written by two threads at once");
    if (!explorer->IsAfter(reads_)) explorer->Fail("a message was written while it was read");
    writer_ = explorer->Thread();
    write_time_ = explorer->Tick();
  }

  int value_ = 0;
  std::size_t writer_ = 0;
  std::uint32_t write_time_ = 0;
  mutable Explorer::VectorClock reads_{};
};

}  // namespace uit::testing
