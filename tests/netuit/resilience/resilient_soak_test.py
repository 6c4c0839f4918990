"""Processes are killed one after the other, and the survivors keep the rate (resilient_program.cpp)."""

import argparse
import os
import pathlib
import random
import sys
import tempfile
import time
import typing

from netuit import launch
from resilient_test import LIMIT, NUM_NODES, Job, launcher_at, numbers_of

FIRST_KILL = 0.8  # periods after the first checkpoint, so that the last of three kills is before the end


class Ended(typing.NamedTuple):
    """A job that a clock has ended."""

    made: int  # updates of all nodes that count: a node that was taken over has lost those since the checkpoint
    seconds: float  # of the whole call of Run: with checkpoints, noticing that processes have ended, and taking over their nodes


class Soak:
    """Jobs of four processes, of which one is killed each `period` until one is left, and jobs that lose no process.

    The survivors are compared with as many processes that lose nobody: for each time between two kills, another job runs as long
    with as many processes as were left. This is fair on any number of cores. On two, for instance, four processes share them, and
    one or two survivors may be as fast.
    """

    def __init__(self, launcher: launch.Launcher, program: str, period: float, seed: int, is_rated: bool) -> None:
        self.launcher = launcher
        self.is_rated = is_rated
        self.program = program
        self.period = period
        self.dice = random.Random(seed)
        self.faults: list[str] = []

    def compare(self) -> tuple[float, float]:
        """Returns how many updates the nodes of a job have made that loses three processes, and how many they would have made: none if
        nobody wants to know, or if the job has not ended well."""
        period = self.period
        killed = self.run(4, 3 * period, self.dice.sample(range(4), 3))
        if self.faults or not self.is_rated:
            return killed.made, 0
        spans = {4: FIRST_KILL * period, 3: period, 2: period, 1: killed.seconds - (2 + FIRST_KILL) * period}
        rates = {}
        for ranks, span in spans.items():
            job = self.run(ranks, span, [])
            rates[ranks] = job.made / job.seconds
        expected = sum(rates[ranks] * span for ranks, span in spans.items())
        print(f"{killed.made / killed.seconds:.3g} node updates per second in {killed.seconds:.1f} s; without kills "
              + ", ".join(f"{rate:.3g} of {ranks}" for ranks, rate in rates.items())
              + f"; {killed.made / max(expected, 1):.2f} of what the survivors can do", flush=True)
        return killed.made, expected

    def run(self, ranks: int, seconds: float, victims: typing.Sequence[int]) -> Ended:
        """Runs a job, and kills these processes from outside. Notes its faults."""
        milliseconds, every = f"{round(1000 * seconds)}ms", f"{round(100 * self.period)}ms"
        faults = []
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            job = Job(self.launcher, self.program, folder, ranks, 3, milliseconds, "private", {}, shares_memory=True, every=every)
            deadline = time.monotonic() + LIMIT
            while not (folder / "checkpoint" / "checkpoint.json").exists() and time.monotonic() < deadline:
                time.sleep(0.001)
            due = time.monotonic() + FIRST_KILL * self.period
            processes = job.processes()
            for rank in victims:
                time.sleep(max(due - time.monotonic(), 0))
                due += self.period
                try:
                    os.kill(processes[rank], 9)
                except (ProcessLookupError, KeyError):
                    faults.append(f"rank {rank} had ended before")
            told, codes, more = job.finish(None)
        number = numbers_of(told)
        faults += more
        if not faults:
            if told.get("lost", "").split() != [str(rank) for rank in sorted(victims)] or set(codes) != set(range(ranks)) - set(victims):
                faults.append("other processes have ended")
            if not 0 <= number["accepted"] - number["put"] <= number["messages again"]:
                faults.append("the accounts have another number of puts than the program has made")
            if victims and number["least made"] < number["sum made"] / NUM_NODES / 4:  # a node has stood still
                faults.append(f"a node has made {number['least made']} updates, and all together {number['sum made']}")
        self.faults += faults
        return Ended(number.get("sum made", 0), number.get("milliseconds with checkpoints", 1) / 1000)


def main() -> int:
    """Runs jobs one after the other, and prints and checks the rate of the survivors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=float, default=60, help="of the jobs that lose processes, all together")
    parser.add_argument("--period", type=float, default=5, help="seconds between two kills")
    parser.add_argument("--least", type=float, default=0.8, help="the least rate, as a share of what the survivors can do")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    launcher = launcher_at(options.mpiexec)
    if launcher is None:
        return 77
    soak = Soak(launcher, options.program, options.period, options.seed, is_rated=options.least > 0)
    num_jobs = max(round(options.seconds / (3 * options.period)), 1)
    made = expected = 0.0
    while num_jobs > 0 and not soak.faults:
        num_jobs -= 1
        one_made, one_expected = soak.compare()
        made += one_made
        expected += one_expected
    if made < options.least * expected:
        soak.faults.append(f"the survivors have made {made / expected:.2f} of the updates that they can make, not {options.least}")
    print(f"{'FAILED' if soak.faults else 'ok    '} {made / max(expected, 1):.2f} of what the survivors can do", *soak.faults, sep="\n       ")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
