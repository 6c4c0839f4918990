"""Jobs to be killed, stopped and signalled: each in a session of its own, with a time limit, and nothing left behind."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from conduit_tools import launch, supervise

_TOKEN = "CONDUIT_SURVIVAL"
# How long Open MPI waits before its SIGTERM, and again before SIGKILL, when it ends a job: by default a second. What it
# takes is measured rather than left to the load of the machine.
PATIENCE = 2.0
_PATIENCE = {"OMPI_MCA_odls_base_sigkill_timeout": f"{PATIENCE:.0f}"}
_RANKS = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")


@dataclasses.dataclass
class Job:
    """A program on its way, in a folder of its own."""

    child: subprocess.Popen[bytes]
    folder: pathlib.Path
    token: str
    ranks: int
    segments: set[str] = dataclasses.field(default_factory=set)

    def processes(self) -> dict[int, int]:
        """The live processes of the program, by rank; the launcher and its helpers have none."""
        mark = f"{_TOKEN}={self.token}".encode()
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
                state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if mark not in variables or state == "Z":
                continue
            for variable in variables:
                if variable.startswith(_RANKS):
                    found[int(variable.split(b"=")[1])] = int(folder.name)
        return found

    def remains(self) -> list[int]:
        """Ids of all live processes that the job has started, the launcher's among them."""
        mark = f"{_TOKEN}={self.token}".encode()
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def note_segments(self) -> None:
        """Remembers what of /dev/shm its processes have mapped by now."""
        for process in self.processes().values():
            try:
                maps = pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            words = (line.split(maxsplit=5)[-1] for line in maps.splitlines())
            self.segments.update(word for word in words if word.startswith("/dev/shm/"))

    def segments_left(self) -> list[str]:
        """Those of them that are still there."""
        return sorted(name for name in self.segments if os.path.exists(name))

    def wait(self, seconds: float) -> int:
        """The exit code, as a shell has it. Fails if the job has not ended by then."""
        try:
            code = self.child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds:g} s: {self.errors()}") from None
        return code if code >= 0 else 128 - code

    def errors(self) -> str:
        """What it has said so far."""
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")

    def manifest(self, name: str = "rows.json") -> dict[str, object]:
        """A JSON file that the program has written."""
        value = json.loads((self.folder / name).read_text(encoding="utf-8"))
        assert isinstance(value, dict)
        return value


def wait_until(
    condition: Callable[[], object], seconds: float, what: str, more: Callable[[], str] = lambda: ""
) -> None:
    """Fails if it does not become true in time, with what `more` says."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come about within {seconds:g} s: {more()}"
        time.sleep(0.002)


@contextmanager
def running(
    launcher: launch.Launcher,
    ranks: int,
    program: str,
    arguments: Sequence[str],
    survives: bool = False,
    leaves_segments: bool = False,
    shares_memory: bool = True,
) -> Iterator[Job]:
    """A job; by tools/run if it is to survive. Its processes talk over MPI alone unless they share memory.

    Whatever is left of it at the end is ended and removed, and counts as a failure, unless that is segments that it leaves.
    """
    token = uuid.uuid4().hex
    tools = pathlib.Path(supervise.__file__).parents[2]
    command = launcher.command(ranks, program, arguments)
    if survives:
        command = [str(tools / "run"), "-n", str(ranks), "--mpiexec", launcher.path, program, *arguments]
    with tempfile.TemporaryDirectory(prefix="conduit-survival-") as name:
        folder = pathlib.Path(name)
        with (folder / "stderr").open("wb") as errors:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env={**launcher.environment(), **_PATIENCE, _TOKEN: token, "UIT_SHARED_MEMORY": str(int(shares_memory))},
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        job = Job(child, folder, token, ranks)
        try:
            yield job
            wait_until(lambda: not job.remains(), 5, "the end of every process of the job")
            assert leaves_segments or not job.segments_left(), f"left behind: {job.segments_left()}"
        finally:
            for process in job.remains():
                try:
                    os.kill(process, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
            child.wait()
            for name_left in job.segments_left():
                pathlib.Path(name_left).unlink(missing_ok=True)
