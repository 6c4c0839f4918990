#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/run/append_report.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/app/signal_watch.hpp>
#include <optional>
#include <span>
#include <string>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>
#include <utility>

#include "demos/common/run_record.hpp"
#include "demos/common/watch.hpp"
#include "demos/digital_evolution/options.hpp"
#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/record/recorder.hpp"
#include "demos/digital_evolution/record/world_notes.hpp"

namespace digital_evolution {

/// The beginning of a world.
struct Beginning {
  Founding founding;
  std::optional<WorldNotes> notes;  ///< of the checkpoint Options::resume, to continue from instead
  std::uint64_t side = 0;           ///< of the torus: rows
  std::uint64_t width = 0;          ///< of the torus: columns
};

/// The outcome of a run; the sums are valid on rank 0.
struct Outcome {
  netuit::RunReport report;
  Census sums;                    ///< over all workers
  bool is_conserved = true;       ///< resource is accounted for to the last unit
  std::uint64_t state_hash = 0;   ///< of the whole world
  std::exception_ptr unwritten;   ///< the error that kept a checkpoint from being written, which ended the run; null if none
};

/// The number of updates from `done` to the next meeting of all workers; 0: not before the end. They meet for a checkpoint at
/// each multiple of `checkpoint_every` (0: none), and, for a phylogeny, often enough to remove extinct lines.
constexpr std::uint64_t UpdatesToMeeting(std::uint64_t done, std::uint64_t checkpoint_every, bool has_phylogeny) {
  constexpr std::uint64_t for_phylogeny = 16'384;
  if (checkpoint_every == 0) return has_phylogeny ? for_phylogeny - done % for_phylogeny : 0;
  const std::uint64_t to_checkpoint = checkpoint_every - done % checkpoint_every;
  return has_phylogeny ? std::min(to_checkpoint, for_phylogeny - done % for_phylogeny) : to_checkpoint;
}

/// Whether an exception means that a file could not be written, here or on rank 0.
inline bool IsUnwritten(const std::exception_ptr& failure) noexcept { return uit::KindOf(failure) == uit::ErrorKind::output; }

/// One run in a mode, in parts if it has checkpoints: the world, its runs, and their results.
class Evolution {
 public:
  /// Collective. Makes a world, and founds or loads it.
  Evolution(const Options& options, const demo::Problem& problem, const Beginning& beginning, const uit::Team& team,
            std::uint64_t seed)
      : options_{options},
        beginning_{beginning},
        seed_{seed},
        world_{team.GetWorld()},
        phylogeny_{team.NumThreads()},
        cells_{team,
               problem.graph,
               {.placement = problem.placement,
                .depth = world_depth,
                .is_traced = !options.quality.empty() || options.watch,
                .is_watched = options.watch},
               options.rules,
               seed,
               options.record.empty() ? Hooks{} : phylogeny_.MakeHooks()} {
    if constexpr (!uit::is_simulated) signals_.emplace();
    if (options.resume.empty()) {
      cells_.Found(beginning.founding);
    } else {
      cells_.Load(options.resume);
      if (world_.IsRoot()) cells_.AddToRecords(beginning.notes->ledger, beginning.notes->counters);
    }
    if (options.record.empty()) return;
    phylogeny_.NoteRoots(cells_);
    recorder_.emplace(cells_, options.sample_interval, phylogeny_);
  }

