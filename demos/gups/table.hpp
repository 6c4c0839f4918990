#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Random123/philox.h>

namespace gups {

/// An update: a random number. Its low bits select a word of the table, and the whole number is combined with that word.
using Update = std::uint64_t;

/// One process's updates: the shift register of the HPC Challenge's RandomAccess (x^63 + x^2 + x + 1), with a random initial
/// state per process.
class UpdateStream {
 public:
  /// The same for the same seed and rank.
  UpdateStream(std::uint64_t seed, std::size_t rank) {
    r123::Philox4x32 philox;
    const auto words = philox({{static_cast<std::uint32_t>(rank), 0, 0, 0}},
                              {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}});
    state_ = std::uint64_t{words[0]} << 32U | words[1] | 1U;
  }
  /// The next update.
  Update Next() {
    constexpr std::uint64_t polynomial = 7;
    state_ = (state_ << 1U) ^ ((state_ >> 63U) != 0 ? polynomial : 0);
    return state_;
  }

 private:
  std::uint64_t state_;
};

/// A table of 64-bit words over all processes. The low bits of an update select the process, and the bits above select its word.
/// So the number of processes may be any.
class Table {
 public:
  /// 2^log2_words words for each of `num_processes`.
  Table(std::size_t num_processes, unsigned log2_words)
      : num_processes_(num_processes), mask_((std::uint64_t{1} << log2_words) - 1), words_(mask_ + 1) {
    Reset();
  }

  /// The process that owns the word of an update.
  std::size_t OwnerOf(Update update) const {
    // A multiplication replaces a division: the upper 32 bits of the product are below num_processes (Lemire 2019).
    return static_cast<std::size_t>(((update & 0xFFFF'FFFFU) * num_processes_) >> 32U);
  }
  /// Combines a word of this process, which must own it, with the update. A second call undoes the first.
  void Apply(Update update) { words_[(update >> 32U) & mask_] ^= update; }

  /// Sets every word to its own number.
  void Reset() {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = i;
  }
  /// Undoes the first `num_updates` of each process's updates that this process, `rank`, owns. Returns the number of words that then
  /// differ from their value after Reset: none if each of these updates was made once.
  std::size_t NumWrong(std::uint64_t seed, std::size_t rank, std::uint64_t num_updates) {
    for (std::size_t source = 0; source < num_processes_; ++source) {
      UpdateStream updates{seed, source};
      for (std::uint64_t i = 0; i < num_updates; ++i)
        if (const Update update = updates.Next(); OwnerOf(update) == rank) Apply(update);
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) count += words_[i] != i ? 1 : 0;
    return count;
  }

 private:
  std::uint64_t num_processes_;
  std::uint64_t mask_;
  std::vector<std::uint64_t> words_;
};

}  // namespace gups
