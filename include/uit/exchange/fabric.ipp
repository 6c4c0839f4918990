#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/handshake.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/link/open_links.hpp>
#include <uit/link/out_port.hpp>
#include <uit/link/progress_engine.hpp>
#include <uit/link/world.hpp>

namespace uit {

UIT_DEFINE Fabric::Fabric(World world, FabricOptions options)
    : world_(std::move(world)),
      options_(options),
      engine_(std::make_shared<ProgressEngine>(world_.Process(), options.num_workers)) {
  if (options_.num_workers == 0) throw Error("a fabric needs a worker");
  if (options_.num_slots == 0 || options_.num_slots > max_requests / 4)
    throw Error("a fabric must have between 1 and " + std::to_string(max_requests / 4) + " slots per peer");
}

UIT_DEFINE std::shared_ptr<ExchangeHalf> Fabric::Share(std::size_t peer, const ExchangeSpec& spec, bool is_incoming,
                                                       FunctionRef<std::shared_ptr<ExchangeHalf>()> make) {
  const std::tuple key{peer, spec.key, is_incoming};
  auto found = halves_.find(key);
  if (found == halves_.end()) found = halves_.emplace(key, Shared{spec, make()}).first;
  const Shared& shared = found->second;
  if (std::string words = shared.spec.Difference(spec, "one end", "another end here"); !words.empty()) throw Error(words);
  return shared.half;
}

UIT_DEFINE void Fabric::Connect() {
  if (engine_->IsShut()) throw Error("the fabric has been closed");
  if (!is_connected_) CheckOptions();
  BytesByRank outgoing;
  for (const auto& [peer, halves] : announced_) outgoing.emplace(peer, PackGreeting(halves));
  const std::string complaint = Match(world_.ExchangeSparsely(std::move(outgoing)));
  world_.Agree(complaint.empty() ? CheckLinks() : complaint);
  if (!is_connected_) private_world_ = world_.Duplicate();
  is_connected_ = true;
  const std::size_t num_connections_before = engine_->NumConnections();
  const auto payload_bytes_before = payload_bytes_;
  std::string trouble;
  std::map<std::size_t, SharedBoxes> shared;
  try {
    shared = OpenConnections();
    ClaimRequests();
  } catch (const std::exception& error) {
    trouble = "rank " + std::to_string(world_.Rank()) + " cannot open its links: " + error.what();
  }
  try {
    // Every link is open and its receives are posted before anything is sent.
    world_.Agree(trouble);
  } catch (...) {  // nothing will be sent, so the opened links can be closed again
    WaitUntil(
        [&] {
          bool is_done = false;
          Exclusively([&] { is_done = engine_->TryCloseLinks(num_connections_before); });
          return is_done;
        },
        After(std::chrono::seconds(2)));
    num_leaked_ += engine_->DropConnections(num_connections_before);
    payload_bytes_ = payload_bytes_before;
    ClaimRequests();
    throw;
  }
  ShareBoxes(shared);
  engine_->Activate();
  announced_.clear();
}

UIT_DEFINE void Fabric::CheckOptions() const {
  constexpr std::array names{"num_slots", "payload_bytes", "shares_memory"};
  const std::array<std::uint64_t, names.size()> ours{options_.num_slots, options_.payload_bytes, options_.shares_memory ? 1U : 0U};
  std::array<std::uint64_t, 2 * names.size()> bounds{};  // of each: the largest, and the complement of the smallest
  for (std::size_t i = 0; i < names.size(); ++i) bounds[i] = ours[i], bounds[names.size() + i] = ~ours[i];
  world_.Max(bounds);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t least = ~bounds[names.size() + i];
    if (bounds[i] == least) continue;
    const std::string words = "rank " + std::to_string(world_.Rank()) + " has FabricOptions::" + names[i] + " of " + std::to_string(ours[i]) +
                              ", where another process has " + std::to_string(least);
    world_.Agree(ours[i] != least ? words : "");
  }
}

UIT_DEFINE std::string Fabric::Match(const BytesByRank& greetings) {
  const std::string begin = "rank " + std::to_string(world_.Rank()) + " cannot exchange with ";
  if (!own_halves_.empty()) {
    const OwnHalf& lone = own_halves_.begin()->second;
    return begin + "itself: " + lone.spec.Name() + (lone.is_incoming ? " has an outlet and no inlet" : " has an inlet and no outlet");
  }
  for (const auto& [peer, greeting] : greetings) announced_.try_emplace(peer);  // it may expect halves that are missing here
  for (const auto& [peer, halves] : announced_) {
    std::vector<Announcement> theirs;
    std::map<std::uint32_t, std::uint32_t> remote;
    const auto greeting = greetings.find(peer);  // none: the peer has nothing to exchange with this process
    std::string words = greeting == greetings.end() ? std::string{} : UnpackGreeting(greeting->second, theirs);
    if (words.empty()) words = MatchAnnouncements(halves, theirs, remote);
    if (!words.empty()) return begin + "rank " + std::to_string(peer) + ": " + words;
    for (const auto& [index, remote_index] : remote) engine_->Outgoing(index).remote_index = remote_index;
  }
  return {};
}

