"""Processes end in a run, and the others take over their nodes (resilient_program.cpp)."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import typing
import uuid

import outcomes
from netuit import launch, supervise
from processes import marked, variables_of
from reports import SANITIZER_REPORT

LIMIT = 100  # seconds
UPDATES = 2000
EVERY = 200
NUM_NODES = 64


class Case(typing.NamedTuple):
    """A job, and the processes that end in it, each in an update of its own."""

    name: str
    ranks: int
    mode: int
    field: str
    kills: dict[int, int]
    shares_memory: bool = True
    pauses: tuple[str, ...] = ()  # RANK@UPDATEp, each longer than peer_timeout


CASES = (
    Case("one of two ends", 2, 3, "private", {1: 700}),
    Case("the first of two ends", 2, 3, "private", {0: 300}),
    Case("one of two ends in its first updates", 2, 3, "published", {1: 3}),
    Case("one of four ends", 4, 3, "published", {2: 700}),
    Case("two of four end at the same time", 4, 3, "private", {0: 300, 1: 300}),
    Case("one of two ends in the last part", 2, 3, "published", {1: UPDATES - 100}),
    Case("one of four ends, and later another, over MPI", 4, 3, "private", {1: 500, 2: 1000}, shares_memory=False),
    Case("one of four ends in mode 1", 4, 1, "private", {1: 500}),
    Case("all but one of four end in mode 2", 4, 2, "published", {1: 500, 2: 900, 0: 1500}),
    Case("one of four ends in mode 0", 4, 0, "published", {1: 500}),
    Case("two of four end in mode 5", 4, 5, "published", {0: 500, 2: 1111}),
    Case("one of three ends, and another takes longer than peer_timeout for its part, as it did for an earlier one", 3, 3, "private",
         {1: 500}, pauses=("0@20p", "1@20p", "2@20p", "2@520p")),
)


class Outcome(typing.NamedTuple):
    """What a job has left."""

    told: dict[str, str]
    codes: dict[int, int]
    faults: list[str]


def ranks_of(token: bytes) -> dict[int, int]:
    """Returns the ids of a job's processes, by rank."""
    found = {}
    for process in marked(token):
        for variable in variables_of(process):
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(variable.split(b"=")[1])] = process
    return found


def segments_of(processes: typing.Iterable[int]) -> set[str]:
    """Returns the files of /dev/shm that these processes have mapped."""
    names = set()
    for process in processes:
        try:
            maps = pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        names.update(re.findall(r"/dev/shm/\S+", maps))
    return names


class Job:
    """A running job."""

    def __init__(self, launcher: launch.Launcher, program: str, folder: pathlib.Path, ranks: int, mode: int, updates: typing.Union[int, str],
                 field: str, kills: typing.Mapping[int, typing.Union[int, str]], shares_memory: bool,
                 every: typing.Union[int, str] = EVERY, pauses: typing.Sequence[str] = ()) -> None:
        self.token = f"UIT_TEST_RESILIENT={uuid.uuid4()}"
        self.folder = folder
        self.verdicts = supervise.Verdicts(folder / "verdicts", ranks)
        self.verdicts.folder.mkdir()
        arguments = [str(mode), str(updates), str(every), str(folder / "checkpoint"), field]
        arguments += [*(f"{rank}@{update}" for rank, update in kills.items()), *pauses]
        name, value = self.token.split("=")
        environment = {**launcher.environment(), "UIT_VERDICT": str(self.verdicts.folder), name: value,
                       "UIT_SHARED_MEMORY": "1" if shares_memory else "0"}
        command = supervise.surviving_command(launcher, ranks, program, arguments)
        self.child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      errors="replace", start_new_session=True)
        self.segments: set[str] = set()

    def processes(self) -> dict[int, int]:
        """Returns the ids of its processes, by rank, and notes the shared memory that they use."""
        found = ranks_of(self.token.encode())
        self.segments |= segments_of(found.values())
        return found

    def finish(self, all_updates: typing.Optional[int]) -> Outcome:
        """Waits for the end of the job, and checks what holds of every job. all_updates: of each node, unless a clock ends the run."""
        deadline = time.monotonic() + LIMIT
        faults = []
        while self.child.poll() is None and time.monotonic() < deadline:
            self.processes()
            try:
                self.child.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                continue
        if self.child.poll() is None:
            faults.append(f"did not end in {LIMIT} s")
        for process in marked(self.token.encode()):
            faults.append(f"process {process} was left")
            os.kill(process, 9)
        out, err = self.child.communicate()
        told = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
        codes = self.verdicts.codes()
        if not out.endswith("end\n"):
            return Outcome(told, codes, [*faults, "the job told nothing", out, err])
        if re.search(SANITIZER_REPORT + "|conduit: error", err):
            faults.append("an error was reported")
        faults += self.faults_of_files() + faults_of_nodes(told, codes, all_updates)
        return Outcome(told, codes, [*faults, out, err] if faults else [])

    def faults_of_files(self) -> list[str]:
        """Returns what was left that should not be."""
        faults = []
        names = sorted(path.name for path in (self.folder / "checkpoint").iterdir())
        if len(names) != 2 or names[0] != "checkpoint.json" or not names[1].startswith("data-"):
            faults.append(f"the folder has {names}")
        left = [name for name in self.segments if os.path.exists(name)]
        if left:
            faults.append(f"shared memory was left: {left}")
        return faults


