"""A process ends, throws, is killed or falls silent: checks what the other notices, and when (lost_peer_program.cpp)."""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import typing

import outcomes
from netuit import launch, supervise
from jobs import crude_faults, errors_in, run

LATE = 5.0  # seconds that a busy machine may add
# seconds from the beginning of a close until the process has given up its peer, first at the end of the run and then in
# MPI_Finalize
CLOSES = 14.0


class Case(typing.NamedTuple):
    """What must be seen, and after how many seconds: at least `seconds`, at most LATE more."""

    name: str
    what: str
    seen: str
    seconds: float
    said: str = ""  # in the one line that begins with conduit: error
    survives: bool = False  # started such that the end of one process does not end the other
    leaves: str = ""  # a file that the other has time to write
    code: typing.Optional[int] = None  # exit code of the job; None: any except 0


OUTSIDE = (
    Case("the other has ended before Connect", "connect", r"lost: rank 1 has ended \(MPI_\w+\)", 0, survives=True),
    Case("the other has ended before a mesh is made", "mesh", r"lost: rank 1 has ended \(MPI_\w+\)", 0, survives=True),
    Case("the other has ended in a collective call of a team", "team", r"lost: rank 1 has ended \(in a collective call\)", 0, survives=True),
    Case("the other has ended while members push to it", "conveyor_push", r"lost: rank 1 has ended \(while a member waits for it\)", 0, survives=True),
    Case("the other has ended while members try to push to it", "conveyor_try", r"lost: rank 1 has ended \(while a member waits for it\)", 0, survives=True),
    Case("the other has ended while members wait for items", "conveyor_wait", r"lost: rank 1 has ended \(while a member waits for it\)", 0, survives=True),
    Case("the other has ended in the Finish of a conveyor", "conveyor_finish", r"lost: rank 1 has ended \(in a collective call\)", 0, survives=True),
    Case("the same with relays: a push", "conveyor_push_two_hops", r"lost: rank 1 has ended \(while a member waits for it\)", 0, survives=True),
    Case("the same with relays: a try", "conveyor_try_two_hops", r"lost: rank 1 has ended \(while a member waits for it\)", 0, survives=True),
    Case("the same with relays: Finish", "conveyor_finish_two_hops", r"lost: rank 1 has ended \(in a collective call\)", 0, survives=True),
    Case("the other has ended while tasks wait for its answers", "fetch", r"lost: rank 1 has ended \(in a collective call\)", 0, survives=True),
    *(
        Case(f"the other is killed while {whom}", f"killed_{kind}", r"lost: rank 1 has ended \((in a collective call|while a member waits for it)\)", 0, survives=True)
        for kind, whom in (
            ("span", "members push long items to it"),
            ("combining", "members push items with keys to it"),
            ("requests", "tasks ask it"),
            ("calls", "it handles a call of a mesh"),
        )
    ),
    Case("the other has ended before Close", "close_ended", "not closed", 0, survives=True),
    Case("the other never closes", "close_silent", "not closed", 10),
    Case("the other was given up, and writes its results", "given_up", "not closed", 10, leaves="late"),
    Case("the other never closes its mesh", "mesh_close_silent", "not closed", 10),
    Case("the other never closes, and an exception is on its way", "close_throwing", "thrown: on its way", 2),
    Case("the other throws outside of a run", "throws", "", 2, said="outside of a run"),
    Case("MPI has failed in the other", "mpi_fails", "", 2, said="MPI has failed, for a test"),
    Case("the other is done early", "leaves", "the end", 0, code=4),
)
INSIDE = (
    Case("an update of the other throws", "run_throws", r"the update of node \d+ threw: in a run", 0, code=4),
    Case("the other is silent for four seconds while the report is gathered", "run_silent_in_report", "", 4, code=0),
    Case("the other is stopped in mode 0", "run_stopped_0", "no answer from another process within the time allowed", 1, survives=True),
    Case(
        "the other is stopped in mode 5", "run_stopped_5",
        "no answer from another process within the time allowed|no word from rank 1 at a barrier", 1, survives=True,
    ),
    Case("the other is stopped in mode 3", "run_stopped_3", "no word from rank 1 at a barrier", 3, survives=True),
    *(
        Case(
            f"the other is killed in mode {mode}, after two checkpoints", f"run_killed_{mode}",
            r"rank 1 has ended.*; the last checkpoint is \S+/checkpoint, of update 20", 0,
            survives=True, leaves="checkpoint/checkpoint.json",
        )
        for mode in (0, 5)
    ),
)


