#include "demos/common/command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <netuit/run/modes.hpp>
#include <sstream>
#include <uit/support/error.hpp>
#include <utility>

#include "demos/common/nearest.hpp"

namespace demo {
namespace {

unsigned ParseMode(const std::string& text) {
  std::string all;
  std::vector<std::string> names;
  for (unsigned mode = 0; mode < std::size(netuit::mode_table); ++mode) {
    const std::string number = std::to_string(mode);
    names.emplace_back(ModeName(mode));
    if (text == names.back() || text == number) return mode;
    all += (all.empty() ? "" : ", ") + number + ' ' + names.back();
  }
  throw uit::InputError("unknown mode " + text + " (" + all + ")" + DidYouMean(text, names));
}

/// Says which word of a command line is not expected, and which option comes nearest.
std::string RefusalOf(std::string word, const CLI::App& app) {
  const bool is_option = word.size() > 1 && word.starts_with('-');
  if (is_option) word = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  const std::string stem = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const auto nearest = Nearest(stem, names);
  return (is_option ? "unknown option " : "unexpected argument ") + word + (nearest ? "; did you mean --" + *nearest + '?' : "");
}

std::string SpanText(std::chrono::nanoseconds span) {
  constexpr std::array units{std::pair{1e9, "s"}, std::pair{1e6, "ms"}, std::pair{1e3, "us"}, std::pair{1.0, "ns"}};
  for (const auto& [nanoseconds, unit] : units) {
    char text[32];
    std::snprintf(text, sizeof text, "%g%s", static_cast<double>(span.count()) / nanoseconds, unit);
    if (static_cast<double>(span.count()) >= nanoseconds || nanoseconds == 1.0) return text;
  }
  return {};
}

}  // namespace

const char* ModeName(unsigned mode) { return netuit::ModeOf(netuit::AsyncMode{mode}).name; }

void Want(bool condition, const std::string& text) {
  if (!condition) throw uit::InputError(text);
}

std::chrono::nanoseconds ParseSpan(const std::string& option, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw uit::InputError(option + " " + text + ": " + why);
  };
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) refuse("not a span of time such as 10ms or 5s");
  std::string unit(rest, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  double nanoseconds = number;
  if (unit.empty() || unit == "s") {
    nanoseconds *= 1e9;
  } else if (unit == "ms") {
    nanoseconds *= 1e6;
  } else if (unit == "us") {
    nanoseconds *= 1e3;
  } else if (unit == "min") {
    nanoseconds *= 60e9;
  } else if (unit != "ns") {
    refuse("unknown unit " + unit + " (ns, us, ms, s, min)");
  }
  if (!std::isfinite(nanoseconds) || nanoseconds < 0) refuse("not a span of time such as 10ms or 5s");
  if (nanoseconds > 9e18) refuse("longer than 285 years");
  return std::chrono::nanoseconds{std::llround(nanoseconds)};
}

CLI::Validator OneOf(std::vector<std::string> choices) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ",") + choice;
  list = '{' + list + '}';
  const auto check = [choices = std::move(choices), list](const std::string& word) {
    return std::ranges::count(choices, word) > 0 ? std::string{} : word + " not in " + list + DidYouMean(word, choices);
  };
  return {check, list};
}

std::string Natural(const std::string& number) {
  return number.starts_with('-') ? number + " is negative" : std::string{};
}

SpanOption::SpanOption(CLI::App& app, std::string name, std::chrono::nanoseconds& span, const std::string& help)
    : name_{std::move(name)},
      text_{SpanText(span)},
      span_{span},
      option_{app.add_option(name_, text_, help + " (default: " + text_ + ")")->type_name("SPAN")} {}

void SpanOption::Finish() { span_ = ParseSpan(name_, text_); }

