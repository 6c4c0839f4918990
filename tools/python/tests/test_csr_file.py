import struct

import networkx
import numpy
import pytest
import scipy.sparse
from netuit import InputError, OutputError, write_csr, write_graph


def parts_of(path):
    content = path.read_bytes()
    assert content[:8] == b"UITCSR\x1a\n"
    version, flags, num_nodes, num_edges = struct.unpack_from("<IIQQ", content, 8)
    assert version == 1
    rows = list(struct.unpack_from(f"<{num_nodes + 1}Q", content, 32))
    at = 32 + 8 * (num_nodes + 1)
    targets = list(struct.unpack_from(f"<{num_edges}I", content, at))
    at += 4 * num_edges
    weights = list(struct.unpack_from(f"<{num_edges}d", content, at)) if flags else None
    assert len(content) == at + (8 * num_edges if flags else 0)
    return rows, targets, weights


def test_an_undirected_graph_has_both_directions_of_each_link_and_a_loop_once(tmp_path):
    graph = networkx.Graph([("b", "a"), ("a", "c"), ("a", "a")])
    graph.add_node("z")
    write_graph(graph, tmp_path / "g.csr")
    assert parts_of(tmp_path / "g.csr") == ([0, 1, 4, 5, 5], [1, 0, 2, 1, 1], None)


def test_direction_parallel_edges_and_weights_survive(tmp_path):
    graph = networkx.MultiDiGraph([(0, 1), (0, 1), (2, 0)])
    graph.add_edge(0, 2, weight=0.5)
    write_graph(graph, tmp_path / "g.csr")
    assert parts_of(tmp_path / "g.csr") == ([0, 3, 3, 4], [1, 1, 2, 0], [1, 1, 0.5, 1])


def test_a_scipy_matrix_is_written_as_it_is(tmp_path):
    matrix = scipy.sparse.csr_array(numpy.array([[0, 2.5, 0], [1, 0, 3], [0, 0, 0]]))
    write_csr(matrix.indptr, matrix.indices, tmp_path / "m.csr", weights=matrix.data)
    assert parts_of(tmp_path / "m.csr") == ([0, 1, 3, 3], [1, 0, 2], [2.5, 1, 3])
    write_csr([0, 0], [], tmp_path / "one.csr")
    assert parts_of(tmp_path / "one.csr") == ([0, 0], [], None)


@pytest.mark.parametrize(
    ("rows", "targets", "weights", "reason"),
    [
        ([], [], None, "rows and targets must be lists of whole numbers, and rows not empty"),
        ([0, 1.5], [0], None, "rows and targets must be lists of whole numbers, and rows not empty"),
        ([0, 1], [[0]], None, "rows and targets must be lists of whole numbers, and rows not empty"),
        ([1, 1], [0], None, "rows must ascend from 0 to 1, the number of edges"),
        ([0, 2, 1], [0], None, "rows must ascend from 0 to 1, the number of edges"),
        ([0, 1], [0, 0], None, "rows must ascend from 0 to 2, the number of edges"),
        ([0, 1], [1], None, "an edge ends outside the 1 nodes"),
        ([0, 1], [-1], None, "an edge ends outside the 1 nodes"),
        ([0, 1], [0], [1, 2], "2 weights for 1 edges"),
        ([0, 1], [0], [-1], "a weight is negative or not finite"),
        ([0, 1], [0], [float("nan")], "a weight is negative or not finite"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(rows, targets, weights, reason, tmp_path):
    path = tmp_path / "g.csr"
    with pytest.raises(InputError) as refused:
        write_csr(rows, targets, path, weights=weights)
    assert str(refused.value) == f"{path}: {reason}"
    assert not list(tmp_path.iterdir())


def test_node_weights_are_refused_because_they_would_be_lost(tmp_path):
    graph = networkx.path_graph(3)
    graph.nodes[1]["weight"] = 2
    with pytest.raises(InputError, match="a CSR file has no node weights"):
        write_graph(graph, tmp_path / "g.csr")
    with pytest.raises(OutputError):
        write_csr([0, 0], [], tmp_path / "no folder" / "g.csr")
