"""NetworkX graphs to and from the files that Conduit's programs read.

The extension tells the format, as in C++; where it is none of these, the beginning of a file tells an edge list from both
kinds of adjacency lists. Files that gzip has compressed are read, too. Files of other formats are refused with the line of
Python that converts them.

| extension | keeps |
|---|---|
| .multiline_adjlist, .madjlist | everything: labels, edge weights, isolated nodes, direction, parallel edges |
| .graph (METIS) | edge and node weights, isolated nodes; node i of the graph becomes label i + 1; undirected only |
| .csr (binary, see csr_file; written only) | edge weights, isolated nodes, direction, parallel edges; node i becomes label i |
| .mtx (MatrixMarket; read only) | edge weights, isolated nodes, direction; row i is node i, from 0 |
| .adjlist | labels, isolated nodes, direction; no edge weights |
| .edgelist, and what is written with any other | labels, edge weights, direction; no isolated nodes |

Node weights stand in the .graph file, else in a file beside it that ends in .weights (program option
--node-weights). What a format would lose is refused. Labels are whole numbers from 0, tuples of such and of words, or
words; one with a blank in it is refused. Self-loops are kept.
"""

from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

import networkx

from netuit import InputError, csr_file, files, graph_format, matrix_file
from netuit.graph_arrays import check_networkx, check_placement
from netuit.labels import label_text
from netuit.line_cursor import BLANK_LABEL_HINT, WEIGHT, LineCursor


def write_graph(graph: networkx.Graph, path: str | os.PathLike[str]) -> None:
    """Writes a graph, with the weights it has, in the format of the path's extension. Raises InputError if the
    format would lose anything or the programs would refuse it, OutputError if it cannot be written; then nothing
    is written.

    In all formats but edge lists, nodes are in the graph's order; in edge lists in order of first appearance.
    """
    path = pathlib.Path(path)
    check_networkx(graph, "write_graph")
    if len(graph) == 0:
        raise InputError(f"{path}: no nodes")
    labels = _labels(graph, path)
    weights = _node_weights(graph, path)
    if path.suffix == ".csr":
        if weights is not None:
            raise InputError(f"{path}: a CSR file has no node weights")
        csr_file.write_graph_as_csr(graph, WEIGHT, path)
        return
    if path.suffix == ".graph":
        text = _metis_text(graph, weights, path)
    elif path.suffix in (".multiline_adjlist", ".madjlist"):
        text = _adjacency_text(graph, labels, _multiline_entry, path)
    elif path.suffix == ".adjlist":
        if _has_edge_weights(graph):
            raise InputError(f"{path}: an adjacency list has no edge weights; name it .multiline_adjlist")
        text = _adjacency_text(graph, labels, _plain_entry, path)
    else:
        alone = next((node for node in graph if graph.degree(node) == 0), None)
        if alone is not None:
            raise InputError(f"{path}: node {alone!r} has no edge and would vanish; name it .multiline_adjlist")
        text = "".join(
            f"{labels[source]} {labels[target]} {_data(graph, weight)}\n"
            for source, target, weight in _edges(graph, path)
        )
    if weights is not None and path.suffix != ".graph":
        weights_text = "".join(f"{labels[node]} {weights[node]!r}\n" for node in graph)
        files.write_text(weights_path(path), weights_text)
    files.write_text(path, text)


def weights_path(path: str | os.PathLike[str]) -> pathlib.Path:
    """Where the node weights of a graph file stand."""
    return pathlib.Path(path).with_suffix(".weights")


def read_graph(path: str | os.PathLike[str], *, directed: bool = False) -> networkx.Graph:
    """Reads a graph, and its node weights if a .weights file stands beside it.

    Nodes are in the order in which the programs number them. Whole numbers and tuples come back as such, other
    labels as words. A graph with an edge that is listed twice is a MultiGraph. Raises InputError as
    `file:line: reason`.
    """
    path = pathlib.Path(path)
    content = graph_format.read_bytes(path)
    kind = graph_format.recognise(path, content)
    if kind == graph_format.MATRIX:
        return matrix_file.read_graph(path, directed)
    lines = _split_lines(path, content, kind)
    if kind == graph_format.METIS:
        if directed:
            raise InputError(f"{path}: a .graph file is undirected")
        graph = _read_metis(lines, path)
    else:
        graph = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
        if kind == graph_format.MULTILINE:
            _read_multiline(lines, graph, path)
        elif kind == graph_format.ADJACENCY:
            _read_adjacency(lines, graph, path)
        else:
            _read_edges(lines, graph, path)
        if len(graph) == 0:
            raise InputError(f"{path}:1: no nodes")
    graph = _simplified(graph)
    if kind != graph_format.METIS and weights_path(path).exists():
        _read_weights(weights_path(path), graph)
    return graph


