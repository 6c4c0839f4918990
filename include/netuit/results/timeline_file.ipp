#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>

#include <netuit/file/atomic_file.hpp>
#include <netuit/quality/timeline.hpp>
#include <netuit/results/timeline_file.hpp>
#include <uit/config.hpp>

namespace netuit {

namespace detail {

UIT_DEFINE const char* ActivityName(Activity activity) {
  switch (activity) {
    case Activity::update: return "update";
    case Activity::receive: return "receive";
    case Activity::send: return "send";
    case Activity::exchange: return "exchange";
    case Activity::wait: return "wait";
    case Activity::barrier: return "barrier";
    default: return "end";
  }
}

/// Returns a text in quotes, as JSON wants it.
UIT_DEFINE std::string JsonText(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

/// Returns a time in microseconds, to the nanosecond.
UIT_DEFINE std::string Microseconds(std::chrono::nanoseconds time) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(time.count()) / 1000);
  return text;
}

}  // namespace detail

UIT_DEFINE void TimelineFile::Add(const std::string& name, const Timeline& timeline) {
  const auto process = [&](const WorkerId& worker) { return std::to_string(next_process_ + worker.process); };
  std::set<WorkerId> workers;
  for (const TimelineSpan& span : timeline.spans) workers.insert(span.worker);
  for (const WorkerId& worker : workers) {
    const std::string pid = R"(,"pid":)" + process(worker);
    if (worker.thread == 0)
      events_.push_back(R"({"ph":"M","name":"process_name")" + pid + R"(,"args":{"name":)" +
                        detail::JsonText(name + ": process " + std::to_string(worker.process)) + "}}");
    events_.push_back(R"({"ph":"M","name":"thread_name")" + pid + R"(,"tid":)" + std::to_string(worker.thread) +
                      R"(,"args":{"name":"thread )" + std::to_string(worker.thread) + "\"}}");
  }
  for (const TimelineSpan& span : timeline.spans) {
    const std::string where = R"(,"pid":)" + process(span.worker) + R"(,"tid":)" + std::to_string(span.worker.thread);
    events_.push_back(R"({"ph":"X","name":")" + std::string(detail::ActivityName(span.activity)) + "\"" + where + R"(,"ts":)" +
                      detail::Microseconds(span.begin) + R"(,"dur":)" + detail::Microseconds(span.length) + "}");
    if (span.is_last != 0)
      events_.push_back(R"({"ph":"i","s":"t","name":"later spans were not recorded")" + where + R"(,"ts":)" +
                        detail::Microseconds(span.begin + span.length) + "}");
  }
  for (const TimelineCount& count : timeline.counts) {
    events_.push_back(R"({"ph":"C","name":"messages of thread )" + std::to_string(count.worker.thread) + R"(","pid":)" +
                      process(count.worker) + R"(,"ts":)" + detail::Microseconds(count.time) + R"(,"args":{"refused":)" +
                      std::to_string(count.refused) + R"(,"replaced":)" + std::to_string(count.replaced) + R"(,"read":)" +
                      std::to_string(count.read) + "}}");
  }
  if (!workers.empty()) next_process_ += workers.rbegin()->process + 1;
}

UIT_DEFINE void TimelineFile::Save(const std::filesystem::path& path) const {
  WriteFileAtomically(path, [this](std::ostream& out) {
    out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    for (std::size_t i = 0; i < events_.size(); ++i) out << events_[i] << (i + 1 == events_.size() ? "\n" : ",\n");
    out << "]}\n";
  });
}

}  // namespace netuit