def faults_of_nodes(told: dict[str, str], codes: dict[int, int], all_updates: typing.Optional[int]) -> list[str]:
    """Returns what is wrong with the nodes and the accounts in the end."""
    number = numbers_of(told)
    expected = {
        "nodes": NUM_NODES,
        "sum of ids": NUM_NODES * (NUM_NODES - 1) // 2,
        "stale": 0,
        "processes": len(codes),
        "workers": 2 * len(codes),
        **({} if all_updates is None else {"least last": all_updates - 1, "updates": all_updates}),
    }
    faults = [f"{name} is {number[name]}, not {value}" for name, value in expected.items() if number[name] != value]
    if number["attempted"] - number["accepted"] != number["tried"] - number["put"]:
        faults.append("the accounts have another number of refused puts than the program has seen")
    if any(codes.values()):
        faults.append(f"the processes have ended with {codes}")
    return faults


def numbers_of(told: typing.Mapping[str, str]) -> dict[str, int]:
    """Returns the numbers among what a job has told."""
    return {name: int(value) for name, value in told.items() if value.isdigit()}


def faults_of_case(case: Case, launcher: launch.Launcher, program: str) -> tuple[str, list[str]]:
    """Returns what was seen in a case, and what is wrong with it."""
    with tempfile.TemporaryDirectory() as name:
        job = Job(launcher, program, pathlib.Path(name), case.ranks, case.mode, UPDATES, case.field, case.kills,
                  case.shares_memory, pauses=case.pauses)
        told, codes, faults = job.finish(UPDATES)
    if faults:
        return str(told), faults
    number = numbers_of(told)
    if told["lost"].split() != [str(rank) for rank in sorted(case.kills)] or set(codes) != set(range(case.ranks)) - set(case.kills):
        faults.append("other processes have ended")
    # Messages that were put once more count as puts. A process that ends later takes its counts with it. A published field's puts
    # count, too.
    again = number["messages again"]
    least = again if len(set(case.kills.values())) == 1 else 0
    if case.field == "private" and not least <= number["accepted"] - number["put"] <= again:
        faults.append("the accounts have another number of puts than the program has made")
    made = UPDATES + (EVERY if max(case.kills.values()) >= UPDATES - EVERY else 0)  # the last part is made again
    if case.mode in (0, 5):
        faults += faults_of_values(told, launcher, program, case.mode, UPDATES)
    elif not made - EVERY * len(case.kills) <= number["least made"] < made:
        faults.append("the nodes that were taken over are not from the last checkpoint")
    elif number["most made"] != made:  # holds because all were in the same part when others ended
        faults.append("nodes of the others have gone back, too")
    return str(told), faults


def faults_of_values(told: dict[str, str], launcher: launch.Launcher, program: str, mode: int, updates: int) -> list[str]:
    """Compares published values in mode 0 or 5, and numbers of updates, with those of a run on one process, which loses nobody."""
    with tempfile.TemporaryDirectory() as name:
        job = Job(launcher, program, pathlib.Path(name), 1, mode, updates, "published", {}, shares_memory=True)
        expected, _, faults = job.finish(updates)
    wrong = [name for name in ("hash", "least made", "most made") if told[name] != expected.get(name)]
    return faults + [f"the nodes have another {name} than in a run that lost no process" for name in wrong]


