#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

#include "job.hpp"

namespace netuit::python {

/// An array as a message: a head that only Python understands, then the elements.
using ArrayMessage = std::vector<std::byte>;
/// Between processes, or within one.
using Between = uit::TransportSet<uit::Process>;

/// Options of a conduit, the same at both ends.
struct ConduitOptions {
  std::uint64_t channel = 0;     // tells conduits between the same processes apart
  std::size_t depth = 0;         // messages that may wait; 0: only the newest
  std::size_t most_bytes = 0;    // of a message, with its head
};

/// The conduits of this process to others of the job. Python's global lock is held on entry of every function.
class ConduitsObject final : public JobObject {
 public:
  /// On the job's processes.
  ConduitsObject();
  ConduitsObject(const ConduitsObject&) = delete;
  ConduitsObject& operator=(const ConduitsObject&) = delete;
  ~ConduitsObject() override;

  /// Connects the ends that have been opened. Collective.
  void Connect();
  /// Sends what is under way, and closes the ends. Collective. Returns false if a process did not answer.
  bool Close();
  /// Closes, if it is still open.
  void Drop() override;
  /// Returns the fabric. Throws uit::Error if it has been closed.
  uit::Fabric& Get() const;

 private:
  std::unique_ptr<uit::Fabric> fabric_;
};

/// The sending end of a conduit.
class ArrayInlet {
 public:
  using End = std::variant<uit::Inlet<ArrayMessage, uit::latest, Between>, uit::Inlet<ArrayMessage, uit::every, Between>>;

  /// Opens it.
  ArrayInlet(ConduitsObject& conduits, std::size_t to, const ConduitOptions& options);
  /// Puts a message. Never waits. Returns false if there is no room.
  bool TryPut(const nanobind::bytes& head, const nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>& elements);

 private:
  End end_;
  ArrayMessage message_{};
};

/// The receiving end of a conduit.
class ArrayOutlet {
 public:
  using End = std::variant<uit::Outlet<ArrayMessage, uit::latest, Between>, uit::Outlet<ArrayMessage, uit::every, Between>>;

  /// Opens it.
  ArrayOutlet(ConduitsObject& conduits, std::size_t source, const ConduitOptions& options);
  /// Moves to the next message, or to the newest. Never waits. Returns whether there was one.
  bool TryStep(bool is_to_newest);
  /// Returns the message, a copy; empty before the first step.
  nanobind::bytes Message() const;

 private:
  End end_;
};

}  // namespace netuit::python
