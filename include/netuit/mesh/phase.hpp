#pragma once

#include <cstdint>

namespace netuit {

/// When in a run frames leave: before its first update, in one of its updates, or in the drain, which follows the last update of all
/// workers.
class Phase {
 public:
  /// The phase of the update with this number, from 0 on.
  constexpr Phase(std::uint64_t update) : place_(update + 1) {}
  /// Before the first update.
  static constexpr Phase Start() { return {Kind::start, 0}; }
  /// The drain of a run in which no worker has made more updates than `most_updates`.
  static constexpr Phase Drain(std::uint64_t most_updates) { return {Kind::drain, most_updates + 1}; }

  constexpr bool IsStart() const { return kind_ == Kind::start; }    ///< whether it is the start
  constexpr bool IsUpdate() const { return kind_ == Kind::update; }  ///< whether it is an update
  constexpr bool IsDrain() const { return kind_ == Kind::drain; }    ///< whether it is the drain
  /// The number of the update; only if it is one.
  constexpr std::uint64_t Update() const { return place_ - 1; }
  /// The place in the run: 0 for the start, then one for each update, then the drain.
  constexpr std::uint64_t Place() const { return place_; }

 private:
  enum class Kind : std::uint8_t { start, update, drain };

  constexpr Phase(Kind kind, std::uint64_t place) : kind_(kind), place_(place) {}

  Kind kind_ = Kind::update;
  std::uint64_t place_;
};

}  // namespace netuit
