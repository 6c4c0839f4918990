import networkx
from netuit import demo_graphs
from netuit.labels import parse_cell


def test_the_torus_reads_back_from_its_tuple_labels(tmp_path):
    torus = demo_graphs.make_torus(5)
    networkx.write_edgelist(torus, tmp_path / "torus")
    edges = set()
    for line in (tmp_path / "torus").read_text().splitlines():
        first, second = line[: line.index(")") + 1], line[line.index(") (") + 2 : line.rindex(")") + 1]
        edges.add(frozenset((parse_cell(first), parse_cell(second))))
    assert edges == {frozenset(edge) for edge in torus.edges}


def test_the_small_world_reads_back(tmp_path):
    world = demo_graphs.make_small_world(seed=3, num_nodes=100)
    networkx.write_edgelist(world, tmp_path / "world")
    assert networkx.utils.graphs_equal(world, networkx.read_edgelist(tmp_path / "world", nodetype=int))


def test_the_small_world_is_a_function_of_its_seed():
    assert networkx.utils.graphs_equal(demo_graphs.make_small_world(1, 200), demo_graphs.make_small_world(1, 200))
    assert not networkx.utils.graphs_equal(demo_graphs.make_small_world(1, 200), demo_graphs.make_small_world(2, 200))


def test_the_demo_writes_both_graphs(tmp_path):
    torus, world = demo_graphs.write_demo_graphs(tmp_path, seed=1)
    assert torus.path.read_text().startswith("(0, 0) (")
    assert len(torus.path.read_text().splitlines()) == len(world.path.read_text().splitlines()) == 8192