/// Collects what the announced exchanges need from each peer.
UIT_DEFINE PeerRequests Fabric::Requests() const {
  PeerRequests requests;
  const std::size_t num_frames = options_.num_slots + Connection::num_uncredited;
  for (const auto& [peer, halves] : announced_) {
    if (halves.empty()) continue;
    PeerRequest& request = requests[peer];
    std::size_t payload_bytes = options_.payload_bytes;
    for (const Announcement& half : halves) {
      payload_bytes = std::max<std::size_t>(payload_bytes, half.spec.frame_bytes);
      if (half.is_incoming != 0)
        request.boxes.emplace(half.index, BoxRequest{engine_->Incoming(half.index).box, half.spec.frame_bytes});
    }
    const auto open = payload_bytes_.find(peer);
    if (open == payload_bytes_.end() || payload_bytes > open->second)  // both sides have announced the same exchanges
      request.link = {.num_sends = num_frames, .num_receives = num_frames, .payload_bytes = payload_bytes};
  }
  return requests;
}

/// Returns why the links cannot be opened, or an empty string.
UIT_DEFINE std::string Fabric::CheckLinks() const {
  const std::string begin = "rank " + std::to_string(world_.Rank()) + " cannot open its links: ";
  std::size_t num_connections = engine_->NumConnections();
  for (const auto& [peer, request] : Requests()) {
    if (!request.link) continue;
    ++num_connections;
    if (const std::size_t num_bytes = request.link->payload_bytes; num_bytes > max_payload_bytes)
      return begin + "a frame of " + std::to_string(num_bytes) + " bytes is over the limit of 1 GiB";
  }
  if (world_.Process()->NumRequests() - num_requests_ + NumRequests(num_connections) <= max_requests) return {};
  return begin + "its peers want more than " + std::to_string(max_requests) + " requests; see FabricOptions::num_slots";
}

/// Opens the missing connections. Returns the memory for shared boxes, by peer.
UIT_DEFINE std::map<std::size_t, SharedBoxes> Fabric::OpenConnections() {
  const PeerRequests requests = Requests();
  std::map<std::size_t, SharedBoxes> shared;
  OpenLinks(private_world_, num_connects_++, requests, options_.shares_memory,
            [&](std::size_t peer, std::optional<AnyLink> link, SharedBoxes boxes) {
              if (link) {
                payload_bytes_[peer] = requests.at(peer).link->payload_bytes;
                engine_->AddConnection(peer, std::move(*link), options_.num_slots, options_.max_pace);
              }
              shared.emplace(peer, std::move(boxes));
            });
  return shared;
}

/// Moves the announced boxes into the memory shared with their peers, where it exists.
UIT_DEFINE void Fabric::ShareBoxes(const std::map<std::size_t, SharedBoxes>& shared) {
  for (const auto& [peer, halves] : announced_) {
    if (halves.empty()) continue;
    const SharedBoxes& memory = shared.at(peer);
    for (const Announcement& half : halves) {
      if (memory.is_near && !HasPlace(memory, half)) ++unshared_[peer];
      if (half.is_incoming != 0) {
        const auto place = memory.incoming.find(half.index);
        if (place != memory.incoming.end())
          engine_->Incoming(half.index).box->ReceiveBy(place->second, half.spec.frame_bytes);
      } else {
        OutgoingBox& outgoing = engine_->Outgoing(half.index);
        const auto place = memory.outgoing.find(outgoing.remote_index);
        if (place != memory.outgoing.end()) outgoing.box->SendBy(place->second, half.spec.frame_bytes);
      }
    }
  }
}

UIT_DEFINE bool Fabric::SayGoodbye(Deadline deadline) {
  const auto wait = [&](auto step, auto idle) {
    bool is_done = false;
    const auto is_over = [&] {
      const bool is_anybody_gone = engine_->Process().Watch().Gone().has_value();  // and will not answer
      return (Exclusively([&] { is_done = step(); }) && is_done) || is_anybody_gone;
    };
    return WaitUntil(is_over, deadline, idle) && is_done;
  };
  return wait([&] { return TryFinishHalves() && engine_->TrySayGoodbye(); }, [&] { return engine_->Poll(); }) &&
         wait([&] { return engine_->TryCloseLinks(); }, NoIdle{});
}

