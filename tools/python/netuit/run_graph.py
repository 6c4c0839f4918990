"""Runs a program on a graph of the caller's, from Python."""

from __future__ import annotations

import numbers
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import networkx
import pandas

from netuit import InputError, ToolError, launch, matrix_file
from netuit.arguments import Workers, parse_modes
from netuit.graph_files import weights_path, write_graph, write_placement
from netuit.loading import load
from netuit.partitioning import as_workers
from netuit.program import PROGRAM, SIZE_OPTIONS, check_exit, find_or_build


def run(
    graph: networkx.Graph | str | os.PathLike[str] | None = None,
    workers: str | int | Workers = "2x1",
    modes: Iterable[int | str] = (0, 1, 2, 3, 4),
    seconds: float = 1,
    *,
    replicates: int = 1,
    seed: int = 1,
    placement: Mapping[Any, int] | str | None = None,
    options: Mapping[str, Any] | None = None,
    build: str | os.PathLike[str] | None = None,
    program: str | os.PathLike[str] = PROGRAM,
) -> pandas.DataFrame:
    """Colours a graph over processes x threads, and gives a row for each mode, replicate and worker as load() does.

    graph: a NetworkX graph, which takes its weights along, the name of a graph file, or nothing for a torus.
    workers: processes x threads as in "2x4"; or a number of processes. seconds: length of each run.
    modes: numbers or names, as in [0, "no_barrier"], or text as in "0,no_barrier".
    placement: what partition() gives, or a word or file of the program's --placement; METIS by default.
    options: more options of the program, as in {"work": 100, "colors": 4, "directed": True}.
    build: a CMake build folder, if not the one that find_build finds. If there is none, the program is built, once.
    program: "digital_evolution" to run that instead; or the path of a program of your own. It must understand the options
    --threads, --modes, --duration, --replicates, --seed and --output, and --graph and --placement if you give them, as ours do,
    and write a CSV file of rows with at least the columns processes and threads. More than one process of it are started by the
    launcher of the build folder that it is in, or by the mpirun in PATH.

    Raises InputError for what makes no sense, ToolError if the program is not there or fails. Nothing is left running.
    """
    with tempfile.TemporaryDirectory(prefix="conduit-run-") as folder:
        output = pathlib.Path(folder) / "rows.csv"
        command = color(
            graph, as_workers(workers), modes, seconds, output, replicates=replicates, seed=seed, placement=placement,
            options=options, build=build, program=program,
        )  # fmt: skip
        rows = _rows(program, output)
    if (name := name_of(graph)) is not None:
        rows["graph"] = name
    rows.attrs["command_line"] = command
    return rows


def color(
    graph: networkx.Graph | str | os.PathLike[str] | None,
    layout: Workers,
    modes: Iterable[int | str],
    seconds: float,
    output: pathlib.Path,
    *,
    replicates: int,
    seed: int,
    placement: Mapping[Any, int] | str | None,
    options: Mapping[str, Any] | None,
    build: str | os.PathLike[str] | None,
    program: str | os.PathLike[str] = PROGRAM,
    on_progress: Callable[[str], object] | None = None,
) -> list[str]:
    """What run does, but leaves the rows in the file `output`, and returns the command line.

    on_progress: called with each line that the program prints, which then also reports its progress.
    """
    with tempfile.TemporaryDirectory(prefix="conduit-run-") as name:
        scratch = pathlib.Path(name)
        words = [
            *_graph_words(graph, scratch),
            *_placement_words(placement, scratch),
            *("--threads", str(layout.threads), "--modes", ",".join(map(str, _modes(modes)))),
            *("--duration", f"{_seconds(seconds):.9f}", "--replicates", str(replicates), "--seed", str(seed)),
            *_option_words(options or {}),
            *("--output", str(output)),
            *(["--progress"] if on_progress else []),
        ]
        path, launcher = _find(program, build, layout.processes)  # after the words, because it may have to build the program
        command = launcher.command(layout.processes, path, words)
        lines: list[str] = []

        def on_line(line: str) -> None:
            if on_progress:
                on_progress(line)
            if not line.startswith("progress: "):
                lines.append(line)

        time_limit = 60 + layout.count + 3 * seconds * 5 * replicates
        code = launch.run(command, launcher.environment(), on_line, time_limit)
        check_exit(code, lines, path.name)
    rows = _rows(program, output)
    if missing := {"processes", "threads"} - set(rows):
        raise ToolError(f"{path}: its rows have no column {min(missing)}")
    seen = set(zip(rows["processes"], rows["threads"]))
    if seen != {(layout.processes, layout.threads)}:
        if not launcher.path:
            raise ToolError(f"{path}: its rows are of {sorted(seen)}, not of {layout} workers")
        raise ToolError(f"{launcher.path} did not start {layout.processes} processes: it is of another MPI than the program")
    return command


