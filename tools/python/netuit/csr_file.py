"""Graphs as binary CSR files, of which each process of a program can read a part: netuit::ReadInParts, program option --in-parts.

C++'s netuit::CsrFile describes the format.
"""

from __future__ import annotations

import os
import pathlib
from typing import Any

import networkx
import numpy

from netuit import InputError, files

_MAGIC = b"UITCSR\x1a\n"
_VERSION = 1
_MOST_NODES = 2**32 - 1


def write_csr(rows: Any, targets: Any, path: str | os.PathLike[str], *, weights: Any = None) -> None:
    """Writes a graph whose node i has the edges rows[i] … rows[i + 1] - 1, each with a target and perhaps a weight. They may be the
    arrays of a SciPy matrix: `write_csr(matrix.indptr, matrix.indices, path, weights=matrix.data)`. An undirected link is two
    edges, one each way. Raises InputError if the arrays do not fit each other, OutputError if the file cannot be written;
    then nothing is written.
    """
    path = pathlib.Path(path)
    rows, targets = _whole_numbers(rows), _whole_numbers(targets)
    if rows is None or targets is None or not len(rows):
        raise InputError(f"{path}: rows and targets must be lists of whole numbers, and rows not empty")
    if len(rows) - 1 > _MOST_NODES:
        raise InputError(f"{path}: more than 2^32 - 1 nodes")
    if rows[0] != 0 or rows[-1] != len(targets) or (rows[1:] < rows[:-1]).any():
        raise InputError(f"{path}: rows must ascend from 0 to {len(targets)}, the number of edges")
    if len(targets) and (targets.min() < 0 or targets.max() >= len(rows) - 1):
        raise InputError(f"{path}: an edge ends outside the {len(rows) - 1} nodes")
    content = [rows.astype("<u8").tobytes(), targets.astype("<u4").tobytes()]
    if weights is not None:
        weights = numpy.asarray(weights, dtype="<f8")
        if weights.shape != targets.shape:
            raise InputError(f"{path}: {weights.size} weights for {len(targets)} edges")
        if not (numpy.isfinite(weights).all() and (weights >= 0).all()):
            raise InputError(f"{path}: a weight is negative or not finite")
        content.append(weights.tobytes())
    numbers = numpy.array([len(rows) - 1, len(targets)], dtype="<u8")
    flags = numpy.array([_VERSION, int(weights is not None)], dtype="<u4")
    files.write_bytes(path, b"".join([_MAGIC, flags.tobytes(), numbers.tobytes(), *content]))


def _whole_numbers(values: Any) -> Any:
    array = numpy.asarray(values)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        return None
    return array


def write_graph_as_csr(graph: networkx.Graph, weight: str, path: pathlib.Path) -> None:
    """Writes a NetworkX graph. Its nodes get the numbers 0, 1, … in the graph's order. Edges have weights if any has the attribute
    `weight`. Raises what write_csr raises.
    """
    number = {node: index for index, node in enumerate(graph)}
    rows, targets, weights = [0], [], []
    for _, neighbors in graph.adjacency():
        for neighbor, data in neighbors.items():
            for attributes in data.values() if graph.is_multigraph() else [data]:
                targets.append(number[neighbor])
                weights.append(attributes.get(weight, 1))
        rows.append(len(targets))
    has_weights = any(weight in attributes for _, _, attributes in graph.edges(data=True))
    write_csr(rows, targets, path, weights=weights if has_weights else None)
