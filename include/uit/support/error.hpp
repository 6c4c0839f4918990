#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace uit {

/// What kind of trouble an error is, for who decides what to do about it.
enum class ErrorKind : std::uint8_t {
  other,
  input,      ///< bad input of a user
  output,     ///< an output could not be written
  peer_lost   ///< another process has ended, or does not answer
};

/// Base of all errors of the library; what() is one line.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
  /// What kind it is of.
  virtual ErrorKind Kind() const noexcept { return ErrorKind::other; }
};

/// What kind of trouble has been thrown. `failure` is not null.
inline ErrorKind KindOf(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.Kind();
  } catch (...) {
    return ErrorKind::other;
  }
}

/// Bad input of a user: a file, an option.
struct InputError : Error {
  using Error::Error;
  ErrorKind Kind() const noexcept override { return ErrorKind::input; }
};

/// An output could not be written.
struct OutputError : Error {
  using Error::Error;
  ErrorKind Kind() const noexcept override { return ErrorKind::output; }
};

/// Another process has ended, or does not answer, and what was being done cannot be done without it.
class PeerLost : public Error {
 public:
  /// That rank has ended; `where` is what was being done.
  PeerLost(std::size_t rank, const std::string& where)
      : PeerLost("rank " + std::to_string(rank) + " has ended (" + where + ")", rank) {}
  /// In words of one's own, about that rank, or one that cannot be told.
  PeerLost(const std::string& words, std::optional<std::size_t> rank) : Error(words), rank_(rank) {}
  ErrorKind Kind() const noexcept override { return ErrorKind::peer_lost; }
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
