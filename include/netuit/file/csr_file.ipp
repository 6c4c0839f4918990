#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <netuit/file/atomic_file.hpp>
#include <netuit/file/csr_file.hpp>
#include <netuit/file/graph_options.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// How a CsrFile begins.
struct CsrHeader {
  static constexpr std::array<char, 8> right_magic{'U', 'I', 'T', 'C', 'S', 'R', '\x1A', '\n'};
  static constexpr std::uint32_t right_version = 1;
  std::array<char, 8> magic = right_magic;
  std::uint32_t version = right_version;
  std::uint32_t has_weights = 0;
  std::uint64_t num_nodes = 0;
  std::uint64_t num_edges = 0;

  /// Returns the size of the whole file. Requires numbers that a file can have.
  std::uint64_t NumBytes() const { return sizeof(CsrHeader) + 8 * (num_nodes + 1) + (has_weights != 0 ? 12 : 4) * num_edges; }
};
static_assert(sizeof(CsrHeader) == 32);

inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

}  // namespace detail

UIT_DEFINE CsrFile::CsrFile(const std::filesystem::path& path) : name_(path.string()), stream_(OpenInput(path)) { ReadHeader(); }

UIT_DEFINE void CsrFile::Fail(const std::string& reason) const { throw uit::InputError(name_ + ": " + reason); }

UIT_DEFINE void CsrFile::ReadHeader() {
  if (!detail::is_little_endian) Fail("CSR files can only be read on little-endian hosts");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name_, ignored)) Fail("is not a regular file");
  const std::uint64_t num_bytes = std::filesystem::file_size(name_, ignored);
  detail::CsrHeader header;
  if (ignored || num_bytes < sizeof header) Fail("is not a CSR file, but shorter than its header");
  Read(0, &header, 1);
  if (header.magic != detail::CsrHeader::right_magic) Fail("is not a CSR file, as netuit::WriteCsr writes them");
  if (header.version != detail::CsrHeader::right_version)
    Fail("has version " + std::to_string(header.version) + " of the CSR format, and only version 1 is read");
  if (header.has_weights > 1) Fail("has unknown flags: " + std::to_string(header.has_weights));
  if (header.num_nodes > std::numeric_limits<NodeId>::max()) Fail("has more than 2^32 - 1 nodes");
  const bool is_possible = header.num_edges <= num_bytes / sizeof(NodeId);  // else NumBytes may overflow
  if (!is_possible || header.NumBytes() != num_bytes) {
    Fail("has " + std::to_string(num_bytes) + " bytes, which " + std::to_string(header.num_nodes) + " nodes and " +
         std::to_string(header.num_edges) + " edges " + (header.has_weights != 0 ? "with" : "without") + " weights do not fill");
  }
  num_nodes_ = header.num_nodes;
  num_edges_ = header.num_edges;
  has_weights_ = header.has_weights != 0;
}

template <typename V>
void CsrFile::Read(std::uint64_t at, V* values, std::uint64_t count) {
  stream_.seekg(static_cast<std::streamoff>(at));
  stream_.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * sizeof(V)));
  if (!stream_) Fail("cannot be read to its end");
}

UIT_DEFINE std::uint64_t CsrFile::AtRow(NodeId node) const {
  return sizeof(detail::CsrHeader) + sizeof(EdgeId) * std::uint64_t{node};
}

UIT_DEFINE EdgeId CsrFile::FirstEdge(NodeId node) {
  EdgeId first = 0;
  Read(AtRow(node), &first, 1);
  return first;
}

UIT_DEFINE CsrRows CsrFile::Rows(NodeId first, NodeId last) {
  CsrRows rows{.first_node = first};
  rows.first_out.resize(std::size_t{last} - first + 1);
  Read(AtRow(first), rows.first_out.data(), rows.first_out.size());
  CheckRows(rows);
  const EdgeId begin = rows.first_out.front();
  const EdgeId count = rows.first_out.back() - begin;
  for (EdgeId& edge : rows.first_out) edge -= begin;
  const std::uint64_t at_targets = AtRow(NumNodes()) + sizeof(EdgeId);
  rows.targets.resize(count);
  Read(at_targets + begin * sizeof(NodeId), rows.targets.data(), count);
  if (has_weights_) {
    rows.weights.resize(count);
    Read(at_targets + num_edges_ * sizeof(NodeId) + begin * sizeof(double), rows.weights.data(), count);
  }
  CheckEdges(rows);
  return rows;
}

