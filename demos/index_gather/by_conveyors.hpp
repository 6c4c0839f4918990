#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/prefetching.hpp>
#include <uit/team/member.hpp>

#include "demos/common/places.hpp"

namespace index_gather {

/// Reads words of other members by two conveyors: a request is the number of a word, and an answer is its value. A member with
/// `most_under_way` requests under way waits until half of them are answered, and answers those of others meanwhile.
///
/// The word of a request is mostly in no cache, so it is fetched while earlier requests are answered.
///
/// Conveyors keep the order of each pair of members. So the answers of a member come in the order of the requests to it, and
/// neither needs the position at which the value is to be stored.
class ByConveyors {
 public:
  /// Collective. `table` is this member's part of the table. The value for places[i] goes to values[i].
  ByConveyors(uit::Member& me, std::size_t buffer_bytes, std::size_t most_under_way, std::span<const std::uint64_t> table,
              std::span<const demo::Place> places, std::span<std::uint64_t> values)
      : most_under_way_(most_under_way),
        places_(places),
        values_(values),
        waiting_(me.Size()),
        set_(me),
        answers_(set_, [this](std::size_t from, const std::uint64_t& value) { TakeAnswer(from, value); },
                 {.buffer_bytes = buffer_bytes}),
        requests_(set_,
                  uit::Prefetching{[table](const std::uint64_t& word) { return &table[word]; },
                                   [this, table](std::size_t from, const std::uint64_t& word) { answers_.Push(from, table[word]); }},
                  {.buffer_bytes = buffer_bytes}) {
    for (Positions& positions : waiting_) positions.all.resize(most_under_way);
  }

  /// Collective. Reads all words.
  void Run() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (num_under_way_ == most_under_way_) WaitForHalf();
      waiting_[places_[i].owner].Push(static_cast<std::uint32_t>(i));
      ++num_under_way_;
      requests_.Push(places_[i].owner, places_[i].word);
    }
    set_.Finish();
  }

 private:
  /// The positions of requests to a member that it has not answered yet: a ring.
  struct Positions {
    std::vector<std::uint32_t> all{};
    std::size_t first = 0;
    std::size_t next = 0;

    void Push(std::uint32_t position) {
      all[next] = position;
      next = next + 1 == all.size() ? 0 : next + 1;
    }
    std::uint32_t Pop() {
      const std::uint32_t position = all[first];
      first = first + 1 == all.size() ? 0 : first + 1;
      return position;
    }
  };

  void TakeAnswer(std::size_t from, std::uint64_t value) {
    values_[waiting_[from].Pop()] = value;
    --num_under_way_;
  }
  /// Handles requests of others and answers, until at most half as many of its own are under way.
  void WaitForHalf() {
    set_.WaitUntil([this] { return num_under_way_ <= most_under_way_ / 2; });
  }

  std::size_t most_under_way_;
  std::span<const demo::Place> places_;
  std::span<std::uint64_t> values_;
  std::vector<Positions> waiting_;  // by the member that is asked
  std::size_t num_under_way_ = 0;
  uit::Conveyors set_;
  uit::Conveyor<std::uint64_t> answers_;
  uit::Conveyor<std::uint64_t> requests_;
};

}  // namespace index_gather
