#pragma once

/// Calls whose arguments are combined before they are sent: Mesh::AddCall with uit::Combine.

#include <cstdint>
#include <memory>
#include <utility>

#include <netuit/calls/call.hpp>
#include <netuit/calls/calls.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <uit/conveyor/combining_conveyor.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

template <typename T, typename Operation>
struct detail::CallLine {
  using Item = uit::Keyed<std::uint32_t, T>;  // by number of the node among its worker's
  using Line = uit::CombiningConveyor<std::uint32_t, T, Operation>;
  using Options = uit::Combine<Operation>;
  static CallItem<T> CallOf(const Item& item) { return {item.key, item.value}; }
};

template <uit::TriviallyCopyable T, typename F, typename Operation>
Call<T, Operation> MeshCalls::AddCall(F function, const uit::Combine<Operation>& combine) {
  auto kind = std::make_unique<detail::CallKind<T, F, Operation>>(*this, Owners(), std::move(function), combine);
  const Call<T, Operation> call = kind->Handle();
  calls_.push_back(std::move(kind));
  return call;
}

}  // namespace netuit
