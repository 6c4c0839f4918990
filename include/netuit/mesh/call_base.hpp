#pragma once

#include <cstdint>
#include <memory>

namespace uit {

struct ConveyorTally;

}  // namespace uit

namespace netuit::detail {

/// Where a node is updated.
struct NodeOwner {
  std::uint32_t worker = 0;
  std::uint32_t node = 0;  // its number among the worker's nodes
};

class CallSession;
struct CallSite;

/// What carries the calls of one worker, until it is destroyed.
class OpenCall {
 public:
  OpenCall() = default;
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  virtual ~OpenCall() = default;
  /// Returns what the worker has done.
  virtual uit::ConveyorTally Tally() const = 0;
};

/// A function that is called for nodes by others, as the mesh keeps it; see Mesh::AddCall.
class CallBase {
 public:
  CallBase() = default;
  CallBase(const CallBase&) = delete;
  CallBase& operator=(const CallBase&) = delete;
  virtual ~CallBase() = default;
  /// Opens what carries the calls of a worker. Collective over all workers.
  virtual std::unique_ptr<OpenCall> Open(CallSite& site) = 0;
};

}  // namespace netuit::detail
