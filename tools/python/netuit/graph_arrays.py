"""Graphs as the arrays that a mesh is made of."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import networkx
import numpy

from netuit import InputError, matrix_file
from netuit.schedules import whole


@dataclasses.dataclass(frozen=True)
class Torus:
    """A torus of width x height nodes, each with an edge to and from its four neighbours; node x + width * y."""

    width: int
    height: int

    def __post_init__(self) -> None:
        whole("width", self.width, 1, 2**32 - 1)
        whole("height", self.height, 1, 2**32 - 1)


@dataclasses.dataclass(frozen=True)
class Arrays:
    """Directed edges by the numbers of their ends."""

    num_nodes: int
    sources: Any
    targets: Any
    weights: Any = None  #: by edge; None: all are 1
    labels: tuple[str, ...] = ()  #: by node, if they are other than the numbers


@dataclasses.dataclass(frozen=True)
class File:
    """A graph file of any format that the library reads."""

    path: str
    directed: bool


def describe(graph: Any, directed: bool = False) -> Torus | Arrays | File:
    """What a mesh can be made of: a NetworkX graph, a sparse matrix of SciPy, the name of a file, or a Torus.

    A matrix, or a file of MatrixMarket, has the weight of the edge from node i to node j in row i and column j; entries that are
    stored more than once are added up. `directed` is for files, which do not say it. Raises InputError for anything else.
    """
    if directed and not isinstance(graph, (str, os.PathLike)):
        raise InputError("directed=True is for graph files; a NetworkX graph or a matrix says itself whether it is directed")
    if isinstance(graph, (Torus, Arrays)):
        return graph
    if isinstance(graph, networkx.Graph):
        return _from_networkx(graph)
    if isinstance(graph, (str, os.PathLike)):
        path = pathlib.Path(graph)
        if not path.is_file():
            raise InputError(f"{path}: no such graph file")
        if matrix_file.is_matrix(path):
            return _from_matrix(matrix_file.read_matrix(path))
        return File(str(path.resolve()), directed)
    if hasattr(graph, "tocoo"):
        return _from_matrix(graph)
    raise InputError(f"a mesh needs a NetworkX graph, a sparse matrix, a file or a netuit.Torus, not {type(graph).__name__}")


def check_networkx(graph: Any, caller: str) -> None:
    """Raises InputError unless a graph is one of NetworkX."""
    if not isinstance(graph, networkx.Graph):
        hint = "netuit.read_graph reads a file" if isinstance(graph, (str, os.PathLike)) else "networkx.Graph(edges) makes one of a list of edges"
        raise InputError(f"{caller} needs a NetworkX graph, not {type(graph).__name__}; {hint}")


def check_placement(placement: Any, caller: str) -> None:
    """Raises InputError unless a placement is a mapping."""
    if not isinstance(placement, Mapping):
        raise InputError(f"{caller} needs the worker of each node, as netuit.partition gives it, not {type(placement).__name__}")


def _from_networkx(graph: Any) -> Arrays:
    nodes = list(graph.nodes)
    number = {node: i for i, node in enumerate(nodes)}
    count = graph.number_of_edges()
    pairs = ((number[a], number[b]) for a, b in graph.edges())
    ends = numpy.fromiter(pairs, dtype=numpy.dtype((numpy.uint32, 2)), count=count).reshape(count, 2)
    weights = None
    if any("weight" in data for _, _, data in graph.edges(data=True)):
        try:
            weights = numpy.fromiter((float(data.get("weight", 1.0)) for _, _, data in graph.edges(data=True)), dtype=float, count=count)
        except (TypeError, ValueError) as error:
            raise InputError(f"an edge has a weight that is no number: {error}") from None
    sources, targets = ends[:, 0], ends[:, 1]
    if not graph.is_directed():  # one edge in each direction; a loop has one
        back = sources != targets
        sources, targets = numpy.concatenate([sources, targets[back]]), numpy.concatenate([targets, sources[back]])
        weights = None if weights is None else numpy.concatenate([weights, weights[back]])
    labels = () if nodes == list(range(len(nodes))) else tuple(str(node) for node in nodes)
    return Arrays(len(nodes), numpy.ascontiguousarray(sources), numpy.ascontiguousarray(targets), weights, labels)


def _from_matrix(matrix: Any) -> Arrays:
    rows, columns = matrix.shape
    if rows != columns:
        raise InputError(f"the matrix of a graph is square, not {rows} x {columns}")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"the matrix of a graph has numbers that are not {matrix.dtype.name}")
    compressed = matrix.tocsr(copy=True)
    compressed.sum_duplicates()
    coordinates = compressed.tocoo()
    sources, targets = (numpy.ascontiguousarray(ends, dtype=numpy.uint32) for ends in (coordinates.row, coordinates.col))
    weights = numpy.ascontiguousarray(coordinates.data, dtype=float)
    return Arrays(rows, sources, targets, None if bool((weights == 1).all()) else weights)
