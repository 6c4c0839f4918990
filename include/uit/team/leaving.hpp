#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>

#include <uit/support/error.hpp>

namespace uit {

/// Another member of a team has left its run, so what this one waits for can never come.
struct MemberLeft : Error {
  using Error::Error;
};

/// How a member has left a run: its work has returned, or has thrown, or it has lost another process.
class Leaving {
 public:
  /// Its work has returned.
  constexpr Leaving() = default;
  /// Its work has thrown.
  static constexpr Leaving Failed() { return Leaving(failed); }
  /// It has found that a process has ended or does not answer: this one, or one whose rank is unknown.
  static constexpr Leaving Lost(std::optional<std::size_t> rank) {
    const bool fits = rank && *rank < std::numeric_limits<std::uint32_t>::max() - first_rank;
    return Leaving(fits ? static_cast<std::uint32_t>(first_rank + *rank) : lost);
  }
  /// Its work, or one of its calls, has thrown `failure`, which must not be null.
  static Leaving After(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const PeerLost& loss) {
      return Lost(loss.Rank());
    } catch (...) {
      return Failed();
    }
  }
  /// From what Code has returned.
  static constexpr Leaving FromCode(std::uint32_t code) { return Leaving(code); }

  /// A number for other processes. A worse way to leave has a larger one, and that of a return is 0.
  constexpr std::uint32_t Code() const { return code_; }
  /// Whether the others need not wait for anything any more, because the run has failed.
  constexpr bool HasFailed() const { return code_ != 0; }
  /// Whether a process is lost.
  constexpr bool HasLost() const { return code_ >= lost; }
  /// The rank of that process, if it is known.
  constexpr std::optional<std::size_t> LostRank() const {
    return code_ >= first_rank ? std::optional<std::size_t>(code_ - first_rank) : std::nullopt;
  }
  /// Throws for one that waits: PeerLost if `who` has lost a process, and otherwise MemberLeft, which then says what `why` says.
  [[noreturn]] void Throw(const std::string& who, const std::string& why) const {
    if (code_ < lost) throw MemberLeft(who + (HasFailed() ? " has failed and left, " : " has left, ") + why);
    if (code_ == lost) throw PeerLost("a process has ended or does not answer, as " + who + " has found", std::nullopt);
    throw PeerLost("rank " + std::to_string(code_ - first_rank) + " has ended or does not answer, as " + who + " has found",
                   code_ - first_rank);
  }

 private:
  static constexpr std::uint32_t failed = 1;
  static constexpr std::uint32_t lost = 2;
  static constexpr std::uint32_t first_rank = 3;

  constexpr explicit Leaving(std::uint32_t code) : code_(code) {}

  std::uint32_t code_ = 0;
};

}  // namespace uit