def name_of(graph: Any) -> str | None:
    """What the rows call a graph that the program gets under the name of a temporary file; None if it is not such a graph."""
    if isinstance(graph, networkx.Graph):
        return str(graph.name or "graph")
    return str(graph) if graph is not None and matrix_file.is_matrix(pathlib.Path(graph)) else None


def _rows(program: str | os.PathLike[str], output: pathlib.Path) -> pandas.DataFrame:
    """What a program has written: of ours as load() gives it, of the caller's as pandas reads it."""
    if os.fspath(program) in SIZE_OPTIONS:
        return load(output)
    try:
        return pandas.read_csv(output)
    except (OSError, ValueError) as error:
        raise ToolError(f"{os.fspath(program)}: cannot read its rows: {str(error).splitlines()[0]}") from None


def _find(program: str | os.PathLike[str], build: str | os.PathLike[str] | None, processes: int) -> tuple[pathlib.Path, launch.Launcher]:
    """A program of ours, by its name, or of the caller's, by its path, and what starts it."""
    name = os.fspath(program)
    if name in SIZE_OPTIONS:
        folder = find_or_build(build, name)
        return folder / "demos" / name, launch.find_launcher(folder)
    path = pathlib.Path(name).absolute()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise InputError(f"{name}: expected {' or '.join(SIZE_OPTIONS)}, or the path of a program that can be run")
    if processes == 1:
        return path, launch.Launcher("", "none", 0)
    builds = [pathlib.Path(build)] if build is not None else [folder for folder in path.parents if (folder / "CMakeCache.txt").is_file()]
    return path, launch.find_launcher(builds[0] if builds else path.parent)


def _option_words(options: Mapping[str, Any]) -> list[str]:
    """Options as words of a command line: True is a flag, False and None leave it out."""
    if not isinstance(options, Mapping):
        raise InputError(f'options: expected names and values, as in {{"work": 100}}, not {type(options).__name__}')
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


def _graph_words(graph: Any, scratch: pathlib.Path) -> list[str]:
    if graph is None:
        return []
    if not isinstance(graph, (networkx.Graph, str, os.PathLike)):
        raise InputError(
            f"graph: expected a NetworkX graph, the name of a graph file, or None for a torus, not {type(graph).__name__}; "
            "networkx.Graph(edges) makes a graph of a list of edges"
        )
    if not isinstance(graph, networkx.Graph):
        return ["--graph", str(matrix_file.for_programs(pathlib.Path(graph), scratch / "graph.csr"))]
    path = scratch / "graph.multiline_adjlist"
    write_graph(graph, path)
    words = ["--graph", str(path)] + (["--directed"] if graph.is_directed() else [])
    return words + (["--node-weights", str(weights_path(path))] if weights_path(path).exists() else [])


def _placement_words(placement: Any, scratch: pathlib.Path) -> list[str]:
    if placement is None:
        return []
    if isinstance(placement, Mapping):
        write_placement(placement, scratch / "graph.part")
        placement = scratch / "graph.part"
    if not isinstance(placement, (str, os.PathLike)):
        raise InputError(
            f"placement: expected what netuit.partition gives, or a word or file of --placement, not {type(placement).__name__}"
        )
    return ["--placement", str(placement)]


def _modes(modes: Iterable[int | str]) -> list[int]:
    if not isinstance(modes, Iterable):
        raise InputError(f'modes {modes!r}: expected a list of numbers or names, as in [0, 3] or ["no_barrier"]')
    words = [modes] if isinstance(modes, str) else list(map(str, modes))
    found = parse_modes(",".join(words), "modes") if words else []
    if not found:
        raise InputError("modes: expected one or more")
    return found


def _seconds(seconds: float) -> float:
    if not isinstance(seconds, numbers.Real) or not 0 < seconds <= 86400:
        raise InputError(f"seconds {seconds!r}: expected more than 0, and at most a day")
    return float(seconds)
