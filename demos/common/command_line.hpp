#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "demos/common/settings.hpp"

namespace demo {

/// An option that is a span of time: text on the command line, nanoseconds afterwards.
class SpanOption {
 public:
  /// Adds the option to `app`; the present value is the default.
  SpanOption(CLI::App& app, std::string name, std::chrono::nanoseconds& span, const std::string& help);
  SpanOption(const SpanOption&) = delete;
  SpanOption& operator=(const SpanOption&) = delete;

  /// Once the command line has been read. Throws uit::InputError.
  void Finish();
  /// Whether the command line had it.
  [[nodiscard]] bool IsGiven() const { return !option_->empty(); }

 private:
  std::string name_;
  std::string text_;
  std::chrono::nanoseconds& span_;
  CLI::Option* option_;
};

/// Adds the options of every benchmark to a command line.
class SettingsOptions {
 public:
  /// The values in `settings` are the defaults.
  SettingsOptions(CLI::App& app, Settings& settings);

  /// Once the command line has been read. Throws uit::InputError.
  void Finish();

 private:
  Settings& settings_;
  std::vector<std::string> modes_;
  SpanOption duration_, rolling_, fixed_, interval_, length_;
};

/// For CLI::Option::check: refuses negative numbers, which would become large unsigned ones.
[[nodiscard]] std::string Natural(const std::string& number);

/// For CLI::Option::check: refuses other words, and suggests the nearest of these.
[[nodiscard]] CLI::Validator OneOf(std::vector<std::string> choices);

/// Reads a command line. If it asks for help or the version, returns false and puts that text into `text`. Throws
/// uit::InputError with one line; for an unknown option it suggests the nearest one that the program has.
[[nodiscard]] bool Parse(CLI::App& app, int argc, const char* const* argv, std::string& text);

}  // namespace demo
