"""A process that netuit.job has started: does what it is told through a socket until that is closed."""

from __future__ import annotations

import multiprocessing.connection
import os
import pathlib
import pickle
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

# Before any library starts threads: only a run takes this signal, with which netuit.job ends it.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

import cloudpickle  # noqa: E402

from netuit import ToolError, job, local_mesh, native  # noqa: E402


class _Runs:
    """Knows the current run, so that a late interruption does not end the next one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0

    def begin(self, number: int) -> None:
        """Notes that a run begins. No earlier interruption reaches it."""
        while signal.SIGUSR1 in signal.sigpending():
            signal.sigwait([signal.SIGUSR1])
        with self._lock:
            self._number = number

    def end(self) -> None:
        """Notes that it has ended."""
        with self._lock:
            self._number = 0

    def heed(self, control: Any) -> None:
        """Ends the run that is named, or any if the process that gives the commands has gone."""
        try:
            while True:
                number = control.recv()
                with self._lock:
                    if number == self._number:
                        os.kill(os.getpid(), signal.SIGUSR1)
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGUSR1)


def _answer(call: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps((True, call()))
    except BaseException as error:
        if hasattr(error, "add_note"):
            error.add_note("in a process of the mesh:\n" + "".join(traceback.format_tb(error.__traceback__)))
        try:
            packed: bytes = cloudpickle.dumps((False, error))
            pickle.loads(packed)  # not every exception can be made anew
            return packed
        except Exception:
            return pickle.dumps((False, ToolError(f"{type(error).__name__}: {error}")))


def _serve(commands: Any, runs: _Runs) -> None:
    """Does what comes until the end."""
    engine: Any = None

    def make(path: list[str], graph: Any, threads: int, name: str) -> None:
        nonlocal engine
        sys.path.extend(folder for folder in path if folder not in sys.path)
        engine = local_mesh.Here(graph, threads, name)

    while True:
        try:
            packed = commands.recv_bytes()
        except (EOFError, OSError):
            break
        try:
            number, method, arguments = pickle.loads(packed)
        except Exception as error:  # something that the command needs is not here
            commands.send_bytes(pickle.dumps((False, ToolError(f"{type(error).__name__}: {error}"))))
            continue
        if method == "end":
            break
        if method == "run":
            runs.begin(number)
        call = make if method == "make" else getattr(engine, method)
        answer = _answer(lambda: call(*arguments))
        runs.end()
        try:
            commands.send_bytes(answer)
        except OSError:
            break
    if engine is not None:
        engine.close()


def main() -> int:
    """Connects, and serves."""
    key = bytes.fromhex(os.environ.pop(job.KEY))
    address = sys.argv[1]
    connections = []
    try:
        rank = int(native.load().rank())
        for kind in ("command", "control"):
            connections.append(multiprocessing.connection.Client(address, authkey=key))
            connections[-1].send((kind, rank))
    except (OSError, EOFError):
        return 0  # the other process has gone meanwhile
    runs = _Runs()
    threading.Thread(target=runs.heed, args=(connections[1],), daemon=True).start()
    try:
        _serve(connections[0], runs)
    finally:  # the parent cannot remove this folder if it was killed
        shutil.rmtree(pathlib.Path(address).parent, ignore_errors=True)
    return 0
