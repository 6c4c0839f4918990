"""A mesh in processes that this one starts, on this machine."""

from __future__ import annotations

import multiprocessing.connection
import os
import pathlib
import pickle
import queue
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import cloudpickle

from netuit import ToolError, launch, native
from netuit.mesh import Field, Part, Report
from netuit.schedules import Schedule

KEY = "UIT_JOB_KEY"  #: environment variable with what lets a process connect
_START_LIMIT = 120.0  # seconds


class Elsewhere:
    """What Here does, done by processes that mpirun has started. Each gets the same commands, and rank 0's answer counts."""

    def __init__(self, graph: Any, processes: int, threads: int) -> None:
        is_short = len(tempfile.gettempdir()) < 64  # the address of a socket may have about 100 characters
        self._folder = tempfile.mkdtemp(prefix="conduit-job-", dir=None if is_short else "/tmp")
        self._child: subprocess.Popen[bytes] | None = None
        token = uuid.uuid4().hex
        key = secrets.token_bytes(32)
        try:
            with multiprocessing.connection.Listener(os.path.join(self._folder, "socket"), authkey=key, backlog=2 * processes) as listener:
                self._child = self._start(processes, str(listener.address), key, token)
                self._commands, self._controls = self._accept(listener, processes)
        except BaseException:
            _end(self._child, token, self._folder)
            raise
        self._finalizer = weakref.finalize(self, _finish, self._child, token, self._folder, self._commands)
        self.call("make", [(graph, threads)] + [(None, threads)] * (processes - 1))

    def _start(self, processes: int, address: str, key: bytes, token: str) -> subprocess.Popen[bytes]:
        launcher = launch.find_launcher(native.folder())
        package = str(pathlib.Path(__file__).resolve().parents[1])
        environment = {**launcher.environment(), KEY: key.hex(), launch.TOKEN: token}
        environment["PYTHONPATH"] = os.pathsep.join([package, *([environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else [])])
        command = launcher.command(processes, sys.executable, ["-m", "netuit.job_process", address])
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)

    def _accept(self, listener: Any, processes: int) -> tuple[list[Any], list[Any]]:
        """The connections for commands and for interruptions, by rank."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def accept() -> None:
            try:
                for _ in range(2 * processes):
                    arrived.put(listener.accept())
            except (OSError, EOFError, multiprocessing.AuthenticationError):
                pass  # the listener was closed, or who came did not know the key

        threading.Thread(target=accept, daemon=True).start()
        found: dict[tuple[str, int], Any] = {}
        limit = time.monotonic() + _START_LIMIT
        while len(found) < 2 * processes:
            try:
                connection = arrived.get(timeout=0.1)
            except queue.Empty:
                assert self._child is not None
                if self._child.poll() is not None:
                    raise ToolError(f"the processes of the mesh ended at once, with code {self._child.returncode}") from None
                if time.monotonic() > limit:
                    raise ToolError(f"the processes of the mesh did not start within {_START_LIMIT:.0f} seconds") from None
                continue
            kind, rank = connection.recv()
            found[kind, rank] = connection
        ranks = range(processes)
        if set(found) != {(kind, rank) for kind in ("command", "control") for rank in ranks}:
            raise ToolError("mpirun did not start one job: it is of another MPI than the extension module")
        return [found["command", rank] for rank in ranks], [found["control", rank] for rank in ranks]

    def call(self, method: str, arguments: list[Any]) -> Any:
        """Calls a method of every process's Here with its arguments. Gives rank 0's result; raises what the first has raised."""
        if not self._finalizer.alive:
            raise ToolError("the mesh has been closed")
        try:
            for connection, own in zip(self._commands, arguments):
                connection.send_bytes(cloudpickle.dumps((method, own)))
            answers = [self._answer(connection) for connection in self._commands]
        except (OSError, EOFError):
            code = self._finalizer()
            raise ToolError(f"a process of the mesh has ended (mpirun's code is {code})") from None
        # What a process has raised itself says more than that another has failed.
        failures = [answer for is_result, answer in answers if not is_result]
        if failures:
            raise next((error for error in failures if not isinstance(error, ToolError)), failures[0])
        return answers[0][1]

    def _answer(self, connection: Any) -> Any:
        """The next answer. Ctrl-C ends the run first."""
        interrupted = False
        while True:
            try:
                answer = pickle.loads(connection.recv_bytes())
                if interrupted:
                    raise KeyboardInterrupt
                return answer
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                self._controls[0].send("stop")

    def _same(self, method: str, *arguments: Any) -> Any:
        return self.call(method, [arguments] * len(self._commands))

    def num_nodes(self) -> int:
        return int(self._same("num_nodes"))

    def num_edges(self) -> int:
        return int(self._same("num_edges"))

    def num_updates(self) -> int:
        return int(self._same("num_updates"))

    def add_field(self, initial: Any, dtype: str | None, published: bool) -> Field:
        field: Field = self._same("add_field", initial, dtype, published)
        return field

    def add_weights(self) -> None:
        self._same("add_weights")

    def add_reduction(self, is_maximum: bool) -> int:
        return int(self._same("add_reduction", is_maximum))

    def gather(self, field: Field) -> Any:
        return self._same("gather", field)

    def run(self, schedule: Schedule, update: Callable[[Part], object], options: Mapping[str, Any]) -> Report:
        report: Report = self._same("run", schedule, update, options)
        return report

    def close(self) -> None:
        self._finalizer()


def _finish(child: subprocess.Popen[bytes], token: str, folder: str, commands: list[Any]) -> int:
    """Lets the processes end, and gives mpirun's exit code."""
    for connection in commands:
        try:
            connection.send_bytes(pickle.dumps(("end", ())))
        except OSError:
            pass
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        pass
    _end(child, token, folder)
    return int(child.returncode)


def _end(child: subprocess.Popen[bytes] | None, token: str, folder: str) -> None:
    if child is not None:
        launch.end(child, token)
    shutil.rmtree(folder, ignore_errors=True)
