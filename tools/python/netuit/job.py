"""A mesh in processes that this one starts, on this machine."""

from __future__ import annotations

import multiprocessing.connection
import os
import pathlib
import pickle
import queue
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import cloudpickle

from netuit import ToolError, launch, native
from netuit.fields import EdgeField, Field, Film
from netuit.local_mesh import Report
from netuit.part import Part
from netuit.schedules import Schedule

KEY = "UIT_JOB_KEY"  #: environment variable with what lets a process connect
_START_LIMIT = 120.0  # seconds
_MOST_INTERRUPTIONS = 3  # after so many, the processes are ended

# The package comes from the folder that this one has it from, whatever else the child finds first.
_PROGRAM = "import sys; sys.path.insert(0, {folder!r}); import netuit; del sys.path[0]; from netuit.job_process import main; sys.exit(main())"


class Elsewhere:
    """What Here does, done by processes that mpirun has started. Each gets the same commands, and rank 0's answer counts.

    Any thread may call it, one at a time. Ctrl-C waits until all have answered, and ends a run first.
    """

    def __init__(self, graph: Any, processes: int, threads: int, name: str) -> None:
        is_short = len(tempfile.gettempdir()) < 64  # the address of a socket may have about 100 characters
        self._folder = tempfile.mkdtemp(prefix="conduit-job-", dir=None if is_short else "/tmp")
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._num_calls = 0
        token = uuid.uuid4().hex
        key = secrets.token_bytes(32)
        try:
            with multiprocessing.connection.Listener(os.path.join(self._folder, "socket"), authkey=key, backlog=2 * processes) as listener:
                self._child = self._start(processes, str(listener.address), key, token)
                self._commands, self._controls = self._accept(listener, processes)
        except BaseException:
            _end(self._child, token, self._folder)
            raise
        connections = [*self._commands, *self._controls]
        self._finalizer = weakref.finalize(self, _finish, self._child, token, self._folder, connections, os.getpid())
        try:
            self._call("make", [(sys.path, graph if rank == 0 else None, threads, name) for rank in range(processes)])
        except BaseException:
            self._finalizer()
            raise

    def _start(self, processes: int, address: str, key: bytes, token: str) -> subprocess.Popen[bytes]:
        launcher = launch.find_launcher(native.folder())
        program = _PROGRAM.format(folder=str(pathlib.Path(__file__).resolve().parents[1]))
        environment = {**launcher.environment(), KEY: key.hex(), launch.TOKEN: token}
        command = launcher.command(processes, sys.executable, ["-c", program, address])
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
            assert self._child is not None
            try:
                connection = arrived.get(timeout=0.1)
                place = connection.recv()
            except (queue.Empty, EOFError):
                if self._child.poll() is not None:
                    raise ToolError(f"the processes of the mesh ended at once, with code {self._child.returncode}") from None
                if time.monotonic() > limit:
                    raise ToolError(f"the processes of the mesh did not start within {_START_LIMIT:.0f} seconds") from None
                continue
            if place in found or place[1] >= processes:
                raise ToolError("mpirun did not start one job: it is of another MPI than the extension module")
            found[place] = connection
        ranks = range(processes)
        return [found["command", rank] for rank in ranks], [found["control", rank] for rank in ranks]

    def _call(self, method: str, arguments: list[Any]) -> Any:
        """Calls a method of every process's Here with its arguments. Gives rank 0's result; raises what the first has raised."""
        if os.getpid() != self._process:
            raise ToolError("a mesh cannot be used in a child that fork has made")
        packed = [cloudpickle.dumps((self._num_calls + 1, method, own)) for own in arguments]
        with self._lock, _deferred_interrupts() as interrupts:
            if not self._finalizer.alive:
                raise ToolError("the mesh has been closed")
            self._num_calls += 1
            try:
                for connection, own in zip(self._commands, packed):
                    connection.send_bytes(own)
                answers = self._answers(interrupts, method)
            except (OSError, EOFError):
                code = self._finalizer()
                raise ToolError(f"a process of the mesh has ended (mpirun's code is {code})") from None
        if interrupts:
            raise KeyboardInterrupt
        loaded = [pickle.loads(answer) for answer in answers]
        # What a process has raised itself says more than that another has failed.
        failures = [answer for is_result, answer in loaded if not is_result]
        if failures:
            raise next((error for error in failures if not isinstance(error, ToolError)), failures[0])
        return loaded[0][1]

    def _answers(self, interrupts: list[int], method: str) -> list[bytes]:
        """What every process has answered. If interrupted, ends a run first; if that does not help, everything."""
        answers: dict[int, bytes] = {}
        rank_of = {connection: rank for rank, connection in enumerate(self._commands)}
        is_told = False
        while len(answers) < len(self._commands):
            waiting = [connection for connection, rank in rank_of.items() if rank not in answers]
            for connection in multiprocessing.connection.wait(waiting, 0.1):
                answers[rank_of[connection]] = connection.recv_bytes()  # type: ignore[union-attr]
            if interrupts and method == "run" and not is_told:
                self._controls[0].send(self._num_calls)
                is_told = True
            if len(interrupts) >= _MOST_INTERRUPTIONS:
                self._finalizer()
                raise KeyboardInterrupt
        return [answers[rank] for rank in range(len(self._commands))]

    def _same(self, method: str, *arguments: Any) -> Any:
        return self._call(method, [arguments] * len(self._commands))

    def num_nodes(self) -> int:
        return int(self._same("num_nodes"))

    def num_edges(self) -> int:
        return int(self._same("num_edges"))

    def num_updates(self) -> int:
        return int(self._same("num_updates"))

    def add_field(self, initial: Any, dtype: str | None, published: bool, name: str) -> Field:
        field: Field = self._same("add_field", initial, dtype, published, name)
        return field

    def add_edge_field(self, initial: Any, dtype: str | None, name: str) -> EdgeField:
        field: EdgeField = self._same("add_edge_field", initial, dtype, name)
        return field

    def add_weights(self) -> None:
        self._same("add_weights")

    def add_reduction(self, which: str) -> int:
        return int(self._same("add_reduction", which))

    def gather(self, field: Field) -> Any:
        return self._same("gather", field)

    def add_film(self, field: Field, every: int, most: int) -> Film:
        film: Film = self._same("add_film", field, every, most)
        return film

    def gather_film(self, film: Film) -> tuple[Any, int]:
        gathered: tuple[Any, int] = self._same("gather_film", film)
        return gathered

    def clear_film(self, film: Film) -> None:
        self._same("clear_film", film)

    def save_checkpoint(self, folder: str, notes: dict[str, str]) -> None:
        self._same("save_checkpoint", folder, notes)

    def load_checkpoint(self, folder: str) -> dict[str, str]:
        notes: dict[str, str] = self._same("load_checkpoint", folder)
        return notes

    def has_checkpoint(self, folder: str) -> bool:
        return bool(self._same("has_checkpoint", folder))

    def run(self, schedule: Schedule, update: Callable[[Part], object], options: Mapping[str, Any]) -> Report:
        report: Report = self._same("run", schedule, update, options)
        return report

    def close(self) -> None:
        with self._lock, _deferred_interrupts() as interrupts:
            self._finalizer()
        if interrupts:
            raise KeyboardInterrupt


@contextmanager
def _deferred_interrupts() -> Iterator[list[int]]:
    """Within it, Ctrl-C only adds to the list. In the main thread; others do not see it anyway."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def _finish(child: subprocess.Popen[bytes], token: str, folder: str, connections: list[Any], process: int) -> int | None:
    """Lets the processes end, and gives mpirun's exit code."""
    if os.getpid() != process:
        return None  # in a child that fork has made
    try:
        for connection in connections[: len(connections) // 2]:
            try:
                connection.send_bytes(pickle.dumps((0, "end", ())))
            except OSError:
                pass
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            pass
    finally:
        for connection in connections:
            connection.close()
        _end(child, token, folder)
    return int(child.returncode)


def _end(child: subprocess.Popen[bytes] | None, token: str, folder: str) -> None:
    if child is not None:
        launch.end(child, token)
    shutil.rmtree(folder, ignore_errors=True)
