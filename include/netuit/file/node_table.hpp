#pragma once

#include <charconv>
#include <concepts>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A column of a CSV file with a row per node. The first line names the columns; the first column has the nodes' labels, as
/// their graph's file writes them. What WriteTable writes is such a file.
struct NodeTable {
  std::filesystem::path path;  ///< of the file
  std::string column;          ///< its name
};

/// What a field is to be filled from.
///
///     auto power = mesh.AddField<double>(netuit::FromTable("grid.csv", "power"));
inline NodeTable FromTable(std::filesystem::path path, std::string column) { return {std::move(path), std::move(column)}; }

namespace detail {

/// Calls `set(node, cell)` for each row of the table, where `node` is the number of the row's label among `labels`. `set` returns
/// false if the cell is no value. Throws uit::InputError "name:line: reason" if the file is no such table, lacks the column, or
/// does not have every label once.
void LoadNodeColumn(const NodeTable& table, const std::vector<std::string>& labels,
                    const std::function<bool(NodeId, std::string_view)>& set);

/// Reads a number, or 0 or 1 for a truth. An empty cell is a floating-point number that is none (NaN). False if it is no such value.
template <typename T>
  requires std::is_arithmetic_v<T>
bool TryParseCell(std::string_view cell, T& value) {
  if constexpr (std::same_as<T, bool>) {
    value = cell == "1";
    return value || cell == "0";
  } else {
    if constexpr (std::floating_point<T>) {
      if (cell.empty()) return value = std::numeric_limits<T>::quiet_NaN(), true;
    }
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc{} && end == cell.data() + cell.size();
  }
}

}  // namespace detail

/// Returns the values in a column of a table, by node; `labels` are the nodes'. Throws uit::InputError "name:line: reason" if a
/// node has no row or two, a row no node, or a cell no value.
template <typename T>
  requires std::is_arithmetic_v<T>
std::vector<T> LoadNodeTable(const NodeTable& table, const std::vector<std::string>& labels) {
  std::vector<T> values(labels.size());
  detail::LoadNodeColumn(table, labels, [&values](NodeId node, std::string_view cell) {
    T value{};
    const bool is_value = detail::TryParseCell(cell, value);
    values[node] = value;
    return is_value;
  });
  return values;
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/node_table.ipp>
#endif
