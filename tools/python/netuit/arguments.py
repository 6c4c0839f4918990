"""The options of tools/demo. Standard library only: `python3 -m netuit.arguments` checks before set-up."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import sys
import tempfile

from netuit import InputError, OutputError, ToolError, graph_format
from netuit.command import Parser

MODE_NAMES = ("every_update", "rolling", "fixed", "no_barrier", "no_communication", "dataflow")


@dataclasses.dataclass(frozen=True)
class Workers:
    """A layout: processes, and threads in each."""

    processes: int
    threads: int

    def __str__(self) -> str:
        return f"{self.processes}x{self.threads}"

    @property
    def count(self) -> int:
        return self.processes * self.threads


@dataclasses.dataclass
class DemoOptions:
    graphs: list[pathlib.Path]
    directed: bool
    workers: list[Workers]
    modes: list[int]
    seconds: float
    replicates: int
    output: pathlib.Path
    seed: int
    mpi: str
    build: pathlib.Path | None  #: none: the one that netuit.program.find_build finds
    watch: bool = False
    words: list[str] = dataclasses.field(default_factory=list)  #: the command line


def read_help() -> str:
    return (pathlib.Path(__file__).parent / "demo_help.txt").read_text(encoding="utf-8")


def parse_workers(text: str) -> list[Workers]:
    """`1x1,2x2` as a list of Workers."""
    layouts: list[Workers] = []
    for word in text.split(","):
        parts = word.strip().lower().split("x")
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
            raise InputError(f"--workers {text}: expected PROCESSESxTHREADS, as in 1x1,2x2")
        layout = Workers(*(int(part) for part in parts))
        if layout.count == 0:
            raise InputError(f"--workers {text}: {word.strip()} has no worker")
        if layout.count > 1024:
            raise InputError(f"--workers {text}: {word.strip()} has more than 1024 workers")
        if layout not in layouts:
            layouts.append(layout)
    return layouts


def parse_modes(text: str, option: str = "--modes") -> list[int]:
    """`0,rolling` as a sorted list of mode numbers. An InputError names the option that the text comes from."""
    modes = set()
    for word in text.split(","):
        word = word.strip()
        if word in MODE_NAMES:
            modes.add(MODE_NAMES.index(word))
        elif word in map(str, range(len(MODE_NAMES))):
            modes.add(int(word))
        else:
            known = ", ".join(f"{mode} {name}" for mode, name in enumerate(MODE_NAMES))
            raise InputError(f"{option} {text}: unknown mode {word!r} ({known})")
    return sorted(modes)


def parse_whole(option: str, text: str, least: int, most: int) -> int:
    """The whole number that an option of a command line has. Raises InputError."""
    if not (text.isascii() and text.isdigit()) or not least <= int(text) <= most:
        raise InputError(f"{option} {text}: expected a whole number from {least} to {most}")
    return int(text)


def parse_seconds(text: str, days: int) -> float:
    """The length of a run, from --seconds. Raises InputError if it is longer than so many days: 1 or 7."""
    try:
        seconds = float(text)
    except ValueError:
        raise InputError(f"--seconds {text}: not a number") from None
    if not math.isfinite(seconds) or not 0 < seconds <= days * 86400:
        raise InputError(f"--seconds {text}: expected more than 0, and at most a {'day' if days == 1 else 'week'}")
    return seconds


def parse_demo(arguments: list[str]) -> DemoOptions | None:
    """DemoOptions from a command line; None if it asks for help. Raises InputError or OutputError."""
    parser = Parser(prog="tools/demo", add_help=False, allow_abbrev=False)
    parser.add_argument("--graph", action="append", default=[])
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--workers", default="1x1,1x2,2x1,2x2")
    parser.add_argument("--modes", default="0,1,2,3,4,5")
    parser.add_argument("--seconds", default="0.2")
    parser.add_argument("--replicates", default="5")
    parser.add_argument("--output", default="demo-results")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--mpi", default="default")
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--build")  # set by tools/demo
    parser.add_argument("-h", "--help", action="store_true")
    given = parser.parse_args(arguments)
    if given.help:
        return None

    graphs = [pathlib.Path(name) for name in given.graph]
    for graph in graphs:
        check_readable(graph)
        if graph.is_file():
            graph_format.recognise(graph)
    if given.directed and not graphs:
        raise InputError("--directed: requires a --graph")
    seconds = parse_seconds(given.seconds, days=1)
    replicates = parse_whole("--replicates", given.replicates, 1, 1000)
    if not (given.seed.isascii() and given.seed.isdigit()) or int(given.seed) >= 2**63:
        raise InputError(f"--seed {given.seed}: expected a whole number from 0 to 2^63 - 1")
    if given.mpi not in ("default", "mpich"):
        raise InputError(f"--mpi {given.mpi}: expected default or mpich")
    output = pathlib.Path(given.output)
    check_folder(output)
    return DemoOptions(
        graphs=graphs,
        directed=given.directed,
        workers=parse_workers(given.workers),
        modes=parse_modes(given.modes),
        seconds=seconds,
        replicates=replicates,
        output=output,
        seed=int(given.seed),
        mpi=given.mpi,
        build=pathlib.Path(given.build) if given.build else None,
        watch=given.watch,
        words=list(arguments),
    )


def check_readable(path: pathlib.Path) -> None:
    """Raises InputError unless `path` is a file that can be read."""
    try:
        with open(path, "rb") as file:
            if not file.read(1):
                raise InputError(f"{path}: empty file")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def check_folder(path: pathlib.Path) -> None:
    """Raises OutputError unless `path` is a folder that can be written to, or could be made. Makes nothing."""
    present = path
    try:
        while not present.exists() and present != present.parent:
            present = present.parent
    except OSError as error:  # a name that is too long, or a folder that nobody may look into
        raise OutputError(f"{path}: {error.strerror}") from None
    if not present.is_dir():
        raise OutputError(f"{path}: {present} is not a folder")
    try:
        tempfile.TemporaryFile(dir=present).close()
    except OSError as error:
        raise OutputError(f"{path}: {present} cannot be written to: {error.strerror}") from None


def main() -> int:
    try:
        if parse_demo(sys.argv[1:]) is None:
            sys.stdout.write(read_help())
    except ToolError as error:
        print(f"conduit: error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
