"""A colouring program that is killed, stopped or signalled, and its results."""

from __future__ import annotations

import csv
import random
import time
from fractions import Fraction

from netuit import launch

from bounds import SLACK
from jobs import Job, running, wait_until

RANKS = 4
NUM_MODES = 6
PHASES = ("set-up", "begin", "run", "end")
Puts = dict[tuple[str, str], tuple[Fraction, Fraction]]  #: by mode and process: in each update, and kept back in each


def words(mode: int | str, duration: float, has_quality: bool = False, addressing: str = "multicast") -> list[str]:
    """Returns arguments for a colouring of that duration with results in files, or for several, one mode after the other."""
    layout = ["--threads", "1", "--nodes-per-worker", "64", "--modes", str(mode), "--replicates", "1", "--addressing", addressing]
    times = ["--duration", f"{duration:g}s", "--period-fixed", "50ms", "--period-rolling", "20ms"]
    quality = ["--quality", "quality.csv", "--snapshot-interval", "100ms", "--snapshot-length", "100ms"]
    output = ["--output", "rows.csv", "--colors-output", "colors.csv", "--progress"]
    return [*layout, *times, *(quality if has_quality else ()), *output]


def has_begun(job: Job) -> bool:
    """Returns whether the work is about to begin: rank 0 prints the hosts just before."""
    return (job.folder / "rows.hosts.csv").exists()


def await_begin(job: Job) -> float:
    """Waits until every process exists and its work is about to begin.

    Returns that time by time.monotonic(), or slightly earlier. Fails with the output of the job if that does not happen.
    """
    is_beginning = lambda: has_begun(job) and len(job.processes()) == job.ranks  # noqa: E731
    wait_until(is_beginning, SLACK, f"the run of {job.ranks} processes", job.errors)
    job.note_segments()
    return time.monotonic() - (time.time() - (job.folder / "rows.hosts.csv").stat().st_mtime)


def await_run(job: Job) -> float:
    """Waits in the same way until rank 0 has worked for a while, by its own report. Returns what await_begin returns."""
    begin = await_begin(job)
    wait_until(lambda: "progress: " in job.errors(), SLACK, "work", job.errors)
    return begin


def await_phase(job: Job, phase: str, duration: float, rank: int, chance: random.Random) -> int:
    """Waits until some moment of a phase of a job of that duration.

    Returns the id of one of its processes, or 0 if that has ended.
    """
    if phase == "set-up":
        wait_until(lambda: rank in job.processes(), SLACK, f"rank {rank}", job.errors)
        process = job.processes()[rank]
        time.sleep(chance.uniform(0, 0.2))
        return process
    begin = await_begin(job) if phase == "begin" else await_run(job)
    process = job.processes().get(rank, 0)
    delay = {"begin": chance.uniform(0, 0.05), "run": 0.5, "end": duration + chance.uniform(-0.05, 0.05)}[phase]
    time.sleep(max(0.0, begin + delay - time.monotonic()))
    return process


def rows_of(job: Job, name: str = "rows.csv") -> list[dict[str, str]]:
    """Reads a table that the program has written. Raises FileNotFoundError if it has not."""
    with (job.folder / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def written_at(job: Job) -> float:
    """Returns when the last result file was written: rows, colours, quality, manifest."""
    paths = [path for name in ("rows*", "colors*", "quality*") for path in job.folder.glob(name)]
    return max(path.stat().st_mtime for path in paths)


def intact_puts(launcher: launch.Launcher, program: str, addressing: str) -> Puts:
    """Returns how often workers put in an update, from short runs that lose no process and balance their account."""
    with running(launcher, RANKS, program, words(",".join(map(str, range(NUM_MODES))), 0.1, addressing=addressing)) as job:
        assert job.wait(SLACK) == 0, job.errors()
        rows = rows_of(job)
        assert all(row["balanced"] == "1" for row in rows), rows
        puts = {}
        for row in rows:
            attempted, muted = (Fraction(int(row[name]), int(row["updates"])) for name in ("attempted", "muted"))
            assert attempted + muted > 0, rows
            puts[row["mode"], row["process"]] = attempted, muted
        return puts


def own_row(job: Job, rank: int) -> dict[str, str]:
    """Returns the row of a survivor that has written its own results, or of rank 0 that has written all."""
    name = "rows.csv" if (job.folder / "rows.csv").exists() else f"rows.rank{rank}.csv"
    (row,) = (row for row in rows_of(job, name) if row["process"] == str(rank))
    return row


def own_results(job: Job, rank: int, victim: int, has_quality: bool) -> bool:
    """Checks that a survivor has written its own results, with all of its nodes coloured, or rank 0 all."""
    if (job.folder / "rows.csv").exists():
        processes = [row["process"] for row in rows_of(job)]
        assert processes == [str(each) for each in range(RANKS)], processes
        return True
    try:
        rows = rows_of(job, f"rows.rank{rank}.csv")
        colors = rows_of(job, f"colors.rank{rank}.csv")
        manifest = job.manifest(f"rows.rank{rank}.json")
        quality = rows_of(job, f"quality.rank{rank}.csv") if has_quality else []
    except FileNotFoundError:
        return False
    assert quality or not has_quality or rows[0]["updates"] == "0", f"rank {rank} has no snapshots: {rows}"
    assert {row["process"] for row in quality} <= {str(rank)} and all(int(row["updates"]) > 0 for row in quality), quality
    assert [row["process"] for row in rows] == [str(rank)] and rows[0]["stopped_by"] == "peer_lost", rows
    assert len(colors) == 64 and manifest["complete"] is False and manifest["lost_processes"] == [victim], manifest
    return True


def check_going_on(job: Job, rank: int, victim: int, mode: int, duration: float, killed_after: float | None) -> None:
    """Checks that a survivor has worked to the planned end with the remaining processes.

    If the death came early, at most that many seconds after the beginning, it must have received messages from every other
    survivor in a later snapshot; in mode 4 from none.
    """
    elapsed = float(own_row(job, rank)["elapsed_s"])
    assert elapsed >= duration - 0.1, f"rank {rank} has worked for {elapsed} s of {duration:g}: {job.errors()}"
    if killed_after is None:
        return
    pairs = [row for row in rows_of(job, f"quality.rank{rank}.csv") if row["scope"] == "pair"]
    others = {row["peer_process"] for row in pairs} - {str(victim)}
    later = [row for row in pairs if float(row["begin_s"]) >= killed_after and row["peer_process"] in others]
    heard = {row["peer_process"] for row in later if int(row["received"]) > 0}
    windows = [(row["peer_process"], row["begin_s"], row["received"]) for row in later]
    about = f"rank {rank} heard {heard} of {others} later than {killed_after:.2f} s: {windows}; {job.errors()}"
    assert others and later and heard == (set() if mode == 4 else others), about
