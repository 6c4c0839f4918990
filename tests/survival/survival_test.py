"""Kills, stops, continues and signals processes of a running program: survival_test.py CASE --program … --mpiexec …

CASE is killed, killed_over_mpi, launcher_default, stopped, signalled, launcher_killed or checkpoint. More often at night (UIT_NIGHTLY=1).
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import sys
import time

from conduit_tools import launch

from jobs import PATIENCE, Job, running, wait_until

RANKS = 4
NIGHT = os.environ.get("UIT_NIGHTLY", "0") not in ("", "0")
SLACK = 20.0  #: seconds that a loaded machine may take for what is no matter of waiting


def goal(name: str, figure: str) -> None:
    """Prints a line for the table of goals."""
    print(f"goal {name}: {figure}", flush=True)


def words(mode: int, duration: float, has_quality: bool = False) -> list[str]:
    """A colouring for a while, with results in files."""
    layout = ["--threads", "1", "--nodes-per-worker", "64", "--mode", str(mode), "--replicates", "1"]
    times = ["--duration", f"{duration:g}s", "--period-fixed", "50ms", "--period-rolling", "20ms"]
    quality = ["--quality", "quality.csv", "--snapshot-interval", "100ms", "--snapshot-length", "100ms"]
    return [*layout, *times, *(quality if has_quality else ()), "--output", "rows.csv", "--colors-output", "colors.csv"]


def is_running(job: Job) -> bool:
    """Whether every process is there and has begun to work: rank 0 says how it will come about just before."""
    return (job.folder / "rows.json").exists() and len(job.processes()) == job.ranks


def await_run(job: Job) -> None:
    """Waits until is_running; fails, with what the job has said, if it does not come about."""
    wait_until(lambda: is_running(job), SLACK, f"the run of {job.ranks} processes", job.errors)
    job.note_segments()


def own_results(job: Job, rank: int, victim: int, has_quality: bool) -> bool:
    """Whether a survivor has written its part, with all of its nodes coloured, or rank 0 the whole."""
    if (job.folder / "rows.csv").exists():
        with (job.folder / "rows.csv").open(encoding="utf-8", newline="") as stream:
            processes = [row["process"] for row in csv.DictReader(stream)]
        assert processes == [str(each) for each in range(RANKS)], processes
        return True
    try:
        with (job.folder / f"rows.rank{rank}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        with (job.folder / f"colors.rank{rank}.csv").open(encoding="utf-8", newline="") as stream:
            colors = list(csv.DictReader(stream))
        manifest = job.manifest(f"rows.rank{rank}.json")
        quality = []
        if has_quality:
            with (job.folder / f"quality.rank{rank}.csv").open(encoding="utf-8", newline="") as stream:
                quality = list(csv.DictReader(stream))
    except OSError:
        return False
    assert quality or not has_quality or rows[0]["updates"] == "0", f"rank {rank} has no snapshots: {rows}"
    assert {row["process"] for row in quality} <= {str(rank)} and all(int(row["updates"]) > 0 for row in quality), quality
    assert [row["process"] for row in rows] == [str(rank)] and rows[0]["stopped_by"] == "peer_lost", rows
    assert len(colors) == 64 and manifest["complete"] is False and manifest["lost_processes"] == [victim], manifest
    return True


def killed(launcher: launch.Launcher, program: str, survives: bool, shares_memory: bool = True) -> None:
    """kill -9 of one process, at any time: the others finish, and write what they have; the dead one is named."""
    chance = random.Random(11)
    is_usual = survives and shares_memory
    rounds = 80 if NIGHT and is_usual else 20 if NIGHT else 5 if is_usual else 3
    num_rounds = num_results = num_before = num_cut = 0
    latest = longest = 0.0
    for number in range(rounds):
        mode, victim = number % 5, chance.randrange(RANKS)
        phase = ("begin", "run", "end")[number % 3]
        # Which mode 0 does not wait for, nor those whom the launcher ends.
        duration = 20.0 if phase == "run" and (mode == 0 or not survives) else 2.0
        # Without tools/run what the dead one had in shared memory stays until the next job.
        with running(launcher, RANKS, program, words(mode, duration, survives), survives, not survives, shares_memory) as job:
            await_run(job)
            begin = time.monotonic()
            time.sleep({"begin": chance.uniform(0, 0.02), "run": 0.5, "end": duration + chance.uniform(-0.05, 0.05)}[phase])
            processes = job.processes()
            if victim not in processes:
                continue  # it had ended
            os.kill(processes[victim], signal.SIGKILL)
            dead, dead_at = time.monotonic(), time.time()
            code = job.wait(SLACK)
            end = time.monotonic()
            said = job.errors()
            about = f"mode {mode}, rank {victim}, {phase} ({dead - begin:.2f} s), code {code}: {said}"
            survivors = [rank for rank in range(RANKS) if rank != victim]
            if (job.folder / "rows.csv").exists() and job.manifest()["complete"] is True:
                continue  # it died when all was done
            assert code != 0, about
            num_rounds += 1
            if launcher.vendor != "Open MPI":
                latest = max(latest, end - dead)
                continue
            has_begun = any(place in said for place in ("at a barrier", "between updates", "messages are awaited"))
            if survives:
                assert code == 3 and f"rank {victim}" in said, about
                latest = max(latest, end - (max(dead, begin + duration) if has_begun and mode != 0 else dead))
            if phase == "begin" and not has_begun:
                num_before += 1  # nothing had been computed
                continue
            if survives and phase == "run":  # mode 0 ends at once, the others at their time
                assert (end < begin + duration) if mode == 0 else (end > begin + duration - 0.1), f"{end - begin:.2f} s; {about}"
            results = sum(own_results(job, rank, victim, survives) for rank in survivors)
            if not survives and results < len(survivors) and any(job.folder.glob("*.tmp")):
                num_cut += 1  # the launcher was quicker than the disk
                assert num_cut <= max(1, rounds // 5), about
                continue
            assert results == len(survivors), f"{results} results; {about}; {sorted(os.listdir(job.folder))}"
            num_results += 1
            paths = [path for path in job.folder.glob("rows*.csv") if ".hosts." not in path.name]
            longest = max(longest, *(path.stat().st_mtime - dead_at for path in paths))
    if launcher.vendor != "Open MPI":
        assert num_rounds >= rounds // 2 and latest < SLACK / 2, f"{num_rounds} kills of {rounds}, {latest:.2f} s"
        goal("R8", f"{launcher.vendor}: {num_rounds} kills ended the job with a code, at most {latest:.1f} s later")
        return
    assert num_rounds >= rounds // 2 and num_results > 0, f"{num_rounds} kills of {rounds}, {num_results} with results"
    assert latest < SLACK and longest < (SLACK if survives else PATIENCE + 3), f"{latest:.2f} s, {longest:.2f} s"
    how = f"tools/run{'' if shares_memory else ' over MPI'}, ended at most {latest:.1f} s late" if survives else f"mpirun alone, results after {longest:.2f} s"
    cut = f"; in {num_cut} the launcher was quicker than the disk" if num_cut else ""
    goal("R8", f"{how}: 3 of 3 results in {num_results} of {num_rounds - num_before} kills, and {num_before} before the first update{cut}")


def checkpoint(launcher: launch.Launcher, program: str) -> None:
    """kill -9 of one process of a world that evolves: the last checkpoint is whole, and the world goes on from it."""
    evolve = ["--mode", "3", "--replicates", "1", "--output", "rows.csv"]
    kept = ["--cells-per-worker", "64", "--checkpoint", "world.bin", "--checkpoint-every", "64"]
    oldest = 0.0
    for victim in range(4 if NIGHT else 1):
        with running(launcher, 2, program, [*evolve, *kept, "--duration", "30s"]) as job:
            world = job.folder / "world.bin"
            wait_until(lambda: world.exists() and len(job.processes()) == 2, SLACK, "a checkpoint")
            time.sleep(0.5)
            os.kill(job.processes()[victim % 2], signal.SIGKILL)
            dead = time.time()
            code = job.wait(SLACK)
            assert code != 0, job.errors()
            oldest = max(oldest, dead - world.stat().st_mtime)
            copy = world.read_bytes()
        with running(launcher, 2, program, [*evolve, "--resume", "world.bin", "--updates", "10"]) as job:
            pass_on = job.folder / "world.bin"
            pass_on.write_bytes(copy)
            assert job.wait(SLACK) == 0, job.errors()
    assert oldest < 5, f"the checkpoint was {oldest:.2f} s old"
    goal("R8", f"{launcher.vendor}: the last checkpoint was {oldest:.2f} s old, and the world went on from it")


def stopped(launcher: launch.Launcher, program: str) -> None:
    """SIGSTOP, and SIGCONT a second later, in every mode: the run ends as if nothing had been."""
    for mode in range(5):
        with running(launcher, RANKS, program, words(mode, 2.0)) as job:
            await_run(job)
            time.sleep(0.3)
            victim = job.processes()[mode % RANKS]
            os.kill(victim, signal.SIGSTOP)
            time.sleep(1)
            os.kill(victim, signal.SIGCONT)
            assert job.wait(SLACK) == 0, job.errors()
            with (job.folder / "rows.csv").open(encoding="utf-8", newline="") as stream:
                rows = list(csv.DictReader(stream))
            assert len(rows) == RANKS and all(row["balanced"] == "1" for row in rows), rows
            assert job.manifest()["complete"] is True
    print("stopped for a second in each of 5 modes: every run whole, every message accounted for")


def signalled(launcher: launch.Launcher, program: str) -> None:
    """TERM, INT or USR1 to the launcher: all that there is has been written, and says that it is not all."""
    rounds = 50 if NIGHT else 3
    longest = 0.0
    for number in range(rounds):
        which = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)[number % 3]
        with running(launcher, RANKS, program, words(number % 5, 30.0)) as job:
            await_run(job)
            time.sleep(0.4)
            os.kill(job.child.pid, which)
            sent = time.time()
            code = job.wait(SLACK)
            assert code != 0, job.errors()
            about = f"{which.name}, mode {number % 5}, code {code}: {job.errors()}"
            assert (job.folder / "rows.csv").exists(), about
            with (job.folder / "rows.csv").open(encoding="utf-8", newline="") as stream:
                rows = list(csv.DictReader(stream))
            assert len(rows) == RANKS and all(row["stopped_by"] == "signal" for row in rows), about
            assert all(row["balanced"] == "1" for row in rows), rows
            assert len((job.folder / "colors.csv").read_text(encoding="utf-8").splitlines()) == 1 + RANKS * 64, about
            manifest = job.manifest()
            assert manifest["complete"] is False and manifest["stopped_by"] == "signal", manifest
            before = PATIENCE if launcher.vendor == "Open MPI" and which != signal.SIGUSR1 else 0.0  # it reaches the processes
            longest = max(longest, (job.folder / "rows.csv").stat().st_mtime - sent - before)
    assert longest < 5, f"results {longest:.2f} s after the signal"
    goal("R12", f"{launcher.vendor}: results whole after {rounds} of {rounds} signals, {longest:.2f} s later at most")


def launcher_killed(launcher: launch.Launcher, program: str) -> None:
    """kill -9 of the launcher: no process outlives it, and what Open MPI leaves in shared memory is of no process."""
    with running(launcher, RANKS, program, words(3, 30.0), leaves_segments=True) as job:
        await_run(job)
        os.kill(job.child.pid, signal.SIGKILL)
        job.wait(SLACK)
        wait_until(lambda: not job.processes(), SLACK, "the end of the processes")
        print(f"launcher killed: no process left, {len(job.segments_left())} files in shared memory")


def main() -> int:
    """Runs a case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", required=True)
    options = parser.parse_args()
    launcher = launch.launcher_at(options.mpiexec)
    if options.case in ("killed", "killed_over_mpi"):
        killed(launcher, options.program, True, options.case == "killed")
    elif options.case == "launcher_default":
        killed(launcher, options.program, False)
    else:
        {"stopped": stopped, "signalled": signalled, "launcher_killed": launcher_killed, "checkpoint": checkpoint}[
            options.case
        ](launcher, options.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
