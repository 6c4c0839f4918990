import csv
import pathlib
import re
import subprocess
import sys

import fake_build
import networkx
import pytest
from built import folder_of
from netuit import (
    InputError, Mesh, ToolError, cut_weight, load, partition, program, read_graph, read_placement, run, run_graph, schema, write_graph,
    write_placement, write_vtk,
)  # fmt: skip


@pytest.fixture
def build(tmp_path, monkeypatch):
    return fake_build.make(tmp_path, monkeypatch)


def test_a_run_gives_typed_rows_of_what_was_asked(build):
    graph = networkx.path_graph(6, create_using=networkx.Graph)
    rows = run(graph, workers="2x2", modes=["no_barrier", 0], seconds=0.5, seed=4, build=build)
    assert len(rows) == 2 * 4 and set(rows["seed"]) == {4} and rows["balanced"].all()
    words = rows.attrs["command_line"]
    assert words[words.index("--modes") + 1] == "0,3"
    assert words[words.index("--duration") + 1] == "0.500000000"


def test_options_placements_and_weights_become_words(build):
    graph = networkx.DiGraph([(0, 1), (1, 0), (1, 2)])
    graph.nodes[1]["weight"] = 2
    words = run(graph, 2, modes=[3], placement=partition(graph, 2), options={"work": 10}, build=build).attrs["command_line"]
    for option in ("--graph", "--directed", "--node-weights", "--placement", "--work"):
        assert option in words
    assert "--graph" not in run(None, 1, modes=[3], build=build).attrs["command_line"]


def test_a_matrix_is_run_as_a_csr_file_and_named_as_it_is(build, tmp_path):
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
    rows = run(tmp_path / "g.mtx", 1, modes=[3], build=build)
    words = rows.attrs["command_line"]
    assert words[words.index("--graph") + 1].endswith("/graph.csr") and set(rows["graph"]) == {str(tmp_path / "g.mtx")}


def test_a_program_of_ones_own_runs_by_its_path(build, tmp_path, monkeypatch):
    own = build / "demos" / "mine"
    (build / "demos" / program.PROGRAM).rename(own)
    rows = run(program=own, workers="2x2", modes=[3])
    assert len(rows) == 4 and rows.attrs["command_line"][0].endswith("mpirun")  # that of the build folder it is in
    monkeypatch.chdir(own.parent)
    monkeypatch.setenv("STUB_PROCESSES", "1")
    rows = run(program="./mine", workers="1x2", modes=[3], options={"work": 5})
    assert len(rows) == 2 and rows.attrs["command_line"][0] == str(own)  # one process needs no launcher
    with pytest.raises(InputError, match="mine: expected channel_selection or digital_evolution, or the path of a program"):
        run(program="../mine", workers=1, modes=[3])


@pytest.mark.parametrize(
    "text, reason",
    [("mode,updates\\n3,7\\n", "mine: its rows have no column processes$"), ("", "mine: cannot read its rows: No columns")],
)
def test_a_program_of_ones_own_that_writes_no_such_rows_is_refused(text, reason, tmp_path):
    own = tmp_path / "mine"
    own.write_text(f'#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done; printf "{text}" > "$2"\n')
    own.chmod(0o755)
    with pytest.raises(ToolError, match=reason):
        run(program=own, workers=1, modes=[3])
    own.write_text("#!/bin/sh\n")
    with pytest.raises(ToolError, match="mine: cannot read its rows: .*No such file"):
        run(program=own, workers=1, modes=[3])


@pytest.mark.parametrize(
    "changes, error, reason",
    [
        ({"workers": "0x1"}, InputError, "no worker"),
        ({"modes": [7]}, InputError, "unknown mode .7"),
        ({"modes": ["soap"]}, InputError, "^modes soap: unknown mode 'soap'"),
        ({"modes": 3}, InputError, "^modes 3: expected a list"),
        ({"modes": []}, InputError, "^modes: expected one or more"),
        ({"seconds": -1}, InputError, "seconds -1"),
        ({"seconds": "1"}, InputError, "^seconds '1': expected more than 0"),
        ({"graph": [(1, 2)]}, InputError, r"^graph: expected a NetworkX graph, the name of .* not list; networkx.Graph\(edges\) makes"),
        ({"graph": 7}, InputError, "^graph: expected .* not int"),
        ({"placement": [0, 1]}, InputError, "^placement: expected what netuit.partition gives, .* not list"),
        ({"options": ["--work"]}, InputError, "^options: expected names and values, .* not list"),
        ({"graph": networkx.Graph([("a b", 1)])}, InputError, "blank"),
    ],
)
def test_nonsense_is_refused_before_anything_runs(changes, error, reason, build, tmp_path):
    with pytest.raises(error, match=reason):
        run(**{"graph": None, "workers": "1x1", "modes": [0], "build": build, **changes})
    assert fake_build.starts(tmp_path) == []


