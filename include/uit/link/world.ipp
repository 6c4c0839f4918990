#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

UIT_DEFINE WorldModel::WorldModel()
    : process_(std::make_shared<ProcessState>()) {}

UIT_DEFINE std::optional<Survivors> WorldModel::FindSurvivors(Deadline) { return std::nullopt; }

UIT_DEFINE AnyLink Alone::OpenLink(std::size_t, int, const LinkOptions&) {
  throw Error("a world of one process has no peer to link to");
}

UIT_DEFINE std::shared_ptr<WorldModel> Alone::Duplicate() { return std::make_shared<Alone>(Process()); }

UIT_DEFINE World::World()
    : model_(std::make_shared<Alone>()) {}

UIT_DEFINE Bytes World::Scatter(std::vector<Bytes> parts) const {
  if (!IsRoot()) parts.clear();
  parts.resize(Size());
  return std::move(AllToAll(std::move(parts))[0]);
}

UIT_DEFINE std::vector<Bytes> World::Gather(ByteView mine, std::size_t max_at_once) const {
  const std::size_t part = std::max<std::size_t>(max_at_once / Size(), 1);
  const std::size_t longest = std::ranges::max(AllGatherValue(mine.size()));
  std::vector<Bytes> whole(IsRoot() ? Size() : 0);
  for (std::size_t at = 0; at < longest; at += part) {
    const std::size_t begin = std::min(at, mine.size());
    const ByteView piece = mine.subspan(begin, std::min(part, mine.size() - begin));
    std::vector<Bytes> outgoing(Size());
    outgoing[0].assign(piece.begin(), piece.end());
    const std::vector<Bytes> incoming = AllToAll(std::move(outgoing));
    for (std::size_t rank = 0; rank < whole.size(); ++rank)
      whole[rank].insert(whole[rank].end(), incoming[rank].begin(), incoming[rank].end());
  }
  return whole;
}

UIT_DEFINE std::vector<Bytes> World::AllGather(ByteView mine) const {
  return AllToAll(std::vector<Bytes>(Size(), Bytes(mine.begin(), mine.end())));
}

UIT_DEFINE Bytes World::Broadcast(Bytes from_root) const {
  std::vector<Bytes> parts;
  if (IsRoot()) parts.assign(Size(), from_root);
  return Scatter(std::move(parts));
}

UIT_DEFINE std::string World::FirstComplaint(const std::string& mine) const {
  for (const Bytes& words : AllGather(std::as_bytes(std::span{mine}))) {
    if (!words.empty()) return {reinterpret_cast<const char*>(words.data()), words.size()};
  }
  return {};
}

UIT_DEFINE std::optional<Survivors> World::FindSurvivors(Deadline deadline) const { return model_->FindSurvivors(deadline); }

UIT_DEFINE World World::Duplicate() const { return World{model_->Duplicate()}; }

}  // namespace uit
