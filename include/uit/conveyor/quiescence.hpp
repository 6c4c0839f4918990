#pragma once

#include <cstdint>
#include <optional>

#include <uit/team/collectives.hpp>
#include <uit/team/member.hpp>

namespace uit {

namespace detail {

/// What members have sent and handled.
struct QuiescenceCounts {
  std::uint64_t num_sent = 0;
  std::uint64_t num_handled = 0;
  friend bool operator==(const QuiescenceCounts&, const QuiescenceCounts&) = default;
};
struct SumOfCounts {
  QuiescenceCounts operator()(const QuiescenceCounts& a, const QuiescenceCounts& b) const {
    return {a.num_sent + b.num_sent, a.num_handled + b.num_handled};
  }
};

}  // namespace detail

/// Finds out whether everything that the members of a group have sent to each other has been handled.
///
///     uit::Quiescence quiescence{me};
///     while (!quiescence.TryEnd(num_sent, num_handled))
///       if (!quiescence.IsConfirming()) … handle what has arrived, and count it; this may send more …
///
/// All members of the group begin one together, and do nothing else that is collective until its end. It ends on all members
/// after the same round of counts: once the sums of two rounds in a row are equal, and as much was handled as was sent. One round
/// is not enough, because members count at different moments. The sums of the second round are taken after all counts of the
/// first (Mattern 1987).
///
/// If each member handles nothing while IsConfirming, no member handles before its own end what another sends after the other's
/// end.
class Quiescence {
 public:
  /// `me` must stay until the end.
  explicit Quiescence(Member& me) : me_(me) {}
  /// Waits for a round under way, unless an exception is in flight.
  ~Quiescence() = default;
  Quiescence(const Quiescence&) = delete;             ///< Not copied: others wait for its rounds.
  Quiescence& operator=(const Quiescence&) = delete;  ///< Not copied.

  /// Returns whether all is handled. `num_sent` and `num_handled` count what this member has done so far. Never waits. Not called
  /// again after it has returned true. Throws as collective calls do, MemberLeft and PeerLost.
  bool TryEnd(std::uint64_t num_sent, std::uint64_t num_handled) {
    if (!round_) round_.emplace(me_, Counts{num_sent, num_handled}, Sum{}, detail::Getter{});
    if (!round_->TryFinish()) return false;
    const Counts counts = *round_->Get();
    round_.reset();
    if (is_confirming_ && counts == last_) return true;
    is_confirming_ = counts.num_sent == counts.num_handled;
    last_ = counts;
    return false;
  }
  /// Whether the last round found that as much was handled as was sent, so that the next round decides.
  bool IsConfirming() const { return is_confirming_; }

 private:
  using Counts = detail::QuiescenceCounts;
  using Sum = detail::SumOfCounts;

  Member& me_;
  std::optional<Started<detail::ReduceCall<Counts, Sum>>> round_;
  Counts last_;
  bool is_confirming_ = false;
};

}  // namespace uit
