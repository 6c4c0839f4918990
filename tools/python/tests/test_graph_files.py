import gzip
import pathlib

import networkx
import pytest
from netuit import InputError, OutputError, matrix_file, read_graph, read_placement, write_graph, write_placement

CORPUS = pathlib.Path(__file__).parents[3] / "tests/netuit/file/corpus"  # of the C++ readers


def make_graph():
    """Node and edge weights, a self-loop, an isolated node, labels that are pairs, in no particular order."""
    graph = networkx.Graph()
    graph.add_node((2, 0), weight=2.5)
    graph.add_node((0, 1), weight=3)
    graph.add_edge((0, 0), (2, 0), weight=1.5)
    graph.add_edge((0, 0), (0, 1), weight=4)
    graph.add_edge((0, 0), (0, 0), weight=2)
    graph.add_node((5, 5))
    graph.add_node((0, 0), weight=1)
    return graph


def edges_of(graph):
    order = (lambda pair: pair) if graph.is_directed() else (lambda pair: tuple(sorted(pair, key=str)))
    return sorted((*map(str, order((u, v))), data.get("weight", 1)) for u, v, data in graph.edges(data=True))


@pytest.mark.parametrize("name", ["g.multiline_adjlist", "g.madjlist"])
def test_all_of_a_graph_survives_a_multiline_adjacency_list(name, tmp_path):
    graph = make_graph()
    write_graph(graph, tmp_path / name)
    back = read_graph(tmp_path / name)
    assert list(back) == list(graph)
    assert edges_of(back) == edges_of(graph)
    assert dict(back.nodes(data="weight", default=1)) == dict(graph.nodes(data="weight", default=1))
    assert type(back) is networkx.Graph


def test_direction_order_and_parallel_edges_survive_a_multiline_adjacency_list(tmp_path):
    graph = networkx.MultiDiGraph([(3, 1), (1, 3), (1, 3), (2, 3)])
    graph.add_node(9)
    write_graph(graph, tmp_path / "g.multiline_adjlist")
    back = read_graph(tmp_path / "g.multiline_adjlist", directed=True)
    assert list(back) == list(graph) and edges_of(back) == edges_of(graph)
    assert back.is_multigraph() and back.is_directed()


def test_metis_keeps_weights_loops_and_isolated_nodes_and_numbers_the_nodes(tmp_path):
    graph = make_graph()
    write_graph(graph, tmp_path / "g.graph")
    back = read_graph(tmp_path / "g.graph")
    numbered = networkx.relabel_nodes(graph, {node: index for index, node in enumerate(graph, 1)})
    assert list(back) == [1, 2, 3, 4]
    assert edges_of(back) == edges_of(numbered)
    assert dict(back.nodes(data="weight")) == {1: 2.5, 2: 3, 3: 1, 4: 1}
    assert not (tmp_path / "g.weights").exists()


def test_a_plain_metis_file_has_no_weights_in_it(tmp_path):
    write_graph(networkx.path_graph(3), tmp_path / "g.graph")
    assert (tmp_path / "g.graph").read_text() == "3 2\n2\n1 3\n2\n"


def test_an_edge_list_keeps_weights_and_what_networkx_writes_is_read(tmp_path):
    graph = networkx.grid_2d_graph(3, 3, periodic=True)
    graph.edges[(0, 0), (0, 1)]["weight"] = 0.25
    write_graph(graph, tmp_path / "ours.edgelist")
    networkx.write_edgelist(graph, tmp_path / "theirs.edgelist")
    assert edges_of(read_graph(tmp_path / "ours.edgelist")) == edges_of(graph) == edges_of(read_graph(tmp_path / "theirs.edgelist"))


def test_an_adjacency_list_keeps_isolated_nodes_and_order(tmp_path):
    graph = networkx.Graph([("b", "a"), ("a", "c")])
    graph.add_node("z")
    write_graph(graph, tmp_path / "g.adjlist")
    back = read_graph(tmp_path / "g.adjlist")
    assert list(back) == list(graph) and edges_of(back) == edges_of(graph)


