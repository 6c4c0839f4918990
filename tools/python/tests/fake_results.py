"""A folder of results as channel_selection leaves it, made up but consistent."""

import csv
import json

import networkx
import numpy

import fake

DIGITS = "0123456789"


def color_graph(graph, num_frames, seed, eagerness=1.0):
    """Frames of colours of a graph with nodes 0..n-1 by Leith's rule (b = 0.1), and the conflicts of each."""
    random = numpy.random.default_rng(seed)
    edges = numpy.array(graph.edges)
    size = graph.number_of_nodes()
    colors = random.integers(0, 3, size)
    chances = numpy.full((size, 3), 1 / 3)
    frames = []
    for _ in range(num_frames):
        clash = colors[edges[:, 0]] == colors[edges[:, 1]]
        frames.append(("".join(DIGITS[color] for color in colors), int(clash.sum())))
        is_unhappy = numpy.zeros(size, bool)
        is_unhappy[edges[clash].ravel()] = True
        is_unhappy &= random.random(size) < eagerness
        chances[is_unhappy] *= 0.9
        chances[is_unhappy] += 0.05
        chances[is_unhappy, colors[is_unhappy]] -= 0.05
        is_happy = numpy.ones(size, bool)
        is_happy[edges[clash].ravel()] = False
        chances[is_happy] = numpy.eye(3)[colors[is_happy]]
        drawn = (random.random(size)[:, None] > chances.cumsum(1)).sum(1).clip(0, 2)
        colors = numpy.where(is_unhappy, drawn, colors)
    return frames


def torus(side):
    return networkx.convert_node_labels_to_integers(
        networkx.grid_2d_graph(side, side, periodic=True), ordering="sorted"
    )


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def quality_row(random, mode, snapshot, scope, process, peer, transport):
    latency = (8e-6, 2e-5, 2e-5, 7e-6, 1e-5)[mode] * random.lognormal(0, 0.15)
    period = (2e-5, 1e-5, 1e-5, 9e-6, 8e-6)[mode] * random.lognormal(0, 0.05)
    return {
        "mode": mode,
        "mode_name": fake.MODES[mode],
        "replicate": 0,
        "seed": 1,
        "snapshot": snapshot,
        "scope": scope,
        "layer": 0,
        "transport": transport,
        "process": process,
        "thread": 0,
        "peer_process": "" if scope == "worker" else peer,
        "peer_thread": "" if scope == "worker" else 0,
        "source": "",
        "target": "",
        "begin_s": snapshot,
        "end_s": snapshot + 1,
        "updates": 1000,
        "channels_out": 4,
        "channels_in": 4,
        "attempted": 4000,
        "accepted": 3900,
        "dropped": 100,
        "received": 3900,
        "stepped": 3500,
        "skipped": 400,
        "folded": 0,
        "unread": 0,
        "pulls": 4000,
        "laden": 3500,
        "touches": 2000,
        "simstep_period_s": period,
        "simstep_latency_updates": latency / period,
        "wall_latency_s": latency,
        "failure_rate": 0.025,
        "clumpiness": 0.1,
        "skip_rate": 0.1,
        "touch_mean_s": latency,
        "age_count": 3500,
        "age_mean_s": latency * 1.1,
        "age_p50_s": latency * 1.02,
        "age_p90_s": latency * 2,
        "age_p99_s": latency * 9,
        "age_max_s": latency * 200,
        "transit_p50_s": latency / 2,
        "transit_p99_s": latency * 4,
    }


def write_results(folder, graph=None, name="torus", modes=(0, 3), num_frames=60, labels=str, num_replicates=1):
    """One launch on 2 processes: X.csv with X.json and X.hosts.csv, quality.csv, frames.csv and colors.csv."""
    graph = torus(16) if graph is None else graph
    size, pairs = graph.number_of_nodes(), graph.number_of_edges()
    random = numpy.random.default_rng(1)
    rows, frames, colors, quality = [], [], [], []
    for mode in modes:
        for replicate in range(num_replicates):
            shown = color_graph(graph, num_frames, 7 + replicate, eagerness=0.35 if mode == 0 else 0.9)
            frames += [
                {
                    "mode": mode,
                    "replicate": replicate,
                    "elapsed_s": round(0.001 * index, 6),
                    "colors": text,
                    "conflicts": count,
                }
                for index, (text, count) in enumerate(shown)
            ]
            final = shown[-1][0]
            clashing = {node for a, b in graph.edges if final[a] == final[b] for node in (a, b)}
            colors += [
                {
                    "mode": mode,
                    "replicate": replicate,
                    "node": node,
                    "label": labels(node),
                    "color": final[node],
                    "process": int(node >= size // 2),
                    "thread": 0,
                    "in_conflict": int(node in clashing),
                }
                for node in range(size)
            ]
            rows += [
                fake.make_row(
                    graph=name,
                    nodes=size,
                    edges=2 * pairs,
                    processes=2,
                    mode=mode,
                    replicate=replicate,
                    mode_name=fake.MODES[mode],
                    process=process,
                    num_nodes=size // 2,
                    updates_per_second=(40000.0 if mode == 0 else 88000.0) + 1500 * process,
                    conflicts=shown[-1][1],
                    conflict_edges_total=pairs,
                )
                for process in range(2)
            ]
        quality += [
            quality_row(random, mode, snapshot, scope, process, 1 - process, "shared_memory")
            for snapshot in range(4)
            for scope in ("worker", "pair")
            for process in range(2)
        ]
    folder.mkdir(parents=True, exist_ok=True)
    for file, table in (("rows", rows), ("frames", frames), ("colors", colors), ("quality", quality)):
        write_csv(folder / f"{file}.csv", table)
    write_csv(
        folder / "rows.hosts.csv",
        [
            {
                "host": 0,
                "hostname": "node-1",
                "processor": "A processor",
                "cores": 2,
                "cpus_allowed": 2,
                "memory_bytes": 8 << 30,
                "interconnect": "none",
                "first_process": 0,
                "num_processes": 2,
            }
        ],
    )
    (folder / "rows.json").write_text(
        json.dumps(
            {
                "program": "channel_selection",
                "version": "0.1.0",
                "command_line": ["channel_selection", "--modes", "0,3"],
                "seed": 1,
                "compiler": "g++ 12.2.0",
                "mpi_library": "Open MPI v4.1.4",
                "processes": 2,
                "threads": 1,
                "nodes": size,
                "edges": 2 * pairs,
                "graph": name,
                "modes": list(modes),
                "oversubscribed": False,
                "simulated": False,
                "started": "2026-01-02T03:04:05Z",
                "complete": True,
                "stopped_by": "clock",
            }
        ),
        encoding="utf-8",
    )
    return folder
