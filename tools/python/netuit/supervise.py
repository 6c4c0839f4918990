"""netuit supervise and tools/run: starts a program so that the other processes survive if one dies, and judges how it ended."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from typing import NoReturn

from netuit import InputError, ToolError, launch
from netuit.command import Parser, exit_code_of_command

_MPIEXEC = "mpirun"
LOST = 3  #: what a job ends with that has lost a process
_SET_UP_GRACE = 4.0  # seconds that a job lives on which has lost a process before all had met: some end of themselves after three
_LOOK_EVERY = 0.5  # seconds


class Verdicts:
    """What the processes of a job say of how they ended, in a folder: a file for each."""

    def __init__(self, folder: pathlib.Path, processes: int) -> None:
        self.folder = folder
        self.processes = processes

    def codes(self) -> dict[int, int]:
        """The exit codes so far, by rank; a rank that died has none."""
        found = {}
        for rank in range(self.processes):
            try:
                found[rank] = int((self.folder / f"rank{rank}").read_text(encoding="ascii"))
            except (OSError, ValueError):
                continue
        return found

    def have_begun(self, ranks: Iterable[int]) -> bool:
        """Whether all these have met the others, and notice from then on if one dies."""
        return all((self.folder / f"rank{rank}.begun").exists() for rank in ranks)

    def missing(self) -> list[int]:
        """Ranks that have reported no exit code."""
        codes = self.codes()
        return [rank for rank in range(self.processes) if rank not in codes]

    def exit_code(self, launcher_code: int) -> int:
        """What the whole job ends with. A launcher that could not start anything speaks for itself."""
        codes = self.codes()
        if not codes:
            return launcher_code if launcher_code != 0 else LOST
        if self.missing() or LOST in codes.values():
            return LOST
        return max(*codes.values(), launcher_code)


def surviving_command(launcher: launch.Launcher, processes: int, program: str, arguments: Sequence[str]) -> list[str]:
    """The command line that starts the program so that the others go on when one dies, where the launcher can."""
    command = launcher.command(processes, program, arguments)
    if launcher.vendor != "Open MPI":
        return command
    return [command[0], *(["--enable-recovery"] if launcher.major < 5 else ["--with-ft", "ulfm"]), *command[1:]]


def supervise(launcher: launch.Launcher, processes: int, program: str, arguments: Sequence[str], grace: float) -> int:
    """Runs the job, and gives its exit code once nothing of it is left. Signals go on to the launcher."""
    with tempfile.TemporaryDirectory(prefix="conduit-verdict-") as name:
        verdicts = Verdicts(pathlib.Path(name), processes)
        environment = {**launcher.environment(), "UIT_VERDICT": name}
        command = surviving_command(launcher, processes, program, arguments)
        try:
            child = subprocess.Popen(command, env=environment, start_new_session=True)
        except OSError as error:
            raise ToolError(f"{command[0]}: {error.strerror}") from None
        code = _wait(child, verdicts, grace)
        missing = verdicts.missing()
        if missing:  # whose shared memory nobody has removed
            time.sleep(1)
            launch.remove_leftovers(least_age=1)
        if missing and verdicts.codes():
            ranks = ", ".join(map(str, missing))
            print(f"conduit: error: no word from rank{'s' if len(missing) > 1 else ''} {ranks} at the end", file=sys.stderr)
        return verdicts.exit_code(code)


def _wait(child: subprocess.Popen[bytes], verdicts: Verdicts, grace: float) -> int:
    def pass_on(number: int, _frame: object) -> None:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # a terminal that closes ends the job
                os.kill(child.pid, signal.SIGTERM if number == signal.SIGHUP else number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, pass_on)
    deadline: float | None = None
    next_look = 0.0
    short_since: float | None = None
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = child.wait(timeout=0.05)
                code = code if code >= 0 else 128 - code
                if not verdicts.codes():  # ended by another that failed, by the launcher, or no program of ours
                    print(f"conduit: error: no word from any rank at the end; the launcher's exit code is {code}", file=sys.stderr)
                return code
            now = time.monotonic()
            if deadline is None and verdicts.codes():
                deadline = now + grace
            if deadline is not None:
                if now > deadline:
                    print(f"conduit: error: some processes have not ended {grace:g} s after the first", file=sys.stderr)
                    return LOST
            elif now > next_look:  # those who have not met the others yet may wait in MPI for one that has died
                next_look = now + _LOOK_EVERY
                here, expected = _ranks_here(verdicts.folder)
                if len(here) >= expected or verdicts.have_begun(here):
                    short_since = None
                elif short_since is None:
                    short_since = now
                elif now - short_since > min(grace, _SET_UP_GRACE):
                    _say_who_died(here, expected, verdicts.processes)
                    return LOST
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
            try:
                child.wait(timeout=3)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _ranks_here(folder: pathlib.Path) -> tuple[set[int], int]:
    """The ranks of the job that this computer has, and how many of them the launcher has started here; it and its helpers have none."""
    mark = f"UIT_VERDICT={folder}".encode()
    ranks, expected = set(), 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark not in words:
            continue
        variables = dict(word.partition(b"=")[::2] for word in words)
        rank = variables.get(b"OMPI_COMM_WORLD_RANK", variables.get(b"PMI_RANK"))
        if rank is not None:
            ranks.add(int(rank))
            expected = int(variables.get(b"OMPI_COMM_WORLD_LOCAL_SIZE", variables.get(b"MPI_LOCALNRANKS", b"0")))
    return ranks, expected


def _say_who_died(here: set[int], expected: int, processes: int) -> None:
    dead = [str(rank) for rank in range(processes) if rank not in here] if expected == processes else []
    who = f"rank{'s' if len(dead) > 1 else ''} {', '.join(dead)}" if dead else f"{expected - len(here)} of {expected} processes here"
    print(f"conduit: error: {who} ended before all had met, so the others cannot begin", file=sys.stderr)


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        super().error(f"{message}; see --help")


def main(words: Sequence[str]) -> int:
    """The command."""
    help_text = pathlib.Path(__file__).with_name("supervise_help.txt").read_text(encoding="utf-8")
    if "-h" in words[:1] or "--help" in words[:1]:
        print(help_text, end="")
        return 0
    parser = _Parser(add_help=False, prog="netuit supervise")
    parser.add_argument("-n", dest="processes", type=int, required=True)
    parser.add_argument("--mpiexec", default=_MPIEXEC)
    parser.add_argument("--grace", type=float, default=60.0)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(list(words))
    if options.processes < 1:
        raise InputError(f"-n {options.processes}: expected at least one process")
    if not 0 <= options.grace < float("inf"):
        raise InputError(f"--grace {options.grace:g}: expected a number of seconds from 0 on")
    program = shutil.which(options.program)
    if program is None:
        raise InputError(f"{options.program}: no such program")
    if options.mpiexec != _MPIEXEC and shutil.which(options.mpiexec) is None:
        raise InputError(f"--mpiexec {options.mpiexec}: no such program")
    launcher = launch.launcher_at(options.mpiexec)
    return supervise(launcher, options.processes, program, options.arguments, options.grace)


if __name__ == "__main__":
    sys.exit(exit_code_of_command(lambda: main(sys.argv[1:])))