def launch_command(launcher: launch.Launcher, survives: bool) -> list[str]:
    """Returns the launcher command, with the options that let a process survive another."""
    if not survives:
        return [launcher.path]
    if launcher.vendor == "MPICH":
        return [launcher.path, "-disable-auto-cleanup"]
    return supervise.surviving_command(launcher, 2, "", [])[:2] if launcher.major < 5 else [launcher.path, "--with-ft", "ulfm"]


def lines_of(path: pathlib.Path) -> list[int]:
    """Returns the whole lines of a file of numbers; none if the file does not exist."""
    if not path.exists():
        return []
    return [int(line) for line in path.read_text(encoding="ascii").splitlines(keepends=True) if line.endswith("\n")]


def end_stopped(folder: pathlib.Path) -> list[str]:
    """Waits until the remaining process has ended, and ends the stopped one. Returns what is wrong."""

    def process_of(name: str) -> int:
        lines = lines_of(folder / name)
        return lines[0] if lines else 0

    def is_running(process: int) -> bool:
        return pathlib.Path(f"/proc/{process}").exists()

    deadline = time.monotonic() + CLOSES + 2 * LATE
    while not process_of("stopped") or not process_of("other") or is_running(process_of("other")):
        if time.monotonic() > deadline:
            return ["the other, which goes on, has not ended"]
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):  # the launcher may have ended it
        os.kill(process_of("stopped"), signal.SIGKILL)
    return []


def faults_of(case: Case, launcher: launch.Launcher, program: str) -> tuple[str, list[str]]:
    """Returns what was seen in a run of a case, and what is wrong with it."""
    loses = case.what.startswith(("run_stopped", "run_killed"))  # what remains is to report that it has lost a peer
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(1) as beside:
            ended = beside.submit(end_stopped, pathlib.Path(folder)) if "stopped" in case.what else None
            environment = {"UIT_VERDICT": folder} if loses else {}
            outcome = run(launch_command(launcher, case.survives), environment, [program, case.what, folder])
            faults = [*crude_faults(outcome), *(ended.result() if ended else ())]
        if loses and (codes := lines_of(pathlib.Path(folder) / "rank0")) != [3]:
            faults.append(f"the other has ended with {codes}, not with 3")
        if case.leaves and not (pathlib.Path(folder) / case.leaves).exists():
            faults.append(f"{case.leaves} was not written")
        seen = re.findall(r"seen: (.*), ([\d.]+) s", outcome.out)
        if case.what in ("throws", "mpi_fails"):
            thrown, alive = (lines_of(pathlib.Path(folder) / name) for name in ("thrown", "alive"))
            if not thrown or not alive:
                return "nothing", [*faults, "nobody has written", outcome.out, outcome.err]
            seconds = (alive[-1] - thrown[0]) / 1e9
            if seen:
                faults.append("the other came to its end")
        elif len(seen) != 1 or not re.fullmatch(case.seen, seen[0][0]):
            return f"{seen}", [*faults, f"not '{case.seen}'", outcome.out, outcome.err]
        else:
            seconds = float(seen[0][1])
    # If both wait, one of them may have begun a moment earlier.
    if not case.seconds - 0.2 <= seconds <= case.seconds + LATE:
        faults.append(f"after {seconds} s instead of {case.seconds}")
    if outcome.code == 0 and not case.survives and case.code is None:  # a launcher that lets processes survive always ends with 0
        faults.append("the job ended with 0")
    if case.code is not None and outcome.code != case.code:
        faults.append(f"the job ended with {outcome.code}, not with {case.code}, which the other returned")
    said = errors_in(outcome)
    if case.said and (len(said) != 1 or case.said not in said[0]):
        faults.append(f"said {said}")
    return f"{seen[0][0] if seen else 'it was ended'}, after {seconds:.2f} s, code {outcome.code}", faults + ([outcome.err] if faults else [])


def main() -> int:
    """Runs all cases, four at once, because they mostly wait."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--inside", action="store_true", help="the cases in which it does so in a run")
    options = parser.parse_args()
    launcher = launch.launcher_at(options.mpiexec)
    cases = [
        case for case in (INSIDE if options.inside else OUTSIDE)
        if "killed" not in case.what or launcher.vendor != "MPICH"  # which ends all processes at once if one is killed
    ]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return outcomes.report({case.name: pool.submit(faults_of, case, launcher, options.program) for case in cases})


if __name__ == "__main__":
    sys.exit(main())
