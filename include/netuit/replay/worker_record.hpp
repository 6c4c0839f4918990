#pragma once

namespace netuit::replay {

class RecordWriter;
class RecordReader;

/// What a worker writes down, or goes by: at most one of them is not null.
struct WorkerRecord {
  RecordWriter* writer = nullptr;  ///< in a run that is recorded
  RecordReader* reader = nullptr;  ///< in a replay

  /// Whether there is any.
  bool IsOn() const { return writer != nullptr || reader != nullptr; }
};

}  // namespace netuit::replay
