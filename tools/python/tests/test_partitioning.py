from collections import Counter

import networkx
import pytest
from netuit import InputError, cut_weight, draw_partition, partition


def test_a_torus_is_cut_in_equal_parts_along_few_edges():
    torus = networkx.grid_2d_graph(16, 16, periodic=True)
    placement = partition(torus, 4)
    assert list(placement) == list(torus)
    assert set(Counter(placement.values()).values()) == {64}
    assert cut_weight(torus, placement) <= 80  # 64 at best, 256 by rows in turn


def test_one_worker_gets_all_though_metis_would_divide_by_zero():
    assert set(partition(networkx.path_graph(5), 1).values()) == {0}


@pytest.mark.parametrize("num_nodes, num_workers", [(2, 2), (4, 4), (9, 8), (16, 16), (3, 3)])
def test_every_worker_gets_a_node(num_nodes, num_workers):
    for graph in (networkx.path_graph(num_nodes), networkx.empty_graph(num_nodes), networkx.complete_graph(num_nodes)):
        assert set(partition(graph, num_workers).values()) == set(range(num_workers))


def test_more_workers_than_nodes_are_refused_and_so_is_nonsense():
    for workers, reason in ((4, "4 workers for 3 nodes"), (0, "at least one"), ("2y2", "PROCESSESxTHREADS"), ("1x1,1x2", "one layout")):
        with pytest.raises(InputError, match=reason):
            partition(networkx.path_graph(3), workers)


def test_weights_of_nodes_are_balanced_even_if_they_are_fractions():
    graph = networkx.path_graph(40)
    for node in graph:
        graph.nodes[node]["weight"] = 0.003 if node < 30 else 0.009
    placement = partition(graph, 2)
    loads = [sum(graph.nodes[node]["weight"] for node in graph if placement[node] == worker) for worker in (0, 1)]
    assert min(loads) / max(loads) > 0.9


def test_heavy_edges_are_not_cut():
    graph = networkx.cycle_graph(20)
    for one, other in graph.edges:
        graph.edges[one, other]["weight"] = 1 if (one, other) in ((4, 5), (14, 15)) else 50
    placement = partition(graph, 2)
    assert cut_weight(graph, placement) == 2


def test_directions_loops_and_parallel_edges_do_not_disturb_metis():
    graph = networkx.MultiDiGraph([(i, (i + 1) % 12) for i in range(12)] + [(i, i) for i in range(12)] + [(0, 1)] * 3)
    assert Counter(partition(graph, 3).values()) == {0: 4, 1: 4, 2: 4}


def test_processes_are_cut_apart_before_their_threads():
    graph = networkx.Graph()
    for block in range(2):  # two grids, joined by one edge: that is where processes part
        graph.update(networkx.relabel_nodes(networkx.grid_2d_graph(4, 4), {(r, c): (block, r, c) for r in range(4) for c in range(4)}))
    graph.add_edge((0, 3, 3), (1, 0, 0))
    placement = partition(graph, "2x2")
    process_of = {node: worker // 2 for node, worker in placement.items()}
    assert cut_weight(graph, process_of) == 1
    assert Counter(placement.values()) == {0: 8, 1: 8, 2: 8, 3: 8}


def test_the_same_seed_gives_the_same_partition():
    graph = networkx.watts_strogatz_graph(200, 4, 0.1, seed=1)
    assert partition(graph, 4, seed=7) == partition(graph, 4, seed=7)


def test_a_bad_weight_is_named():
    graph = networkx.path_graph(4)
    graph.edges[1, 2]["weight"] = float("inf")
    with pytest.raises(InputError, match="edge 1, 2"):
        partition(graph, 2)


@pytest.mark.parametrize("graph", [networkx.grid_2d_graph(5, 5, periodic=True), networkx.watts_strogatz_graph(60, 4, 0.1, seed=2)])
def test_a_drawing_counts_cut_edges_and_shows_each_worker_in_a_colour(graph):
    placement = partition(graph, 3)
    axes = draw_partition(graph, placement)
    num_cut = sum(placement[one] != placement[other] for one, other in graph.edges)
    assert axes.get_title() == f"{len(graph)} nodes on 3 workers, {num_cut} of {graph.number_of_edges()} edges cut"
    nodes = axes.collections[-1]
    assert len(nodes.get_offsets()) == len(graph)
    assert len({tuple(color) for color in nodes.get_facecolors()}) == 3
    inside, cut = axes.collections[:2]
    assert cut.get_linewidths()[0] > inside.get_linewidths()[0]


def test_only_a_graph_with_nodes_and_a_placement_can_be_drawn():
    with pytest.raises(InputError, match=r"draw_partition needs a NetworkX graph, not str; netuit.read_graph reads a file"):
        draw_partition("my.edgelist", {0: 0})
    with pytest.raises(InputError, match="draw_partition needs the worker of each node, as netuit.partition gives it, not list"):
        draw_partition(networkx.path_graph(3), [0, 0, 1])
    with pytest.raises(InputError, match="draw_partition needs a graph with nodes"):
        draw_partition(networkx.Graph(), {})


def test_a_node_without_a_place_cannot_be_drawn():
    with pytest.raises(InputError, match="node 2 is not placed"):
        draw_partition(networkx.path_graph(3), {0: 0, 1: 0})
