#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/value_store.hpp>
#include <netuit/file/numpy_format.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Keeps each process's blocks in its memory.
class MemoryStore final : public ValueStore {
 public:
  std::uint64_t Write(const std::string& name, const NumpyType&, std::size_t, const BlockRoute&, uit::ByteView block) override {
    blocks_[name].assign(block.begin(), block.end());
    num_bytes_ += block.size();
    return 0;
  }
  std::uint64_t WriteVaried(const std::string& name, const BlockRoute&, VariedBlock block) override {
    num_bytes_ += block.bytes.size();
    varied_[name] = std::move(block);
    return 0;
  }
  uit::Bytes Read(const std::string& name, const NumpyType&, std::size_t, const BlockRoute&, std::uint64_t) const override {
    return blocks_.at(name);
  }
  VariedBlock ReadVaried(const std::string& name, const BlockRoute&, std::uint64_t) const override { return varied_.at(name); }
  /// Returns the number of bytes of all values that it keeps.
  std::uint64_t NumBytes() const { return num_bytes_; }

 private:
  std::map<std::string, uit::Bytes> blocks_;
  std::map<std::string, VariedBlock> varied_;
  std::uint64_t num_bytes_ = 0;
};

}  // namespace netuit::detail
