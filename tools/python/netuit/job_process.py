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
from typing import Any

# Before any library starts threads: only a run takes this signal, with which netuit.job ends it.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

from netuit import ToolError, job, mesh, native  # noqa: E402


def _heed(control: Any) -> None:
    """Ends the run when told to, and the process when the one that gives the commands has gone."""
    try:
        while True:
            control.recv()
            os.kill(os.getpid(), signal.SIGUSR1)
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGUSR1)


def _answer(run: Any) -> bytes:
    try:
        return pickle.dumps((True, run()))
    except Exception as error:
        if hasattr(error, "add_note"):
            error.add_note("in a process of the mesh:\n" + "".join(traceback.format_tb(error.__traceback__)))
        try:
            return pickle.dumps((False, error))
        except Exception:
            return pickle.dumps((False, ToolError(f"{type(error).__name__}: {error}")))


def _serve(commands: Any) -> None:
    """Does what comes until the end."""
    engine: Any = None
    while True:
        try:
            method, arguments = pickle.loads(commands.recv_bytes())
        except (EOFError, OSError):
            break
        except Exception as error:  # something that the command needs is not here
            commands.send_bytes(pickle.dumps((False, ToolError(f"{type(error).__name__}: {error}"))))
            continue
        if method == "end":
            break
        if method == "make":
            made: list[Any] = []
            commands.send_bytes(_answer(lambda: made.append(mesh.Here(*arguments))))
            engine = made[0] if made else None
        else:
            commands.send_bytes(_answer(lambda: getattr(engine, method)(*arguments)))
    if engine is not None:
        engine.close()


def main() -> int:
    """Connects, and serves."""
    key = bytes.fromhex(os.environ.pop(job.KEY))
    rank = int(native.load().rank())
    connections = []
    for kind in ("command", "control"):
        connections.append(multiprocessing.connection.Client(sys.argv[1], authkey=key))
        connections[-1].send((kind, rank))
    threading.Thread(target=_heed, args=(connections[1],), daemon=True).start()
    try:
        _serve(connections[0])
    finally:  # what the other process cannot do if it was killed
        shutil.rmtree(pathlib.Path(sys.argv[1]).parent, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