def test_nonsense_is_refused_before_a_program_is_looked_for(tmp_path):
    """Because it may have to be built first."""
    with pytest.raises(InputError, match="^graph: expected"):
        run([(1, 2)], build=tmp_path)


def test_modes_may_be_text_as_on_the_command_line(build):
    assert set(run(modes="0,no_barrier", workers=1, build=build)["mode"]) == {0, 3}


EDGES = [(1, 2), (2, 3)]
RING = networkx.cycle_graph(4)


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda path: write_graph(EDGES, path), r"^write_graph needs a NetworkX graph, not list; networkx.Graph\(edges\) makes one"),
        (lambda path: partition(EDGES, 2), "^partition needs a NetworkX graph, not list"),
        (lambda path: partition("ring.edgelist", 2), "^partition needs a NetworkX graph, not str; netuit.read_graph reads a file"),
        (lambda path: cut_weight(EDGES, {}), "^cut_weight needs a NetworkX graph, not list"),
        (lambda path: cut_weight(RING, [0, 0, 1, 1]), "^cut_weight needs the worker of each node, as netuit.partition gives it, not list"),
        (lambda path: write_placement([0, 0, 1, 1], path), "^write_placement needs the worker of each node, .* not list"),
        (lambda path: read_placement(path, EDGES), "^read_placement needs a NetworkX graph, not list"),
        (lambda path: Mesh(EDGES), "^a mesh needs a NetworkX graph, a sparse matrix, a file or a netuit.Torus, not list"),
        (lambda path: write_vtk(path, EDGES, {}), "^a mesh needs a NetworkX graph|needs the package meshio"),
    ],
)
def test_what_is_no_graph_or_no_placement_is_refused_with_what_is_accepted(call, reason, tmp_path):
    with pytest.raises(InputError, match=reason) as refused:
        call(tmp_path / "file")
    assert "\n" not in str(refused.value) and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "fault, error, reason",
    [("refuse", InputError, "^graph:3: label with a blank$"), ("crash", ToolError, "ended with code.*something bad"),
     ("other MPI", ToolError, "another MPI")],
)  # fmt: skip
def test_what_the_program_says_is_raised(fault, error, reason, build, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", fault)
    with pytest.raises(error, match=reason):
        run(None, "2x1", [0], build=build)


def test_a_program_that_is_not_built_is_named_with_what_builds_it(tmp_path):
    with pytest.raises(ToolError, match="channel_selection: not built in .*; tools/demo builds it"):
        run(None, build=tmp_path)


def test_where_a_program_is_looked_for_and_in_which_order(tmp_path, monkeypatch):
    """The folder that is given, UIT_BUILD, the programs installed with the package, the current folder, the checkout."""
    names = ["given", "named", "package/programs", "current/build/demo", "current/build/release", "checkout/build/demo"]
    for name in names:
        path = tmp_path / name / "demos" / "channel_selection"
        path.parent.mkdir(parents=True)
        path.touch(mode=0o755)
    (tmp_path / "checkout" / "tools").mkdir()
    (tmp_path / "checkout" / "tools" / "build_program.sh").touch()
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.setattr(program, "_IN_WHEEL", tmp_path / "package" / "programs")
    monkeypatch.setattr(program, "find_checkout", lambda: tmp_path / "checkout")
    monkeypatch.setenv("UIT_BUILD", str(tmp_path / "named"))
    assert program.find_build(tmp_path / "given") == tmp_path / "given"
    assert program.find_build() == tmp_path / "named"
    monkeypatch.delenv("UIT_BUILD")
    for name in names[2:]:
        assert program.find_build() == tmp_path / name
        (tmp_path / name / "demos" / "channel_selection").unlink()
    with pytest.raises(ToolError, match="not built in build/demo or build/release; tools/demo builds it"):
        program.find_build()
    monkeypatch.setattr(program, "find_checkout", lambda: None)
    with pytest.raises(ToolError, match="not installed with this package.*pip install --verbose"):
        program.find_build()


TOOLS = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page, pictures", [("guide/experiments.md", ["rates.png", "partition.png"]), ("python/README.md", ["rates.png"])])
def test_the_lines_of_the_pages_take_a_user_from_a_networkx_graph_to_a_plot(page, pictures, tmp_path):
    text = (TOOLS / page).read_text(encoding="utf-8")
    lines = re.search(r"^```python\n(import networkx, netuit\n.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    assert lines.count("seconds=1,") == 1
    lines = lines.replace("seconds=1,", "seconds=0.2,")
    build = folder_of("channel_selection")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "MPLBACKEND": "Agg", "UIT_BUILD": str(build.resolve())}
    environment["PYTHONPATH"] = str(run_graph.pathlib.Path(run_graph.__file__).parents[1])
    script = lines + "print(len(rows), bool(rows['balanced'].all()), rows['graph'].iloc[0])\n"
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["12", "True", "graph"]
    for name in pictures:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_the_schema_documents_all_that_the_program_writes(tmp_path):
    build = folder_of("channel_selection")
    named = {"quality": tmp_path / "quality.csv", "frames": tmp_path / "frames.csv", "snapshot-interval": "50ms", "snapshot-length": "50ms", "colors-output": tmp_path / "colors.csv"}
    rows = run(None, "1x2", [3], 0.2, options={**named, "nodes-per-worker": 32}, build=build)
    quality, frames = load(named["quality"]), load(named["frames"])
    for frame, table in ((rows, schema.ROWS), (quality, schema.QUALITY), (frames, schema.FRAMES), (load(tmp_path / "colors.csv"), schema.COLORS)):
        added = {column.name for column in schema.SWEEP_COLUMNS} | ({"processes", "threads", "oversubscribed"} if table is schema.QUALITY else set())
        assert set(frame.columns) == {column.name for column in table.columns} - added
    assert (quality["received"] == quality["stepped"] + quality["skipped"] + quality["folded"]).all()
    assert set(quality["scope"]) == {"pair", "worker"} and (quality["simstep_period_s"] > 0).all()


GRAPHS_IN_FILES = [(kind, name) for kind in (networkx.Graph, networkx.DiGraph) for name in ("g.multiline_adjlist", "g.edgelist", "g.adjlist")]


@pytest.mark.parametrize("kind, name", [*GRAPHS_IN_FILES, (networkx.Graph, "g.graph")])  # which is undirected
def test_the_program_reads_what_is_written_here_in_the_same_order(kind, name, tmp_path):
    build = folder_of("channel_selection")
    graph = kind([(4, 2), (2, 9), (2, 4), (9, 7), (4, 7), (1, 4)])
    if name != "g.edgelist":
        graph.add_nodes_from([30, 20])
    if name != "g.adjlist":
        graph.edges[4, 2]["weight"] = 0.5
    graph.nodes[9]["weight"] = 7.25
    write_graph(graph, tmp_path / name)
    back = read_graph(tmp_path / name, directed=graph.is_directed())
    write_placement({node: index % 2 for index, node in enumerate(back)}, tmp_path / "g.part")
    options = {"updates": 1, "directed": graph.is_directed(), "colors-output": tmp_path / "colors.csv"}
    rows = run(tmp_path / name, "1x2", [0], 5, placement=str(tmp_path / "g.part"), options=options, build=build)
    assert set(rows["nodes"]) == {len(graph)} and set(rows["conflict_edges_total"]) == {graph.to_undirected().number_of_edges()}
    with open(tmp_path / "colors.csv", newline="") as file:
        told = [(row["label"], int(row["thread"])) for row in csv.DictReader(file)]
    assert told == [(str(node), index % 2) for index, node in enumerate(back)]
