"""Kills, stops, continues and signals processes of a running program: survival_test.py CASE --program … --mpiexec …

More often, and against the figures of the table of goals, at night (UIT_NIGHTLY=1); bounds.py has them.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable

from conduit_tools import launch

from bounds import NIGHT, OWN_PATIENCE, PATIENCE, RESULTS_WRITTEN, SLACK, SLOWNESS
from coloring import RANKS, await_run, rows_of, words, written_at
from jobs import running
from kills import Toll, checkpoint, goal, killed, killed_in_set_up, launcher_killed


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
            rows = rows_of(job)
            assert len(rows) == RANKS and all(row["balanced"] == "1" for row in rows), rows
            assert job.manifest()["complete"] is True
    print("stopped for a second in each of 5 modes: every run whole, every message accounted for")


def is_code_of(code: int, which: signal.Signals, launcher: launch.Launcher, survives: bool) -> bool:
    """Whether a job ends with what its processes do: 128 and the signal that has come to them."""
    if launcher.vendor != "Open MPI" or which == signal.SIGUSR1:
        return code == 128 + which
    # Which has but one signal to end jobs, and a code of its own.
    return code == 128 + signal.SIGTERM if survives else code != 0


def signalled(launcher: launch.Launcher, program: str) -> None:
    """TERM, INT or USR1 to the launcher, or to tools/run: all that there is has been written, and says that it is not all."""
    rounds = 50 if NIGHT and SLOWNESS == 1 else 6
    written = []
    for number in range(rounds):
        which = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)[number % 3]
        patience = None if number % 2 == 0 and SLOWNESS == 1 else PATIENCE  # every other time the launcher's own
        survives = number // 3 % 2 == 1
        with running(launcher, RANKS, program, words(number % 5, 30.0), survives, patience=patience) as job:
            await_run(job)
            time.sleep(0.4)
            os.kill(job.child.pid, which)
            sent = time.time()
            code = job.wait(SLACK + 2 * PATIENCE)
            about = f"{which.name}, {'tools/run, ' if survives else ''}mode {number % 5}, code {code}: {job.errors()}"
            assert is_code_of(code, which, launcher, survives), about
            assert (job.folder / "rows.csv").exists(), about
            rows = rows_of(job)
            assert len(rows) == RANKS and all(row["stopped_by"] == "signal" for row in rows), about
            assert all(row["balanced"] == "1" for row in rows), rows
            assert len((job.folder / "colors.csv").read_text(encoding="utf-8").splitlines()) == 1 + RANKS * 64, about
            manifest = job.manifest()
            assert manifest["complete"] is False and manifest["stopped_by"] == "signal", manifest
            # Open MPI passes these on when its patience is over, in which nothing may have happened.
            before = (patience or OWN_PATIENCE) if launcher.vendor == "Open MPI" and which != signal.SIGUSR1 else 0.0
            written.append(written_at(job) - sent - before)
            assert written[-1] > -0.1, f"results {-written[-1]:.2f} s before the signal could have come: {about}"
    goal("R12", f"{launcher.vendor}: results whole and the signal's code after {rounds} of {rounds} signals, {RESULTS_WRITTEN.check(written, 'written after')}")


CASES: dict[str, Callable[[launch.Launcher, str], None]] = {
    "killed": lambda launcher, program: killed(Toll(launcher, program), 5, 80),
    "killed_over_mpi": lambda launcher, program: killed(Toll(launcher, program, shares_memory=False), 3, 20),
    "launcher_default": lambda launcher, program: killed(Toll(launcher, program, survives=False), 3, 20),
    "launcher_unasked": lambda launcher, program: killed(Toll(launcher, program, survives=False, patience=None), 1, 20),
    "killed_in_set_up": killed_in_set_up,
    "stopped": stopped,
    "signalled": signalled,
    "launcher_killed": launcher_killed,
    "checkpoint": checkpoint,
}


def main() -> int:
    """Runs a case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", required=True)
    options = parser.parse_args()
    CASES[options.case](launch.launcher_at(options.mpiexec), options.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
