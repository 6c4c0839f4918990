#pragma once

/// Everything of the network layer: graphs, their placement, meshes, and runs under asynchronicity modes 0-5.
#include <uit/config.hpp>  // first: it refuses compilers without C++20

#include <netuit/file/load_graph.hpp>
#include <netuit/graph/graphs.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/placement/placement_file.hpp>
#include <netuit/app/guarded_main.hpp>
#include <netuit/app/main.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
