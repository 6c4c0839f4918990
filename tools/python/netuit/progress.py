"""What tools/experiment tells while it runs: launches done, what runs, and the time left."""

from __future__ import annotations

import math
import shutil
from typing import Any, TextIO

from netuit.sweeps import Launch


def span(seconds: float) -> str:
    """A span of time to read: 45 s, 6:05 min, 2:10 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


_SIMULATED_PACE = 2  #: seconds that simulating a second of one process takes, of that order; more processes slow each


class Estimate:
    """How long launches take: what they declare, and what starting and ending took others of the layout."""

    def __init__(self) -> None:
        self._extra: dict[Any, list[float]] = {}

    def learn(self, launch: Launch, took_s: float) -> None:
        """Takes note of a launch that is done."""
        self._extra.setdefault(self._kind(launch), []).append(took_s - launch.declared_s)

    def of(self, launch: Launch) -> float:
        """Seconds that a launch is likely to take."""
        known = self._extra.get(self._kind(launch))
        if not known and launch.case.launcher == "simulated":
            return 0.1 + _SIMULATED_PACE * launch.declared_s * math.pow(launch.workers.processes, 1.5)
        guess = 0.7 + 0.06 * launch.workers.processes + 0.02 * launch.workers.count * len(launch.modes)
        return launch.declared_s + (sum(known) / len(known) if known else guess)

    @staticmethod
    def _kind(launch: Launch) -> Any:
        if launch.case.launcher == "simulated":
            return launch.case.name, launch.workers, launch.modes
        return launch.case.launcher, launch.workers, len(launch.modes)


class Progress:
    """Launches done, what runs, and the time left: one live line on a terminal, a plain line a launch elsewhere."""

    def __init__(self, stream: TextIO, num_launches: int) -> None:
        self._stream, self._num_launches = stream, num_launches
        self._is_live = stream.isatty()

    def show(self, num_done: int, what: str, left_s: float) -> None:
        """Redraws the live line."""
        if self._is_live:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\033[K" + self._line(num_done, what, left_s)[:width])
            self._stream.flush()

    def tell(self, num_done: int, what: str, left_s: float) -> None:
        """A plain line, where there is not a terminal."""
        if not self._is_live:
            print(self._line(num_done, what, left_s), file=self._stream, flush=True)

    def clear(self) -> None:
        """Ends the live line."""
        if self._is_live:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def note(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        print(text, file=self._stream, flush=True)

    def _line(self, num_done: int, what: str, left_s: float) -> str:
        size = len(str(self._num_launches))
        return f"[{num_done:{size}}/{self._num_launches}] {span(left_s)} left: {what}"
