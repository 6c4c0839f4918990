"""Graphs with values of their nodes as VTK files, for ParaView and others."""

from __future__ import annotations

import os
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any

import numpy

from netuit import InputError, OutputError, graph_arrays, mesh


def write_vtk(path: str | os.PathLike[str], graph: Any, values: Mapping[str, Any], positions: Any = None) -> None:
    """Writes a graph as points and lines, with values of its nodes, to a .vtu or .vtk file.

    graph: as for Mesh, or a Mesh that was made of a NetworkX graph or a Torus. values: an array by number for each name, as
    Mesh.gather gives it, or a mapping by node. positions: two or three coordinates by number, or a mapping by node as those of
    NetworkX's layouts; by default NetworkX's spring layout, or the grid of a Torus.

    Needs the package meshio. Raises InputError for what does not fit, OutputError if the file cannot be written.
    """
    try:
        import meshio
    except ImportError:
        raise InputError("write_vtk needs the package meshio: pip install meshio") from None
    source = graph.graph if isinstance(graph, mesh.Mesh) else graph
    described = graph_arrays.describe(source)
    nodes = list(source.nodes) if hasattr(source, "nodes") else None
    if isinstance(described, graph_arrays.Torus):
        described = _edges_of(described)
    if not isinstance(described, graph_arrays.Arrays):
        raise InputError("write_vtk needs a NetworkX graph, a sparse matrix or a netuit.Torus")
    points = _points(_default_positions(source) if positions is None else positions, nodes, described.num_nodes)
    ends = numpy.column_stack([described.sources, described.targets]).astype(numpy.int64)
    lines = numpy.unique(numpy.sort(ends, axis=1), axis=0)
    data = {name: _by_number(each, nodes, described.num_nodes, name) for name, each in values.items()}
    content = meshio.Mesh(points, [("line", lines)], point_data=data)
    target = pathlib.Path(path)
    if target.suffix not in (".vtu", ".vtk"):
        raise InputError(f"{target}: expected a name that ends in .vtu or .vtk")
    draft = target.with_name(f".{target.stem}.{uuid.uuid4().hex}{target.suffix}")  # the file appears whole or not at all
    try:
        content.write(draft)
        os.replace(draft, target)
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


def _edges_of(torus: graph_arrays.Torus) -> graph_arrays.Arrays:
    """Those of a torus that do not go around it, so that a picture of it is flat."""
    number = numpy.arange(torus.width * torus.height, dtype=numpy.uint32).reshape(torus.height, torus.width)
    sources = numpy.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    targets = numpy.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    return graph_arrays.Arrays(number.size, sources, targets)


def _default_positions(source: Any) -> Any:
    import networkx

    if isinstance(source, graph_arrays.Torus):
        numbers = numpy.arange(source.width * source.height)
        return numpy.column_stack([numbers % source.width, numbers // source.width])
    if isinstance(source, networkx.Graph):
        return networkx.spring_layout(source, seed=1)
    raise InputError("write_vtk needs positions for this graph")


def _points(positions: Any, nodes: Any, num_nodes: int) -> Any:
    points = numpy.asarray(_by_number(positions, nodes, num_nodes, "positions"), dtype=float)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(f"positions have two or three coordinates for each node, not the shape {points.shape}")
    return points if points.shape[1] == 3 else numpy.column_stack([points, numpy.zeros(num_nodes)])


def _by_number(values: Any, nodes: Any, num_nodes: int, name: str) -> Any:
    if isinstance(values, Mapping):
        missing = next((node for node in nodes or range(num_nodes) if node not in values), None)
        if missing is not None:
            raise InputError(f"{name} has no value for node {missing!r}")
        values = [values[node] for node in nodes or range(num_nodes)]
    found = numpy.asarray(values)
    if found.shape[:1] != (num_nodes,):
        raise InputError(f"{name}: {num_nodes} nodes need as many values, not an array of shape {found.shape}")
    return found.astype(numpy.uint8) if found.dtype == bool else found
