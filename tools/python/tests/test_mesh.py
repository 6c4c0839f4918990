"""Meshes in Python, against the same computed with NumPy or SciPy alone."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import networkx
import numpy
import pytest
import scipy.sparse

import netuit
from netuit import InputError, ToolError, launch, native

PACKAGE = pathlib.Path(netuit.__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def _module():
    """The extension module. Where it has not been built a test is skipped, but where CI=true it fails."""
    if native.find() is None:
        if os.environ.get("CI") == "true":
            pytest.fail("the extension module is not built (-DUIT_PYTHON=ON)")
        pytest.skip("NOT TESTED: the extension module is not built")


def weighted_graph(directed=True):
    graph = networkx.gnp_random_graph(60, 0.08, seed=3, directed=directed)
    graph.add_edge(5, 5)
    for k, (a, b) in enumerate(graph.edges()):
        graph[a][b]["weight"] = 0.5 + k % 4
    return graph


def matrix_of(graph, weight=None):
    """Row: where an edge ends."""
    return networkx.to_scipy_sparse_array(graph, nodelist=list(graph), weight=weight, dtype=float).T.tocsr()


LAYOUTS = [pytest.param({"threads": 1}, id="alone"), pytest.param({"threads": 3}, id="threads"), pytest.param({"processes": 2}, id="processes")]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("schedule", [netuit.EveryUpdate, netuit.Dataflow])
@pytest.mark.parametrize("directed", [False, True])
def test_exact_schedules_give_what_numpy_gives_on_any_layout(layout, schedule, directed):
    graph = weighted_graph(directed)
    with netuit.Mesh(graph, **layout) as mesh:
        x = mesh.field(numpy.arange(60), published=True)
        y = mesh.field(lambda ids: ids % 7 * 0.5, published=True)
        seen = mesh.field(0)
        w = mesh.edge_weights()

        def update(part):
            part[seen] += part.sum_in(x)
            part[x] = (3 * part[x] + part.sum_in(x)) % 1_000_003
            part[y] = 0.5 * part[y] + 0.1 * part.mean_in(y, w)

        report = mesh.run(schedule(updates=20), update)
        assert report.updates == report.effective_updates == 20 and report.is_balanced
        assert len(report.workers) == layout.get("threads", 1) * layout.get("processes", 1)
        assert "20 updates each" in str(report)
        ours = [mesh.gather(each) for each in (x, y, seen)]
    edges, weights = matrix_of(graph), matrix_of(graph, "weight")
    per_node = numpy.asarray(weights.sum(axis=1)).ravel()
    a, b, c = numpy.arange(60), numpy.arange(60) % 7 * 0.5, numpy.zeros(60)
    for _ in range(20):
        inputs = edges @ a
        mean = numpy.divide(weights @ b, per_node, out=numpy.zeros(60), where=per_node != 0)
        a, b, c = (3 * a + inputs) % 1_000_003, 0.5 * b + 0.1 * mean, c + inputs
    assert ours[0].dtype == ours[2].dtype == numpy.int64
    assert (ours[0] == a).all() and (ours[2] == c).all()
    assert ours[1] == pytest.approx(b, rel=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_barriers_the_last_values_arrive(layout):
    with netuit.Mesh(netuit.Torus(8, 8), **layout) as mesh:
        count = mesh.field(0, published=True)
        newest = mesh.field(0)

        def update(part):
            part[newest] = numpy.maximum(part[newest], part.max_in(count))
            part[count] += 1

        report = mesh.run(netuit.Free(updates=30), update)
        assert report.updates == 30 and report.is_balanced
        mesh.run(netuit.EveryUpdate(updates=1), update)
        assert (mesh.gather(newest) == 30).all()
        assert (mesh.gather(count) == 31).all()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
def test_a_part_has_edges_as_a_sparse_matrix(dtype):
    graph = weighted_graph()
    mesh = netuit.Mesh(graph)
    values = (numpy.arange(60) * 37 % 11 > 5 if dtype == "bool" else numpy.arange(60) * 37 % 11).astype(dtype)
    x = mesh.field(values, published=True)
    w = mesh.edge_weights()
    checked = []

    def update(part):
        first, sources, weights = part.first_edges, part.sources, part[w]
        assert (part.ids == numpy.arange(60)).all() and len(part) == 60
        ours = scipy.sparse.csr_array((weights, sources, first), shape=(60, 60))
        assert abs(ours - matrix_of(graph, "weight")).max() == 0
        assert part[x].dtype == part.neighbors(x).dtype == dtype
        assert (part.neighbors(x) == values[sources]).all()
        rows = [values[sources[first[i] : first[i + 1]]] for i in range(60)]
        assert part.sum_in(x) == pytest.approx([row.sum() for row in rows])
        assert part.mean_in(x) == pytest.approx([row.mean() if len(row) else 0 for row in rows], rel=1e-6)
        assert (part.min_in(x) == [min(row, default=0) for row in rows]).all()
        assert (part.max_in(x) == [max(row, default=0) for row in rows]).all()
        assert part.sum_in(x, w) == pytest.approx(matrix_of(graph, "weight") @ values.astype(float))
        assert (part.per_edge(numpy.arange(60)) == numpy.repeat(numpy.arange(60), numpy.diff(first))).all()
        assert part.sum_edges(weights) == pytest.approx(numpy.asarray(matrix_of(graph, "weight").sum(axis=1)).ravel())
        checked.append(part.update)

    mesh.run(netuit.EveryUpdate(updates=2), update)
    mesh.run(netuit.EveryUpdate(updates=1), update)
    mesh.run(netuit.EveryUpdate(updates=1), update, goes_on=False)
    assert checked == [0, 1, 2, 0]
    assert mesh.gather(x).dtype == dtype and (mesh.gather(x) == values).all()


def test_values_begin_as_they_are_given():
    graph = networkx.Graph()
    graph.add_nodes_from([("c", {"load": 3}), ("a", {"load": 1}), ("b", {"load": 2})])
    graph.add_edge("a", "b")
    mesh = netuit.Mesh(graph)
    assert mesh.nodes == ["c", "a", "b"] and mesh.num_nodes == 3 and mesh.num_edges == 2
    for initial in ("load", {"a": 1, "b": 2, "c": 3}, [3, 1, 2], lambda ids: numpy.array([3, 1, 2])[ids]):
        assert mesh.gather(mesh.field(initial)).tolist() == [3, 1, 2]
    assert mesh.gather(mesh.field(1.5)).tolist() == [1.5] * 3
    assert mesh.gather(mesh.field(True)).dtype == bool
    assert mesh.gather(mesh.field([1, 2, 3], dtype="float32")).dtype == numpy.float32


def test_graphs_come_from_files_and_matrices_too(tmp_path):
    graph = weighted_graph()
    networkx.write_weighted_edgelist(graph, tmp_path / "graph.edgelist")
    matrix = networkx.to_scipy_sparse_array(graph, weight="weight", dtype=float)
    for source, directed in ((matrix, False), (tmp_path / "graph.edgelist", True)):
        mesh = netuit.Mesh(source, directed=directed)
        w = mesh.edge_weights()
        sums = {}
        mesh.run(netuit.EveryUpdate(updates=1), lambda part: sums.update(zip(part.ids, part.sum_edges(part[w]))))
        assert mesh.num_edges == graph.number_of_edges()
        assert sum(sums.values()) == sum(weight for _, _, weight in graph.edges(data="weight"))


def test_conditions_requests_and_silence():
    mesh = netuit.Mesh(netuit.Torus(6, 6))
    x = mesh.field(lambda ids: ids * 1.0, published=True)
    change = mesh.reduction("maximum")

    def relax(part):
        new = 0.5 * part[x] + 0.5 * part.mean_in(x)
        part[change] = abs(new - part[x])
        part[x] = new

    report = mesh.run(netuit.EveryUpdate(until=change < 1e-3, updates=10_000), relax)
    assert 10 < report.updates < 10_000
    assert numpy.ptp(mesh.gather(x)) < 0.1

    def stop(part):
        if part.update == first + 4:
            part.request_stop()

    first = report.updates
    assert mesh.run(netuit.Free(), stop).updates == 5

    with netuit.Mesh(netuit.Torus(6, 6), threads=2) as mesh:  # edges show what is published, not what is there
        x = mesh.field(0, published=True)
        seen = mesh.field(0)

        def half(part):
            part[seen] = part.max_in(x)
            part[x] += 1
            part.stay_silent(part.ids % 2 == 1)

        mesh.run(netuit.EveryUpdate(updates=5), half)
        assert set(mesh.gather(seen)[numpy.arange(36) % 2 == 1]) <= {4}  # a node of a torus of even size has neighbours of the other kind
        assert set(mesh.gather(seen)[numpy.arange(36) % 2 == 0]) <= {0, 4}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_trace_tells_every_update_of_every_worker(layout, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with netuit.Mesh(netuit.Torus(8, 8), **layout) as mesh:
        mesh.run(netuit.Free(updates=7), lambda part: None, trace="run.json")
        with pytest.raises(netuit.OutputError):
            mesh.run(netuit.Free(updates=7), lambda part: None, trace=tmp_path / "no" / "run.json")
    events = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["traceEvents"]
    updates = [(event["pid"], event["tid"]) for event in events if event["name"] == "update"]
    workers = {(process, thread) for process in range(layout.get("processes", 1)) for thread in range(layout.get("threads", 1))}
    assert {worker: updates.count(worker) for worker in updates} == dict.fromkeys(workers, 7)


def test_random_numbers_depend_on_seed_node_and_update_only():
    def draw(seed, **layout):
        with netuit.Mesh(netuit.Torus(8, 8), **layout) as mesh:
            x = mesh.field(0.0)
            mesh.run(netuit.EveryUpdate(updates=3), lambda part: part.__setitem__(x, 2 * part[x] + part.random() - part.random(1)), seed=seed)
            return mesh.gather(x)

    alone = draw(1)
    assert (draw(1, threads=2) == alone).all() and (draw(1, processes=2) == alone).all()
    assert (draw(2) != alone).any() and len(set(alone)) == 64


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_exception_of_the_update_is_raised_and_the_mesh_goes_on(layout):
    with netuit.Mesh(netuit.Torus(8, 8), **layout) as mesh:
        x = mesh.field(0, published=True)
        last = layout.get("threads", 1) * layout.get("processes", 1) - 1

        def bad(part):
            if part.update == 3 and part.worker == last:
                raise ZeroDivisionError("too many\ncooks")
            part[x] += 1

        with pytest.raises(ZeroDivisionError, match="too many\ncooks"):
            mesh.run(netuit.EveryUpdate(updates=9), bad)

        def good(part):
            part[x] = 1

        mesh.run(netuit.EveryUpdate(updates=2), good)
        assert (mesh.gather(x) == 1).all()


def test_what_makes_no_sense_is_refused(tmp_path):
    graph = networkx.path_graph(4)
    for words in ({"threads": 0}, {"processes": 0}):
        with pytest.raises(InputError, match="at least one process and one thread"):
            netuit.Mesh(graph, **words)
    for source, words in ((7, "not int"), (tmp_path / "none.edgelist", "no such graph file"), (scipy.sparse.eye_array(3, 4), "square, not 3 x 4")):
        with pytest.raises(InputError, match=words):
            netuit.Mesh(source)
    mesh = netuit.Mesh(graph)
    x = mesh.field(0.0)
    for initial, words in (
        ([1, 2], "4 nodes needs as many"),
        ("load", "no value for node 0"),
        ({0: 1}, "no value for node 1"),
        ([1j] * 4, "not complex128"),
        (["a"] * 4, "float64, float32"),
    ):
        with pytest.raises(InputError, match=words):
            mesh.field(initial)
    with pytest.raises(InputError, match="a maximum or a minimum"):
        mesh.reduction("median")
    with pytest.raises(InputError, match="needs a schedule"):
        mesh.run(3, lambda part: None)
    with pytest.raises(InputError, match="must be a number of seconds"):
        mesh.run(netuit.Free(seconds=-1), lambda part: None)
    with pytest.raises(InputError, match="period"):
        mesh.run(netuit.Fixed(updates=1, period=-1), lambda part: None)
    for use, words in (
        (lambda part: part.sum_in(x), "not published"),
        (lambda part: part.per_edge([1, 2]), "4 nodes, and got 2"),
        (lambda part: part.sum_edges([1, 2]), "6 edges, and got 2"),
        (lambda part: part["x"], "a field of the mesh, not str"),
    ):
        with pytest.raises(InputError, match=words):
            mesh.run(netuit.EveryUpdate(updates=1), use)
    kept = []
    mesh.run(netuit.EveryUpdate(updates=1), kept.append)
    with pytest.raises(ToolError, match="valid only while"):
        kept[0].ids
    mesh.close()
    with pytest.raises(ToolError, match="closed"):
        mesh.field(0.0)


def test_functions_for_other_processes_must_do_without_the_mesh():
    with netuit.Mesh(netuit.Torus(4, 4), processes=2) as mesh:
        with pytest.raises(InputError, match="must not use the mesh"):
            mesh.run(netuit.EveryUpdate(updates=1), lambda part: mesh.num_nodes)
        assert mesh.run(netuit.EveryUpdate(updates=1), lambda part: None).updates == 1
    with pytest.raises(ToolError, match="closed"):
        mesh.edge_weights()


SCRIPT = """
import sys, time, netuit
mesh = netuit.Mesh(netuit.Torus(16, 16), processes={processes})
x = mesh.field(lambda ids: ids * 1.0, published=True)
def update(part):
    part[x] = 0.5 * part[x] + 0.5 * part.mean_in(x)
