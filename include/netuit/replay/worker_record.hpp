#pragma once

namespace netuit::replay {

class RecordWriter;
class RecordReader;

/// A worker's recorder or its reader of a record. At most one of them is not null.
struct WorkerRecord {
  RecordWriter* writer = nullptr;  ///< while a run is recorded
  RecordReader* reader = nullptr;  ///< in a replay

  /// Whether the run is recorded or replayed.
  bool IsOn() const { return writer != nullptr || reader != nullptr; }
};

}  // namespace netuit::replay
