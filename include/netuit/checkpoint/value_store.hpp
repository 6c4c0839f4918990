#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/file/numpy_format.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Keeps the values of a mesh by node and edge: every process has a block of each. All functions are collective.
class ValueStore {
 public:
  ValueStore() = default;
  ValueStore(const ValueStore&) = delete;
  ValueStore& operator=(const ValueStore&) = delete;
  virtual ~ValueStore() = default;

  /// Keeps values of `num_bytes` each. `block` has those of the route's items in this process's block. Returns a digest of all
  /// values, for Read; 0 if the store needs none.
  virtual std::uint64_t Write(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                              uit::ByteView block) = 0;
  /// The same for values that differ in size.
  virtual std::uint64_t WriteVaried(const std::string& name, const BlockRoute& route, VariedBlock block) = 0;
  /// Returns this process's block of what Write has kept.
  virtual uit::Bytes Read(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                          std::uint64_t digest) const = 0;
  /// Returns this process's block of what WriteVaried has kept.
  virtual VariedBlock ReadVaried(const std::string& name, const BlockRoute& route, std::uint64_t digest) const = 0;
};

}  // namespace netuit::detail
