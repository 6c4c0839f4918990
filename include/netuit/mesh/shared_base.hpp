#pragma once

#include <cstddef>

#include <uit/support/pause.hpp>

namespace netuit::detail {

/// An object that the nodes of a process share, as the run loop sees it.
class SharedBase {
 public:
  SharedBase() = default;
  SharedBase(const SharedBase&) = delete;
  SharedBase& operator=(const SharedBase&) = delete;
  virtual ~SharedBase() = default;
  /// Whether only its own worker may update a node that uses the object.
  virtual bool NeedsOwnWorker() const { return false; }
  /// Runs what the nodes of a worker have left for the end of its update. If it has to wait, it does so by the worker's habit.
  virtual void EndUpdate([[maybe_unused]] std::size_t thread, [[maybe_unused]] uit::SpinHabit& habit) {}
};

}  // namespace netuit::detail
