#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

namespace uit {

/// Base of all errors of the library; what() is one line.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Bad input of a user: a file, an option. Programs end with exit code 2.
struct InputError : Error {
  using Error::Error;
};

/// An output could not be written. Programs end with exit code 5.
struct OutputError : Error {
  using Error::Error;
};

/// Another process has ended, or does not answer, and what was being done cannot be done without it. Programs end with
/// exit code 3.
class PeerLost : public Error {
 public:
  /// That rank has ended; `where` is what was being done.
  PeerLost(std::size_t rank, const std::string& where)
      : PeerLost("rank " + std::to_string(rank) + " has ended (" + where + ")", rank) {}
  /// In words of one's own, about that rank, or one that cannot be told.
  PeerLost(const std::string& words, std::optional<std::size_t> rank) : Error(words), rank_(rank) {}
  /// Which process, if that can be told: who is waited for may itself wait for the one that is lost.
  std::optional<std::size_t> Rank() const { return rank_; }

 private:
  std::optional<std::size_t> rank_;
};

/// A message is larger than its conduit may carry. It was not taken, and counts as dropped.
struct MessageTooLarge : Error {
  /// Of a message of `num_bytes`, where `max_bytes` are allowed.
  MessageTooLarge(std::size_t num_bytes, std::size_t max_bytes)
      : Error("a message of " + std::to_string(num_bytes) + " bytes is larger than the " + std::to_string(max_bytes) +
              " that its conduit carries; see max_message_bytes") {}
};

}  // namespace uit
