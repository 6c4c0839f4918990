#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace uit {

UIT_DEFINE WorldModel::WorldModel()
    : process_(std::make_shared<ProcessState>()) {}

UIT_DEFINE WorldModel::WorldModel(std::shared_ptr<ProcessState> process) : process_(std::move(process)) {}

UIT_DEFINE WorldModel::~WorldModel() = default;

UIT_DEFINE std::vector<std::size_t> WorldModel::HostRanks() const { return {}; }

UIT_DEFINE HostMemory WorldModel::ShareMemory(std::size_t) { return {}; }

UIT_DEFINE std::string WorldModel::Library() const { return {}; }

UIT_DEFINE std::optional<Survivors> WorldModel::FindSurvivors(Deadline) { return std::nullopt; }

UIT_DEFINE std::vector<Bytes> WorldModel::AllGather(ByteView mine, Deadline) {
  BytesByRank outgoing;
  for (std::size_t rank = 0; rank < Size(); ++rank) outgoing.emplace(rank, Bytes(mine.begin(), mine.end()));
  std::vector<Bytes> all(Size());
  for (auto& [rank, bytes] : ExchangeSparsely(std::move(outgoing))) all[rank] = std::move(bytes);
  return all;
}

UIT_DEFINE Bytes WorldModel::Broadcast(Bytes from_root, std::size_t root) {
  BytesByRank outgoing;
  for (std::size_t rank = 0; rank < Size() && Rank() == root; ++rank) outgoing.emplace(rank, from_root);
  return std::move(ExchangeSparsely(std::move(outgoing))[root]);
}

UIT_DEFINE void WorldModel::Max(std::span<std::uint64_t> values) {
  for (const Bytes& theirs : AllGather(std::as_bytes(values), never)) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::max(values[i], LoadBytes<std::uint64_t>(ByteView(theirs).subspan(i * sizeof(std::uint64_t))));
  }
}

UIT_DEFINE BytesByRank Alone::ExchangeSparsely(BytesByRank outgoing) {
  std::erase_if(outgoing, [](const auto& part) { return part.second.empty(); });
  return outgoing;
}

UIT_DEFINE AnyLink Alone::OpenLink(std::size_t, int, const LinkOptions&) {
  throw Error("a world of one process has no peer to link to");
}

UIT_DEFINE std::shared_ptr<WorldModel> Alone::Duplicate() { return std::make_shared<Alone>(Process()); }

UIT_DEFINE World::World()
    : model_(std::make_shared<Alone>()) {}

UIT_DEFINE World::World(std::shared_ptr<WorldModel> model) : model_(std::move(model)) {}

UIT_DEFINE BytesByRank World::ExchangeSparsely(BytesByRank outgoing) const { return model_->ExchangeSparsely(std::move(outgoing)); }

UIT_DEFINE AnyLink World::OpenLink(std::size_t peer, int stream, const LinkOptions& options) const {
  return model_->OpenLink(peer, stream, options);
}

UIT_DEFINE std::string World::Library() const { return model_->Library(); }

UIT_DEFINE std::vector<std::size_t> World::HostRanks() const { return model_->HostRanks(); }

UIT_DEFINE HostMemory World::ShareMemory(std::size_t num_bytes) const { return model_->ShareMemory(num_bytes); }

UIT_DEFINE bool World::Release(Deadline deadline) const { return model_->Release(deadline); }

UIT_DEFINE Bytes World::Scatter(std::vector<Bytes> parts) const {
  BytesByRank outgoing;
  for (std::size_t rank = 0; rank < parts.size() && IsRoot(); ++rank) outgoing.emplace(rank, std::move(parts[rank]));
  return std::move(ExchangeSparsely(std::move(outgoing))[0]);
}

UIT_DEFINE std::vector<Bytes> World::Gather(ByteView mine, std::size_t max_at_once) const {
  const std::size_t part = std::max<std::size_t>(max_at_once / Size(), 1);
  const std::size_t longest = Max(mine.size());
  std::vector<Bytes> whole(IsRoot() ? Size() : 0);
  for (std::size_t at = 0; at < longest; at += part) {
    const std::size_t begin = std::min(at, mine.size());
    const ByteView piece = mine.subspan(begin, std::min(part, mine.size() - begin));
    for (const auto& [rank, bytes] : ExchangeSparsely({{0, Bytes(piece.begin(), piece.end())}}))
      whole[rank].insert(whole[rank].end(), bytes.begin(), bytes.end());
  }
  return whole;
}

UIT_DEFINE std::string World::FirstComplaint(const std::string& mine) const {
  const std::size_t first = Min(mine.empty() ? Size() : Rank());
  if (first == Size()) return {};
  const ByteView words = std::as_bytes(std::span{mine});
  const Bytes theirs = Broadcast(Bytes(words.begin(), words.end()), first);
  return {reinterpret_cast<const char*>(theirs.data()), theirs.size()};
}

UIT_DEFINE std::optional<Survivors> World::FindSurvivors(Deadline deadline) const { return model_->FindSurvivors(deadline); }

UIT_DEFINE World World::Duplicate() const { return World{model_->Duplicate()}; }

}  // namespace uit
