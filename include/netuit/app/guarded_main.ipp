#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <netuit/app/exit_code.hpp>
#include <netuit/app/guarded_main.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/app/verdict.hpp>
#include <uit/app/application_hooks.hpp>
#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#if UIT_WITH_MPI
#include <uit/app/session.hpp>
#else
#include <uit/app/environment.hpp>
#include <uit/support/error.hpp>
#endif

namespace netuit::detail {

UIT_DEFINE int RunGuarded([[maybe_unused]] int argc, [[maybe_unused]] char** argv,
                           const std::function<int(const uit::World&)>& body) {
  bool is_told = false;
  std::shared_ptr<uit::ProcessState> process;
  const auto tell = [&is_told, &process] {
    if (std::exchange(is_told, true)) return;
    if (process) process->CountAsTold();
    try {
      throw;
    } catch (const uit::FailedElsewhere&) {
    } catch (const std::exception& error) {
      uit::PrintLine("error", error.what());
    } catch (...) {
      uit::PrintLine("error", "an exception was thrown that is not a std::exception");
    }
  };
  int code = 0;
  std::size_t rank = 0;
  try {
#if UIT_WITH_MPI
    uit::mpi::Session session{argc, argv};
    const uit::World world = session.World();
#else
    const uit::Launch launch = uit::LaunchFromEnvironment();
    if (launch.num_processes > 1) {
      if (launch.rank != 0) throw RootFailed(uit::ErrorKind::input);  // one line is enough
      throw uit::InputError("this program is built without MPI, but mpirun has started " + std::to_string(launch.num_processes) +
                            " processes of it; build it with MPI (mpicxx -DUIT_WITH_MPI=1), or start it without mpirun");
    }
    const uit::World world{std::make_shared<uit::Alone>(std::make_shared<uit::ProcessState>(uit::ApplicationHooks()))};
#endif
    process = world.Process();
    rank = world.Rank();
    LeaveBegun(rank);
    const auto end_with = [&](int exit_code) {
      LeaveVerdict(world.Rank(), exit_code);
      if (world.Process()->Watch().Gone()) LetOthersWrite();
#if UIT_WITH_MPI
      session.EndWith(exit_code);
#endif
    };
    try {
      code = body(world);
      end_with(code);
    } catch (...) {
      tell();  // before the session ends: after one process has left, the launcher may kill others before they print
      end_with(ExitCodeOf(std::current_exception()));
      throw;
    }
  } catch (...) {
    tell();
#if UIT_WITH_MPI
    if (!process) uit::mpi::EndUnbegun();
#endif
    return ExitCodeOf(std::current_exception());
  }
  if (const std::string words = process->TakeUntold(); !words.empty()) uit::PrintLine("error", words);
  if (code != 0 || process->Trouble().empty()) return code;
  LeaveVerdict(rank, 1);  // errors after the first verdict count, too
  return 1;
}

}  // namespace netuit::detail
