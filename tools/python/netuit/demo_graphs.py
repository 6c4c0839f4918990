"""The demo's graphs, written as NetworkX writes them."""

from __future__ import annotations

import dataclasses
import pathlib

import networkx

TORUS_SIDE = 64
SMALL_WORLD_NODES = 4096


@dataclasses.dataclass(frozen=True)
class GraphFile:
    """A graph that a program can read, and what to call it."""

    name: str
    path: pathlib.Path


def make_torus(side: int = TORUS_SIDE) -> networkx.Graph:
    """A square torus; its labels are tuples, (row, column)."""
    return networkx.grid_2d_graph(side, side, periodic=True)


def make_small_world(seed: int, num_nodes: int = SMALL_WORLD_NODES) -> networkx.Graph:
    """A ring in which each node has 4 neighbours, one edge in ten re-wired at random."""
    return networkx.watts_strogatz_graph(num_nodes, 4, 0.1, seed=seed)


def write_demo_graphs(folder: str | pathlib.Path, seed: int) -> list[GraphFile]:
    """Writes the two graphs as edge lists into `folder`."""
    graphs = []
    for name, graph in (
        (f"torus {TORUS_SIDE}x{TORUS_SIDE}", make_torus()),
        (f"small world {SMALL_WORLD_NODES}", make_small_world(seed)),
    ):
        path = pathlib.Path(folder) / (name.replace(" ", "_") + ".edgelist")
        networkx.write_edgelist(graph, path)
        graphs.append(GraphFile(name, path))
    return graphs