def faults_of_kills(seed: int, launcher: launch.Launcher, program: str) -> tuple[str, list[str]]:
    """Kills processes from outside, at any time after the first checkpoint: also while others go on without them."""
    dice = random.Random(seed)
    mode = dice.choice([0, 1, 2, 3, 3, 3, 5])
    updates = 10_000 if mode in (0, 5) else 60_000
    victims = dice.sample(range(4), dice.randint(1, 3))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        field = "published" if mode in (0, 5) else dice.choice(["private", "published"])
        job = Job(launcher, program, folder, 4, mode, updates, field, {}, dice.random() < 0.8)
        deadline = time.monotonic() + LIMIT
        while not (folder / "checkpoint" / "data-1").exists() and time.monotonic() < deadline:  # the second
            time.sleep(0.001)
        processes = job.processes()
        for rank in victims:
            time.sleep(dice.choice([0, 0, 0.0005, 0.002, 0.01, 0.05, 0.3 * dice.random()]))
            try:
                os.kill(processes[rank], 9)
            except (ProcessLookupError, KeyError):  # the run is over
                break
        told, codes, faults = job.finish(updates)
        faults += [f"{len(codes)} processes have ended well"] if len(codes) < 4 - len(victims) else []
    if mode in (0, 5) and not faults:
        faults += faults_of_values(told, launcher, program, mode, updates)
    return f"mode {mode}, {victims}: {told.get('lost')}, {told.get('resumed at')}", faults


def faults_of_clock(launcher: launch.Launcher, program: str) -> tuple[str, list[str]]:
    """A process ends in the last part of a run that a clock ends: that part is made again."""
    with tempfile.TemporaryDirectory() as name:
        job = Job(launcher, program, pathlib.Path(name), 2, 3, "1500ms", "private", {1: "1400ms"}, shares_memory=True, every="900ms")
        told, codes, faults = job.finish(None)
    if not faults and (told["lost"] != "1" or int(told["milliseconds"]) < 1800):
        faults = ["the last part was not made again"]
    return f"{told.get('milliseconds')} ms, {codes}", faults


def faults_of_silence(launcher: launch.Launcher, program: str) -> tuple[str, list[str]]:
    """Stops a process, which is then silent: the others do not replace it, and end with 3."""
    with tempfile.TemporaryDirectory() as name:
        job = Job(launcher, program, pathlib.Path(name), 3, 3, UPDATES, "private", {1: "500s"}, shares_memory=True)
        begin = time.monotonic()
        while len(job.verdicts.codes()) < 2 and time.monotonic() < begin + LIMIT:
            time.sleep(0.05)
        seconds = time.monotonic() - begin
        told, codes, _ = job.finish(UPDATES)
    faults = [f"the processes have ended with {codes}"] if codes != {0: 3, 2: 3} else []
    return f"after {seconds:.1f} s: {codes}", faults + (["the job told how it ended well"] if told else [])


def launcher_at(mpiexec: str) -> typing.Optional[launch.Launcher]:
    """Returns the launcher, or says why these tests cannot use it."""
    launcher = launch.launcher_at(mpiexec)
    if launcher.vendor == "Open MPI" and launcher.major == 4:
        return launcher
    print("SKIPPED: this launcher lets no process outlive another, or was not tried: Open MPI 4 does")
    return None


def main() -> int:
    """Runs all cases, two at once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, metavar="COUNT", help="instead of the cases, so many jobs are killed at any time")
    parser.add_argument("--seed", type=int, default=0, help="of the first of these jobs")
    options = parser.parse_args()
    launcher = launcher_at(options.mpiexec)
    if launcher is None:
        return 77
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        if options.kills:
            seeds = range(options.seed, options.seed + options.kills)
            futures = {f"seed {seed}": pool.submit(faults_of_kills, seed, launcher, options.program) for seed in seeds}
        else:
            futures = {case.name: pool.submit(faults_of_case, case, launcher, options.program) for case in CASES}
            futures["one of two ends in the last part of a run that a clock ends"] = pool.submit(faults_of_clock, launcher, options.program)
            futures["a process falls silent"] = pool.submit(faults_of_silence, launcher, options.program)
        return outcomes.report(futures)


if __name__ == "__main__":
    sys.exit(main())
