#pragma once

#include <string>
#include <vector>

#include "tests/demos/refusals/program.hpp"

namespace refusals {

/// A command line that a program refuses.
struct Refusal {
  std::vector<std::string> arguments;
  std::string says;  ///< what its one line begins with, behind "conduit: error: "
  int code = 2;
};

/// A path that does not exist, in a folder that does not.
inline const std::string nowhere = "no_such_folder/file.csv";

/// What channel_selection refuses; its files are written to `folder`.
std::vector<Refusal> ChannelSelectionRefusals(const Folder& folder);
/// What digital_evolution refuses; its files are written to `folder`.
std::vector<Refusal> DigitalEvolutionRefusals(const Folder& folder);

}  // namespace refusals
