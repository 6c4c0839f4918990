"""Meshes in Python, against the same computed with NumPy or SciPy alone."""

import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import networkx
import numpy
import pandas
import pytest
import scipy.sparse

import built
import netuit
from netuit import InputError, ToolError, launch, native

PACKAGE = pathlib.Path(netuit.__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def _module():
    built.need_module()


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


def test_values_of_fields_go_where_they_belong():
    mesh = netuit.Mesh(netuit.Torus(4, 4))
    x, y, flag = mesh.field(1.5, published=True), mesh.field(0.0), mesh.field(False, published=True)

    def update(part):
        part[y] = part[x]  # of another field, which was read last
        part[flag] = part[x] > 1
        assert part.max_in(flag).dtype == part.min_in(flag).dtype == bool
        part[x] += 1

    mesh.run(netuit.EveryUpdate(updates=1), update)
    assert (mesh.gather(y) == 1.5).all() and (mesh.gather(x) == 2.5).all()
    assert mesh.gather(flag).view(numpy.uint8).tolist() == [1] * 16


def test_not_a_number_wins_among_neighbours_as_in_numpy():
    ring = networkx.cycle_graph(4)
    for values in ([numpy.nan, 1, 2, 3], [1, 2, numpy.nan, 3]):
        mesh = netuit.Mesh(ring)
        x = mesh.field(values, published=True)
        seen = {}
        mesh.run(netuit.EveryUpdate(updates=1), lambda part: seen.update(low=part.min_in(x), high=part.max_in(x)))
        wanted = [numpy.isnan(values[(i - 1) % 4]) or numpy.isnan(values[(i + 1) % 4]) for i in range(4)]
        assert numpy.isnan(seen["low"]).tolist() == numpy.isnan(seen["high"]).tolist() == wanted


def test_large_results_do_not_share_memory():
    mesh = netuit.Mesh(netuit.Torus(150, 150))
    x = mesh.field(lambda ids: ids * 1.0, published=True)

    def update(part):
        del_me = part.sum_in(x)
        first = del_me.copy()
        del del_me  # its memory is used again
        arrays = [part.sum_in(x) for _ in range(8)]
        assert len({array.__array_interface__["data"][0] for array in arrays}) == 8
        assert all((array == first).all() for array in arrays)

    mesh.run(netuit.EveryUpdate(updates=3), update)


def test_arrays_outlive_the_mesh():
    kept = []
    with netuit.Mesh(netuit.Torus(4, 4)) as mesh:
        x = mesh.field(lambda ids: ids * 1.0, published=True)
        mesh.run(netuit.EveryUpdate(updates=1), lambda part: kept.extend([part[x], part.ids, part.sources]))
    assert kept[0].tolist() == kept[1].tolist() == list(range(16)) and len(kept[2]) == 64


def test_a_mesh_is_neither_used_nor_closed_during_its_run():
    mesh = netuit.Mesh(netuit.Torus(4, 4))
    x = mesh.field(0.0)
    for use in (lambda: mesh.gather(x), lambda: mesh.field(0.0), mesh.close, lambda: mesh.run(netuit.Free(updates=1), lambda part: None)):
        with pytest.raises(ToolError, match="running|during its run"):
            mesh.run(netuit.Free(updates=1), lambda part: use())
    assert mesh.gather(x).tolist() == [0] * 16


@pytest.mark.parametrize(
    ("schedule", "barriers"),
    [
        (netuit.EveryUpdate(updates=40), 40),
        (netuit.Rolling(updates=40, span=0.001), 1),
        (netuit.Fixed(updates=40, period=0.001), 1),
        (netuit.Rolling(updates=40, span=100), 0),
        (netuit.Fixed(updates=40, period=100), 0),
        (netuit.Free(updates=40, slack=1), 0),
        (netuit.Free(updates=40, slack=netuit.automatic), 0),
        (netuit.Isolated(updates=40), 0),
        (netuit.Dataflow(updates=40), 0),
    ],
    ids=str,
)
def test_each_schedule_keeps_its_barriers(schedule, barriers):
    with netuit.Mesh(netuit.Torus(8, 8), threads=2) as mesh:
        x = mesh.field(0.0, published=True)

        def update(part):
            time.sleep(0.0005)
            part[x] += 1

        report = mesh.run(schedule, update)
        counts = {worker["barriers"] for worker in report.workers}
        if barriers == 1:  # a barrier every millisecond or so: some, and fewer than updates
            assert all(1 <= count <= 41 for count in counts)
        else:
            assert all(count - barriers in (0, 1) for count in counts)
        assert report.updates == 40 and (mesh.gather(x) == 40).all()
        if getattr(schedule, "slack", None) == 1:
            assert "within the slack of 1" in str(report)


def test_conditions_on_both_extremes():
    mesh = netuit.Mesh(netuit.Torus(4, 4))
    x = mesh.field(lambda ids: ids * 1.0)
    least = mesh.reduction("minimum")

    def grow(part):
        part[x] += 1
        part[least] = part[x]

    assert mesh.run(netuit.EveryUpdate(until=least > 9.5, updates=100), grow).updates == 10
    assert mesh.run(netuit.Dataflow(until=least > 13.5, lag=3, updates=100), grow).updates == 9  # it holds after 4, so at 6
    other = netuit.Mesh(netuit.Torus(4, 4))
    with pytest.raises(InputError, match="another mesh"):
        other.run(netuit.EveryUpdate(until=least > 1), grow)


@pytest.mark.parametrize("threads", (1, 3))
def test_a_sum_has_the_same_bits_on_every_layout(threads):
    values = 0.1 * numpy.arange(1.0, 26.0)
    for _ in range(7):
        values *= 1.5
    exact = math.fsum(values)
    for bound, updates in ((math.nextafter(exact, 0), 7), (exact, 8)):
        with netuit.Mesh(netuit.Torus(5, 5), threads=threads) as mesh:
            x = mesh.field(lambda ids: 0.1 * (ids + 1.0))
            total = mesh.reduction("sum")
            size = mesh.reduction("sum")

            def grow(part, x=x, total=total, size=size):
                part[x] *= 1.5
                part[total] = part[x]
                part[size] = 1

            assert mesh.run(netuit.EveryUpdate(until=total > bound, updates=100), grow).updates == updates
            assert mesh.run(netuit.EveryUpdate(until=size > 25, updates=3), grow).updates == 3
            assert mesh.run(netuit.EveryUpdate(until=size > 24.5, updates=3), grow).updates == 1

            def wrong(part, total=total):
                part[total] = numpy.ones(len(part) + 1)

            with pytest.raises(InputError, match="a number of each of the part's"):
                mesh.run(netuit.EveryUpdate(updates=1), wrong)


@pytest.mark.parametrize("layout", ({}, {"threads": 2}, {"processes": 2}))
def test_a_film_has_an_image_after_each_so_many_updates(layout):
    with netuit.Mesh(netuit.Torus(4, 3), **layout) as mesh:
        x = mesh.field(lambda ids: ids * 1.0, published=True)
        is_even = mesh.field(False)
        film = mesh.film(x, every=3, most=4)
        flags = mesh.film(is_even, every=4)

        def grow(part):
            part[x] += 0.5
            part[is_even] = part[x] % 2 == 0

        mesh.run(netuit.EveryUpdate(updates=12), grow)
        start = numpy.arange(12.0)
        images = mesh.gather(film)
        assert (images == [start + 0.5 * updates for updates in (3, 6, 9, 12)]).all()
        seen = mesh.gather(flags)
        assert seen.dtype == bool and (seen == [(start + 0.5 * updates) % 2 == 0 for updates in (4, 8, 12)]).all()
        with pytest.warns(UserWarning, match="2 images found no memory"):
            mesh.run(netuit.EveryUpdate(updates=6), grow)
            assert mesh.gather(film).shape == (4, 12)
        mesh.clear(film)
        assert mesh.gather(film).shape == (0, 12)
        mesh.run(netuit.Free(updates=6), grow)
        assert mesh.gather(film).shape == (2, 12)
        with pytest.raises(InputError, match="every=0"):
            mesh.film(x, every=0)
        with pytest.raises(InputError, match="expected a field"):
            mesh.film(film)
        with netuit.Mesh(netuit.Torus(4, 3)) as other, pytest.raises(InputError, match="another mesh"):
            other.gather(film)


def test_values_begin_as_they_are_given():
    graph = networkx.Graph()
    graph.add_nodes_from([("c", {"load": 3}), ("a", {"load": 1}), ("b", {"load": 2})])
    graph.add_edge("a", "b")
    mesh = netuit.Mesh(graph)
    assert mesh.nodes == ["c", "a", "b"] and mesh.num_nodes == 3 and mesh.num_edges == 2
    for initial in ("load", {"a": 1, "b": 2, "c": 3}, [3, 1, 2], lambda ids: numpy.array([3, 1, 2])[ids], pandas.Series({"b": 2, "c": 3, "a": 1})):
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


def test_nodes_of_a_file_have_their_names(tmp_path):
    (tmp_path / "graph.adjlist").write_text("c a\na b\nb d\n", encoding="utf-8")
    mesh = netuit.Mesh(tmp_path / "graph.adjlist")
    assert sorted(mesh.nodes) == ["a", "b", "c", "d"]
    field = mesh.field({"a": 1, "b": 2, "c": 3, "d": 4})
    assert dict(zip(mesh.nodes, mesh.gather(field).tolist())) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_entries_of_a_matrix_that_are_stored_twice_are_one_edge():
    matrix = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    mesh = netuit.Mesh(matrix)
    w = mesh.edge_weights()
    seen = {}
    mesh.run(netuit.EveryUpdate(updates=1), lambda part: seen.update(weights=part.sum_edges(part[w]).tolist()))
    assert mesh.num_edges == 2 and seen["weights"] == [0, 3, 4]


@pytest.mark.parametrize("initial", [lambda ids: numpy.random.rand(16)], ids=["random"])
def test_all_processes_begin_with_the_same_values(initial):
    with netuit.Mesh(netuit.Torus(4, 4), processes=2) as mesh:
        x = mesh.field(initial, published=True)
        total = mesh.field(0.0)

        def update(part):
            part[total] = part.sum_in(x)

        before = mesh.gather(x)
        mesh.run(netuit.EveryUpdate(updates=1), update)
        grid = before.reshape(4, 4)
        wanted = sum(numpy.roll(grid, shift, axis) for shift in (1, -1) for axis in (0, 1))
        assert mesh.gather(total) == pytest.approx(wanted.ravel())


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


class Unusual(Exception):
    """An exception that cannot be made anew from its text."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


@pytest.mark.parametrize("layout", [{"threads": 2}, {"processes": 2}], ids=str)
def test_exceptions_of_any_kind_leave_the_mesh_in_order(layout):
    with netuit.Mesh(netuit.Torus(8, 8), **layout) as mesh:
        x = mesh.field(1.0, published=True)
        for kind, arguments, words in ((Unusual, ("this", "that"), "this and that"), (ValueError, ("\udcff",), "."), (SystemExit, (3,), "3")):

            def bad(part, kind=kind, arguments=arguments):
                raise kind(*arguments)

            with pytest.raises((kind, ToolError), match=words):
                mesh.run(netuit.EveryUpdate(updates=2), bad)
            assert (mesh.gather(x) == 1).all()
        assert mesh.run(netuit.EveryUpdate(updates=2), lambda part: None).updates == 2


def test_two_threads_may_use_a_mesh_of_other_processes():
    with netuit.Mesh(netuit.Torus(8, 8), processes=2) as mesh:
        x = mesh.field(1.0, published=True)
        gathered = []
        other = threading.Thread(target=lambda: gathered.extend(mesh.gather(x).tolist() for _ in range(50)))
        other.start()
        reports = [mesh.run(netuit.Free(updates=5), lambda part: None) for _ in range(50)]
        other.join()
        assert gathered == [[1.0] * 64] * 50
        assert {report.updates for report in reports} == {5}


INTERRUPTED = """
import os, signal, threading, time, netuit
with netuit.Mesh(netuit.Torus(8, 8), processes=2) as mesh:
    x = mesh.field(1.0, published=True)
    for moment in [0.001 * k for k in range(12)] + [0.1]:
        timer = threading.Timer(moment, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            mesh.run(netuit.Free(updates=3), lambda part: None)
            while True:
                mesh.gather(x)
        except KeyboardInterrupt:
            pass
        timer.join()
        assert (mesh.gather(x) == 1).all()
        assert mesh.run(netuit.Free(updates=5), lambda part: None).updates == 5
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        mesh.run(netuit.Free(seconds=600), lambda part: None)
    except KeyboardInterrupt:
        print("interrupted")
    print(mesh.run(netuit.Free(updates=5), lambda part: None).updates)
"""


def test_a_mesh_goes_on_after_ctrl_c_at_any_moment():
    """In a run it ends the run; elsewhere it waits for the answer."""
    variables = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0 and ended.stdout == "interrupted\n5\n", ended.stderr


def test_a_set_up_that_fails_leaves_no_process(tmp_path, monkeypatch):
    mark = f"test-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv("UIT_TEST_MARK", mark)
    (tmp_path / "bad.edgelist").write_text("1 2\n3\n", encoding="utf-8")
    with pytest.raises(InputError, match="bad.edgelist:2") as kept:
        netuit.Mesh(tmp_path / "bad.edgelist", processes=2)
    assert kept.value is not None  # and its traceback, as a notebook keeps it
    assert [each for each in marked(mark) if each != os.getpid()] == []


def test_functions_come_from_modules_beside_the_program(tmp_path):
    (tmp_path / "model.py").write_text("def update(part):\n    pass\n", encoding="utf-8")
    (tmp_path / "program.py").write_text(
        "import netuit, model\nwith netuit.Mesh(netuit.Torus(4, 4), processes=2) as mesh:\n"
        "    print(mesh.run(netuit.Free(updates=3), model.update).updates)\n",
        encoding="utf-8",
    )
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, cwd="/", capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.stdout == "3\n", ended.stderr


def test_a_child_of_fork_leaves_the_mesh_alone(tmp_path):
    text = """
import os, netuit
for layout in ({"threads": 2}, {"processes": 2}):
    mesh = netuit.Mesh(netuit.Torus(4, 4), **layout)
    x = mesh.field(1.0)
    mesh.run(netuit.Free(updates=3), lambda part: None)
    child = os.fork()
    if child == 0:
        try:
            mesh.run(netuit.Free(updates=3), lambda part: None)
        except netuit.ToolError as error:
            raise SystemExit(7 if "fork" in str(error) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert mesh.gather(x).tolist() == [1.0] * 16
    assert mesh.run(netuit.Free(updates=3), lambda part: None).updates == 3
print("both")
"""
    ended = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, check=False, timeout=60)
    assert ended.stdout == "both\n" and ended.returncode == 0, ended.stderr


def test_what_makes_no_sense_is_refused(tmp_path):
    graph = networkx.path_graph(4)
    for words in ({"threads": 0}, {"processes": 0}, {"threads": 1.5}):
        with pytest.raises(InputError, match="expected a whole number of at least 1|expected a whole number"):
            netuit.Mesh(graph, **words)
    with pytest.raises(InputError, match="directed=True is for graph files"):
        netuit.Mesh(graph, directed=True)
    heavy = networkx.path_graph(3)
    heavy[0][1]["weight"] = "heavy"
    for source, words in (
        (networkx.Graph(), "a graph with nodes"),
        (heavy, "a weight that is no number"),
        (scipy.sparse.eye_array(3, dtype=complex), "not complex128"),
    ):
        with pytest.raises(InputError, match=words):
            netuit.Mesh(source)
    with pytest.raises(InputError, match="width=-1"):
        netuit.Torus(-1, 5)
    for source, words in ((7, "not int"), (tmp_path / "none.edgelist", "no such graph file"), (scipy.sparse.eye_array(3, 4), "square, not 3 x 4")):
        with pytest.raises(InputError, match=words):
            netuit.Mesh(source)
    mesh = netuit.Mesh(graph)
    x = mesh.field(0.0)
    whole = mesh.field(0)
    foreign = netuit.Mesh(graph).field(0.0)
    for initial, words in (
        ([1, 2], "4 nodes needs as many"),
        ("load", "no value for node 0"),
        ({0: 1}, "no value for node 1"),
        ([1j] * 4, "not complex128"),
        (["a"] * 4, "float64, float32"),
    ):
        with pytest.raises(InputError, match=words):
            mesh.field(initial)
    with pytest.raises(InputError, match="a maximum, a minimum or a sum"):
        mesh.reduction("median")
    with pytest.raises(InputError, match="needs a schedule"):
        mesh.run(3, lambda part: None)
    for make, words in (
        (lambda: netuit.Free(seconds=-1), "seconds=-1: expected a number of seconds"),
        (lambda: netuit.Free(seconds=float("inf")), "seconds=inf"),
        (lambda: netuit.Free(seconds="1"), "seconds='1'"),
        (lambda: netuit.Fixed(updates=1, period=-1), "period=-1"),
        (lambda: netuit.Rolling(updates=1, span=0), "span=0: expected more than 0 seconds"),
        (lambda: netuit.Free(updates=2.5), "updates=2.5: expected a whole number"),
        (lambda: netuit.Free(updates=-1), "updates=-1"),
        (lambda: netuit.Free(slack=-7), "slack=-7"),
        (lambda: netuit.EveryUpdate(until=3), "expected a comparison such as change < 1e-9"),
        (lambda: mesh.run(netuit.Free(updates=1), lambda part: None, seed=-1), "seed=-1"),
    ):
        with pytest.raises(InputError, match=words):
            make()
    for use, words in (
        (lambda part: part.sum_in(x), "not published"),
        (lambda part: part.per_edge([1, 2]), "4 nodes, and got 2"),
        (lambda part: part.sum_edges([1, 2]), "6 edges, and got 2"),
        (lambda part: part["x"], "a field of the mesh, not str"),
        (lambda part: part[foreign], "belongs to another mesh"),
        (lambda part: part.random(-1), "draw=-1"),
        (lambda part: part.sum_edges([[1]]), "one dimension, not of 2"),
        (lambda part: part.__setitem__(whole, part[x] + 0.5), "a field of int64 cannot take values of float64"),
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


def test_a_gathered_field_survives_a_parquet_file(tmp_path):
    pytest.importorskip("pyarrow", reason="NOT TESTED: pyarrow is missing")
    graph = networkx.cycle_graph(["a", "b", "c", "d"])
    with netuit.Mesh(graph, threads=2) as mesh:
        x = mesh.field({"a": 0.5, "b": 1.5, "c": 2.5, "d": 3.5}, published=True)
        is_low = mesh.field([True, False, True, False])
        mesh.run(netuit.EveryUpdate(updates=1), lambda part: part.__setitem__(x, part.sum_in(x)))
        values = pandas.DataFrame({"x": mesh.gather(x), "is_low": mesh.gather(is_low)}, index=pandas.Index(mesh.nodes, name="node"))
    values.to_parquet(tmp_path / "field.parquet")
    back = pandas.read_parquet(tmp_path / "field.parquet")
    pandas.testing.assert_frame_equal(back, values)
    assert back["x"].to_dict() == {"a": 5.0, "b": 3.0, "c": 5.0, "d": 3.0} and back["is_low"].dtype == bool
