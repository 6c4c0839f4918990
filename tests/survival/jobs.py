"""Jobs that are killed, stopped and signalled: each in its own session, with a time limit, and with nothing left behind."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from netuit import launch, supervise

from bounds import PATIENCE
from processes import marked, variables_of
from reports import CRASH_REPORT, SANITIZER_REPORT

_TOKEN = "UIT_TEST_SURVIVAL"
_RANKS = (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")


@dataclasses.dataclass
class Job:
    """A running program, in its own folder."""

    child: subprocess.Popen[bytes]
    folder: pathlib.Path
    token: str
    ranks: int
    segments: set[str] = dataclasses.field(default_factory=set)

    def codes(self) -> dict[int, int]:
        """Returns the exit codes that the processes have reported, by rank, if the job was asked for that."""
        return supervise.Verdicts(self.folder / "verdicts", self.ranks).codes()

    def processes(self) -> dict[int, int]:
        """Returns the live processes of the program, by rank. The launcher and its helpers have none."""
        found = {}
        for process in self.remains():
            for variable in variables_of(process):
                if variable.startswith(_RANKS):
                    found[int(variable.split(b"=")[1])] = process
        return found

    def remains(self) -> list[int]:
        """Returns the ids of all live processes that the job has started, including the launcher's."""
        return marked(f"{_TOKEN}={self.token}".encode())

    def note_segments(self) -> None:
        """Remembers the files of /dev/shm that its processes have mapped so far."""
        for process in self.processes().values():
            try:
                maps = pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            words = (line.split(maxsplit=5)[-1] for line in maps.splitlines())
            self.segments.update(word for word in words if word.startswith("/dev/shm/"))

    def segments_left(self) -> list[str]:
        """Returns those files that still exist."""
        return sorted(name for name in self.segments if os.path.exists(name))

    def wait(self, seconds: float) -> int:
        """Returns the exit code, as a shell sees it. Fails if the job has not ended by then."""
        try:
            code = self.child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds:g} s: {self.errors()}") from None
        return code if code >= 0 else 128 - code

    def launcher_hangs(self, seconds: float) -> bool:
        """Waits for the end of the job.

        If the launcher hangs although the program's processes are gone, ends it, cleans up, and returns True.
        """
        try:
            self.child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            if not self.processes():
                print(f"the launcher hangs: {self.errors()}", flush=True)
                self.child.kill()
                for name in self.segments_left():
                    pathlib.Path(name).unlink()
                return True
        return False

    def errors(self) -> str:
        """Returns the output so far."""
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")

    def manifest(self, name: str = "rows.json") -> dict[str, object]:
        """Reads a JSON file that the program has written."""
        value = json.loads((self.folder / name).read_text(encoding="utf-8"))
        assert isinstance(value, dict)
        return value


@dataclasses.dataclass
class _Life:
    """What is known of a watched process."""

    handle: int
    ended_at: float | None = None
    waited_for_disk: float = 0.0
    looks: list[tuple[float, float]] = dataclasses.field(default_factory=list)  #: at a time, for how long it had waited in all