def with_weight(value):
    graph = networkx.path_graph(2)
    graph.edges[0, 1]["weight"] = value
    return graph


@pytest.mark.parametrize(
    "graph, name, reason",
    [
        (networkx.Graph(), "g.graph", "no nodes"),
        (networkx.Graph([("a b", "c")]), "g.edgelist", "blank"),
        (networkx.Graph([("a(b", "c")]), "g.edgelist", "bracket"),
        (networkx.Graph([("", "c")]), "g.edgelist", "empty"),
        (networkx.Graph([(-1, 2)]), "g.adjlist", "from 0"),
        (networkx.Graph([(2**63, 2)]), "g.adjlist", "2.63"),
        (networkx.Graph([(1, "1")]), "g.adjlist", "same label"),
        (make_graph(), "g.edgelist", "no edge and would vanish"),
        (make_graph(), "g.adjlist", "no edge weights"),
        (networkx.DiGraph([(1, 2)]), "g.graph", "undirected"),
        (with_weight(-1), "g.madjlist", "negative"),
        (with_weight(float("nan")), "g.madjlist", "not finite"),
        (with_weight("heavy"), "g.madjlist", "not a number"),
        (with_weight(None), "g.madjlist", "not a number"),
    ],
)
def test_what_a_file_would_lose_or_a_program_refuse_is_refused_and_nothing_written(graph, name, reason, tmp_path):
    with pytest.raises(InputError, match=f"{name}: .*{reason}|{name}: {reason}"):
        write_graph(graph, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name, text, reason",
    [
        ("g.edgelist", "1 2\n3\n", "2: a label is missing"),
        ("g.edgelist", "a b c d\n", "1: the weight 'c' is not a number"),
        ("g.edgelist", "1 2 -3\n", "1: the weight '-3' is not finite, or negative"),
        ("g.edgelist", "(1, 2 3\n", "1: a bracket that is never closed"),
        ("g.edgelist", "# nothing\n", "1: no nodes"),
        ("g.adjlist", "# nothing\n", "1: no nodes"),
        ("g.adjlist", "a 'b c'd\n", "1: no blank after the label ''b c''"),
        ("g.multiline_adjlist", "1 2\n2\n", "2 neighbours|1 neighbours too early"),
        ("g.multiline_adjlist", "1 x\n", "1: 'x' is not a whole number"),
        ("g.graph", "2 1\n2\n", "expected 2 lines"),
        ("g.graph", "2 1\n3\n1\n", "2: the neighbour 3"),
        ("g.graph", "2 1\n2\n\n", "not listed alike"),
        ("g.graph", "", "no nodes"),
        ("g.edgelist", "1 2\0\n", "not text"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(name, text, reason, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=f"{name}.*({reason})"):
        read_graph(tmp_path / name)


def expected(name, reason):
    """A reason of expected.tsv, with the file's path in place of {path}, and without its extension in place of {stem}."""
    path = CORPUS / "bad" / name
    return reason.replace("{path}", str(path)).replace("{stem}", str(path.with_suffix("")))


def refusals_of_foreign_formats():
    rows = (line.split("\t") for line in (CORPUS / "bad/expected.tsv").read_text().splitlines())
    words = ("this is ", "compressed by", "either no node")
    return [row for row in rows if row[2].startswith(words) and not row[0].endswith((".weights", ".mtx"))]  # Python reads .mtx


@pytest.mark.parametrize("name, line, reason", refusals_of_foreign_formats())
def test_a_file_of_another_format_is_refused_as_in_cpp(name, line, reason):
    with pytest.raises(InputError) as refused:
        read_graph(CORPUS / "bad" / name)
    assert str(refused.value) == f"{CORPUS / 'bad' / name}:{line}: {expected(name, reason)}"


HOLD_NO_GRAPH = ("short_graphml.edgelist", "creator.gml")
CONVERTED = [row for row in refusals_of_foreign_formats() if "convert it in Python: " in row[2] and row[0] not in HOLD_NO_GRAPH]


@pytest.mark.parametrize("name, line, reason", CONVERTED)
def test_the_line_that_converts_a_file_converts_it(name, line, reason, tmp_path):
    if "read_dot" in reason:
        pytest.importorskip("pydot", reason="NOT TESTED: pydot is missing")
    path = tmp_path / name
    path.write_bytes((CORPUS / "bad" / name).read_bytes())
    with pytest.raises(InputError) as refused:
        read_graph(path)
    exec(str(refused.value).split("convert it in Python: ")[1])
    assert len(read_graph(path.with_suffix(".multiline_adjlist"))) >= 2


def test_the_corpus_has_files_of_other_formats():
    kinds = {reason.split(",")[0] for _, _, reason in CONVERTED}
    assert kinds == {f"this is {kind}" for kind in "GraphML GEXF GML Pajek JSON CSV DOT graph6 sparse6 LEDA".split()}


@pytest.mark.parametrize(
    "text, edges",
    [
        ("[[1,2],[3,4]]\n", [("1", "2", 1), ("3", "4", 1)]),
        ('\n[\n  ["a", "b"],\n  ["b", 7]\n]\n', [("7", "b", 1), ("a", "b", 1)]),
        ("[[1, 2, 0.5], [2, 3, 4]]", [("1", "2", 0.5), ("2", "3", 4)]),
        (f"[{', '.join(f'[{i}, {i + 1}]' for i in range(9000))}]", None),  # more than what is looked at
        (f"[{', '.join(f'[{chr(34)}node{i}{chr(34)}, 1]' for i in range(9000))}]", None),
    ],
)
def test_a_json_array_of_edges_is_refused_with_the_line_that_converts_it(text, edges, tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(text)
    with pytest.raises(InputError, match="graph.json:1: this is JSON, which is not read; convert it in Python: ") as refused:
        read_graph(path)
    exec(str(refused.value).split("convert it in Python: ")[1])
    graph = read_graph(path.with_suffix(".multiline_adjlist"))
    assert edges_of(graph) == edges if edges else graph.number_of_edges() == 9000


@pytest.mark.parametrize("text", ["[1, 2, 3]", "[]", "[[0, 1, 1, 0], [1, 0, 0, 0]]", "[[[0, 0], [0, 1]]]", '[[1, 2, "x"]]', '["a b", 1]'])
def test_a_json_array_of_other_things_is_refused_with_what_would_be_a_graph(text, tmp_path):
    (tmp_path / "graph.txt").write_text(text)
    with pytest.raises(InputError, match=r"graph.txt:1: this is a JSON array, not of edges as in \[\[1, 2\], \[3, 4\]\], and no graph$"):
        read_graph(tmp_path / "graph.txt")


@pytest.mark.parametrize("text, num_nodes", [("[1,2] [3,4]\n[3,4] [5,6]\n", 3), ("[1,2] a\n", 2), ("[[1,2],3] [[4],5] {'weight': 2}\n", 2)])
def test_an_edge_list_whose_labels_have_brackets_is_no_json(text, num_nodes, tmp_path):
    (tmp_path / "graph.edgelist").write_text(text)
    assert len(read_graph(tmp_path / "graph.edgelist")) == num_nodes


def test_the_line_with_which_the_programs_refuse_a_matrix_converts_it(tmp_path):
    """Which Python reads itself, so that only the table has the line."""
    rows = (line.split("\t") for line in (CORPUS / "bad/expected.tsv").read_text().splitlines())
    ((name, line, reason),) = [row for row in rows if row[0].endswith(".mtx")]
    assert (line, reason.split(",")[0]) == ("1", "this is MatrixMarket")
    path = tmp_path / name
    path.write_bytes((CORPUS / "bad" / name).read_bytes())
    exec(reason.replace("{path}", str(path)).replace("{stem}", str(path.with_suffix(""))).split("convert it in Python: ")[1])
    converted = read_graph(path.with_suffix(".multiline_adjlist"))
    assert edges_of(converted) == edges_of(read_graph(path)) == [("0", "1", 2), ("1", "2", 0.5)]


HEADER = "%%MatrixMarket matrix coordinate"


@pytest.mark.parametrize(
    "text, edges",
    [
        (f"{HEADER} real symmetric\n3 3 2\n2 1 2.0\n3 2 0.5\n", {(0, 1, 2.0), (1, 2, 0.5)}),
        (f"{HEADER} real general\n3 3 2\n1 2 2\n2 3 0.5\n", {(0, 1, 2.0), (1, 2, 0.5)}),
        (f"{HEADER} pattern general\n3 3 2\n1 2\n2 1\n", {(0, 1, None)}),
        ("%%MatrixMarket matrix array integer general\n2 2\n0\n0\n7\n0\n", {(0, 1, 7)}),
    ],
)
def test_a_matrix_of_matrixmarket_is_a_graph(text, edges, tmp_path):
    (tmp_path / "g.mtx").write_text(text)
    graph = read_graph(tmp_path / "g.mtx")
    assert {(source, target, data.get("weight")) for source, target, data in graph.edges(data=True)} == edges
    assert graph.is_directed() == ("general" in text and "pattern" not in text) and read_graph(tmp_path / "g.mtx", directed=True).is_directed()
    (tmp_path / "g.mtx.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_graph(tmp_path / "g.mtx.gz").edges) == list(graph.edges)


@pytest.mark.parametrize(
    "text, reason",
    [
        (f"{HEADER} real general\n2 3 1\n1 2 1\n", "square, not 2 x 3"),
        (f"{HEADER} complex general\n2 2 1\n1 2 1 1\n", "complex"),
        (f"{HEADER} real general\n2 2 2\n1 2 1\n", ""),
        (f"{HEADER} real general\n2 2 1\n1 5 1\n", ""),
        (f"{HEADER} real general\n2 2 1\n1 2 x\n", ""),
        (f"{HEADER} real general\n", ""),
        (f"{HEADER} real general\n0 0 0\n", "no nodes"),
        ("%%MatrixMarket nonsense\n", ""),
        ("%%MatrixMarket matrix array real general\n999999999 999999999\n", ""),
    ],
)
def test_a_matrix_that_is_no_graph_is_refused_in_one_line(text, reason, tmp_path):
    (tmp_path / "g.mtx").write_text(text)
    with pytest.raises(InputError, match=f"g.mtx: .*{reason}") as refused:
        read_graph(tmp_path / "g.mtx")
    assert "\n" not in str(refused.value)


def test_the_programs_get_a_matrix_as_a_csr_file(tmp_path):
    (tmp_path / "g.mtx").write_text(f"{HEADER} real symmetric\n3 3 2\n2 1 2.0\n3 2 0.5\n")
    written = matrix_file.for_programs(tmp_path / "g.mtx", tmp_path / "g.csr")
    write_graph(networkx.Graph([(0, 1, {"weight": 2.0}), (1, 2, {"weight": 0.5})]), tmp_path / "same.csr")
    assert written == tmp_path / "g.csr" and written.read_bytes() == (tmp_path / "same.csr").read_bytes()
    assert matrix_file.for_programs(tmp_path / "same.csr", tmp_path / "none") == tmp_path / "same.csr" and not (tmp_path / "none").exists()
    (tmp_path / "g.mtx").write_text(f"{HEADER} real symmetric\n2 2 1\n2 1 -2.0\n")
    with pytest.raises(InputError, match="g.mtx: a weight is negative"):
        matrix_file.for_programs(tmp_path / "g.mtx", tmp_path / "none")


@pytest.mark.parametrize("name", ["torus_3x4.txt", "torus_3x4.txt.gz", "torus_3x4_compressed.edgelist.gz", "torus_3x4.adjlist"])
def test_adjacency_lists_and_compressed_files_are_recognised_by_their_content(name):
    assert edges_of(read_graph(CORPUS / "good" / name)) == edges_of(read_graph(CORPUS / "good/torus_3x4.edgelist"))


def test_what_networkx_writes_under_any_name_is_read(tmp_path):
    graph = networkx.Graph([("a", "b", {"weight": 2}), ("b", "c", {"weight": 0.5})])
    networkx.write_multiline_adjlist(graph, tmp_path / "x.multiline")
    networkx.write_adjlist(graph, tmp_path / "x.txt")
    networkx.write_multiline_adjlist(graph, tmp_path / "x.multiline_adjlist.gz")
    assert edges_of(read_graph(tmp_path / "x.multiline")) == edges_of(graph) == edges_of(read_graph(tmp_path / "x.multiline_adjlist.gz"))
    assert sorted(read_graph(tmp_path / "x.txt").edges) == sorted(graph.edges)


def test_a_damaged_compressed_file_is_refused(tmp_path):
    whole = (CORPUS / "good/torus_3x4_compressed.edgelist.gz").read_bytes()
    path = tmp_path / "g.edgelist.gz"
    for content, reason in ((whole[:60], "the file ends too early"), (whole[:-6] + b"x" + whole[-5:], "its data is damaged")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"cannot be unpacked: {reason}"):
            read_graph(path)


def refusals_of_labels_with_blanks():
    rows = (line.split("\t") for line in (CORPUS / "bad/expected.tsv").read_text().splitlines())
    return [row for row in rows if row[0].endswith(".adjlist") and "a label with blanks" in row[2]]


@pytest.mark.parametrize("name, line, reason", refusals_of_labels_with_blanks())
def test_an_adjacency_list_whose_labels_have_blanks_is_refused_as_in_cpp(name, line, reason):
    with pytest.raises(InputError) as refused:
        read_graph(CORPUS / "bad" / name)
    assert str(refused.value) == f"{CORPUS / 'bad' / name}:{line}: {reason}"


def test_the_corpus_has_adjacency_lists_whose_labels_have_blanks():
    assert len(refusals_of_labels_with_blanks()) >= 6


def test_an_adjacency_list_by_hand_may_leave_lines_out_and_one_of_networkx_is_read(tmp_path):
    (tmp_path / "hand.adjlist").write_text("# by hand\nb 'a b' c\nb (0, 1)\n")
    assert list(read_graph(tmp_path / "hand.adjlist")) == ["b", "'a b'", "c", (0, 1)]
    networkx.write_adjlist(networkx.star_graph(3), tmp_path / "theirs.adjlist")
    assert edges_of(read_graph(tmp_path / "theirs.adjlist")) == edges_of(networkx.star_graph(3))


def test_a_file_that_is_not_there_and_a_folder_that_is_not(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_graph(tmp_path / "none.edgelist")
    with pytest.raises(OutputError, match="No such file"):
        write_graph(networkx.path_graph(2), tmp_path / "none" / "g.edgelist")


def test_placements_are_written_in_the_order_of_nodes_and_read_back(tmp_path):
    graph = make_graph()
    write_graph(graph, tmp_path / "g.madjlist")
    write_placement({node: index % 2 for index, node in enumerate(graph)}, tmp_path / "g.part")
    assert (tmp_path / "g.part").read_text() == "0\n1\n0\n1\n"
    assert read_placement(tmp_path / "g.part", read_graph(tmp_path / "g.madjlist")) == {(2, 0): 0, (0, 1): 1, (0, 0): 0, (5, 5): 1}
    with pytest.raises(InputError, match="not a worker"):
        write_placement({1: -1}, tmp_path / "bad.part")
    (tmp_path / "g.part").write_text("0\n1.0\n")
    with pytest.raises(InputError, match="g.part:2: '1.0' is not a whole number"):
        read_placement(tmp_path / "g.part", graph)


def test_weights_of_nodes_are_checked(tmp_path):
    write_graph(networkx.path_graph(2), tmp_path / "g.edgelist")
    unknown = "2: the graph has no node 7"
    for text, reason in (("0 1\n7 1\n", unknown), ("0 1\n", "no weight for node 1"), ("1\n2\n3\n", "more weights")):
        (tmp_path / "g.weights").write_text(text)
        with pytest.raises(InputError, match=reason):
            read_graph(tmp_path / "g.edgelist")
    (tmp_path / "g.weights").write_text("5\n6\n")
    assert dict(read_graph(tmp_path / "g.edgelist").nodes(data="weight")) == {0: 5, 1: 6}
