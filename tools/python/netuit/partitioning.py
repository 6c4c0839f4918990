"""Partitions of a NetworkX graph by METIS: which worker has which node."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import networkx
import pymetis

from netuit import InputError
from netuit.arguments import Workers, parse_workers
from netuit.graph_arrays import check_networkx, check_placement
from netuit.line_cursor import WEIGHT

_SCALE = 1000  # METIS counts in whole numbers: a mean weight becomes this, where weights are no whole numbers


def partition(graph: networkx.Graph, num_workers: int | str, *, seed: int = 1) -> dict[Any, int]:
    """Places nodes so that each worker carries the same node weight and little edge weight is cut.

    num_workers: a number, or processes x threads as in "2x4", which cuts between processes first and then between the
    threads of each; worker w is thread w % threads of process w // threads. Weights are the attribute `weight` of
    nodes and edges, 1 where it is missing. By METIS' recursive bisection; every worker gets a node. The result is in
    the graph's order of nodes, as write_placement wants it. Raises InputError if there are more workers than nodes.
    """
    check_networkx(graph, "partition")
    workers = as_workers(num_workers)
    if workers.count > len(graph):
        raise InputError(f"{workers.count} workers for {len(graph)} nodes: each needs one")
    neighbors = _symmetric(graph)
    process_of = _bisect(list(graph), workers.processes, neighbors, graph, seed)
    placement = {}
    for process in range(workers.processes):
        nodes = [node for node in graph if process_of[node] == process]
        for node, thread in _bisect(nodes, workers.threads, neighbors, graph, seed).items():
            placement[node] = process * workers.threads + thread
    return {node: placement[node] for node in graph}


def cut_weight(graph: networkx.Graph, placement: Mapping[Hashable, int]) -> float:
    """The weight of all edges whose ends are on two workers."""
    check_networkx(graph, "cut_weight")
    check_placement(placement, "cut_weight")
    edges = graph.edges(data=True)
    return float(sum(data.get(WEIGHT, 1) for one, other, data in edges if placement[one] != placement[other]))


def as_workers(workers: int | str | Workers) -> Workers:
    """A layout from a number of processes with one thread each, or from text such as "2x4"."""
    if isinstance(workers, Workers):
        return workers
    if isinstance(workers, int) and not isinstance(workers, bool):
        if workers < 1:
            raise InputError(f"{workers} workers: expected at least one")
        return Workers(workers, 1)
    layouts = parse_workers(str(workers))
    if len(layouts) != 1:
        raise InputError(f"workers {workers}: expected one layout")
    return layouts[0]


def _symmetric(graph: networkx.Graph) -> dict[Any, dict[Any, float]]:
    """Weights between nodes, both ways, without self-loops; those of parallel edges are added."""
    neighbors: dict[Any, dict[Any, float]] = {node: {} for node in graph}
    for one, other, data in graph.edges(data=True):
        if one == other:
            continue
        weight = float(data.get(WEIGHT, 1))
        if not weight >= 0 or weight == float("inf"):
            raise InputError(f"the weight {data[WEIGHT]!r} of edge {one!r}, {other!r} is not finite, or negative")
        neighbors[one][other] = neighbors[one].get(other, 0) + weight
        neighbors[other][one] = neighbors[other].get(one, 0) + weight
    return neighbors


def _whole(weights: list[float], least: int) -> list[int]:
    """The weights as whole numbers in the same proportions, none below `least`."""
    total = sum(weights)
    if all(weight.is_integer() for weight in weights) and total < 2**30:
        return [max(int(weight), least) for weight in weights]
    factor = min(_SCALE, 2**30 / len(weights)) * len(weights) / total if total > 0 else 0
    return [max(round(factor * weight), least) for weight in weights]


def _bisect(
    nodes: list[Any], num_parts: int, neighbors: dict[Any, dict[Any, float]], graph: networkx.Graph, seed: int
) -> dict[Any, int]:
    if num_parts == 1:  # METIS divides by zero
        return dict.fromkeys(nodes, 0)
    index = {node: position for position, node in enumerate(nodes)}
    adjacency, edge_weights = [], []
    for node in nodes:
        here = [(index[other], weight) for other, weight in neighbors[node].items() if other in index]
        adjacency.append([other for other, _ in here])
        edge_weights += [weight for _, weight in here]
    node_weights = [float(graph.nodes[node].get(WEIGHT, 1)) for node in nodes]
    if not all(0 <= weight < float("inf") for weight in node_weights):
        raise InputError("the weight of a node is not finite, or negative")
    parts = _cut(num_parts, adjacency, _whole(node_weights, 0), _whole(edge_weights, 1), seed)
    return dict(zip(nodes, parts))


def _cut(
    num_parts: int, adjacency: list[list[int]], node_weights: list[int], edge_weights: list[int], seed: int
) -> list[int]:
    num_nodes = len(node_weights)
    if edge_weights and sum(node_weights) > 0:
        _, parts = pymetis.part_graph(
            num_parts,
            adjacency=adjacency,
            vweights=node_weights,
            eweights=edge_weights,
            recursive=True,
            options=pymetis.Options(seed=seed % 2**31, ufactor=1),
        )
        if len(set(parts)) == num_parts:
            return [int(part) for part in parts]
    # No edge to cut, or METIS left a part empty: runs of consecutive nodes.
    return [position * num_parts // num_nodes for position in range(num_nodes)]
