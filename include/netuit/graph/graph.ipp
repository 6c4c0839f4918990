#pragma once

#include <memory>
#include <utility>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Graph::Graph(Topology topology)
    : make_([shared = std::make_shared<const Topology>(std::move(topology))] { return shared; }) {}

UIT_DEFINE const Topology& Graph::Get() const { return *make_(); }

}  // namespace netuit