  /// Collective. Runs until the options or a signal end the run.
  Outcome Run(const netuit::RunPlan& plan, const netuit::RunOptions& run) {
    Outcome outcome;
    try {
      while (RunPart(plan, run, outcome)) {
      }
      if (outcome.report.stopped_by == netuit::StopReason::peer_lost) return outcome;
      if (recorder_) recorder_->RecordEnd(outcome.report, elapsed_);
      AddSums(outcome);
    } catch (const uit::PeerLost& lost) {
      outcome.report.Lose(lost);
    }
    return outcome;
  }
  /// Of the cells of this process.
  Census TakeOwnCensus() const {
    Census mine = TakeCensus(cells_, {}, 0, cells_.NumPlaces());
    mine.ledger = cells_.SumLedger();
    mine.counters = cells_.SumCounters();
    return mine;
  }
  /// Keeps signals blocked after the end, because launchers repeat them.
  void KeepSignals() {
    if (signals_) signals_->Keep();
  }
  /// Collective. Writes the records.
  void Save(EvolutionTable& table, unsigned mode, unsigned replicate) {
    if (recorder_) recorder_->Save(table, options_.record, beginning_.width, mode, replicate, seed_);
  }
  /// Progress of the whole run, from that of a part.
  netuit::Progress Whole(const netuit::Progress& part) const {
    return {.elapsed = elapsed_ + part.elapsed, .num_updates = done_ + part.num_updates};
  }
  /// A short description of the cells of this process's first worker.
  std::string Describe() const {
    const Census census = TakeCensus(cells_, {}, 0, cells_.GetMesh().NumThreads() == 1 ? cells_.NumPlaces() : FirstPlaces());
    if (census.num_cells == 0) return "; first worker: no cell is left";
    char text[160];
    std::snprintf(text, sizeof text, "; first worker: %llu cells, %llu kin groups, generation %.1f, %.1f instructions",
                  static_cast<unsigned long long>(census.num_cells), static_cast<unsigned long long>(census.num_kin_groups),
                  census.MeanGeneration(), census.MeanLength());
    return text;
  }

