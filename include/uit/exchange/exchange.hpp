#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/config.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/support/type_hash.hpp>

namespace uit {

/// Names an exchange. Two processes find each other's halves by this key.
///
/// A user of conduits may choose all values freely. A mesh fills in the layer and the two workers, and for a single
/// conduit also its edge.
struct ExchangeKey {
  std::uint64_t channel = 0;      ///< in a mesh: the edge, for a conduit with an exchange of its own
  std::uint32_t layer = 0;        ///< in a mesh: the layer
  std::uint32_t source = 0;       ///< in a mesh: the worker of the inlets
  std::uint32_t destination = 0;  ///< in a mesh: the worker of the outlets
  std::uint32_t is_report = 0;    ///< 1: this exchange returns counts of steps to the inlets

  /// Compares field by field, in the order above. The order only serves as a map key.
  friend auto operator<=>(const ExchangeKey&, const ExchangeKey&) = default;
};

/// Describes one half of an exchange. Both halves must have equal specs; the opening handshake compares them.
struct ExchangeSpec {
  ExchangeKey key{};                    ///< the same on both halves
  std::uint64_t type = 0;               ///< TypeHash of the message
  std::uint64_t frame_bytes = 0;        ///< payload of the largest frame
  std::uint64_t max_message_bytes = 0;  ///< size of the largest message, if sizes vary
  std::uint32_t slot_bytes = 0;         ///< encoded size of a message; 0: sizes vary
  std::uint32_t num_channels = 1;       ///< channels that share a frame
  std::uint32_t depth = 1;              ///< messages per channel accepted and not stepped to, or frames not pulled
  std::uint32_t retain = 0;             ///< static_cast of Retain
  std::uint32_t consolidate = 0;        ///< static_cast of Consolidate
  std::uint32_t num_frames = 0;         ///< frames in flight and not yet pulled, at most; 0: not limited separately

  /// Compares field by field, including the key; Difference does not compare keys.
  friend bool operator==(const ExchangeSpec&, const ExchangeSpec&) = default;

  /// Returns a short name for error messages.
  std::string Name() const;
  /// Describes the first difference between this spec, located at `here`, and the other, located at `there`. Returns an
  /// empty string if nothing differs.
  std::string Difference(const ExchangeSpec& other, const char* here, const char* there) const;
};

/// One half of an exchange, as its fabric sees it. The exchange's worker only.
class ExchangeHalf {
 public:
  ExchangeHalf() = default;
  ExchangeHalf(const ExchangeHalf&) = delete;
  ExchangeHalf& operator=(const ExchangeHalf&) = delete;
  virtual ~ExchangeHalf();
  /// Sends the accepted messages that have not departed yet. Returns false if it has to wait; then call again.
  virtual bool TryFlush() = 0;
  /// Called when the fabric closes. The sending half sends its last frames, even if its window is full. The receiving
  /// half pulls the frames that have arrived. Returns false if it has to wait; then call again.
  virtual bool TryFinish() = 0;

  /// Gives a channel to an end. Throws if the channel already has one.
  void Claim(std::size_t channel);
  /// Takes the channel back when its end is destroyed, so that another end may claim it.
  void Yield(std::size_t channel) { is_claimed_[channel] = false; }

 private:
  std::vector<bool> is_claimed_;
};

/// The inlets' half of an exchange.
class SendingHalf : public ExchangeHalf {
 public:
  ~SendingHalf() override;
  /// Sets the update number that is stamped on frames from now on.
  virtual void SetUpdate(std::uint64_t update) = 0;
  /// Sends the messages accepted so far, in any case in a frame marked as the update's end. Returns false if the peer has no
  /// room for a frame yet; then call again.
  virtual bool TryEndUpdate() = 0;
  /// Called in a run after each update of the worker's nodes: sends what shall not wait.
  virtual void EndTurn() { TryFlush(); }
  /// While held, what is accepted depends only on the reports that RefreshReport has read.
  virtual void Hold(bool) {}
  /// Reads the newest report of the outlets. Returns true if it ends `update` or a later one, or if there are no reports.
  virtual bool RefreshReport(std::uint64_t) { return true; }
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/exchange.ipp>
#endif
