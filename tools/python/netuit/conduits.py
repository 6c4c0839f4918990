"""Messages between the processes of a job, which mpirun has started: arrays, without anybody waiting.

    # mpirun -n 2 python3 program.py
    import numpy, netuit
    conduits = netuit.Conduits()
    inlet = conduits.inlet("state", to=1 - conduits.rank)
    outlet = conduits.outlet("state", source=1 - conduits.rank)
    conduits.connect()
    for step in range(100):
        inlet.try_put(numpy.full(10, step))
        if outlet.jump():
            print(outlet.get()[0])
    conduits.close()
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy

from netuit import InputError, native
from netuit.local_mesh import end_at_exit

_HEAD = struct.Struct("<B8s")  # number of dimensions, type; then 8 bytes for each dimension


class Inlet:
    """The sending end of a conduit."""

    def __init__(self, end: Any, most_bytes: int) -> None:
        self._end = end
        self._most_bytes = most_bytes

    def try_put(self, array: Any) -> bool:
        """Sends a copy of an array, or of what NumPy makes an array of. Never waits. Gives False if there is no room for it.

        Raises InputError if it is larger than the conduit's `most_bytes`, or has no type of fixed size.
        """
        values = numpy.asarray(array, order="C")
        kind = values.dtype.str.encode()
        if values.dtype.hasobject or values.dtype.names is not None or len(kind) > 8:
            raise InputError(f"an array of type {values.dtype} cannot be sent: expected numbers, truth values or short texts")
        if values.nbytes > self._most_bytes:
            raise InputError(f"an array of {values.nbytes} bytes does not fit a conduit of at most {self._most_bytes}; see most_bytes")
        head = _HEAD.pack(values.ndim, kind) + struct.pack(f"<{values.ndim}q", *values.shape)
        return bool(self._end.try_put(head, values.reshape(-1).view(numpy.uint8)))


class Outlet:
    """The receiving end of a conduit."""

    def __init__(self, end: Any) -> None:
        self._end = end

    def step(self) -> bool:
        """Moves to the next message, if there is one. Never waits."""
        return bool(self._end.step(False))

    def jump(self) -> bool:
        """Moves to the newest message, if there is one that is newer. Never waits."""
        return bool(self._end.step(True))

    def get(self) -> Any:
        """The array of the message last moved to, a copy; None before the first."""
        message: bytes = self._end.message()
        if not message:
            return None
        num_dimensions, kind = _HEAD.unpack_from(message)
        shape = struct.unpack_from(f"<{num_dimensions}q", message, _HEAD.size)
        values = numpy.frombuffer(message, dtype=kind.rstrip(b"\0").decode(), offset=_HEAD.size + 8 * num_dimensions)
        return values.reshape(shape).copy()


class Conduits:
    """The conduits between this process and others of its job. Every process makes one, opens its ends, and calls connect().

    Works with mpi4py, before or after it has started MPI. Raises InputError if the job has only one process.
    """

    def __init__(self) -> None:
        loaded = native.load()
        end_at_exit(loaded)
        self._native = loaded
        self.rank = int(loaded.rank())  #: number of this process
        self.size = int(loaded.size())  #: number of processes
        if self.size == 1:
            raise InputError("conduits lead to other processes: start several of the program, with mpirun -n 2 for example")
        self._conduits = loaded.Conduits()
        self._opened: set[tuple[str, str, int]] = set()

    def inlet(self, name: str, to: int, *, keep: str = "newest", depth: int = 16, most_bytes: int = 65_536) -> Inlet:
        """Opens the sending end of a conduit to another process, which opens its outlet with the same name and options.

        keep: "newest" (a newer message replaces one that was not read) or "every" (up to `depth` wait, in order).
        most_bytes: of the largest array.
        """
        options = self._options("inlet", name, to, keep, depth, most_bytes)
        return Inlet(self._native.Inlet(self._conduits, to, options), most_bytes)

    def outlet(self, name: str, source: int, *, keep: str = "newest", depth: int = 16, most_bytes: int = 65_536) -> Outlet:
        """Opens the receiving end of a conduit from another process."""
        options = self._options("outlet", name, source, keep, depth, most_bytes)
        return Outlet(self._native.Outlet(self._conduits, source, options))

    def _options(self, kind: str, name: str, peer: int, keep: str, depth: int, most_bytes: int) -> Any:
        if not 0 <= peer < self.size:
            raise InputError(f"process {peer} is not in this job of {self.size} processes")
        if keep not in ("newest", "every"):
            raise InputError(f"keep={keep!r}: expected newest or every")
        if depth < 1 or most_bytes < 0:
            raise InputError("a conduit has a depth of at least 1, and most_bytes of at least 0")
        if (kind, name, peer) in self._opened:
            raise InputError(f"{kind} {name!r} to or from process {peer} has been opened already")
        self._opened.add((kind, name, peer))
        channel = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        most = most_bytes + _HEAD.size + 8 * 64
        return self._native.ConduitOptions(channel, 0 if keep == "newest" else depth, most)

    def connect(self) -> None:
        """Connects all ends that have been opened since the last call. Every process calls it. From here on messages flow."""
        self._conduits.connect()

    def close(self) -> bool:
        """Sends what has been put, and closes all ends. Every process calls it. Gives False if one did not answer. What has arrived
        can still be read."""
        return bool(self._conduits.close())
