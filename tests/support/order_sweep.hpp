#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
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

/// Lines of the headers met that have an order stronger than relaxed, of which none or too few were met.
inline std::vector<std::string> UnmetOrders(const std::vector<ExploredStructure>& structures, const std::string& include) {
  std::map<std::string, std::map<std::size_t, int>> num_met;
  for (const OrderSite& site : OrdersMet(structures)) ++num_met[HeaderOf(site)][site.line];
  const auto num_in = [](const std::string& text, const std::string& word) {
    int num = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++num;
    return num;
  };
  std::vector<std::string> unmet;
  for (auto& [header, lines] : num_met) {
    std::ifstream file{include + "/" + header};
    if (!file) throw std::runtime_error{"cannot read " + include + "/" + header};
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
      text = text.substr(0, text.find("//"));
      const int num_strong = num_in(text, "memory_order_") - num_in(text, "memory_order_relaxed");
      if (num_strong > lines[line]) unmet.push_back(header + ":" + std::to_string(line));
    }
  }
  return unmet;
}

}  // namespace uit::testing
