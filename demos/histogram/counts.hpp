#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/team/member.hpp>

#include "demos/common/places.hpp"

namespace histogram {

/// What a program does, on each member.
struct Work {
  std::uint64_t seed = 1;
  std::uint64_t updates = 2'000'000;  // of each member
  unsigned log2_words = 20;           // of each member's part of the table
};

/// One member's part of the table: how often each of its words was hit.
class Counts {
 public:
  /// Finds out from the places of all members what the counts are to be after each run.
  Counts(const uit::Member& me, const Work& work)
      : words_(std::size_t{1} << work.log2_words), expected_(words_.size()) {
    for (std::size_t member = 0; member < me.Size(); ++member) {
      for (const demo::Place& place : demo::RandomPlaces(work.seed, member, work.updates, me.Size(), work.log2_words))
        expected_[place.word] += place.owner == me.Rank() ? 1 : 0;
    }
  }

  void Add(std::uint64_t word) { ++words_[word]; }
  /// Compares each count with what it is to be, and begins again. Returns what is wrong; empty if nothing is.
  std::string FindFault() {
    std::size_t num_wrong = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) num_wrong += words_[i] != expected_[i] ? 1 : 0;
    words_.assign(words_.size(), 0);
    return num_wrong == 0 ? "" : std::to_string(num_wrong) + " counts are wrong";
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> expected_;
};

}  // namespace histogram
