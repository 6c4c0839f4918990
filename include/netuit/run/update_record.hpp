#pragma once

#include <cstddef>

#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/record_writer.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// One worker's record, update by update, in a run that is recorded or replayed. That worker only.
class UpdateRecord {
 public:
  explicit UpdateRecord(const replay::WorkerRecord& record) : record_(record) {}

  /// Whether the run is recorded or replayed.
  bool IsOn() const { return record_.IsOn(); }
  /// Whether the run is replayed.
  bool IsReplay() const { return record_.reader != nullptr; }
  /// Whether a replay has reached the end of the recorded updates.
  bool IsOver() { return record_.reader->Peek() != replay::Event::update; }
  /// What layers write to or read from.
  const replay::WorkerRecord& Get() const { return record_; }

  /// Records that an update begins. This is enough if the values that nodes see follow from it. Throws uit::OutputError.
  void AddUpdate() { record_.writer->Add(replay::Event::update); }
  /// Reads that an update begins. Throws uit::InputError or RecordEnd.
  void TakeUpdate() {
    if (record_.reader->Take() != replay::Event::update) record_.reader->FailToFit("begins an update");
  }
  /// Records or reads the end of the updates. Throws uit::OutputError.
  void EndUpdates() {
    if (record_.writer != nullptr) record_.writer->Add(replay::Event::end);
    else if (record_.reader->Peek() == replay::Event::end) record_.reader->Take();
  }
  /// Ends the record with the worker's report. In a replay of a complete record, reads the report from it instead. Throws
  /// uit::OutputError.
  void Finish(WorkerReport& report) {
    replay::RecordSummary summary{.num_barriers = report.num_barriers, .tally = report.tally, .inside = report.inside};
    if (record_.writer != nullptr) {
      std::byte* const at = record_.writer->Reserve(sizeof summary);
      uit::StoreBytes(summary, {at, sizeof summary});
      record_.writer->Commit(replay::Event::summary, at + sizeof summary);
      record_.writer->Seal();
    } else if (record_.reader->Peek() == replay::Event::summary) {
      record_.reader->Take();
      if (!record_.reader->Rest().TryRead(summary)) return;
      report.num_barriers = summary.num_barriers;
      report.tally = summary.tally;
      report.inside = summary.inside;
    }
  }

 private:
  replay::WorkerRecord record_;
};

}  // namespace netuit::detail
