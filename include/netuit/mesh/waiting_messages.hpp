#pragma once

#include <cstdint>

#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

/// The messages that wait in one worker's channels between runs, as bytes, so that a checkpoint can save them and put them into
/// the channels of another mesh. Inputs and outputs are the worker's.
class WaitingMessages {
 public:
  /// Receives an encoded message.
  using Visit = uit::FunctionRef<void(uit::ByteView)>;

  WaitingMessages() = default;
  WaitingMessages(const WaitingMessages&) = delete;
  WaitingMessages& operator=(const WaitingMessages&) = delete;
  virtual ~WaitingMessages() = default;

  /// Visits the message that the outlet of an input shows, then those that wait there, in order. They stay.
  virtual void ForEach(std::uint32_t input, Visit visit) const = 0;
  /// Lets the outlet of an input show this message. Returns false if it is none.
  [[nodiscard]] virtual bool TryShow(std::uint32_t input, uit::ByteView encoded) = 0;
  /// Puts this message into the inlet of an output. Sets `is_put` to false if there is no room. Returns false if it is none.
  [[nodiscard]] virtual bool TryPutBack(std::uint32_t output, uit::ByteView encoded, bool& is_put) = 0;
};

}  // namespace netuit
