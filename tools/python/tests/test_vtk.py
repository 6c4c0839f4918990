"""Graphs as VTK files, read back."""

import networkx
import numpy
import pytest

import netuit
from netuit import InputError, OutputError

meshio = pytest.importorskip("meshio", reason="NOT TESTED: meshio is missing")


@pytest.mark.parametrize("name", ["graph.vtu", "graph.vtk"])
def test_a_graph_is_read_back_with_values_and_positions(name, tmp_path):
    graph = networkx.path_graph(["c", "a", "b"])
    positions = {"a": (1, 0), "b": (2, 0), "c": (0, 3)}
    netuit.write_vtk(tmp_path / name, graph, {"load": {"a": 1.5, "b": 2.5, "c": 0.5}, "is_on": [True, False, True]}, positions)
    read = meshio.read(tmp_path / name)
    assert read.points.tolist() == [[0, 3, 0], [1, 0, 0], [2, 0, 0]]
    assert [block.type for block in read.cells] == ["line"]
    assert sorted(map(sorted, read.cells[0].data.tolist())) == [[0, 1], [1, 2]]
    assert read.point_data["load"].tolist() == [0.5, 1.5, 2.5]
    assert read.point_data["is_on"].tolist() == [1, 0, 1]


def test_a_torus_lies_flat_and_a_graph_has_a_layout(tmp_path):
    netuit.write_vtk(tmp_path / "torus.vtu", netuit.Torus(3, 2), {"x": numpy.arange(6)})
    read = meshio.read(tmp_path / "torus.vtu")
    assert read.points[:, :2].tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]
    assert len(read.cells[0].data) == 7
    netuit.write_vtk(tmp_path / "ring.vtu", networkx.cycle_graph(5), {})
    assert meshio.read(tmp_path / "ring.vtu").points.shape == (5, 3)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"path": "x.png"}, "ends in .vtu or .vtk"),
        ({"values": {"load": [1, 2]}}, "load: 3 nodes need as many values"),
        ({"values": {"load": {0: 1}}}, "load has no value for node 1"),
        ({"positions": [(1,), (2,), (3,)]}, "two or three coordinates"),
        ({"graph": 7}, "not int"),
        ({"graph": networkx.to_scipy_sparse_array(networkx.path_graph(3))}, "needs positions"),
    ],
)
def test_what_does_not_fit_is_refused(words, text, tmp_path):
    words = {"path": "x.vtu", "graph": networkx.path_graph(3), "values": {}} | words
    with pytest.raises(InputError, match=text):
        netuit.write_vtk(tmp_path / words["path"], words["graph"], words["values"], words.get("positions"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(OutputError, match="No such file"):
        netuit.write_vtk(tmp_path / "no" / "x.vtu", networkx.path_graph(3), {})
