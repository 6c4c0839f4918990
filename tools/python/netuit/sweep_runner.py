"""Runs the launches of a sweep, one after the other, into a store of results."""

from __future__ import annotations

import datetime
import pathlib
import time
from typing import TextIO

from netuit import InputError, OutputError, ToolError, builds, busy, files, launch, results, starters, store, sweeps
from netuit.program import check_exit
from netuit.progress import Estimate, Progress
from netuit.starters import CannotStart
from netuit.sweeps import Launch, Sweep

MAX_FAILURES_IN_A_ROW = 3
_GATHER_INTERVAL_S = 30


class Runner:
    """Runs the launches of a sweep that are not done."""

    def __init__(self, sweep: Sweep, build: builds.Build, results: store.Store, made: starters.Starters, err: TextIO):
        self._build, self._store, self._starters = build, results, made
        self._estimate = Estimate()
        self.left_out: dict[str, str] = {}  #: what was not run, and why
        self.failed: list[str] = []
        self.done: list[Launch] = []
        self._launches = self._possible(sweep)
        self._store.check_version(self._launches)
        self.num_launches = len(self._launches)
        self._progress = Progress(err, self.num_launches)
        self._gathered = time.monotonic()
        self._later_s = 0.0

    def _possible(self, sweep: Sweep) -> list[Launch]:
        possible = []
        for each in sweeps.launches(sweep):
            unknown = [f"--{name}" for name in each.case.options if not self._build.knows(name)]
            if unknown:
                self.left_out[f"case {each.case.name}"] = f"{self._build.program.name} does not know {', '.join(unknown)}"
                continue
            where = f"case {each.case.name}"
            try:
                starter = self._starters.get(each.case.launcher)
                where += f", {each.workers}"
                starter.command(each.workers, self._build.program, [], each.case.cluster)
                possible.append(each)
            except CannotStart as error:
                self.left_out[where] = str(error)
        return possible

    def left_s(self) -> float:
        """Seconds that the launches that are not done are likely to take."""
        return self._left([each for each in self._launches if self._store.record(each) is None])

    def run_all(self, later_s: float) -> None:
        """Runs what is not done. What fails is noted, and the next is run, unless several fail in a row. later_s: what
        others are to take after it, for the time left that is told."""
        self._later_s = later_s
        waiting = []
        for each in self._launches:
            record = self._store.record(each)
            if record is None:
                waiting.append(each)
            else:
                self.done.append(each)
                self._estimate.learn(each, record["took_s"])
        if self.done and waiting:
            self._progress.note(f"{len(self.done)} of {self.num_launches} launches were done before; continuing")
        failures_in_a_row = 0
        while waiting:
            each = waiting.pop(0)
            left = self._left([each, *waiting])
            self._progress.show(len(self.done), f"{each}: starting", left)
            try:
                self._run(each, left)
                failures_in_a_row = 0
            except (InputError, OutputError, builds.Rebuilt):
                raise
            except ToolError as error:
                failures_in_a_row += 1
                self.failed.append(f"{each}: {error}")
                self._progress.note(f"failed: {self.failed[-1]}")
                if failures_in_a_row == MAX_FAILURES_IN_A_ROW:
                    self.left_out[f"{len(waiting)} launches more"] = f"{failures_in_a_row} failed in a row"
                    break
                continue
            self._progress.tell(len(self.done), f"{each} is done", self._left(waiting))
            self._gather_now_and_then()
        self._progress.clear()

    def _left(self, waiting: list[Launch]) -> float:
        return self._later_s + sum(self._estimate.of(each) for each in waiting)

    def _gather_now_and_then(self) -> None:
        began = time.monotonic()
        if began - self._gathered > _GATHER_INTERVAL_S:
            self.gather()
            self._gathered = time.monotonic() + 10 * (time.monotonic() - began)  # at most a tenth of the time

    def gather(self) -> int:
        """Writes the results of the finished launches in the sweep's order. Gives the number of rows."""
        done = set(map(self._store.key, self.done))
        return self._store.gather([each for each in self._launches if self._store.key(each) in done])

    def _run(self, each: Launch, left_s: float) -> None:
        starter = self._starters.get(each.case.launcher)
        draft = self._store.begin(each)
        self._build.check_unchanged()
        words = [*each.words(), *_placement_words(each, draft), *self._outputs(each, draft)]
        command = starter.command(each.workers, self._build.program, words, each.case.cluster)
        lines: list[str] = []
        began = time.monotonic()
        started = now()

        def on_line(line: str) -> None:
            if not line.startswith("progress: "):
                lines.append(line)
            what = _after(line, "progress: ")
            self._progress.show(len(self.done), f"{each}: {what}", max(0.0, left_s - (time.monotonic() - began)))

        time_limit = 120 + 2 * each.workers.count + 5 * each.declared_s
        if each.case.launcher == "simulated":
            time_limit = 86400  # seconds are simulated ones
        before = busy.now()
        code = launch.run(command, starter.environment(each.case.cluster, each.case.shared_memory), on_line, time_limit)
        check_exit(code, lines, self._build.program.name)
        others = busy.others_cpus(before, busy.now()) if starter.runs_here else None
        took = time.monotonic() - began
        oversubscribed = self._check(each, draft)
        files.write_text(draft / "log.txt", "".join(f"{line}\n" for line in lines))
        self._store.finish(
            each,
            draft,
            {
                "command": command,
                "started": started,
                "took_s": round(took, 3),
                "cpus": starter.num_cpus(each.workers),
                "others_cpus": others,
                "oversubscribed": oversubscribed,
                "sha256": self._build.sha256,
                **self._build.facts,
                **starter.facts(each.workers, words, each.case.cluster),
            },
        )
        self.done.append(each)
        self._estimate.learn(each, took)

    def _outputs(self, each: Launch, draft: pathlib.Path) -> list[str]:
        words = ["--output", str(draft / store.ROWS), "--progress"]
        if each.case.snapshot > 0 and self._build.knows("quality"):
            snapshot = f"{each.case.snapshot:.9g}"
            words += ["--quality", str(draft / store.QUALITY)]
            words += ["--snapshot-interval", snapshot, "--snapshot-length", snapshot]
        return words

    def _check(self, each: Launch, draft: pathlib.Path) -> bool:
        """Whether the rows are whole, of this layout, and account for all messages. Gives whether it was
        oversubscribed. Raises ToolError."""
        try:
            rows = results.read_rows(draft / store.ROWS)
        except InputError as error:
            raise ToolError(str(error)) from None
        if {(row["processes"], row["threads"]) for row in rows} != {(each.workers.processes, each.workers.threads)}:
            raise ToolError(f"rows are not of {each.workers}: the launcher is of another MPI than the program")
        if len(rows) != each.workers.count * len(each.modes):
            raise ToolError(f"{len(rows)} rows, expected one for each of {len(each.modes)} modes and {each.workers.count} workers")
        for mode in each.modes:
            of_mode = [row for row in rows if row["mode"] == mode]
            if any(row["stopped_by"] not in ("clock", "count") for row in of_mode):
                raise ToolError(f"mode {mode} was cut short by {of_mode[0]['stopped_by']}")
            if not results.is_accounted(of_mode):
                raise ToolError(f"mode {mode}: messages are not accounted for")
        return any(row["oversubscribed"] for row in rows)


def _placement_words(each: Launch, draft: pathlib.Path) -> list[str]:
    placement = each.placement()
    if placement is None:
        return []
    path = draft / "straggler.part"
    files.write_text(path, "".join(f"{worker}\n" for worker in placement))
    return ["--placement", str(path)]


def _after(line: str, mark: str) -> str:
    return line[len(mark) :] if line.startswith(mark) else line


def now() -> str:
    """The time, UTC, ISO 8601, to a second."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
