"""Kills, stops, continues and signals processes of a running program: survival_test.py CASE --program … --mpiexec …

More often, and against the figures of the table of goals, at night (UIT_NIGHTLY=1); bounds.py has them.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable

from netuit import launch

from bounds import NIGHT, OWN_PATIENCE, PATIENCE, RESULTS_WRITTEN, SET_UP_ENDED, SLACK, SLOWNESS
from coloring import NUM_MODES, PHASES, RANKS, await_phase, await_run, rows_of, words, written_at
from jobs import Job, is_code_lost, running
from kills import Toll, checkpoint, goal, killed, killed_in_set_up, launcher_killed


def mode_of(number: int) -> int:
    """Returns the mode of a round. It shifts by one after NUM_MODES rounds, so each mode meets every phase and signal in 36 rounds."""
    return (number + number // NUM_MODES) % NUM_MODES


def try_signal(process: int, which: signal.Signals) -> bool:
    """Sends a signal. Returns False if the process has ended."""
    try:
        os.kill(process, which)
    except ProcessLookupError:
        return False
    return True


def check_whole(job: Job) -> list[dict[str, str]]:
    """Returns the rows of all processes. Fails unless every message is accounted for and every node has a colour."""
    rows = rows_of(job)
    assert len(rows) == RANKS and all(row["balanced"] == "1" for row in rows), rows
    assert len((job.folder / "colors.csv").read_text(encoding="utf-8").splitlines()) == 1 + RANKS * 64, job.errors()
    return rows


def stopped(launcher: launch.Launcher, program: str) -> None:
    """SIGSTOP, and SIGCONT a second later, in every mode and at any time: the run ends as if nothing had happened."""
    chance = random.Random(13)
    rounds = 40 if NIGHT else NUM_MODES
    num_stopped = collections.Counter({phase: 0 for phase in PHASES})
    for number in range(rounds):
        mode, phase, victim = mode_of(number), PHASES[number % len(PHASES)], chance.randrange(RANKS)
        duration = 2.0 if phase == "run" else 1.0
        with running(launcher, RANKS, program, words(mode, duration)) as job:
            process = await_phase(job, phase, duration, victim, chance)
            if try_signal(process, signal.SIGSTOP):
                num_stopped[phase] += 1
                time.sleep(1)
                os.kill(process, signal.SIGCONT)
            assert job.wait(SLACK) == 0, f"mode {mode}, rank {victim}, {phase}: {job.errors()}"
            check_whole(job)
            assert job.manifest()["complete"] is True
    assert all(num_stopped[phase] for phase in PHASES if phase != "end"), num_stopped  # the phase "end" may be missed
    times = ", ".join(f"{number} in {phase}" for phase, number in num_stopped.items())
    print(f"stopped for a second in each of {NUM_MODES} modes ({times}): every run whole, every message accounted for")


def is_code_of(code: int, which: signal.Signals, launcher: launch.Launcher, survives: bool) -> bool:
    """Returns whether the job ends with the code of its processes: 128 plus the signal."""
    if launcher.vendor != "Open MPI" or which == signal.SIGUSR1:
        return code == 128 + which
    # Open MPI has one signal to end jobs, and its own exit code.
    return code == 128 + signal.SIGTERM if survives else code != 0


def signalled(launcher: launch.Launcher, program: str) -> None:
    """TERM, INT or USR1 to the launcher or to tools/run: all results are written and marked as partial."""
    rounds = 50 if NIGHT and SLOWNESS == 1 else 6
    written = []
    num_codes_lost = 0
    for number in range(rounds):
        which = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)[number % 3]
        patience = None if number % 2 == 0 and SLOWNESS == 1 else PATIENCE  # every second time the launcher's default
        survives = number // 3 % 2 == 1
        arguments = words(mode_of(number), 30.0)
        with running(launcher, RANKS, program, arguments, survives, patience=patience, leaves_word=not survives) as job:
            await_run(job)
            time.sleep(0.4)
            os.kill(job.child.pid, which)
            sent = time.time()
            code = job.wait(SLACK + 2 * PATIENCE)
            about = f"{which.name}, {'tools/run, ' if survives else ''}mode {mode_of(number)}, code {code}: {job.errors()}"
            if not survives and launcher.vendor == "MPICH":
                wanted = dict.fromkeys(range(RANKS), 128 + which)
                assert job.codes() == wanted, f"the processes ended with {job.codes()}; {about}"
            if is_code_lost(code, launcher, survives):  # the launcher lost the code; the processes have reported it
                num_codes_lost += 1
            else:
                assert is_code_of(code, which, launcher, survives), about
            assert (job.folder / "rows.csv").exists(), about
            assert all(row["stopped_by"] == "signal" for row in check_whole(job)), about
            manifest = job.manifest()
            assert manifest["complete"] is False and manifest["stopped_by"] == "signal", manifest
            # Open MPI passes these on after its patience, in which nothing may happen.
            before = (patience or OWN_PATIENCE) if launcher.vendor == "Open MPI" and which != signal.SIGUSR1 else 0.0
            written.append(written_at(job) - sent - before)
            assert written[-1] > -0.1, f"results {-written[-1]:.2f} s before the signal could have come: {about}"
    figures = f"results whole after {rounds} of {rounds} signals, the signal's code after {rounds - num_codes_lost}"
    goal("R12", f"{launcher.vendor}: {figures}, {RESULTS_WRITTEN.check(written, 'written after')}")


def signalled_at_any_time(launcher: launch.Launcher, program: str) -> None:
    """TERM, INT or USR1 to one process in any phase: nothing hangs, and no file is half written.

    Uses tools/run. Before a run and after it, a signal ends the process; in between, it ends the run.
    """
    chance = random.Random(14)
    rounds = 60 if NIGHT else 4
    came = collections.Counter[str]()
    for number in range(rounds):
        mode, phase, victim = mode_of(number), PHASES[number % len(PHASES)], chance.randrange(RANKS)
        which = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)[number % 3]
        duration = 30.0 if phase == "run" else 1.0
        # MPICH leaves a file of its own if a process dies after creating it and before mapping it
        leaves = launcher.vendor != "Open MPI"
        with running(launcher, RANKS, program, words(mode, duration), True, leaves) as job:
            process = await_phase(job, phase, duration, victim, chance)
            is_sent = try_signal(process, which)
            sent = time.monotonic()
            code = job.wait(SET_UP_ENDED.limit() + SLACK)
            about = f"{which.name}, mode {mode}, rank {victim}, {phase}, code {code}: {job.errors()}"
            seconds = time.monotonic() - sent
            assert seconds < SET_UP_ENDED.limit() + (0 if phase == "run" else duration), f"{seconds:.2f} s; {about}"
            came[f"{phase}: {outcome_of(job, code, which, about) if is_sent else 'too late'}"] += 1
            assert phase != "run" or code == 128 + which, about
            is_deaf = launcher.vendor == "MPICH" and which == signal.SIGUSR1  # in set-up MPICH handles this signal itself
            assert code != 0 or phase == "end" or (phase == "set-up" and is_deaf), about
    words_of_all = ", ".join(f"{what} {number} x" for what, number in sorted(came.items()))
    print(f"{launcher.vendor}: {rounds} signals to one process, each ended the job as it ought to: {words_of_all}")


def outcome_of(job: Job, code: int, which: signal.Signals, about: str) -> str:
    """Returns the result of a signal to one process, in words. Fails if it is wrong, or if a file is not whole."""
    for path in job.folder.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    assert not any(job.folder.glob("*.tmp")), about
    if not (job.folder / "rows.csv").exists():
        assert code != 0, about
        return "the process has ended"
    reasons = {row["stopped_by"] for row in check_whole(job)}
    is_complete = job.manifest()["complete"]
    if code == 0:
        assert reasons == {"clock"} and is_complete is True, about
        return "complete"
    if reasons == {"signal"}:
        assert code == 128 + which and is_complete is False, about
        return "the run has ended"
    assert reasons == {"clock"}, about
    return "the process has ended after its results"


CASES: dict[str, Callable[[launch.Launcher, str], None]] = {
    "killed": lambda launcher, program: killed(Toll(launcher, program), NUM_MODES, 80),
    "killed_over_mpi": lambda launcher, program: killed(Toll(launcher, program, shares_memory=False), 3, 20),
    "launcher_default": lambda launcher, program: killed(Toll(launcher, program, survives=False), 3, 20),
    "launcher_unasked": lambda launcher, program: killed(Toll(launcher, program, survives=False, patience=None), 2, 20),
    "killed_in_set_up": killed_in_set_up,
    "stopped": stopped,
    "signalled": signalled,
    "signalled_at_any_time": signalled_at_any_time,
    "launcher_killed": launcher_killed,
    "checkpoint": checkpoint,
}


def main() -> int:
    """Runs one case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", required=True)
    options = parser.parse_args()
    CASES[options.case](launch.launcher_at(options.mpiexec), options.program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
