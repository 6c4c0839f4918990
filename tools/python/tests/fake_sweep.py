"""Results of a sweep, made up and loaded."""

import fake
import fake_results
import numpy
from netuit import load


def make_rows(folder, rate=lambda workers, mode: 1000.0, conflicts=lambda workers, mode: 40, replicates=3):
    """Rows of a sweep with threads of one process and processes of one thread."""
    rows = []
    for processes, threads in ((1, 1), (1, 2), (1, 4), (2, 1), (4, 1)):
        workers = processes * threads
        for mode, name in enumerate(fake.MODES):
            for replicate in range(replicates):
                rows += [
                    fake.make_row(
                        processes=processes, threads=threads, mode=mode, mode_name=name, replicate=replicate,
                        process=process, thread=thread, updates_per_second=rate(workers, mode) * (1 + 0.01 * replicate),
                        conflicts=conflicts(workers, mode) + replicate, oversubscribed=int(workers > 2),
                    ) | {"case": "threads" if processes == 1 else "processes"}
                    for process in range(processes) for thread in range(threads)
                ]  # fmt: skip
    fake_results.write_csv(folder / "rows.csv", rows)
    return load(folder / "rows.csv")


def make_quality(folder, factor=lambda workers: 1.0):
    """Quality of service of several numbers of threads."""
    random = numpy.random.default_rng(1)
    rows = []
    for workers in (1, 2, 4, 8):
        for replicate in range(4):
            for snapshot in range(3):
                row = fake_results.quality_row(random, 3, snapshot, "worker", 0, 0, "thread")
                row |= {
                    "replicate": replicate,
                    "case": "threads",
                    "processes": 1,
                    "threads": workers,
                    "oversubscribed": 0,
                }
                rows.append(
                    row | {"wall_latency_s": 1e-5 * factor(workers) * random.lognormal(0, 0.02), "failure_rate": 0}
                )
    fake_results.write_csv(folder / "quality.csv", rows)
    return load(folder / "quality.csv")