def write_placement(placement: Mapping[Hashable, int], path: str | os.PathLike[str]) -> None:
    """Writes which worker has each node, in METIS' .part format (program option --placement): line i is the worker of
    node i. Nodes are in the placement's own order, which partition() takes from the graph. Raises InputError or
    OutputError.
    """
    path = pathlib.Path(path)
    check_placement(placement, "write_placement")
    for node, worker in placement.items():
        if isinstance(worker, bool) or int(worker) != worker or worker < 0:
            raise InputError(f"{path}: node {node!r} is placed on {worker!r}, which is not a worker")
    files.write_text(path, "".join(f"{int(worker)}\n" for worker in placement.values()))


def read_placement(path: str | os.PathLike[str], graph: networkx.Graph) -> dict[Any, int]:
    """Which worker has each node of a graph that read_graph has read. Raises InputError as `file:line: reason`."""
    path = pathlib.Path(path)
    check_networkx(graph, "read_placement")
    workers = []
    for line, text in _lines(path):
        if not (text.isascii() and text.isdigit()):
            raise InputError(f"{path}:{line}: {text!r} is not a whole number")
        workers.append(int(text))
    if len(workers) != len(graph):
        raise InputError(f"{path}: {len(workers)} lines for {len(graph)} nodes")
    return dict(zip(graph, workers))


def _labels(graph: networkx.Graph, path: pathlib.Path) -> dict[Any, str]:
    labels = {}
    try:
        for node in graph:
            labels[node] = label_text(node)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if len(set(labels.values())) < len(labels):
        raise InputError(f"{path}: two nodes have the same label in writing")
    return labels


def _weight(value: Any, what: str, path: pathlib.Path) -> float | int:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{path}: the weight {value!r} of {what} is not a number") from None
    if not math.isfinite(weight) or weight < 0:
        raise InputError(f"{path}: the weight {value!r} of {what} is not finite, or negative")
    return int(weight) if weight.is_integer() and weight < 2**53 else weight


def _node_weights(graph: networkx.Graph, path: pathlib.Path) -> dict[Any, float | int] | None:
    if not any(WEIGHT in data for _, data in graph.nodes(data=True)):
        return None
    return {node: _weight(data.get(WEIGHT, 1), f"node {node!r}", path) for node, data in graph.nodes(data=True)}


def _has_edge_weights(graph: networkx.Graph) -> bool:
    return any(WEIGHT in data for _, _, data in graph.edges(data=True))


def _edges(graph: networkx.Graph, path: pathlib.Path) -> Iterator[tuple[Any, Any, float | int]]:
    for source, target, data in graph.edges(data=True):
        yield source, target, _weight(data.get(WEIGHT, 1), f"edge {source!r}, {target!r}", path)


def _data(graph: networkx.Graph, weight: float | int) -> str:
    return f"{{'{WEIGHT}': {weight!r}}}" if weight != 1 else "{}"


Entry = Callable[[str, list[tuple[str, str]]], str]


def _multiline_entry(label: str, neighbors: list[tuple[str, str]]) -> str:
    return f"{label} {len(neighbors)}\n" + "".join(f"{name} {data}\n" for name, data in neighbors)


def _plain_entry(label: str, neighbors: list[tuple[str, str]]) -> str:
    return " ".join([label, *(name for name, _ in neighbors)]) + "\n"


def _adjacency_text(graph: networkx.Graph, labels: dict[Any, str], entry: Entry, path: pathlib.Path) -> str:
    """Nodes appear first in the graph's order: an undirected edge stands with the later of its ends, and directed ones
    after all nodes have been named."""
    position = {node: index for index, node in enumerate(graph)}
    lists: dict[Any, list[tuple[str, str]]] = {node: [] for node in graph}
    for source, target, weight in _edges(graph, path):
        if not graph.is_directed() and position[source] < position[target]:
            source, target = target, source
        lists[source].append((labels[target], _data(graph, weight)))
    names = [entry(labels[node], []) for node in graph] if graph.is_directed() else []
    entries = [entry(labels[node], lists[node]) for node in graph if lists[node] or not graph.is_directed()]
    return "".join([*names, *entries])