 private:
  /// Runs a part. Returns whether more parts follow. Throws uit::PeerLost.
  bool RunPart(netuit::RunPlan plan, netuit::RunOptions run, Outcome& outcome) {
    const std::uint64_t updates = plan.updates;
    const std::chrono::nanoseconds duration = plan.duration;
    const bool keeps_periods = !options_.checkpoint.empty() && plan.delivery.is_by_update;
    const std::uint64_t to_meeting = UpdatesToMeeting(done_, options_.checkpoint_every, recorder_.has_value());
    plan.updates = 0;
    for (const std::uint64_t limit : {to_meeting, updates - std::min(updates, done_), keeps_periods ? stride_ : 0}) {
      if (limit != 0 && (plan.updates == 0 || limit < plan.updates)) plan.updates = limit;
    }
    if (keeps_periods) plan.duration = {}, run.stops_on_signal = false;
    else if (duration.count() != 0) plan.duration = duration - elapsed_;
    Prepare(run);
    const std::uint64_t age = cells_.Age();
    const std::chrono::nanoseconds before = elapsed_;
    RunOn(plan, run, outcome.report);
    const netuit::StopReason& reason = outcome.report.stopped_by;
    if (reason == netuit::StopReason::peer_lost) return false;
    done_ += cells_.Age() - age;
    if (keeps_periods && reason == netuit::StopReason::count) LookUp(duration, plan.updates, elapsed_ - before, outcome.report);
    const bool goes_on = plan.updates != 0 && reason == netuit::StopReason::count && (updates == 0 || done_ < updates) &&
                         (duration.count() == 0 || elapsed_ < duration);
    if (goes_on && plan.updates != to_meeting) return true;
    if (recorder_) phylogeny_.Gather(cells_, world_);
    const bool is_due = !goes_on || (options_.checkpoint_every != 0 && done_ % options_.checkpoint_every == 0);
    if (!options_.checkpoint.empty() && is_due && !TrySave(outcome)) return false;
    return goes_on;
  }
  /// Collective. In modes 0 and 5 a world continues from a checkpoint as if it had never stopped, but only at a multiple of
  /// world_period after its beginning. An interrupted run could stop anywhere. So they run in strides of such multiples. After each
  /// stride this checks signals and the clock, and chooses the length of the next.
  void LookUp(std::chrono::nanoseconds duration, std::uint64_t num_updates, std::chrono::nanoseconds took,
              netuit::RunReport& whole) {
    int signal = signals_ ? signals_->Take() : 0;
    for (const int theirs : Gathered(world_, std::span<const int>(&signal, 1))) signal = std::max(signal, theirs);
    whole.signal = world_.BroadcastValue(signal);
    std::chrono::nanoseconds wanted = std::chrono::milliseconds{500};
    if (duration.count() != 0) {
      if (elapsed_ >= duration) whole.stopped_by = netuit::StopReason::clock;
      wanted = std::clamp(duration - elapsed_, std::chrono::nanoseconds{0}, wanted);
    }
    if (whole.signal != 0) whole.stopped_by = netuit::StopReason::signal;
    took = std::max(took, std::chrono::nanoseconds{1});
    const std::uint64_t num_periods = std::max(num_updates / world_period, std::uint64_t{1});
    const std::uint64_t fitting =
        num_periods * static_cast<std::uint64_t>(wanted.count()) / static_cast<std::uint64_t>(took.count());
    stride_ = std::clamp(fitting, std::uint64_t{1}, 8 * num_periods) * world_period;
  }
  /// Runs the cells, and adds the part to the whole run.
  void RunOn(const netuit::RunPlan& plan, const netuit::RunOptions& run, netuit::RunReport& whole) {
    netuit::RunReport report = cells_.Run(plan, run);
    std::chrono::nanoseconds longest{0};
    try {
      if (report.stopped_by != netuit::StopReason::peer_lost) longest = Longest(report);
    } catch (const uit::PeerLost& lost) {
      report.Lose(lost);
    }
    netuit::AppendReport(whole, std::move(report), elapsed_);
    elapsed_ += longest;
  }
  /// Collective. Saves the world if no update threw and its resource is accounted for. Otherwise the last checkpoint stays.
  /// Returns whether it saved.
  bool TrySave(Outcome& outcome) {
    if (outcome.report.stopped_by == netuit::StopReason::thrown) return false;
    const auto ledger = SumOnRoot(world_, cells_.SumLedger());
    const std::int64_t held = SumOnRoot(world_, cells_.Held());
    const std::int64_t under_way = SumOnRoot(world_, cells_.UnderWay());
    if (!world_.BroadcastValue(IsConserved(ledger, held, under_way))) return false;
    try {
      const WorldNotes notes{.side = beginning_.side,
                             .width = beginning_.width,
                             .seed = seed_,
                             .rules = HashOf(cells_.GetRules()),
                             .ledger = ledger,
                             .counters = SumOnRoot(world_, cells_.SumCounters())};
      netuit::SaveCheckpoint(cells_.GetMesh(), options_.checkpoint, ToText(notes));
    } catch (...) {
      outcome.unwritten = std::current_exception();
      if (!IsUnwritten(outcome.unwritten)) throw;
    }
    return !outcome.unwritten;
  }
  void Prepare(netuit::RunOptions& run) {
    if (!recorder_) return;
    run.sample_interval = options_.sample_interval;
    run.on_sample = [this, before = elapsed_, age = cells_.Age()](const netuit::Sample& sample) {
      recorder_->Record(sample, before, age);
    };
  }
  std::size_t FirstPlaces() const {
    std::size_t count = 0;
    while (count < cells_.NumPlaces() && cells_.At(count).worker == 0) ++count;
    return count;
  }
  /// Collective. The running time of the slowest worker.
  std::chrono::nanoseconds Longest(const netuit::RunReport& report) const {
    std::chrono::nanoseconds longest{0};
    for (const netuit::WorkerReport& worker : report.workers) longest = std::max(longest, worker.elapsed);
    return world_.BroadcastValue(longest);
  }
  void AddSums(Outcome& outcome) const {
    const std::int64_t under_way = SumOnRoot(world_, cells_.UnderWay());
    outcome.state_hash = SumOnRoot(world_, cells_.StateHash());
    outcome.sums = SumOnRoot(world_, TakeOwnCensus());
    outcome.is_conserved = IsConserved(outcome.sums.ledger, outcome.sums.held, under_way);
  }
  static bool IsConserved(const Ledger& ledger, std::int64_t held, std::int64_t under_way) {
    return ledger.Gained() == ledger.Lost() + held + under_way && ledger.UnderWay() == under_way;
  }

  std::optional<uit::SignalWatch> signals_;  // that come between two parts wait for the next
  const Options& options_;
  const Beginning& beginning_;
  std::uint64_t seed_;
  uit::World world_;
  Phylogeny phylogeny_;
  World cells_;
  std::optional<RunRecorder> recorder_;
  std::uint64_t done_ = 0;               // updates of a worker in all parts
  std::uint64_t stride_ = world_period;  // updates between two looks at signals and clock, see LookUp
  std::chrono::nanoseconds elapsed_{0};  // of all parts
};

}  // namespace digital_evolution
