#pragma once

#include <string>
#include <vector>

#include "tests/demos/refusals/program.hpp"

namespace refusals {

/// A command line that a program must refuse.
struct Refusal {
  std::vector<std::string> arguments;
  std::string says;  ///< beginning of its one error line, after "conduit: error: "
  int code = 2;
};

/// A path in a folder that does not exist.
inline const std::string nowhere = "no_such_folder/file.csv";

/// Returns the command lines that channel_selection must refuse; writes their files to `folder`.
std::vector<Refusal> ChannelSelectionRefusals(const Folder& folder);
/// Returns the command lines that digital_evolution must refuse; writes their files to `folder`.
std::vector<Refusal> DigitalEvolutionRefusals(const Folder& folder);

}  // namespace refusals