def _metis_text(graph: networkx.Graph, weights: dict[Any, float | int] | None, path: pathlib.Path) -> str:
    if graph.is_directed():
        raise InputError(f"{path}: a .graph file is undirected; name it .multiline_adjlist")
    position = {node: index + 1 for index, node in enumerate(graph)}
    lists: dict[Any, list[str]] = {node: [] for node in graph}
    has_weights = _has_edge_weights(graph)
    for source, target, weight in _edges(graph, path):
        for one, other in ((source, target), (target, source)) if source != target else ((source, target),):
            lists[one].append(f"{position[other]} {weight!r}" if has_weights else str(position[other]))
    fmt = f"0{int(weights is not None)}{int(has_weights)}"
    header = [str(len(graph)), str(graph.number_of_edges())] + ([fmt] if fmt != "000" else [])
    lines = [" ".join(header)]
    for node in graph:
        lines.append(" ".join(([repr(weights[node])] if weights is not None else []) + lists[node]))
    return "\n".join(lines) + "\n"


Lines = Iterable[tuple[int, str]]


def _split_lines(path: pathlib.Path, content: bytes, kind: str = graph_format.EDGE_LIST) -> list[tuple[int, str]]:
    """The lines with anything in them but comments, numbered; of a METIS graph also the empty ones, of an adjacency list also
    the comments."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is not text") from None
    if "\0" in text:
        raise InputError(f"{path}: this is not text")
    lines = list(enumerate(text.removesuffix("\n").split("\n"), 1))
    if kind == graph_format.METIS:
        return [(number, line.strip()) for number, line in lines if not line.startswith("%")]
    stripped = ((number, line.strip()) for number, line in lines)
    return [(number, line) for number, line in stripped if line and (kind == graph_format.ADJACENCY or not line.startswith("#"))]


def _lines(path: pathlib.Path) -> list[tuple[int, str]]:
    return _split_lines(path, graph_format.read_bytes(path))


def _read_edges(lines: Lines, graph: Any, path: pathlib.Path) -> None:
    for number, text in lines:
        cursor = LineCursor(path, number, text)
        source, target = cursor.take_label(), cursor.take_label()
        data = cursor.take_edge_data()
        cursor.expect_end()
        graph.add_node(source)
        graph.add_edge(source, target, **data)


def _read_adjacency(lines: Lines, graph: Any, path: pathlib.Path) -> None:
    """Refuses what C++'s AdjacencyCheck refuses, in its words: a list whose lines show that a label has a blank in it,
    outside brackets and quotes."""

    def failure(number: int, reason: str) -> InputError:
        return InputError(f"{path}:{number}: {reason}{BLANK_LABEL_HINT}")

    has_header, second = False, None  # second: the first line whose source has a line already
    is_alone: dict[Any, bool] = {}  # of nodes with a line: whether the last one names no neighbour
    first_line: dict[Any, int] = {}  # of neighbours
    gaps: set[bool] = set()  # whether a tab is between two words
    for number, text in lines:
        has_header = has_header or (not graph and text.startswith("# GMT "))
        cursor = LineCursor(path, number, text)
        if cursor.is_at_end():
            continue
        source = cursor.take_label()
        graph.add_node(source)
        if source in is_alone:
            second = second or failure(number, f"a second line for '{source}', but NetworkX writes one for each node")
        gap = cursor.skip_blanks()
        is_alone[source] = cursor.is_at_end()
        while not cursor.is_at_end():
            gaps.add("\t" in gap)
            if len(gaps) > 1:
                raise failure(number, "blanks separate some words, and tabs others")
            target = cursor.take_label()
            first_line.setdefault(target, number)
            graph.add_edge(source, target)
            gap = cursor.skip_blanks()
    # NetworkX writes a line for each node. By hand nobody writes a line without neighbours for a node that is a neighbour
    # elsewhere, because such a line says nothing.
    alone = next((node for node in graph if is_alone.get(node) and node in first_line), None)
    lost = next((node for node in graph if node not in is_alone), None)
    if lost is not None and (has_header or alone is not None):
        reason = "NetworkX writes one for each node"
        if not has_header:
            reason = f"'{alone}' has one without neighbours, as if each node had a line"
        raise failure(first_line[lost], f"'{lost}' has no line of its own, but {reason}")
    if has_header and second is not None:
        raise second


def _read_multiline(lines: Lines, graph: Any, path: pathlib.Path) -> None:
    source, num_left = None, 0
    for number, text in lines:
        cursor = LineCursor(path, number, text)
        node = cursor.take_label()
        graph.add_node(node)
        if num_left > 0:
            graph.add_edge(source, node, **cursor.take_edge_data())
            num_left -= 1
        else:
            source, num_left = node, cursor.take_count()
        cursor.expect_end()
    if num_left:
        raise InputError(f"{path}: the file ends {num_left} neighbours too early")


def _read_metis(lines: list[tuple[int, str]], path: pathlib.Path) -> Any:
    while lines and not lines[0][1]:
        lines = lines[1:]
    if not lines:
        raise InputError(f"{path}:1: no nodes")
    cursor = LineCursor(path, *lines[0])
    num_nodes, num_edges = cursor.take_count(), cursor.take_count()
    fmt = (cursor.take_word() if not cursor.is_at_end() else "").rjust(3, "0")
    if len(fmt) > 3 or set(fmt) - set("01"):
        raise cursor.fail(f"the format {fmt!r} is not up to three digits 0 or 1")
    graph = networkx.MultiGraph()
    graph.add_nodes_from(range(1, num_nodes + 1))
    body = lines[1 : num_nodes + 1]
    if len(body) < num_nodes or any(text for _, text in lines[num_nodes + 1 :]):
        raise InputError(f"{path}: expected {num_nodes} lines after the header")
    ends: dict[tuple[int, int], list[float]] = {}
    for node, line in enumerate(body, 1):
        cursor = LineCursor(path, *line)
        if fmt[0] == "1":
            cursor.take_weight()
        if fmt[1] == "1":
            graph.nodes[node][WEIGHT] = cursor.take_weight()
        while not cursor.is_at_end():
            neighbor = cursor.take_count()
            if not 1 <= neighbor <= num_nodes:
                raise cursor.fail(f"the neighbour {neighbor} is not in 1 … {num_nodes}")
            ends.setdefault((node, neighbor), []).append(cursor.take_weight() if fmt[2] == "1" else 1)
    for (one, other), weights in ends.items():
        if one != other and sorted(ends.get((other, one), [])) != sorted(weights):
            raise InputError(f"{path}: the edge from node {one} to node {other} is not listed alike at both ends")
        for weight in weights if one <= other else ():
            graph.add_edge(one, other, **({WEIGHT: weight} if fmt[2] == "1" else {}))
    if graph.number_of_edges() != num_edges:
        raise InputError(f"{path}: the header promises {num_edges} edges, the lines hold {graph.number_of_edges()}")
    return graph


def _simplified(graph: Any) -> Any:
    """The graph as one without parallel edges, if it has none."""
    simple = networkx.DiGraph(graph) if graph.is_directed() else networkx.Graph(graph)
    return simple if simple.number_of_edges() == graph.number_of_edges() else graph


def _read_weights(path: pathlib.Path, graph: Any) -> None:
    order = iter(graph)
    has_labels = None
    seen = set()
    for number, text in _lines(path):
        cursor = LineCursor(path, number, text)
        first = cursor.take_label()
        if has_labels is None:
            has_labels = not cursor.is_at_end()
        node = first if has_labels else next(order, None)
        if node not in graph:
            raise cursor.fail(f"the graph has no node {node!r}" if has_labels else f"more weights than the {len(graph)} nodes")
        if node in seen:
            raise cursor.fail(f"a second weight for node {node!r}")
        seen.add(node)
        graph.nodes[node][WEIGHT] = cursor.take_weight() if has_labels else LineCursor(path, number, text).take_weight()
        if has_labels:
            cursor.expect_end()
    if len(seen) < len(graph):
        raise InputError(f"{path}: no weight for node {next(node for node in graph if node not in seen)!r}")
