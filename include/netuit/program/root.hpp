#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include <uit/support/error.hpp>
#include <uit/wire/world.hpp>

namespace netuit {

/// What a program ends with when `failure` has been thrown: 2 for input that cannot be, 3 for a process that was lost, 5
/// for output that cannot be written, 1 for all else; what RootFailed says it was.
int ExitCodeOf(const std::exception_ptr& failure) noexcept;

/// What `f()` returns on rank 0, and a default-constructed value elsewhere: for what one process reads or makes and
/// a mesh then hands out. Collective. If it throws, every process throws: rank 0 the same, the others a
/// RootFailed, since one report is enough.
template <std::invocable F>
  requires std::default_initializable<std::invoke_result_t<F>>
auto OnRoot(const uit::World& world, F&& f);

/// Rank 0 could not do its part, and says why itself.
class RootFailed : public uit::Error {
 public:
  /// With the code that rank 0 ends with.
  explicit RootFailed(int exit_code) : uit::Error("rank 0 failed"), exit_code_(exit_code) {}
  /// What rank 0 ends with.
  int ExitCode() const { return exit_code_; }

 private:
  int exit_code_;
};

inline int ExitCodeOf(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const RootFailed& error) {
    return error.ExitCode();
  } catch (const uit::InputError&) {
    return 2;
  } catch (const uit::OutputError&) {
    return 5;
  } catch (const uit::PeerLost&) {
    return 3;
  } catch (...) {
    return 1;
  }
}

template <std::invocable F>
  requires std::default_initializable<std::invoke_result_t<F>>
auto OnRoot(const uit::World& world, F&& f) {
  std::invoke_result_t<F> result{};
  std::exception_ptr failure;
  if (world.IsRoot()) {
    try {
      result = std::forward<F>(f)();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  uit::Bytes verdict;
  if (failure) verdict.push_back(static_cast<std::byte>(ExitCodeOf(failure)));
  verdict = world.Broadcast(std::move(verdict));
  if (failure) std::rethrow_exception(failure);
  if (!verdict.empty()) throw RootFailed(std::to_integer<int>(verdict[0]));
  return result;
}

}  // namespace netuit
