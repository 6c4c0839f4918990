"""A colouring to be killed, stopped or signalled, and what it leaves."""

from __future__ import annotations

import csv
import random
import time
from fractions import Fraction

from conduit_tools import launch

from bounds import SLACK
from jobs import Job, running, wait_until

RANKS = 4
PHASES = ("set-up", "begin", "run", "end")
Puts = dict[tuple[str, str], tuple[Fraction, Fraction]]  #: by mode and process: in each update, and kept back in each


def words(mode: int | str, duration: float, has_quality: bool = False, addressing: str = "multicast") -> list[str]:
    """A colouring for a while, with results in files; or several, a mode after the other."""
    layout = ["--threads", "1", "--nodes-per-worker", "64", "--modes", str(mode), "--replicates", "1", "--addressing", addressing]
    times = ["--duration", f"{duration:g}s", "--period-fixed", "50ms", "--period-rolling", "20ms"]
    quality = ["--quality", "quality.csv", "--snapshot-interval", "100ms", "--snapshot-length", "100ms"]
    output = ["--output", "rows.csv", "--colors-output", "colors.csv", "--progress"]
    return [*layout, *times, *(quality if has_quality else ()), *output]


def has_begun(job: Job) -> bool:
    """Whether the work is about to begin: rank 0 says on what computers just before, and never again."""
    return (job.folder / "rows.hosts.csv").exists()


def await_begin(job: Job) -> float:
    """Waits until every process is there and about to begin to work; when that was, or a little earlier, as time.monotonic() has it.

    Fails, with what the job has said, if that does not come about.
    """
    is_beginning = lambda: has_begun(job) and len(job.processes()) == job.ranks  # noqa: E731
    wait_until(is_beginning, SLACK, f"the run of {job.ranks} processes", job.errors)
    job.note_segments()
    return time.monotonic() - (time.time() - (job.folder / "rows.hosts.csv").stat().st_mtime)


def await_run(job: Job) -> float:
    """Waits, likewise, until all have met and rank 0 has worked for a while, by its word. Gives what await_begin gives."""
    begin = await_begin(job)
    wait_until(lambda: "progress: " in job.errors(), SLACK, "work", job.errors)
    return begin


def await_phase(job: Job, phase: str, duration: float, rank: int, chance: random.Random) -> int:
    """Waits until some moment of a phase of a job that works for so long; the id of one of its processes, or 0 if that has ended."""
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
    """A table that the program has written. Raises FileNotFoundError if it has not."""
    with (job.folder / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def written_at(job: Job) -> float:
    """When the last of the results was there: rows, colours, quality or how they came about."""
    paths = [path for name in ("rows*", "colors*", "quality*") for path in job.folder.glob(name)]
    return max(path.stat().st_mtime for path in paths)


def intact_puts(launcher: launch.Launcher, program: str, addressing: str) -> Puts:
    """How often workers put in an update, from short runs that lose nobody and have every message accounted for."""
    with running(launcher, RANKS, program, words("0,1,2,3,4", 0.1, addressing=addressing)) as job:
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
    """The row of a survivor that has written its part, or rank 0 the whole."""
    name = "rows.csv" if (job.folder / "rows.csv").exists() else f"rows.rank{rank}.csv"
    (row,) = (row for row in rows_of(job, name) if row["process"] == str(rank))
    return row


def own_results(job: Job, rank: int, victim: int, has_quality: bool) -> bool:
    """Whether a survivor has written its part, with all of its nodes coloured, or rank 0 the whole."""
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
    """Whether a survivor has worked to the planned end, with those that are left.

    If the death came early, so many seconds after the begin at the latest, it has heard every other survivor in a snapshot that
    began after that; nobody, in mode 4.
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
