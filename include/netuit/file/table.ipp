#pragma once

#include <ostream>
#include <string>

#include <netuit/file/atomic_file.hpp>
#include <netuit/file/table.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE void Table::Save(const std::string& path) const {
  WriteFileAtomically(path, [this](std::ostream& out) { out << Text(); });
}

UIT_DEFINE void CheckWritable(const std::string& path) {
  struct Withdrawn {};
  try {
    WriteFileAtomically(path, [](std::ostream&) { throw Withdrawn{}; });
  } catch (const Withdrawn&) {
  }
}

}  // namespace netuit
