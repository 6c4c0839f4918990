"""Checkpoints and edge fields of meshes in Python."""

import json
import pathlib
import subprocess
import sys

import networkx
import numpy
import pytest

import built
import netuit
from netuit import InputError, OutputError, ToolError

PACKAGE = pathlib.Path(netuit.__file__).parents[1]
LAYOUTS = [pytest.param({"threads": 1}, id="alone"), pytest.param({"threads": 3}, id="threads"), pytest.param({"processes": 2}, id="processes")]


@pytest.fixture(scope="module", autouse=True)
def _module():
    built.need_module()


class Model:
    """Nodes whose next values depend on everything: neighbours, edges, random numbers and the number of the update."""

    def __init__(self, **layout):
        self.mesh = netuit.Mesh(networkx.gnp_random_graph(40, 0.15, seed=2), **layout)
        self.x = self.mesh.field(lambda ids: ids * 0.25, published=True, name="x")
        self.is_even = self.mesh.field(False)
        self.trust = self.mesh.edge_field(0.5, name="trust")
        self.count = self.mesh.edge_field(0, dtype="int32")

    def run(self, updates, **options):
        x, is_even, trust, count = self.x, self.is_even, self.trust, self.count

        def update(part):
            part[trust] *= 0.9
            part[trust] += 0.01 * part.neighbors(x)
            part[count] += part.update
            part[is_even] = part.sum_edges(part[count]) % 2 == 0
            part[x] = part.random() + 0.1 * part.sum_in(x, trust)

        return self.mesh.run(netuit.EveryUpdate(updates=updates), update, **options)

    def values(self):
        """Of every field; those of edges as sums by node."""
        sums = [self.mesh.field(0.0), self.mesh.field(0)]
        trust, count = self.trust, self.count

        def add_up(part):
            part[sums[0]] = part.sum_edges(part[trust])
            part[sums[1]] = part.sum_edges(part[count]).astype(int)

        self.mesh.run(netuit.EveryUpdate(updates=1), add_up, goes_on=False)
        return [self.mesh.gather(field).tolist() for field in (self.x, self.is_even, *sums)]


@pytest.fixture(scope="module")
def whole():
    """The values after 12 updates without an interruption."""
    model = Model()
    model.run(12, seed=5)
    return model.values()


