#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

/// Graph colouring by channel selection (Leith et al. 2012), the first benchmark of the founding paper.
namespace channel_selection {

/// Leith's rule with b = `learning_rate`: how a node in conflict changes the probabilities of its colours.
///
/// In conflict, p[mine] becomes (1-b) p[mine] and every other p[j] becomes (1-b) p[j] + b/(C-1); both keep
/// the sum at 1. Without conflict p becomes one-hot at the node's colour. (The paper's words, read as
/// p[mine] = b p[mine], leave 42 % of a torus in conflict after 2000 updates; this leaves 2 %.)
struct LeithRule {
  unsigned num_colors = 3;
  double learning_rate = 0.1;
};

/// The rule for one node in conflict, computed in `Real`.
template <std::floating_point Real>
struct LeithStep {
  Real keep;   ///< 1-b
  Real share;  ///< b/(C-1)

  explicit constexpr LeithStep(const LeithRule& rule)
      : keep{static_cast<Real>(1.0 - rule.learning_rate)},
        share{static_cast<Real>(rule.learning_rate / (rule.num_colors - 1))} {}

  /// Changes the probabilities `p` of a node's colours, and draws its next colour from them with 32 random bits. If the node is
  /// settled, `p` is one-hot and is not read.
  void Redraw(std::span<Real> p, unsigned& color, bool& is_settled, std::uint32_t bits) const {
    const unsigned mine = color;
    if (is_settled) {
      std::ranges::fill(p, Real{0});
      p[mine] = Real{1};
      is_settled = false;
    }
    for (Real& probability : p) probability = keep * probability + share;
    p[mine] -= share;

    // 24 bits: exact in a float, and below 1
    Real remaining = static_cast<Real>(bits >> 8U) * Real{0x1p-24};
    unsigned drawn = 0;
    while (drawn + 1 < p.size() && remaining >= p[drawn]) remaining -= p[drawn++];
    color = drawn;
  }
};

/// The nodes of one process: for each, a colour and the probabilities of its next colour.
///
///     Cells cells{num_nodes, LeithRule{.num_colors = 3, .learning_rate = 0.1}};
///     bool conflict = false;
///     for (const unsigned neighbour : neighbours) conflict |= neighbour == cells.Color(i);
///     cells.Learn(i, conflict, random);
///     Send(cells.Color(i));
///
/// Different threads may work on different nodes at once. A settled node's probabilities are known to be
/// one-hot, so they are not stored: an update without conflict accesses one word.
template <std::floating_point Real = float>
class Cells {
 public:
  /// `num_nodes` settled nodes of colour 0. Needs at least 2 colours and 0 <= b <= 1. If padded, each node's state has a
  /// cache line of its own, so that no two threads share one.
  Cells(std::size_t num_nodes, const LeithRule& rule, bool is_padded = false)
      : num_colors_{rule.num_colors},
        step_{rule},
        log2_stride_{is_padded ? 3U : 0U},
        num_nodes_{num_nodes},
        states_(num_nodes << log2_stride_),
        probabilities_(num_nodes * rule.num_colors) {}

  /// Colour of node `index`, below `num_colors`.
  [[nodiscard]] unsigned Color(std::size_t index) const { return StateOf(index).color; }

  /// All colours by index.
  [[nodiscard]] std::vector<unsigned> Colors() const {
    std::vector<unsigned> colors;
    for (std::size_t index = 0; index < num_nodes_; ++index) colors.push_back(Color(index));
    return colors;
  }

  /// Gives node `index` a colour with certainty, as at the start of a run.
  void Set(std::size_t index, unsigned color) {
    StateOf(index) = {.color = color, .is_settled = true};
  }

  /// One update of node `index` by Leith's rule; `conflict` tells whether a neighbour has its colour.
  /// `random` yields 32 uniform bits per call. It is called once if there is a conflict, and otherwise not.
  template <typename Random>
    requires std::uniform_random_bit_generator<std::remove_reference_t<Random>>
  void Learn(std::size_t index, bool conflict, Random&& random) {
    if (!conflict) {
      StateOf(index).is_settled = true;
    } else {
      Redraw(index, static_cast<std::uint32_t>(random()));
    }
  }

  /// Probability with which node `index` would draw `color` now.
  [[nodiscard]] Real Probability(std::size_t index, unsigned color) const {
    const State& state = StateOf(index);
    if (state.is_settled) return color == state.color ? Real{1} : Real{0};
    return probabilities_[index * num_colors_ + color];
  }

 private:
  struct State {
    unsigned color = 0;
    bool is_settled = true;
  };
  static_assert(8 * sizeof(State) == 64);  // a cache line

  State& StateOf(std::size_t index) { return states_[index << log2_stride_]; }
  const State& StateOf(std::size_t index) const { return states_[index << log2_stride_]; }

  void Redraw(std::size_t index, std::uint32_t bits) {
    State& state = StateOf(index);
    step_.Redraw({probabilities_.data() + index * num_colors_, num_colors_}, state.color, state.is_settled, bits);
  }

  unsigned num_colors_;
  LeithStep<Real> step_;
  unsigned log2_stride_;
  std::size_t num_nodes_;
  std::vector<State> states_;
  std::vector<Real> probabilities_;
};

}  // namespace channel_selection
