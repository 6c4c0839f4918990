#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/memory_orders.hpp"
#include "tests/support/schedule_count.hpp"

/// Checks that the explored scenarios would notice each memory order of the library that is too weak.
namespace uit::testing {

/// Returns the next weaker orders of an operation.
inline std::vector<std::memory_order> WeakerThan(const OrderSite& site) {
  if (site.order == std::memory_order_acq_rel) return {std::memory_order_acquire, std::memory_order_release};
  return {std::memory_order_relaxed};
}

inline std::string Words(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "another order";
  }
}
inline std::string Words(OrderOf of) {
  switch (of) {
    case OrderOf::load: return "load";
    case OrderOf::store: return "store";
    case OrderOf::exchange: return "exchange";
    default: return "failed exchange";
  }
}

/// Returns a header's name as it is included, or nothing if it is not a header of the library.
inline std::string HeaderOf(const OrderSite& site) {
  const std::string folder = "include/";
  const std::size_t begin = site.file.rfind(folder);
  return begin == std::string::npos ? "" : site.file.substr(begin + folder.size());
}

/// Returns the orders in the library's headers that explored structures have used.
inline std::set<OrderSite> OrdersMet(const std::vector<ExploredStructure>& structures) {
  std::set<OrderSite> all;
  for (const ExploredStructure& structure : structures)
    for (const OrderSite& site : structure.orders)
      if (!HeaderOf(site).empty()) all.insert(site);
  return all;
}

/// Weakens each of those orders by itself, and explores again the structures that use it, the smallest first, until a
/// schedule fails. Prints which failure noticed each order, and returns the orders that none noticed.
inline std::vector<std::string> UnnoticedOrders(std::vector<ExploredStructure> structures) {
  std::ranges::sort(structures, {}, &ExploredStructure::num_schedules);
  std::vector<std::string> unnoticed;
  for (const OrderSite& site : OrdersMet(structures)) {
    for (const std::memory_order weaker : WeakerThan(site)) {
      const MemoryOrders::Weakened weakened{site, weaker};
      const std::string what = HeaderOf(site) + ":" + std::to_string(site.line) + " " + Words(site.of) + " " +
                               Words(site.order) + " as " + Words(weaker);
      const auto notices = [&](const ExploredStructure& structure) {
        if (!structure.orders.contains(site)) return false;
        const Explorer::Result result = structure.explore_again();
        if (result.failure.empty()) return false;
        std::printf("%-72s %s: %s\n", what.c_str(), structure.name.c_str(), result.failure.c_str());
        return true;
      };
      if (std::ranges::none_of(structures, notices)) unnoticed.push_back(what);
    }
  }
  return unnoticed;
}

/// A header whose memory orders no scenario needs to use.
struct UnexploredHeader {
  std::string header;  ///< as it is included
  std::string reason;
};

/// Returns how many memory orders stronger than relaxed a line of code names.
inline std::size_t NumStrongOrders(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const auto count = [line](std::string_view word) {
    std::size_t num = 0;
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + word.size())) ++num;
    return num;
  };
  return count("memory_order_") - count("memory_order_relaxed");
}

/// Returns the lines of all headers in `include` that name an order stronger than relaxed which no structure has used, as
/// "header:line". Skips the exceptions. Also returns an exception, as "header: needs no exception", if all of its orders were used.
inline std::vector<std::string> UnmetOrders(const std::vector<ExploredStructure>& structures, const std::filesystem::path& include,
                                            const std::vector<UnexploredHeader>& exceptions) {
  std::map<std::string, std::map<std::size_t, std::size_t>> num_met;
  for (const OrderSite& site : OrdersMet(structures)) ++num_met[HeaderOf(site)][site.line];
  std::map<std::string, std::vector<std::string>> unmet;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{include}) {
    if (!entry.is_regular_file()) continue;
    const std::string header = entry.path().lexically_relative(include).generic_string();
    std::ifstream file{entry.path()};
    if (!file) throw std::runtime_error{"cannot read " + entry.path().string()};
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
      if (NumStrongOrders(text) > num_met[header][line]) unmet[header].push_back(header + ":" + std::to_string(line));
    }
  }
  std::vector<std::string> result;
  for (const UnexploredHeader& exception : exceptions) {
    if (unmet.erase(exception.header) == 0) result.push_back(exception.header + ": needs no exception");
  }
  for (const auto& [header, lines] : unmet) result.insert(result.end(), lines.begin(), lines.end());
  return result;
}

}  // namespace uit::testing
