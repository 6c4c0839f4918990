#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/put_back.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Splits a list of messages, each behind its length. Returns false if the bytes are no such list.
UIT_DEFINE bool TrySplit(uit::ByteView bytes, std::vector<uit::ByteView>& messages) {
  uit::ByteReader reader(bytes);
  while (!reader.Rest().empty()) {
    std::uint64_t size = 0;
    if (!reader.TryRead(size) || !reader.TryTake(size, messages.emplace_back())) return false;
  }
  return !messages.empty();
}

UIT_DEFINE void PutBack::Add(LayerBase& layer, std::uint32_t network, const BlockRoute& inputs, const BlockRoute& outputs,
                             const VariedBlock& block) {
  struct End {
    std::size_t thread;
    std::uint32_t number;  // of the worker's inputs or outputs
  };
  std::vector<End> in;
  std::vector<End> out;
  std::size_t thread = 0;
  mesh_.ForEachPart({network}, [&](const NetworkPart& part) {
    for (std::uint32_t input = 0; input < part.graph.sources.size(); ++input) in.push_back({thread, input});
    for (std::uint32_t output = 0; output < part.graph.targets.size(); ++output) out.push_back({thread, output});
    ++thread;
  });
  bool are_messages = true;
  const auto messages_of = [&](std::size_t of) { return layer.Part(of).Messages(); };
  inputs.DistributeVaried(block, [&](std::size_t position, uit::ByteView bytes) {
    std::vector<uit::ByteView> messages;
    const End& end = in[position];
    are_messages &= TrySplit(bytes, messages) && messages_of(end.thread)->TryShow(end.number, messages.front());
  });
  outputs.DistributeVaried(block, [&](std::size_t position, uit::ByteView bytes) {
    std::vector<uit::ByteView> messages;
    if (!TrySplit(bytes, messages) || messages.size() == 1) return;
    const End& end = out[position];
    Output& output = by_thread_[end.thread].outputs.emplace_back(Output{messages_of(end.thread), end.number, {}});
    for (const uit::ByteView message : std::span(messages).subspan(1)) output.waiting.emplace_back(message.begin(), message.end());
    num_rounds_ = std::max<std::uint64_t>(num_rounds_, output.waiting.size());
  });
  mesh_.GetWorld().Agree<uit::InputError>(are_messages ? "" : "the messages of a checkpoint cannot be read");
}

UIT_DEFINE std::uint64_t PutBack::NumMessages() const {
  std::uint64_t count = 0;
  for (const Thread& thread : by_thread_)
    for (const Output& output : thread.outputs) count += output.waiting.size();
  return count;
}

UIT_DEFINE bool PutBack::Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange>, NodeNotes&,
                                std::uint32_t&) {
  Thread& mine = by_thread_[thread];
  for (const Output& output : mine.outputs) {
    bool is_put = true;
    if (update < output.waiting.size()) mine.has_failed |= !output.messages->TryPutBack(output.output, output.waiting[update], is_put);
    mine.has_failed |= !is_put;
  }
  return false;
}

UIT_DEFINE void PutBack::Run(const std::string& name) {
  const uit::World& world = mesh_.GetWorld();
  const std::uint64_t num_rounds = world.Max(num_rounds_);
  if (num_rounds == 0) return;
  mesh_.ShowByUpdate(true);
  RunPlan plan = EveryUpdate{.updates = num_rounds}.MakePlan();
  plan.is_captured = false;  // no update of the user's is made
  const RunReport report = RunUpdateLoop(mesh_, plan, {.stops_on_signal = false}, *this);
  if (report.stopped_by == StopReason::peer_lost) throw uit::PeerLost(report.message, std::nullopt);
  if (report.stopped_by != StopReason::count) throw uit::InputError(name + ": a message cannot be put back: " + report.message);
  const bool has_failed = std::ranges::any_of(by_thread_, &Thread::has_failed);
  world.Agree<uit::InputError>(has_failed ? name + ": has more messages for an edge than its channel has room for; see MeshOptions::depth" : "");
}

}  // namespace netuit::detail
