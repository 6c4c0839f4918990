#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include <uit/config.hpp>

namespace uit {

/// The kind of an error, for the code that decides how to react.
enum class ErrorKind : std::uint8_t {
  other,
  input,      ///< bad input of a user
  output,     ///< an output could not be written
  peer_lost   ///< another process has ended, or does not answer
};

/// The base of all errors of the library. what() is one line.
struct Error : std::runtime_error {
  using runtime_error::runtime_error;
  /// The kind of this error.
  virtual ErrorKind Kind() const noexcept { return ErrorKind::other; }
};

/// The kind of the exception in `failure`, which must not be null.
inline ErrorKind KindOf(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.Kind();
  } catch (...) {
    return ErrorKind::other;
  }
}

/// The user's input is bad: a file, an option.
struct InputError : Error {
  using Error::Error;
  ErrorKind Kind() const noexcept override { return ErrorKind::input; }
};

/// An output could not be written.
struct OutputError : Error {
  using Error::Error;
  ErrorKind Kind() const noexcept override { return ErrorKind::output; }
};

/// Another process has ended or does not answer, and the current operation needs it.
class PeerLost : public Error {
 public:
  /// Rank `rank` has ended; `where` names the current operation.
  PeerLost(std::size_t rank, const std::string& where)
      : PeerLost("rank " + std::to_string(rank) + " has ended (" + where + ")", rank) {}
  /// With the given text, about that rank, or about a rank that is unknown.
  PeerLost(const std::string& words, std::optional<std::size_t> rank) : Error(words), rank_(rank) {}
  ErrorKind Kind() const noexcept override { return ErrorKind::peer_lost; }
  /// The rank of the lost process, if known. It may be unknown because the process that this one waits for may itself wait
  /// for the lost one.
  std::optional<std::size_t> Rank() const { return rank_; }

 private:
  std::optional<std::size_t> rank_;
};

/// Another process has failed, and throws the cause itself. One report is enough.
class FailedElsewhere : public Error {
 public:
  /// Rank `rank` has failed with an error of this kind.
  FailedElsewhere(std::size_t rank, ErrorKind kind) : Error("rank " + std::to_string(rank) + " failed"), kind_(kind) {}
  ErrorKind Kind() const noexcept override { return kind_; }

 private:
  ErrorKind kind_;
};

/// A message is larger than its conduit may carry. It was not accepted and counts as dropped.
struct MessageTooLarge : Error {
  /// For a message of `num_bytes` bytes, where at most `max_bytes` are allowed.
  MessageTooLarge(std::size_t num_bytes, std::size_t max_bytes)
      : Error("a message of " + std::to_string(num_bytes) + " bytes is larger than the " + std::to_string(max_bytes) +
              " that its conduit carries; see max_message_bytes") {}
};

}  // namespace uit
