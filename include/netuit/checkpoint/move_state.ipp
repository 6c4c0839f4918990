#pragma once

#include <cstdint>

#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/memory_store.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/move_state.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE std::uint64_t MoveState(Mesh& from, Mesh& to) {
  detail::CheckSavable(from);
  if (!to.IsOpen()) throw uit::Error("the mesh cannot take in a state, because it is closed or has lost a peer");
  detail::MemoryStore store;
  const detail::CheckpointManifest manifest = detail::SaveState(from, store);
  detail::LoadState(to, manifest, store, "the mesh whose state is moved");
  return store.NumBytes();
}

}  // namespace netuit
