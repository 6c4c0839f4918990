#pragma once

#include <concepts>

#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A program as an object: a mesh, with the handles of its fields and channels, and what a node does in an update. Balanced and
/// Resilient run such programs, and make others that take their place. Neither is such a program itself, so they cannot be combined.
template <typename P>
concept MeshProgram = requires(P& program, Node& node) {
  { program.mesh } -> std::convertible_to<Mesh&>;
  program.Update(node);
};

}  // namespace netuit
