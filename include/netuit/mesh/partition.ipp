#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Partition::Partition(std::unique_ptr<NetworkPart> part, std::size_t first) : graph(part->graph), first_local(first) {
  networks.push_back(std::move(part));
}

UIT_DEFINE Partition::~Partition() = default;

}  // namespace netuit