UIT_DEFINE void CsrFile::CheckRows(const CsrRows& rows) const {
  const std::vector<EdgeId>& first = rows.first_out;
  if (rows.first_node == 0 && first.front() != 0) Fail("the first row does not begin at edge 0");
  const auto falls = std::ranges::adjacent_find(first, std::greater{});
  if (falls != first.end()) {
    const std::uint64_t node = rows.first_node + static_cast<std::uint64_t>(falls - first.begin());
    Fail("the row of node " + std::to_string(node) + " ends before it begins");
  }
  const bool is_last = rows.first_node + rows.NumNodes() == num_nodes_;
  if (first.back() > num_edges_ || (is_last && first.back() != num_edges_))
    Fail("the rows do not end at edge " + std::to_string(num_edges_) + ", the number of edges");
}

UIT_DEFINE void CsrFile::CheckEdges(const CsrRows& rows) const {
  for (std::size_t row = 0; row < rows.NumNodes(); ++row) {
    for (EdgeId edge = rows.first_out[row]; edge < rows.first_out[row + 1]; ++edge) {
      const NodeId target = rows.targets[edge];
      const auto name = [&] { return "edge " + std::to_string(rows.first_node + row) + " -> " + std::to_string(target); };
      if (target >= num_nodes_) Fail(name() + " ends outside the " + std::to_string(num_nodes_) + " nodes");
      if (rows.weights.empty()) continue;
      const double weight = rows.weights[edge];
      if (!std::isfinite(weight) || weight < 0) Fail(name() + " has a weight that is negative or not finite");
    }
  }
}

UIT_DEFINE Topology ReadCsr(const std::filesystem::path& path, const GraphOptions& options) {
  CsrFile file(path);
  if (file.NumNodes() > options.max_nodes)
    throw uit::InputError(path.string() + ": more than " + std::to_string(options.max_nodes) + " nodes");
  if (file.NumEdges() > options.max_edges)
    throw uit::InputError(path.string() + ": more than " + std::to_string(options.max_edges) + " edges");
  CsrRows rows = file.Rows(0, file.NumNodes());
  std::vector<Edge> edges;
  edges.reserve(rows.targets.size());
  for (NodeId node = 0; node < file.NumNodes(); ++node)
    for (EdgeId edge = rows.first_out[node]; edge < rows.first_out[node + 1]; ++edge)
      edges.push_back({node, rows.targets[edge], file.HasWeights() ? rows.weights[edge] : 1});
  rows = {};
  return Topology{file.NumNodes(), std::move(edges)};
}

UIT_DEFINE void WriteCsr(const std::filesystem::path& path, const Topology& topology) {
  if (!detail::is_little_endian) throw uit::OutputError(path.string() + ": CSR files can only be written on little-endian hosts");
  if (topology.HasLabels()) throw uit::InputError(path.string() + ": a CSR file cannot keep the labels of nodes");
  WriteFileAtomically(path, [&](std::ostream& out) {
    const auto write = [&]<typename V>(std::span<const V> values) {
      out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    };
    const auto write_one = [&]<typename V>(const V& value) { write(std::span<const V>(&value, 1)); };
    detail::CsrHeader header;
    header.has_weights = topology.HasEdgeWeights() ? 1 : 0;
    header.num_nodes = topology.NumNodes();
    header.num_edges = topology.NumEdges();
    write_one(header);
    for (NodeId node = 0; node < topology.NumNodes(); ++node) write_one(topology.FirstOutEdge(node));
    write_one(topology.NumEdges());
    for (NodeId node = 0; node < topology.NumNodes(); ++node) write(topology.OutNeighbors(node));
    if (!topology.HasEdgeWeights()) return;
    for (EdgeId edge = 0; edge < topology.NumEdges(); ++edge) write_one(topology.EdgeWeight(edge));
  });
}

UIT_DEFINE bool detail::IsCsrFile(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe cannot be opened twice
  std::ifstream stream{path, std::ios::binary};
  std::array<char, 8> magic{};
  return stream.read(magic.data(), magic.size()) && magic == CsrHeader::right_magic;
}

}  // namespace netuit
