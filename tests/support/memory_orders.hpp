#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <source_location>
#include <string>

namespace uit::testing {

/// The operation that a memory order belongs to.
enum class OrderOf : std::uint8_t { load, store, exchange, failure };

/// A memory order in the source code: its place and its value.
struct OrderSite {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  OrderOf of = OrderOf::load;
  std::memory_order order = std::memory_order_relaxed;

  auto operator<=>(const OrderSite&) const = default;
};

/// Collects the memory orders, except relaxed ones, that operations on explored atomics use. Can weaken one of them, to check
/// that a schedule then fails.
class MemoryOrders {
 public:
  static MemoryOrders& Get() {
    static MemoryOrders orders;
    return orders;
  }

  /// Returns the order to use at this place, and records it.
  std::memory_order At(const std::source_location& where, OrderOf of, std::memory_order order) {
    if (order == std::memory_order_relaxed) return order;
    if (weakened_) return IsWeakened(where, of) ? weaker_ : order;
    Met& met = met_[(where.line() * 8 + where.column() + static_cast<std::uint32_t>(of)) % met_.size()];
    if (met.line != where.line() || met.column != where.column() || met.of != of || met.file != where.file_name()) {
      met = {where.file_name(), where.line(), where.column(), of};
      seen_.insert({where.file_name(), where.line(), where.column(), of, order});
    }
    return order;
  }

  /// Returns the orders recorded since Forget.
  const std::set<OrderSite>& Seen() const { return seen_; }
  void Forget() {
    met_ = {};
    seen_.clear();
  }

  /// During its lifetime, the order at that place is weaker, and none is recorded.
  class Weakened {
   public:
    Weakened(const OrderSite& site, std::memory_order weaker) {
      Get().weakened_ = site;
      Get().weaker_ = weaker;
    }
    Weakened(const Weakened&) = delete;
    Weakened& operator=(const Weakened&) = delete;
    ~Weakened() { Get().weakened_.reset(); }
  };

 private:
  struct Met {
    const char* file = nullptr;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    OrderOf of = OrderOf::load;
  };

  MemoryOrders() = default;
  bool IsWeakened(const std::source_location& where, OrderOf of) const {
    return where.line() == weakened_->line && where.column() == weakened_->column && of == weakened_->of &&
           where.file_name() == weakened_->file;
  }

  std::array<Met, 1024> met_{};  // avoids a search in `seen_`
  std::set<OrderSite> seen_;
  std::optional<OrderSite> weakened_;
  std::memory_order weaker_ = std::memory_order_relaxed;
};

}  // namespace uit::testing
