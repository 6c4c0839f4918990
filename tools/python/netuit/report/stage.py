"""Where the nodes of a coloured graph are drawn, who owns them, and which are adjacent."""

from __future__ import annotations

import functools
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import pandas

from netuit import InputError, read_graph
from netuit.labels import parse_cell
from netuit.report import layout

MOST_NODES = 6000  # that are laid out as a graph; larger ones are shown row by row

Edges = list[tuple[int, int]]


def make_stage(colors: pandas.DataFrame, graph: str, num_edges: int, folders: Sequence[pathlib.Path]) -> dict[str, Any]:
    """A stage as the page's script wants it, from one run's final colours.

    `graph` is the program's: `torus`, or a file that is looked for as it is and in `folders`; `num_edges` is
    directed. A stage is a `grid` of `cells`, or a `graph` of `places`. Its `adjacency` is that of a whole `torus`
    or `plane`, of its `edges`, or `unknown`. `notes` tells what had to be left out.
    """
    table = colors.sort_values("node")
    nodes = table["node"].astype(int).tolist()
    if nodes != list(range(len(nodes))):
        raise InputError("the final colours do not name each node once in a run")
    labels = [str(label) for label in table["label"]]
    workers = list(zip(table["process"].astype(int), table["thread"].astype(int)))
    names = sorted(set(workers))
    number = {worker: index for index, worker in enumerate(names)}
    stage: dict[str, Any] = {"owner": [number[worker] for worker in workers], "notes": []}
    stage["workers"] = [f"process {process}, thread {thread}" for process, thread in names]
    edges = None if graph == "torus" else _find_edges(graph, len(labels), folders)
    cells = _cells(graph, labels)
    if cells is None and edges is not None and len(labels) <= MOST_NODES:
        places = _places(tuple(stage["owner"]), tuple(edges))
        return stage | {"kind": "graph", "places": places, "edges": _flat(edges), "adjacency": "edges"}
    is_grid = cells is not None
    if cells is None:
        columns = math.ceil(math.sqrt(len(labels)))
        cells = [divmod(node, columns) for node in range(len(labels))]
        stage["notes"].append("The nodes are shown row by row in the order of their numbers.")
    return stage | _grid(cells, is_grid, edges, num_edges, stage["notes"])


@functools.lru_cache(maxsize=8)
def _places(owner: tuple[int, ...], edges: tuple[tuple[int, int], ...]) -> list[float]:
    return [round(float(part), 4) for part in layout.place_nodes(len(owner), edges, owner).ravel()]


def _flat(pairs: Sequence[tuple[int, int]]) -> list[int]:
    return [part for pair in pairs for part in pair]


def _cells(graph: str, labels: list[str]) -> list[tuple[int, int]] | None:
    """(row, column) of each node, or None if the graph is no grid."""
    parsed = [cell for cell in map(parse_cell, labels) if cell is not None]
    if len(set(parsed)) == len(labels):
        top, left = min(cell[0] for cell in parsed), min(cell[1] for cell in parsed)
        moved = [(cell[0] - top, cell[1] - left) for cell in parsed]
        area = (1 + max(row for row, _ in moved)) * (1 + max(column for _, column in moved))
        return moved if area <= 4 * len(labels) else None
    if graph != "torus":
        return None
    side = math.isqrt(len(labels))  # as channel_selection makes its own torus
    while len(labels) % side:
        side -= 1
    return [divmod(node, len(labels) // side) for node in range(len(labels))]


def _grid(
    cells: list[tuple[int, int]], is_grid: bool, edges: Edges | None, num_edges: int, notes: list[str]
) -> dict[str, Any]:
    rows = 1 + max(row for row, _ in cells)
    columns = 1 + max(column for _, column in cells)
    drawn: dict[str, Any] = {
        "kind": "grid",
        "rows": rows,
        "columns": columns,
        "isGrid": is_grid,
        "edges": _flat(edges or []),
    }
    if cells != [divmod(node, columns) for node in range(len(cells))]:
        drawn["cells"] = _flat(cells)
    is_full = is_grid and len(cells) == rows * columns
    if edges is not None:
        drawn["adjacency"] = "edges"
    elif is_full and num_edges == 4 * len(cells) and min(rows, columns) > 2:
        drawn["adjacency"] = "torus"
    elif is_full and num_edges == 2 * (2 * rows * columns - rows - columns):
        drawn["adjacency"] = "plane"
    else:
        drawn["adjacency"] = "unknown"
        notes.append("The graph's file was not found: no conflicts are marked.")
    return drawn


def _find_edges(graph: str, num_nodes: int, folders: Sequence[pathlib.Path]) -> Edges | None:
    """The edges of a graph's file, each once and without self-loops; None if it is not there."""
    path = pathlib.Path(graph)
    for candidate in [path, *(folder / path for folder in folders), *(folder / path.name for folder in folders)]:
        if candidate.is_file():
            return _read_edges(candidate, num_nodes)
    return None


@functools.lru_cache(maxsize=8)
def _read_edges(path: pathlib.Path, num_nodes: int) -> Edges:
    graph = read_graph(path)
    if len(graph) != num_nodes:
        raise InputError(f"{path}: {len(graph)} nodes, the results have {num_nodes}")
    ids = {node: number for number, node in enumerate(graph)}
    ends = [(ids[source], ids[target]) for source, target in graph.edges()]
    return sorted({(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]})
