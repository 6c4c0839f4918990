#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/barrier/ordered_double.hpp>
#include <netuit/barrier/reduced.hpp>
#include <netuit/mesh/cut_layer.hpp>
#include <netuit/mesh/cut_part.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/reduction.hpp>

namespace netuit::detail {

/// Evaluates reductions over cuts, round by round. In a round, every worker copies the values of its nodes, sends the copies to its
/// neighbours, evaluates the reductions when it has theirs, and brings the outcome to votes until all workers have. That worker only.
///
/// In best effort, a worker begins a round when one is due and it knows that the round before is over, or before it reads values of
/// a worker that has begun it. So the copies of a round are a consistent cut, as those of Cutter, and nobody overwrites copies that
/// another still needs: a round is over only if all workers have evaluated it.
class CutRounds {
 public:
  /// For the partition of `thread`. `is_on`: whether there are rounds during the run, besides the one at its end.
  CutRounds(MeshCore& mesh, const Delivery& delivery, std::size_t thread, std::uint64_t seed, std::uint64_t first_update, bool is_on)
      : rules_(mesh.CutRules()),
        partition_(*mesh.Partitions()[thread]),
        seed_(seed),
        first_update_(first_update),
        is_by_update_(delivery.is_by_update),
        is_on_(is_on && !rules_.empty() && !delivery.is_muted) {
    for (CutLayer* const layer : mesh.CutLayers()) parts_.push_back(&layer->CopiesOf(thread));
    for (const auto& rule : rules_) every_ = std::min(every_, rule->every);
    due_ = every_;
  }

  /// Whether there are reductions over cuts.
  bool HasRules() const { return !rules_.empty(); }
  /// Whether rounds are made during the run.
  bool IsOn() const { return is_on_; }

  /// Before an update reads values: begins a round if one is due or another worker has, and takes in copies. Returns whether the
  /// reductions can be evaluated now. `newest`: see CutCounts.
  bool Prepare(std::uint64_t num_updates, std::uint64_t newest) {
    if (!is_on_) return false;
    if (is_by_update_) return PrepareByUpdate(num_updates);
    std::uint64_t& round = partition_.cuts.rounds;
    if (newest > round || (num_over_ == round && num_updates >= due_)) {
      ++round;
      due_ = num_updates + every_;
      for (CutPart* const part : parts_) {
        part->CopyOwn();
        part->SendCopies(round);
      }
    }
    if (num_evaluated_ == round) return false;
    return std::ranges::all_of(parts_, [&](CutPart* part) { return part->TryReceive(round); });
  }
  /// After the run's last values have arrived: copies them.
  void PrepareEnd() {
    num_cuts_ = num_over_;
    ++partition_.cuts.rounds;
    CopyAll();
  }
  /// Evaluates the reductions. Throws what their functions throw; `position` is then the node's number within the worker.
  void Evaluate(std::uint64_t num_updates, std::uint32_t& position) {
    Node node(partition_, seed_, first_update_ + num_updates);
    evaluated_ = Reduced::Unknown();  // if a function throws
    Reduced mine;
    for (const auto& rule : rules_) {
      const bool is_sum = rule->which == ReductionKind::exact_sum;
      std::uint64_t& largest = mine.extremes[rule->number];
      ExactSum& sum = mine.sums.At(rule->number);
      for (position = 0; position < partition_.NumNodes(); ++position) {
        node.GoTo(position);
        const double number = rule->evaluate(node);
        if (is_sum) sum.Add(number);
        else largest = std::max(largest, WordOf(rule->which, number));
      }
    }
    evaluated_ = mine;
    num_evaluated_ = partition_.cuts.rounds;
    if (is_by_update_) num_over_ = num_evaluated_;
  }

  /// Writes what the worker brings to a vote.
  void Bring(Reduced& mine) const {
    const bool is_new = is_by_update_ || num_evaluated_ > num_over_;
    for (const auto& rule : rules_) {
      const std::size_t i = rule->number;
      mine.extremes[i] = is_new ? evaluated_.extremes[i] : ordered_unknown;
      if (is_new && rule->which == ReductionKind::exact_sum) mine.sums.At(i) = evaluated_.sums.Of(i);
    }
  }
  /// Takes note of the outcome of a vote. Where the reductions are not known, keeps those of the round before, in `known`.
  void TakeNote(std::array<std::uint64_t, max_reductions>& agreed, const std::array<std::uint64_t, max_reductions>& known) {
    bool is_over = false;
    for (const auto& rule : rules_) {
      if (agreed[rule->number] == ordered_unknown) agreed[rule->number] = known[rule->number];
      else is_over = true;
    }
    if (is_over && !is_by_update_) ++num_over_;
  }
  /// Tells the rules what the workers have agreed on for the run's end. One worker of the process.
  void TellRules(const std::array<std::uint64_t, max_reductions>& agreed) const {
    for (const auto& rule : rules_) {
      rule->at_end = agreed[rule->number];
      rule->num_cuts = num_cuts_;
    }
  }

 private:
  bool PrepareByUpdate(std::uint64_t num_updates) {
    const std::uint64_t num_made = first_update_ + num_updates;  // a part of a run may begin where a round is due
    if (num_made == 0 || num_made % every_ != 0) return false;
    ++partition_.cuts.rounds;
    CopyAll();
    return true;
  }
  void CopyAll() {
    for (CutPart* const part : parts_) {
      part->CopyOwn();
      part->CopyGhosts();
    }
  }

  const std::vector<std::unique_ptr<CutRule>>& rules_;
  Partition& partition_;
  std::vector<CutPart*> parts_;
  std::uint64_t seed_;
  std::uint64_t first_update_;
  bool is_by_update_;
  bool is_on_;
  std::uint64_t every_ = ~std::uint64_t{0};  // updates between two rounds
  std::uint64_t due_ = 0;                    // number of updates after which the next round is due
  std::uint64_t num_evaluated_ = 0;          // the last round that the worker has evaluated
  std::uint64_t num_cuts_ = 0;               // rounds of the run without that at its end
  std::uint64_t num_over_ = 0;               // rounds that all have evaluated, as far as the worker knows
  Reduced evaluated_ = Reduced::Unknown();   // of the last round evaluated
};

}  // namespace netuit::detail