print("begins", flush=True)
report = mesh.run(netuit.Free(seconds={seconds}), update)
everything = mesh.gather(x)
if everything is not None:
    print(len(report.workers), len(everything), report.is_balanced, flush=True)
"""


def start(tmp_path, processes, seconds, before=()):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(processes=processes, seconds=seconds), encoding="utf-8")
    mark = f"test-{os.getpid()}-{time.monotonic_ns()}"
    variables = {**os.environ, "PYTHONPATH": str(PACKAGE), "UIT_TEST_MARK": mark, "TMPDIR": str(tmp_path)}
    child = subprocess.Popen(
        [*before, sys.executable, str(script)], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    return child, mark


def marked(mark):
    """Ids of the live processes that a test has started."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"UIT_TEST_MARK={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_for_none(mark, seconds=20):
    limit = time.monotonic() + seconds
    while marked(mark) and time.monotonic() < limit:
        time.sleep(0.05)
    return marked(mark)


def test_processes_of_a_launcher_share_a_mesh(tmp_path):
    launcher = launch.find_launcher(native.folder())
    child, mark = start(tmp_path, None, 0.2, launcher.command(2, "", [])[:-1])
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert "2 256 True" in out.splitlines()
    assert wait_for_none(mark) == []
    child, mark = start(tmp_path, 3, 0.2, launcher.command(2, "", [])[:-1])
    out, err = child.communicate(timeout=60)
    assert child.returncode != 0 and "processes=3, but the launcher has started 2" in err


@pytest.mark.parametrize("processes", [None, 2])
def test_ctrl_c_ends_a_run_and_leaves_nothing(processes, tmp_path):
    child, mark = start(tmp_path, processes, 600)
    assert child.stdout.readline() == "begins\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode in (-signal.SIGINT, 130) and "KeyboardInterrupt" in err
    assert wait_for_none(mark) == []
    assert list(tmp_path.glob("conduit-job-*")) == []


def test_processes_end_if_the_one_that_started_them_is_killed(tmp_path):
    child, mark = start(tmp_path, 2, 600)
    assert child.stdout.readline() == "begins\n"
    time.sleep(1)
    assert len(marked(mark)) > 2
    child.kill()
    child.wait()
    assert wait_for_none(mark) == []
    assert list(tmp_path.glob("conduit-job-*")) == []
    child.communicate()


def test_a_process_that_is_killed_is_told_and_nothing_is_left(tmp_path):
    child, mark = start(tmp_path, 2, 600)
    assert child.stdout.readline() == "begins\n"
    time.sleep(1)
    workers = [each for each in marked(mark) if b"job_process" in pathlib.Path(f"/proc/{each}/cmdline").read_bytes()]
    os.kill(max(each for each in workers if b"mpirun" not in pathlib.Path(f"/proc/{each}/cmdline").read_bytes()), signal.SIGKILL)
    _, err = child.communicate(timeout=60)
    assert child.returncode != 0
    assert "netuit.ToolError: a process of the mesh has ended" in err
    assert wait_for_none(mark) == []
