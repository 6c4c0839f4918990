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

/// A way to do a piece of work that others do, too. All processes, or all members of a team, have the same ones and run them
/// together. The work may be another one in each round.
struct Method {
  std::string name{};                                          ///< as in the rows
  std::function<void(std::size_t round)> run{};                ///< does the work once. Collective
  std::function<std::string(std::size_t round)> find_fault{};  ///< says what is wrong with the result, or nothing. Collective
  std::function<double(std::size_t round)> num_items{};        ///< that all together have handled. Called in the end
};

/// Options of a program that lets methods compete.
struct ContestOptions {
  std::uint32_t rounds = 5;
  std::uint32_t threads = 1;
  bool shares_memory = true;

  /// Adds them to a command line. The values are the defaults.
  void AddTo(CLI::App& app);
};

/// Runs all methods in each round, in turns, so that a disturbance of the machine meets all of them. Round 0 is run once more
/// before, without being counted. Then prints a row for each method: millions of items per second over all members (harmonic mean,
/// least and most of the rounds), and how many times as fast as the first method it is in the same round (median, least and most).
/// Throws if a method has a fault. Collective.
void Compete(uit::Member& me, const std::vector<Method>& methods, std::size_t rounds);
/// The same for processes. Only rank 0 looks for faults, and needs the numbers of items.
void Compete(const uit::World& world, const std::vector<Method>& methods, std::size_t rounds);

/// Reads the command line on rank 0 of a program, and gives the others its verdict. Returns false if the program is to end, because
/// it was asked for help. Throws uit::InputError with one line; only rank 0 reports it. Collective.
bool ParseOnRoot(const uit::World& world, CLI::App& app, int argc, const char* const* argv);

/// Calls `work` on all members of a team with these options. Collective.
void RunTeam(const uit::World& world, const ContestOptions& options, const std::function<void(uit::Member&)>& work);

}  // namespace demo
