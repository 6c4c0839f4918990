"""Rows as channel_selection writes them, made up but consistent."""

MODES = ("every_update", "rolling", "fixed", "no_barrier", "no_communication", "dataflow")


def make_row(**changes):
    """A row of one worker of mode 3; counts of messages balance on their own."""
    row = {
        "graph": "torus 64x64", "nodes": 4096, "edges": 16384, "processes": 1, "threads": 1, "mode": 3,
        "mode_name": "no_barrier", "replicate": 0, "seed": 1, "placement": "metis", "addressing": "multicast",
        "period_s": 0.0, "process": 0, "thread": 0, "num_nodes": 4096, "updates": 1000, "elapsed_s": 1.0,
        "updates_per_second": 1000.0, "barriers": 0, "effective_updates": 990.0,
        "staleness_p50": 1.0, "staleness_p99": 2.0, "staleness_max": 3.0, "slack": None, "attempted": 100, "accepted": 90, "dropped": 10, "muted": 0,
        "stepped": 60, "skipped": 20, "preempted": 8, "folded": 0, "unread": 2, "in_flight": 0,
        "balanced": 1, "conflicts": 40, "conflict_edges_total": 8192, "nodes_in_conflict": 70, "oversubscribed": 0,
        "stopped_by": "clock", "mpi_library": "Open MPI v4.1.4", "compiler": "g++ 12.2.0", "version": "0.1.0",
    }
    assert set(changes) <= set(row)
    return {**row, **changes}


def make_rows():
    """Two graphs on four layouts in six modes, with the shape that real runs have."""
    rows = []
    rates = (0.5, 0.95, 0.98, 1.0, 1.05, 0.7)
    for graph, difficulty in (("torus 64x64", 1), ("small world 4096", 6)):
        for processes, threads in ((1, 1), (1, 2), (2, 1), (2, 2)):
            workers = processes * threads
            for mode, name in enumerate(MODES):
                for process in range(processes):
                    for thread in range(threads):
                        alone = workers == 1
                        rate = 48000 * (1.9 if workers > 1 else 1.0) * (1 if alone else rates[mode] ** workers)
                        rows.append(
                            make_row(
                                graph=graph, processes=processes, threads=threads, mode=mode, mode_name=name,
                                process=process, thread=thread, updates_per_second=rate / (2 if workers == 4 else 1),
                                conflicts=(30 + 5 * mode + (120 * (workers - 1) if mode == 4 else 0)) * difficulty,
                                oversubscribed=int(workers == 4),
                                **(dict(attempted=0, accepted=0, dropped=0, stepped=0, skipped=0, preempted=0, unread=0)
                                   if alone or mode == 4 else {}),
                            )
                        )
    return rows
