"""The progress that netuit demo and netuit run show while programs run."""

from __future__ import annotations

import re
import shutil
from typing import TextIO

_PROGRESS = re.compile(r"progress: (mode \d \w+), run \d+ of \d+, (.*)")
_FINISHED = re.compile(r"(mode \d \w+), run (\d+) of (\d+): (.*)")


class Status:
    """Shows the progress of all runs: one live line on a terminal, plain lines elsewhere."""

    def __init__(self, stream: TextIO, num_runs: int) -> None:
        self._stream = stream
        self._is_live = stream.isatty()
        self._num_runs = num_runs
        self._done = 0
        self._what = ""
        self._table: list[str] = []  # of workers; the program prints it four times a second
        self._height = 0  # lines of the last table on the screen

    @property
    def has_begun(self) -> bool:
        """Whether begin has been called."""
        return bool(self._what)

    def begin(self, what: str) -> None:
        self._what = what
        self._draw("starting")

    def progress(self, text: str) -> None:
        self._draw(text)

    def take(self, line: str, is_counted: bool) -> bool:
        """Shows a line of a program that was started with --progress, if it reports progress. Returns whether it did.

        is_counted: whether the last replicate of a mode is one of the runs that are done.
        """
        if match := _PROGRESS.fullmatch(line):
            self.progress(f"{match[1]}: {match[2]}")
        elif match := _FINISHED.fullmatch(line):
            show = self.finish if is_counted and match[2] == match[3] else self.progress
            show(f"{match[1]}: {match[4]}")
        else:
            return False
        return True

    def finish(self, text: str) -> None:
        self._done += 1
        if self._is_live:
            self._draw(text)
        else:
            print(f"[{self._done:2}/{self._num_runs}] {self._what}: {text}", file=self._stream, flush=True)

    def watch(self, line: str, is_first: bool, num_workers: int) -> None:
        """Shows a line of a table of workers. On a terminal, a complete table replaces the previous one."""
        if not self._is_live:
            print(line, file=self._stream, flush=True)
            return
        self._table = [line] if is_first else [*self._table, line]
        if len(self._table) == num_workers + 2:
            width, lines = shutil.get_terminal_size()
            shown = self._table[: max(1, lines - 2)]
            up = f"\033[{self._height}A" if self._height else ""
            self._stream.write("\r" + up + "\033[J" + "".join(f"{row[: width - 1]}\n" for row in shown))
            self._height = len(shown)
            self._draw("running")

    def clear(self) -> None:
        if self._is_live:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def _draw(self, text: str) -> None:
        if not self._is_live:
            return
        line = f"[{self._done:2}/{self._num_runs}] {self._what}: {text}"
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r\033[K" + line[:width])
        self._stream.flush()
