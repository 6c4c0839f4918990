#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace bench {

/// The three-point stencil with random work of Psota and Solar-Lezama (Pure, PPoPP 2024): each point becomes the mean of itself and
/// its neighbours, and takes an amount of work that differs from point to point and from update to update. Part of a line of
/// points, with a ghost at each end.
class RandomLine {
 public:
  static constexpr std::size_t num_points = 2048;  // of each of those who share the line
  static constexpr std::size_t grain = 64;

  /// Points [begin, end) of the line. Those below `heavy` take `unevenness` times the work.
  RandomLine(std::size_t begin, std::size_t end, std::size_t heavy, unsigned unevenness)
      : begin_{begin}, heavy_{heavy}, unevenness_{unevenness}, now_(end - begin + 2), next_(end - begin + 2) {
    for (std::size_t i = 0; i < Size(); ++i) now_[i + 1] = static_cast<double>((begin + i) % 7);
  }

  std::size_t Size() const { return now_.size() - 2; }
  double& LeftGhost() { return now_.front(); }
  double& RightGhost() { return now_.back(); }
  double First() const { return now_[1]; }
  double Last() const { return now_[Size()]; }
  double Sum() const { return std::accumulate(now_.begin() + 1, now_.end() - 1, 0.0); }

  /// Updates some of the own points. Several threads may update different ones.
  void Update(std::uint64_t update, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double value = (now_[i] + now_[i + 1] + now_[i + 2]) / 3;
      for (unsigned work = Work(update, begin_ + i); work != 0; --work) {
        value += 1e-9;
        asm volatile("" : "+x"(value));  // so that it is done each time
      }
      next_[i + 1] = value;
    }
  }
  /// After all points are updated.
  void Turn() { std::swap(now_, next_); }

 private:
  unsigned Work(std::uint64_t update, std::size_t point) const {
    std::uint64_t bits = (update << 32U) + point;  // a draw by splitmix64
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<unsigned>((bits >> 32U) % 32) * (point < heavy_ ? unevenness_ : 1);
  }

  std::size_t begin_;
  std::size_t heavy_;
  unsigned unevenness_;
  std::vector<double> now_;
  std::vector<double> next_;
};

}  // namespace bench
