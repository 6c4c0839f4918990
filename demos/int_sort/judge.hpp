#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <uit/team/member.hpp>

#include "keys.hpp"

namespace int_sort {

/// Checks sorted keys against those that were to be sorted.
class Judge {
 public:
  /// Collective. `range` are the positions of `keys` before the sort.
  Judge(uit::Member& me, const Class& size, Range range, const std::vector<Key>& keys)
      : me_(me), size_(size), mix_(me.AllReduce(MixOf(keys), Sum)) {
    for (std::size_t i = 0; i < size.positions.size(); ++i) {
      const bool is_mine = range.begin <= size.positions[i] && size.positions[i] < range.end;
      probes_.push_back(me.AllReduce(is_mine ? keys[size.positions[i] - range.begin] : Key{0}, std::plus<>{}));
    }
  }

  /// Collective. Returns what is wrong with keys of which each member has a part in order; empty if nothing is. Clears them.
  std::string FindFault(std::vector<Key>& sorted) {
    const Ends ends{sorted.size(), sorted.empty() ? Key{0} : sorted.front(), sorted.empty() ? Key{0} : sorted.back()};
    bool is_ordered = me_.AllReduce(std::uint32_t{std::ranges::is_sorted(sorted)}, std::multiplies<>{}) != 0;
    Key last = 0;
    for (const Ends& part : me_.AllGather(ends)) {
      if (part.count == 0) continue;
      is_ordered = is_ordered && last <= part.first;
      last = part.last;
    }
    const Mix mix = me_.AllReduce(MixOf(sorted), Sum);
    std::string fault;
    if (!is_ordered) fault = "the keys are not in order";
    else if (mix.count != mix_.count) fault = std::to_string(mix.count) + " keys, not " + std::to_string(mix_.count);
    else if (mix != mix_) fault = "the keys are not those that were to be sorted";
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      const auto num_less = static_cast<std::uint64_t>(std::ranges::lower_bound(sorted, probes_[i]) - sorted.begin());
      const std::uint64_t rank = me_.AllReduce(num_less, std::plus<>{});
      if (fault.empty() && rank != size_.ranks[i])
        fault = "a rank is " + std::to_string(rank) + " where NAS has published " + std::to_string(size_.ranks[i]);
    }
    sorted.clear();
    return fault;
  }

 private:
  struct Ends {
    std::uint64_t count = 0;
    Key first = 0;
    Key last = 0;
  };

  uit::Member& me_;
  const Class& size_;
  Mix mix_;
  std::vector<Key> probes_{};  // the keys at the positions of which the ranks are known
};

}  // namespace int_sort
