#pragma once

#include <filesystem>
#include <vector>

#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// Saves the graph of a mesh, so that a program that goes on from a checkpoint need not read or make it again. It may be in the
/// checkpoint's folder. A graph does not change, so one call is enough, however many checkpoints follow.
///
///     const bool goes_on = netuit::HasCheckpoint(team.GetWorld(), "run.ckpt");
///     netuit::Mesh mesh{team, goes_on ? netuit::LoadNetworks(team.GetWorld(), "run.ckpt") : MakeNetworks()};
///     auto theta = mesh.AddPublishedField<double>();
///     if (goes_on) netuit::LoadCheckpoint(mesh, "run.ckpt");
///     else netuit::SaveNetworks(mesh, "run.ckpt");
///
/// It has the networks with their names, periods, edges, weights and delays, and the labels of the nodes. It does not have the
/// nodes' weights, which only placement uses. `graph.json` lists its contents, and a subfolder has .npy files for each network:
/// `outputs` has the number of outputs by node. By edge, in order of source, `targets` has the target, and `inputs` tells which
/// input of the target the edge is. Processes write their parts at the same time; all must see the same folder. An older graph in
/// the folder is replaced in one step.
///
/// Collective. Throws uit::OutputError on every process if a file cannot be written.
void SaveNetworks(const Mesh& mesh, const std::filesystem::path& folder);

/// Returns the networks that SaveNetworks has saved, for the constructor of a mesh on any number of processes and threads. Edges
/// have the same numbers, and each node's inputs and outputs the same order. Only rank 0, which needs the whole graph, reads it.
///
/// Collective. Throws if the folder has no graph, or if a file has changed: rank 0 throws uit::InputError, the others RootFailed.
std::vector<NamedNetwork> LoadNetworks(const uit::World& world, const std::filesystem::path& folder);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/checkpoint/saved_networks.ipp>
#endif
