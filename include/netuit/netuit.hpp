#pragma once

/// Everything of the network layer: graphs, their placement, meshes, and runs under asynchronicity modes 0-4.
#include <netuit/guarded_main.hpp>
#include <netuit/load_graph.hpp>
#include <netuit/mesh.hpp>
#include <netuit/metis.hpp>
#include <netuit/placement.hpp>
#include <netuit/placement_file.hpp>
#include <netuit/root.hpp>
#include <netuit/run.hpp>
#include <netuit/topologies.hpp>
#include <netuit/topology.hpp>
