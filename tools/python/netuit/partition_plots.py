"""Pictures of partitions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import networkx
import numpy
import seaborn
from matplotlib.collections import LineCollection

from netuit import InputError
from netuit.graph_arrays import check_networkx, check_placement

MAX_LAID_OUT = 1500  #: nodes of a graph that springs can lay out in seconds
_CUT = "#C22F2F"
_INSIDE = "#B8B8B8"


def draw_partition(
    graph: networkx.Graph, placement: Mapping[Hashable, int], ax: Any = None, *, pos: Mapping[Any, Any] | None = None
) -> Any:
    """The graph with its nodes coloured by worker; edges that join two workers stand out. Gives the axes.

    pos: where nodes are, as NetworkX' layouts give it; by default, pairs of whole numbers are rows and columns of a
    grid (edges round a torus are drawn as stubs), and other graphs are laid out by springs, or, where they are large,
    on a circle in the order of nodes.
    """
    check_networkx(graph, "draw_partition")
    check_placement(placement, "draw_partition")
    if len(graph) == 0:
        raise InputError("draw_partition needs a graph with nodes")
    missing = next((node for node in graph if node not in placement), None)
    if missing is not None:
        raise InputError(f"node {missing!r} is not placed")
    grid = pos is None and all(isinstance(node, tuple) and len(node) == 2 for node in graph)
    places = _places(graph, grid) if pos is None else {node: tuple(pos[node]) for node in graph}
    workers = sorted(set(placement.values()))
    palette = dict(zip(workers, seaborn.husl_palette(len(workers), l=0.62, s=0.8)))
    inside: list[Any] = []
    cut: list[Any] = []
    for one, other in graph.edges():
        lines = cut if placement[one] != placement[other] else inside
        lines += _segments(places[one], places[other], grid)
    if ax is None:
        _, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
    ax.add_collection(LineCollection(inside, colors=_INSIDE, linewidths=0.6, zorder=1))
    ax.add_collection(LineCollection(cut, colors=_CUT, linewidths=1.5, zorder=2))
    size = max(4.0, min(60.0, 22000 / len(graph)))
    xs, ys = zip(*(places[node] for node in graph))
    ax.scatter(xs, ys, s=size, c=[palette[placement[node]] for node in graph], linewidths=0, zorder=3)
    ax.set_aspect("equal")
    ax.axis("off")
    num_cut = sum(placement[one] != placement[other] for one, other in graph.edges())
    ax.set_title(
        f"{len(graph)} nodes on {len(workers)} workers, {num_cut} of {graph.number_of_edges()} edges cut", fontsize=10
    )
    return ax


def _places(graph: networkx.Graph, is_grid: bool) -> dict[Any, Any]:
    if is_grid:
        return {(row, column): (column, -row) for row, column in graph}
    if len(graph) > MAX_LAID_OUT:
        return {
            node: (math.sin(angle), math.cos(angle))
            for node, angle in zip(graph, numpy.linspace(0, 2 * math.pi, len(graph), endpoint=False))
        }
    start = networkx.circular_layout(graph)  # from which springs untangle rings and small worlds well
    return dict(networkx.spring_layout(graph, pos=start, seed=1, iterations=100))


def _segments(one: Any, other: Any, is_grid: bool) -> list[Any]:
    if not is_grid or math.dist(one, other) < 2:
        return [(one, other)]
    across = [(b > a) - (b < a) if abs(b - a) > 1 else 0 for a, b in zip(one, other)]
    return [
        (place, tuple(at - 0.6 * side * step for at, step in zip(place, across)))
        for place, side in ((one, 1), (other, -1))
    ]