SettingsOptions::SettingsOptions(CLI::App& app, Settings& settings)
    : settings_{settings},
      duration_{app, "--duration", settings.schedule.duration, "length of a run: seconds, or with a unit"},
      rolling_{app, "--period-rolling", settings.schedule.span, "mode 1: work between barriers"},
      fixed_{app, "--period-fixed", settings.schedule.period, "mode 2: period of the barriers"},
      interval_{app, "--snapshot-interval", settings.snapshot_interval, "time from the beginning of one snapshot to the next"},
      length_{app, "--snapshot-length", settings.snapshot_length, "length of a snapshot, at the end of its interval"} {
  app.add_option("--threads", settings.threads, "workers in each process")->type_name("N")->check(Natural);
  app.add_option("--placement", settings.placement, "metis, contiguous, round_robin, random, or a file")->type_name("HOW");
  app.add_option("--mode,--modes", modes_, "asynchronicity modes by number or name, as in 0,3 (default: 3)")
      ->type_name("M,...")
      ->delimiter(',')
      ->default_str("");
  app.add_option("--updates", settings.schedule.updates, "end a run after N updates; without --duration, there is no time limit")
      ->type_name("N")->check(Natural);
  app.add_option("--clock-every", settings.schedule.clock_every, "modes 3 and 4: updates between checks of the clock")
      ->type_name("N")->check(Natural);
  app.add_option("--slack", settings.schedule.slack,
                 "mode 3: updates that a worker may be ahead of those whose values it reads, or automatic (default: no limit)")
      ->type_name("N")
      ->transform([](const std::string& text) { return text == "automatic" ? std::to_string(netuit::automatic) : text; })
      ->check(Natural);
  app.add_option("--replicates", settings.replicates, "runs of each mode")->type_name("N")->check(Natural);
  app.add_option("--seed", settings.seed, "first seed")->type_name("N")->check(Natural);
  app.add_option("--output", settings.output, "rows as CSV (default: standard output)")->type_name("FILE");
  app.add_option("--quality", settings.quality, "quality of service by snapshot and pair of workers as CSV")->type_name("FILE");
  app.add_flag("--quality-channels", settings.quality_channels, "also one row per channel over each whole run");
  app.add_option("--trace", settings.trace, "what each worker does when, for Perfetto (ui.perfetto.dev)")->type_name("FILE");
  app.add_flag("--progress", settings.progress, "print progress lines on stderr even if it is not a terminal");
  app.add_flag("--watch", settings.watch, "print a table of all workers on stderr four times a second");
}

void SettingsOptions::Finish() {
  if (!modes_.empty()) settings_.modes.clear();
  for (const std::string& mode : modes_) settings_.modes.push_back(ParseMode(mode));
  for (SpanOption* span : {&duration_, &rolling_, &fixed_, &interval_, &length_}) span->Finish();
  if (!duration_.IsGiven() && settings_.schedule.updates > 0) settings_.schedule.duration = {};
  Want(settings_.threads > 0, "--threads 0: a process needs at least one worker");
  Want(settings_.threads <= 4096, "--threads: more than 4096 workers in a process");
  Want(settings_.schedule.clock_every > 0, "--clock-every 0: a run that never checks the clock never ends");
  Want(settings_.replicates > 0, "--replicates 0: nothing to do");
  Want(settings_.record.empty() || settings_.replay.empty(), "--record: a replay cannot be recorded");
  Want(!settings_.modes.empty(), "--modes: no mode given");
  Want(settings_.schedule.span.count() > 0, "--period-rolling: must be longer than 0");
  Want(settings_.schedule.period.count() > 0, "--period-fixed: must be longer than 0");
  Want(settings_.snapshot_interval.count() > 0, "--snapshot-interval: must be longer than 0");
  Want(settings_.snapshot_length.count() > 0, "--snapshot-length: must be longer than 0");
  Want(!settings_.quality_channels || !settings_.quality.empty(), "--quality-channels: requires a --quality file");
  Want(settings_.schedule.duration.count() > 0 || settings_.schedule.updates > 0,
       duration_.IsGiven() ? "--duration 0 without --updates: the run would never end"
                           : "--updates 0: the run would never end");
}

bool Parse(CLI::App& app, int argc, const char* const* argv, std::string& text) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream out;
    app.exit(asked, out, out);
    text = out.str();
    return false;
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> rest = app.remaining();
    throw uit::InputError(rest.empty() ? error.what() : RefusalOf(rest.front(), app));
  } catch (const CLI::ParseError& error) {
    throw uit::InputError(error.what());
  }
  return true;
}

}  // namespace demo
