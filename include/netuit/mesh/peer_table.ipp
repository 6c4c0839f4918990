#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <netuit/mesh/peer_table.hpp>
#include <netuit/quality/quality.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE PeerTable::PeerTable(const uit::World& world, bool shares_memory, bool is_traced)
    : rank_(world.Rank()) {
  const std::string card = (is_traced ? "1" : "0") + KernelName();
  const std::vector<uit::Bytes> cards = world.AllGather(std::as_bytes(std::span{card}));
  bool agrees = true;
  for (std::size_t process = 0; process < cards.size(); ++process) {
    const std::string theirs(reinterpret_cast<const char*>(cards[process].data()), cards[process].size());
    agrees &= !theirs.empty() && theirs[0] == card[0];
    is_same_clock_.push_back(process == rank_ || (card.size() > 1 && theirs.substr(std::min<std::size_t>(theirs.size(), 1)) == card.substr(1)));
  }
  world.Agree(agrees ? "" : "MeshOptions::is_traced is not the same on every process");
  transports_.assign(world.Size(), Transport::mpi);
  for (const std::size_t process : world.HostRanks()) {
    if (shares_memory) transports_[process] = Transport::shared_memory;
  }
  transports_[rank_] = Transport::thread;
}

UIT_DEFINE std::string PeerTable::KernelName() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  return name;
}

}  // namespace netuit
