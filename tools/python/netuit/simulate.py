"""tools/simulate: runs a program on a simulated cluster, and keeps the results of whole runs.

`--check` checks the command line alone, and wants nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import pathlib
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from netuit import InputError, OutputError, ToolError, arguments, files, launch
from netuit.arguments import parse_whole
from netuit.command import Parser, exit_code_of
from netuit.program import find_checkout
from netuit.simulated_clusters import MAX_HOSTS, NETWORKS, NOISES, Cluster, Cost, Simulator, find_simulator


def run(
    simulator: Simulator,
    cluster: Cluster,
    cost: Cost,
    program: pathlib.Path,
    words: Sequence[str],
    on_line: Callable[[str], None],
    time_limit: float = 86400,
) -> None:
    """Runs `program` on the cluster; each line of its stderr goes to `on_line`. Raises ToolError if it fails."""
    errors: list[str] = []
    others: list[str] = []

    def sort(line: str) -> None:
        if line.startswith("conduit: error: "):
            errors.append(line.removeprefix("conduit: error: "))
        elif line.startswith("mode "):
            on_line(line)
        elif line.strip():
            others.append(line)

    with tempfile.TemporaryDirectory(prefix="conduit-simulate-") as folder:
        command = simulator.command(cluster, pathlib.Path(folder), program, words)
        code = launch.run(command, simulator.environment(cluster, cost), sort, time_limit)
    if errors:
        raise (InputError if code == 2 else OutputError if code == 5 else ToolError)(errors[0])
    if code != 0:
        raise ToolError(f"{program.name} ended with code {code}: {others[-1] if others else 'no word'}")


PROGRAMS = ("channel_selection", "digital_evolution")


@dataclasses.dataclass(frozen=True)
class Options:
    """What tools/simulate is asked for."""

    cluster: Cluster
    cost: Cost
    output: pathlib.Path
    quality: bool
    build: pathlib.Path | None  #: none: build/simgrid in the current folder or in the checkout
    program: str  #: of demos/
    words: list[str]  #: for the program
    is_check: bool = False  #: nothing is to be run


def read_help() -> str:
    return (pathlib.Path(__file__).parent / "simulate_help.txt").read_text(encoding="utf-8")


def _seconds(option: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < 1:
        raise InputError(f"{option} {text}: expected a number of seconds from 0 to 1")
    return seconds


def parse(words: Sequence[str]) -> Options | None:
    """Options from a command line; None if it asks for help. Raises InputError or OutputError."""
    words = list(words)
    cut = words.index("--") if "--" in words else len(words)
    parser = Parser(prog="tools/simulate", add_help=False, allow_abbrev=False)
    parser.add_argument("--hosts", default="4")
    parser.add_argument("--network", default=Cluster.network.name)
    parser.add_argument("--latency")
    parser.add_argument("--noise", default=Cluster.noise.name)
    parser.add_argument("--faulty-host")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--node-seconds", default=repr(Cost.node))
    parser.add_argument("--update-seconds", default=repr(Cost.update))
    parser.add_argument("--cell-seconds", default=repr(Cost.cell))
    parser.add_argument("--output", default="simulate-results")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--program", default=PROGRAMS[0])
    parser.add_argument("--build")  # set by tools/simulate
    parser.add_argument("--check", action="store_true")  # likewise
    parser.add_argument("-h", "--help", action="store_true")
    given = parser.parse_args(words[:cut])
    if given.help:
        return None
    if given.program not in PROGRAMS:
        raise InputError(f"--program {given.program}: expected one of {', '.join(PROGRAMS)}")
    if given.network not in NETWORKS:
        raise InputError(f"--network {given.network}: expected one of {', '.join(NETWORKS)}")
    if given.noise not in NOISES:
        raise InputError(f"--noise {given.noise}: expected one of {', '.join(NOISES)}")
    network = NETWORKS[given.network]
    if given.latency is not None:
        network = dataclasses.replace(network, latency=_seconds("--latency", given.latency))
    hosts = parse_whole("--hosts", given.hosts, 1, MAX_HOSTS)
    faulty = None if given.faulty_host is None else parse_whole("--faulty-host", given.faulty_host, 0, hosts - 1)
    cluster = Cluster(
        hosts=hosts,
        network=network,
        noise=NOISES[given.noise],
        faulty_host=faulty,
        seed=parse_whole("--seed", given.seed, 0, 2**63 - 1),
    )
    cost = Cost(
        node=_seconds("--node-seconds", given.node_seconds),
        update=_seconds("--update-seconds", given.update_seconds),
        cell=_seconds("--cell-seconds", given.cell_seconds),
    )
    if cost.node == 0 and cost.update == 0:
        raise InputError("--node-seconds 0 --update-seconds 0: updates that take no time never end")
    rest = words[cut + 1 :]
    for word in rest:
        if word.split("=")[0] in ("--output", "--seed", "--quality", "--threads"):
            raise InputError(f"{word}: tools/simulate sets it, or gives a process one thread")
    output = pathlib.Path(given.output)
    arguments.check_folder(output)
    return Options(cluster, cost, output, given.quality, pathlib.Path(given.build) if given.build else None, given.program, rest, given.check)


def describe(options: Options) -> str:
    """The cluster and the costs, as JSON."""
    return json.dumps(
        {"cluster": dataclasses.asdict(options.cluster), "cost": dataclasses.asdict(options.cost), "program": [options.program, *options.words]},
        indent=2,
    )


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: What a run leaves in its folder.
FILES = ("rows.csv", "rows.json", "rows.hosts.csv", "quality.csv", "cluster.json")


def find_program(build: pathlib.Path | None, name: str) -> pathlib.Path:
    """The program as built with SimGrid's MPI, in this build folder or where tools/simulate builds it. Raises ToolError."""
    checkout = find_checkout()
    roots = (pathlib.Path.cwd(), *([checkout] if checkout else []))
    folders = [build] if build is not None else [root / "build" / "simgrid" for root in roots]
    for folder in folders:
        if (folder / "demos" / name).exists():
            return folder / "demos" / name
    raise ToolError(f"{folders[0] / 'demos' / name}: not built; tools/simulate in Conduit's checkout builds it")


