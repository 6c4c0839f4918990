#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/team/member.hpp>

namespace CLI {
class App;
}

namespace demo {

/// A way to do a piece of work that others do, too. All members of a team have the same ones.
struct Method {
  std::string name{};                           ///< as in the rows
  std::function<void()> run{};                  ///< does the work once. Collective
  std::function<std::string()> find_fault{};    ///< what is wrong with the last result; empty if nothing is. Collective
  double num_items = 0;                         ///< that all members together handle in a run
};

/// Options of a program that lets methods compete.
struct ContestOptions {
  std::uint32_t rounds = 5;
  std::uint32_t threads = 1;
  bool shares_memory = true;

  /// Adds them to a command line. The values are the defaults.
  void AddTo(CLI::App& app);
};

/// Runs all methods in each round, so that a disturbance of the machine meets all of them, and prints a row for each: items per second
/// over all members (median, least and most of the rounds), and how many times as fast the first method is in the same round. The round
/// before the first is not counted. Throws if a method has a fault. Collective.
void Compete(uit::Member& me, const std::vector<Method>& methods, std::uint32_t rounds);

/// Reads the command line on rank 0 of a program, and gives the others its verdict. Returns false if the program is to end, because it
/// was asked for help. Throws uit::InputError with one line; only rank 0 reports it. Collective.
bool ParseOnRoot(const uit::World& world, CLI::App& app, int argc, const char* const* argv);

/// Calls `work` on all members of a team with these options. Collective.
void RunTeam(const uit::World& world, const ContestOptions& options, const std::function<void(uit::Member&)>& work);

}  // namespace demo
