#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/value_store.hpp>
#include <netuit/file/numpy_format.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

class OpenFile;

/// Writes and reads the files of a checkpoint: every process its block of each. All functions are collective. If a file cannot be
/// written, every process throws uit::OutputError; if it cannot be read or has changed, uit::InputError.
class SavedFiles final : public ValueStore {
 public:
  /// Files in this folder, which must exist.
  SavedFiles(const uit::World& world, std::filesystem::path folder);
  ~SavedFiles() override;

  /// Writes name.npy. `block` has the values of the route's items in this process's block. Returns a digest of all values.
  std::uint64_t Write(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                      uit::ByteView block) override;
  /// Writes name.sizes.npy and name.bytes.npy.
  std::uint64_t WriteVaried(const std::string& name, const BlockRoute& route, VariedBlock block) override;
  /// Returns once all that was written is on the disk. All files at once, because that is much faster than one after another.
  void Sync();
  /// Reads what Write has written, and checks the digest.
  uit::Bytes Read(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                  std::uint64_t digest) const override;
  /// Reads what WriteVaried has written.
  VariedBlock ReadVaried(const std::string& name, const BlockRoute& route, std::uint64_t digest) const override;

 private:
  /// Part of an .npy file.
  struct Part {
    NumpyType type;
    std::size_t num_bytes = 0;  // of a value
    std::uint64_t count = 0;    // of all values
    std::uint64_t first = 0;    // of this process
  };
  void WritePart(const std::string& name, const Part& part, uit::ByteView values);
  uit::Bytes ReadPart(const std::string& name, const Part& part, std::uint64_t count) const;
  /// Returns the sum over all processes.
  std::uint64_t Sum(std::uint64_t mine) const;
  /// Returns the sum over the processes of smaller rank.
  std::uint64_t SumBefore(std::uint64_t mine) const;
  std::uint64_t DigestOf(const BlockRoute& route, std::size_t num_bytes, uit::ByteView block) const;
  std::uint64_t DigestOf(const BlockRoute& route, const VariedBlock& block) const;
  [[noreturn]] void RefuseDigest(const std::string& name) const;

  uit::World world_;
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<OpenFile>> written_;
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/saved_files.ipp>
#endif