UIT_DEFINE bool Fabric::Close(Deadline deadline) {
  if (engine_->Shut()) return is_clean_;
  if (!is_connected_) TryFinishHalves();
  if (!is_connected_) return is_clean_;
  is_clean_ = false;
  try {
    is_clean_ = SayGoodbye(deadline);
    DropConnections();
    is_clean_ = is_clean_ && private_world_.Release(deadline);
  } catch (...) {
    DropConnections();
    throw;
  }
  return is_clean_;
}

UIT_DEFINE OutPort Fabric::AddOutgoing(std::size_t peer, std::size_t worker, const ExchangeSpec& spec, std::shared_ptr<FrameBox> box) {
  Check(peer, worker);
  if (IsOwn(peer)) return OutPort{engine_, OwnBox({spec, box, false, false})};
  announced_[peer].push_back({spec, engine_->NumOutgoing(), 0});
  return OutPort{engine_, engine_->AddOutgoing(peer, worker, std::move(box), spec.key.is_report != 0), worker};
}

UIT_DEFINE std::shared_ptr<FrameBox> Fabric::AddIncoming(std::size_t peer, const ExchangeSpec& spec, std::shared_ptr<FrameBox> box) {
  Check(peer, 0);
  if (IsOwn(peer)) return OwnBox({spec, box, true, box->Lends()});
  announced_[peer].push_back({spec, engine_->NumIncoming(), 1});
  engine_->AddIncoming(peer, box, spec.frame_bytes);
  return box;
}

UIT_DEFINE void Fabric::Check(std::size_t peer, std::size_t worker) const {
  if (engine_->IsShut()) throw Error("the fabric has been closed");
  const auto check = [](const char* what, std::size_t number, std::size_t count) {
    if (number >= count)
      throw Error(std::string(what) + ' ' + std::to_string(number) + " is not in this fabric of " + std::to_string(count));
  };
  check("rank", peer, world_.Size());
  check("worker", worker, engine_->NumWorkers());
}

UIT_DEFINE Fabric::~Fabric() {
  try {
    Close(After(std::chrono::seconds(std::uncaught_exceptions() == 0 ? 10 : 2)));
  } catch (const std::exception& trouble) {  // a destructor cannot throw; Close() can
    world_.Process()->Fail(trouble.what());
  } catch (...) {
    world_.Process()->Fail("closing a fabric threw an exception of unknown type");
  }
}

UIT_DEFINE void Fabric::DropConnections() {
  std::exception_ptr failure;
  try {
    TryFinishHalves();
  } catch (...) {
    failure = std::current_exception();
  }
  num_leaked_ += engine_->DropConnections();
  engine_->DetachBoxes();
  ClaimRequests();
  if (failure) std::rethrow_exception(failure);
}

UIT_DEFINE void Fabric::ClaimRequests() {
  const std::size_t before = std::exchange(num_requests_, NumRequests(engine_->NumConnections()));
  world_.Process()->ClaimRequests(before, num_requests_);
}

UIT_DEFINE std::shared_ptr<FrameBox> Fabric::OwnBox(const OwnHalf& half) {
  const auto [other, is_first] = own_halves_.try_emplace(half.spec.key, half);
  if (is_first) return half.box;
  const OwnHalf first = other->second;
  const OwnHalf& receiving = half.is_incoming ? half : first;
  const OwnHalf& sending = half.is_incoming ? first : half;
  if (half.is_incoming == first.is_incoming) throw Error(half.spec.Name() + (half.is_incoming ? " has two outlets" : " has two inlets"));
  if (const std::string words = sending.spec.Difference(receiving.spec, "the inlet", "the outlet"); !words.empty()) throw Error(words);
  own_halves_.erase(other);
  if (!receiving.lends || receiving.box->SharedFrameBytes(half.spec.frame_bytes) > max_shared_box_bytes) return first.box;
  FrameBox::JoinEnds(*sending.box, *receiving.box, half.spec.frame_bytes);
  return half.box;
}

UIT_DEFINE bool Fabric::TryFinishHalves() {
  bool all = true;
  std::exception_ptr failure;
  for (auto& [key, shared] : halves_) {
    try {
      all &= shared.half->TryFinish();
    } catch (...) {  // the others end all the same, so that nothing uses the connections any more
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return all;
}

}  // namespace uit
