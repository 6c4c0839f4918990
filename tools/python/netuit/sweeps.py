"""A sweep: its cases, and the launches that they take. sweep_files.py reads sweeps."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
from collections.abc import Iterator
from typing import Any

from netuit.arguments import Workers

_FILES = ("graph", "node-weights", "placement", "ancestor", "rival")  # options whose value is a file, or may be
_PLACEMENTS = ("metis", "contiguous", "round_robin", "random")


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of a sweep: layouts and modes with the same options."""

    name: str
    about: str
    launcher: str
    workers: tuple[Workers, ...]
    modes: tuple[int, ...]
    seconds: float
    replicates: int
    snapshot: float
    straggler: float
    options: dict[str, Any]
    cluster: dict[str, Any]
    shared_memory: bool = True  #: whether processes may talk through it; where time is simulated there is none


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A sweep as it is to be run."""

    name: str
    title: str
    program: str
    seed: int
    reports: tuple[str, ...]
    also: tuple[str, ...]
    cases: tuple[Case, ...]
    path: pathlib.Path

    @property
    def is_simulated(self) -> bool:
        """Whether it wants a program built with SimGrid, which no other launcher can start."""
        return any(case.launcher == "simulated" for case in self.cases)


@dataclasses.dataclass(frozen=True)
class Launch:
    """One start of the program: one layout of one case, one replicate, and as many modes as one start takes."""

    case: Case
    workers: Workers
    replicate: int
    seed: int
    modes: tuple[int, ...]

    @property
    def declared_s(self) -> float:
        """The seconds that its runs are to take."""
        return self.case.seconds * len(self.modes)

    @property
    def is_part(self) -> bool:
        """Whether other launches have the rest of the case's modes."""
        return self.modes != self.case.modes

    def __str__(self) -> str:
        mode = f", mode {self.modes[0]}" if self.is_part else ""
        return f"{self.case.name} {self.workers}{mode}, replicate {self.replicate}"

    def words(self) -> list[str]:
        """The program's command line, without outputs and what else depends on the program's age."""
        words = ["--threads", str(self.workers.threads), "--modes", ",".join(map(str, self.modes))]
        words += ["--duration", f"{self.case.seconds:.9g}", "--replicates", "1", "--seed", str(self.seed)]
        for name, value in self.case.options.items():
            if value is False:
                continue
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        return words

    def identity(self) -> dict[str, Any]:
        """All that decides the result, but for the build: files are named by what they hold."""
        options = {name: _content(name, value) for name, value in self.case.options.items()}
        return {
            "words": dataclasses.replace(self, case=dataclasses.replace(self.case, options=options)).words(),
            "processes": self.workers.processes,
            "launcher": self.case.launcher,
            "cluster": self.case.cluster,
            "snapshot": self.case.snapshot,
            "straggler": self.case.straggler,
            **({} if self.case.shared_memory else {"shared_memory": False}),
        }

    def placement(self) -> list[int] | None:
        """The worker of each node of the program's own torus, in runs of consecutive nodes, where one is a straggler."""
        if self.case.straggler == 1:
            return None
        num_workers = self.workers.count
        num_nodes = int(self.case.options.get("nodes-per-worker", 2048)) * num_workers
        share = num_nodes / (num_workers - 1 + self.case.straggler)
        return [min(int(node / share), num_workers - 1) for node in range(num_nodes)]


def launches(sweep: Sweep) -> Iterator[Launch]:
    """All launches, replicates outermost, so that a drift of the machine meets all cases alike."""
    for replicate in range(max(case.replicates for case in sweep.cases)):
        for case in sweep.cases:
            for workers in case.workers if replicate < case.replicates else ():
                for modes in _by_launch(case):
                    yield Launch(case, workers, replicate, sweep.seed + replicate, modes)


def _by_launch(case: Case) -> list[tuple[int, ...]]:
    """Modes of each launch: SimGrid gets slower with every message of a launch, so there each mode has its own."""
    return [(mode,) for mode in case.modes] if case.launcher == "simulated" else [case.modes]


def names_a_file(option: str, value: Any) -> bool:
    """Whether the value of a program's option is the name of a file."""
    return option in _FILES and not (option == "placement" and value in _PLACEMENTS)


def _content(option: str, value: Any) -> Any:
    return hashlib.sha256(pathlib.Path(value).read_bytes()).hexdigest() if names_a_file(option, value) else value
