#pragma once

#include <stdexcept>

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

}  // namespace uit