@pytest.mark.parametrize("before", LAYOUTS)
@pytest.mark.parametrize("after", LAYOUTS)
def test_a_run_goes_on_from_a_checkpoint_to_the_last_bit(before, after, whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = Model(**before)
    assert not first.mesh.has_checkpoint("run.ckpt")
    first.run(3, seed=5)  # the runs that follow have the same
    assert first.run(5, checkpoints=netuit.Checkpoints("run.ckpt", updates=2, notes={"temperature": "2.5"})).updates == 5
    first.mesh.close()
    saved = json.loads((tmp_path / "run.ckpt" / "checkpoint.json").read_text(encoding="utf-8"))
    assert "x" in str(saved) and "trust" in str(saved)

    second = Model(**after)
    assert second.mesh.has_checkpoint(tmp_path / "run.ckpt")
    assert second.mesh.load_checkpoint("run.ckpt") == {"temperature": "2.5"}
    assert second.mesh.num_updates == 8
    second.run(4)
    assert second.values() == whole


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_mesh_is_saved_between_runs(layout, whole, tmp_path):
    model = Model(**layout)
    model.run(12)
    model.mesh.save_checkpoint(tmp_path / "a", notes={"why": "finished"})
    model.run(1)
    model.mesh.save_checkpoint(tmp_path / "a")
    model.run(1)
    assert model.mesh.load_checkpoint(tmp_path / "a") == {} and model.mesh.num_updates == 13
    files = list((tmp_path / "a").rglob("x.npy"))
    assert len(files) == 1 and numpy.load(files[0]).tolist() == model.mesh.gather(model.x).tolist()


def test_checkpoints_are_saved_while_a_run_lasts(tmp_path):
    """The folder has one before the run ends, and an exception leaves the last."""
    model = Model()
    mesh, x = model.mesh, model.x

    def fail_late(part):
        if part.update == 7:
            raise ZeroDivisionError
        part[x] = part.update

    with pytest.raises(ZeroDivisionError):
        mesh.run(netuit.EveryUpdate(updates=100), fail_late, checkpoints=netuit.Checkpoints(tmp_path / "run.ckpt", updates=3))
    other = Model()
    other.mesh.load_checkpoint(tmp_path / "run.ckpt")
    assert other.mesh.num_updates == 6 and (other.mesh.gather(other.x) == 5).all()

    begun = []

    def note(part):
        begun.append(other.mesh is not None and (tmp_path / "timed").exists())

    other.mesh.run(netuit.Free(seconds=0.3), note, checkpoints=netuit.Checkpoints(tmp_path / "timed", seconds=0.05))
    assert not begun[0] and begun[-1]


def test_edges_have_values_of_every_type():
    graph = networkx.DiGraph([(0, 1), (2, 1), (1, 2), (3, 3)])
    for dtype in ("float64", "float32", "int64", "int32", "uint8", "bool"):
        with netuit.Mesh(graph, threads=2) as mesh:
            e = mesh.edge_field(1, dtype=dtype)
            total = mesh.field(0.0)
            kinds = set()

            def update(part, e=e, total=total, kinds=kinds):
                kinds.add(part[e].dtype.name)
                assert (part[e] == 1).all()
                part[e] = (part.sources + part.targets) % 2 == 1
                part[total] = part.sum_edges(part[e])

            mesh.run(netuit.EveryUpdate(updates=1), update)
            assert kinds == {dtype}
            # Into node 1 lead edges from 0 and 2, into 2 one from 1, and 3 has one from itself.
            assert mesh.gather(total).tolist() == [0, 2, 1, 0]


def test_edge_fields_and_checkpoints_that_make_no_sense_are_refused(tmp_path):
    model, foreign = Model(), Model()
    mesh = model.mesh
    for make, words in (
        (lambda: mesh.edge_field([1.0, 2.0]), "one initial value, not an array"),
        (lambda: mesh.edge_field("a"), "float64, float32"),
        (lambda: mesh.field(0.0, name="no/thing"), "letters, digits"),
        (lambda: mesh.load_checkpoint(tmp_path / "none"), "none"),
        (lambda: mesh.load_checkpoint(""), "a checkpoint is a folder"),
        (lambda: mesh.save_checkpoint(tmp_path / "a", notes={"a": 1}), "strings, not 1"),
        (lambda: netuit.Checkpoints(""), "a checkpoint is a folder"),
        (lambda: netuit.Checkpoints("a", seconds=-1), "seconds=-1"),
        (lambda: netuit.Checkpoints("a", updates=0.5), "updates=0.5"),
        (lambda: netuit.Checkpoints("a", notes={1: "a"}), "strings, not 1"),
        (lambda: model.run(1, checkpoints=netuit.Checkpoints(tmp_path / "a"), goes_on=False), "goes_on=False"),
    ):
        with pytest.raises(InputError, match=words):
            make()
    for use, words in (
        (lambda part: part[foreign.trust], "belongs to another mesh"),
        (lambda part: part.sum_in(model.x, model.count), "weights has values of float64"),
        (lambda part: part.sum_in(model.trust), "expected a field of the mesh, not EdgeField"),
        (lambda part: part.__setitem__(model.count, part[model.trust]), "a field of int32 cannot take values of float64"),
        (lambda part: mesh.save_checkpoint(tmp_path / "a"), None),
    ):
        with pytest.raises(ToolError, match=words):
            mesh.run(netuit.EveryUpdate(updates=1), use)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="file"):
        mesh.save_checkpoint(tmp_path / "file" / "a")
    model.mesh.save_checkpoint(tmp_path / "other")
    with netuit.Mesh(netuit.Torus(4, 4)) as other, pytest.raises(InputError, match="other"):
        other.load_checkpoint(tmp_path / "other")


KILLED = """
import os, netuit
with netuit.Mesh(netuit.Torus(6, 6)) as mesh:
    x = mesh.field(0, published=True)
    if mesh.has_checkpoint("run.ckpt"):
        mesh.load_checkpoint("run.ckpt")
    first = mesh.num_updates

    def update(part):
        part[x] += 1
        if part.update == 17 and first == 0:
            os.kill(os.getpid(), 9)

    mesh.run(netuit.EveryUpdate(updates=25 - first), update, checkpoints=netuit.Checkpoints("run.ckpt", updates=5))
    print(first, set(mesh.gather(x).tolist()))
"""


def test_a_program_that_was_killed_goes_on(tmp_path):
    def start():
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n" + KILLED]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert start().returncode == -9
    ended = start()
    assert ended.stdout == "15 {25}\n", ended.stderr