def _waited_for_cpu(process: int) -> float:
    """Returns the seconds that a process was ready to run and had no CPU. Raises OSError if it has ended."""
    return int(pathlib.Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9


def _waits_for_disk(process: int) -> bool:
    """Returns whether a process is in an uninterruptible wait. Raises OSError if it has ended."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return words[0] == "D"


class Ends:
    """Records exactly when processes end, and for how long the machine kept them from working. Create it while they live.

    Times are those of time.monotonic().
    """

    _LOOK_EVERY = 0.05  # seconds

    def __init__(self, processes: Iterable[int]) -> None:
        self._poll = select.poll()
        self._lives: dict[int, _Life] = {}
        for process in processes:
            with suppress(ProcessLookupError):  # it has ended, so it cannot be late
                self._lives[process] = _Life(os.pidfd_open(process))
                self._poll.register(self._lives[process].handle, select.POLLIN)
        self._look()

    def watch_until(self, moment: float) -> None:
        """Waits until then, and watches the processes meanwhile."""
        while (remaining := moment - time.monotonic()) > 0:
            time.sleep(min(remaining, self._LOOK_EVERY))
            self._look()

    def await_last(self, seconds: float) -> float:
        """Returns when the last process ended. Fails if some have not ended by then."""
        deadline = time.monotonic() + seconds
        while running := [life for life in self._lives.values() if life.ended_at is None]:
            assert time.monotonic() < deadline, f"{len(running)} processes still run after {seconds:g} s"
            ended = {handle for handle, _ in self._poll.poll(1000 * self._LOOK_EVERY)}
            now = time.monotonic()
            for life in running:
                if life.handle in ended:
                    life.ended_at = now
                    self._poll.unregister(life.handle)
                    os.close(life.handle)
            self._look()
        return max((life.ended_at or 0.0 for life in self._lives.values()), default=time.monotonic())

    def denied(self, process: int, since: float) -> float:
        """Returns how long a process has waited for a CPU or a disk since a moment, as far as samples show."""
        looks = self._lives[process].looks if process in self._lives else []
        if not looks:
            return 0.0
        before = [denied for at, denied in looks if at <= since]
        return looks[-1][1] - (before[-1] if before else looks[0][1])

    def latest(self, since: float) -> float:
        """Returns how long after a moment the last process ended, in its own time: without its waits for a CPU or a disk."""
        ended = {process: life.ended_at for process, life in self._lives.items() if life.ended_at is not None}
        return max((at - since - self.denied(process, since) for process, at in ended.items()), default=0.0)

    def _look(self) -> None:
        now = time.monotonic()
        for process, life in self._lives.items():
            if life.ended_at is not None:
                continue
            with suppress(OSError, IndexError):
                if life.looks and _waits_for_disk(process):
                    life.waited_for_disk += now - life.looks[-1][0]
                life.looks.append((now, _waited_for_cpu(process) + life.waited_for_disk))


def is_code_lost(code: int, launcher: launch.Launcher, survives: bool) -> bool:
    """Returns whether MPICH's launcher has lost the exit code of a job (pmodels/mpich#7057)."""
    return launcher.vendor == "MPICH" and not survives and code == 0


def wait_until(
    condition: Callable[[], object], seconds: float, what: str, more: Callable[[], str] = lambda: ""
) -> None:
    """Fails with `more` if the condition does not become true in time."""
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
    patience: float | None = PATIENCE,
    leaves_word: bool = False,
) -> Iterator[Job]:
    """Runs a job, with tools/run if its processes must survive a death. Unless `shares_memory`, they communicate over MPI only.

    Open MPI waits `patience` seconds between the signals with which it ends processes, or its default. If `leaves_word`, the
    processes report their exit codes. Everything left of the job at the end is ended and removed, and counts as a failure,
    except shared memory if `leaves_segments`. A report of a crash or of a sanitizer is also a failure.
    """
    token = uuid.uuid4().hex
    timeout = {} if patience is None else {"OMPI_MCA_odls_base_sigkill_timeout": f"{patience:.0f}"}
    tools = pathlib.Path(supervise.__file__).parents[2]
    command = launcher.command(ranks, program, arguments)
    if survives:
        command = [str(tools / "run"), "-n", str(ranks), "--mpiexec", launcher.path, program, *arguments]
    with tempfile.TemporaryDirectory(prefix="conduit-survival-") as name:
        folder = pathlib.Path(name)
        word = {"UIT_VERDICT": str(folder / "verdicts")} if leaves_word else {}
        (folder / "verdicts").mkdir()
        with (folder / "stderr").open("wb") as errors:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env={**launcher.environment(), **timeout, **word, _TOKEN: token, "UIT_SHARED_MEMORY": str(int(shares_memory))},
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        job = Job(child, folder, token, ranks)
        try:
            yield job
            wait_until(lambda: not job.remains(), 5, "the end of every process of the job")
            assert not re.search(f"{SANITIZER_REPORT}|{CRASH_REPORT}", job.errors()), job.errors()
            assert leaves_segments or not job.segments_left(), f"left behind: {job.segments_left()}; {job.errors()}"
        finally:
            for process in job.remains():
                try:
                    os.kill(process, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
            child.wait()
            for name_left in job.segments_left():
                pathlib.Path(name_left).unlink(missing_ok=True)
