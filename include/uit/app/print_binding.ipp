#pragma once

#include <cstddef>
#include <string>

#include <uit/app/application_hooks.hpp>
#include <uit/app/print_binding.hpp>
#include <uit/config.hpp>
#include <uit/team/team.hpp>

namespace uit {

UIT_DEFINE void PrintBinding(const Team& team) {
  if (team.Cpus().empty()) return;
  std::string words = "rank " + std::to_string(team.Rank()) + ":";
  for (std::size_t thread = 0; thread < team.Cpus().size(); ++thread)
    words += (thread == 0 ? " thread " : ", thread ") + std::to_string(thread) + " on CPU " + std::to_string(team.Cpus()[thread]);
  PrintLine("binding", words);
}

}  // namespace uit