def simulate(options: Options, err: Callable[[str], None]) -> list[pathlib.Path]:
    """Runs it; gives the files that are there now. Unless the run is whole, the folder is left as it was."""
    program = find_program(options.build, options.program)
    simulator = find_simulator()
    with _draft(options.output) as draft:
        words = ["--output", str(draft / "rows.csv"), "--seed", str(options.cluster.seed)]
        if options.quality:
            words += ["--quality", str(draft / "quality.csv")]
        run(simulator, options.cluster, options.cost, program, [*words, *options.words], err)
        if not (draft / "rows.csv").exists():
            raise ToolError(f"{program.name} left no rows")
        files.write_text(draft / "cluster.json", describe(options) + "\n")
        return _put_in_place(draft, options.output)


@contextlib.contextmanager
def _draft(output: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder in `output` to make a run in; it is gone at the end, and so are folders made for it that are empty then."""
    made = list(itertools.takewhile(lambda folder: not folder.exists(), [output, *output.parents]))
    files.make_folder(output)
    try:
        try:
            held = tempfile.TemporaryDirectory(prefix=".unfinished-", dir=output)
        except OSError as error:
            raise OutputError(f"{output}: {error.strerror}") from None
        with held as draft:
            yield pathlib.Path(draft)
    finally:
        with contextlib.suppress(OSError):  # not empty
            for folder in made:
                folder.rmdir()


def _put_in_place(draft: pathlib.Path, output: pathlib.Path) -> list[pathlib.Path]:
    """Replaces an earlier run's files by the draft's, and removes those that this run has none of. No signal comes between."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        for name in FILES:
            if (draft / name).exists():
                (draft / name).replace(output / name)
            else:
                (output / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{output / name}: {error.strerror}") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return [output / name for name in FILES if (output / name).exists()]


def take_up_signals() -> None:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt; tools/simulate starts Python with Ctrl-C ignored."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in _SIGNALS:
        signal.signal(number, interrupt)


def main(words: Sequence[str] | None = None) -> int:
    take_up_signals()

    def body() -> int:
        options = parse(sys.argv[1:] if words is None else words)
        if options is None:
            sys.stdout.write(read_help())
            return 0
        if options.is_check:
            return 0
        for file in simulate(options, lambda line: print(line, file=sys.stderr, flush=True)):
            print(file)
        return 0

    return exit_code_of(body)


if __name__ == "__main__":
    sys.exit(main())
