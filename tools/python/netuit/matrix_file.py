"""Graphs as MatrixMarket files, which SciPy reads: an entry in row i and column j is an edge from node i to node j, with the entry as
its weight. Nodes are numbered from 0. Conduit's programs read a CSR file in place of such a file."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import networkx
import numpy
import scipy.io
import scipy.sparse

from netuit import InputError, csr_file, graph_format
from netuit.line_cursor import WEIGHT


def read_matrix(path: pathlib.Path) -> Any:
    """The square sparse matrix of numbers in a file, in SciPy's CSR form. Raises InputError."""
    content = graph_format.read_bytes(path)
    try:
        matrix = scipy.sparse.csr_matrix(scipy.io.mmread(io.BytesIO(content)))
    except (ValueError, TypeError, OverflowError, IndexError, StopIteration, MemoryError) as error:
        raise InputError(f"{path}: {str(error).splitlines()[0] if str(error) else 'not a matrix'}") from None
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{path}: the matrix of a graph is square, not {matrix.shape[0]} x {matrix.shape[1]}")
    if not matrix.shape[0]:
        raise InputError(f"{path}: no nodes")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{path}: the matrix of a graph has no complex numbers")
    matrix.sum_duplicates()
    return matrix


def read_graph(path: pathlib.Path, directed: bool) -> networkx.Graph:
    """A file's graph. It is undirected if the matrix is symmetric, unless `directed`. Raises InputError."""
    matrix = read_matrix(path)
    is_symmetric = (matrix != matrix.T).nnz == 0
    graph = networkx.Graph() if is_symmetric and not directed else networkx.DiGraph()
    graph.add_nodes_from(range(matrix.shape[0]))
    entries = matrix.tocoo()
    if (entries.data == 1).all():
        graph.add_edges_from(zip(entries.row.tolist(), entries.col.tolist()))
    else:
        graph.add_weighted_edges_from(zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist()), weight=WEIGHT)
    return graph


def is_matrix(path: pathlib.Path) -> bool:
    """Whether a file is a matrix of MatrixMarket. Raises InputError if it cannot be read."""
    return graph_format.is_matrix(graph_format.read_bytes(path, 64))


def for_programs(path: pathlib.Path, csr: pathlib.Path) -> pathlib.Path:
    """A file that the programs read: `path` itself, or, in place of a MatrixMarket file, `csr`, which is written. Raises InputError
    and OutputError."""
    if not is_matrix(path):
        return path
    matrix = read_matrix(path)
    if not (numpy.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
        raise InputError(f"{path}: a weight is negative or not finite")
    weights = None if (matrix.data == 1).all() else matrix.data.astype(numpy.float64)
    csr_file.write_csr(matrix.indptr, matrix.indices, csr, weights=weights)
    return csr
