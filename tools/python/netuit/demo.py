"""tools/demo once everything is set up and built: runs, table, rows, chart, picture, and a page with two modes side by side."""

from __future__ import annotations

import csv
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from netuit import InputError, OutputError, ToolError, arguments, files, launch, results
from netuit.arguments import DemoOptions, Workers
from netuit.command import Interrupted, exit_code_of_command, signals_as_exceptions
from netuit.demo_status import Status
from netuit.labels import parse_cell
from netuit.launch import Launcher
from netuit.program import PROGRAM, find_build
from netuit.results import Row

if TYPE_CHECKING:
    from netuit.demo_charts import Cell, Picture
    from netuit.demo_graphs import GraphFile
    from netuit.race import Race

FIXED_PERIOD_MS = 100
STARTED_AS = "UIT_STARTED_AS"  #: environment variable: how tools/demo was called

_ERROR = re.compile(r"conduit: error: (.*)")
_TABLE = re.compile(r"(mode \d \w+, run \d+ of \d+)|worker  .*|\d+\.\d+  .*")  #: what --watch prints, from its first line on

FILM_SECONDS, FILM_FRAMES = 0.5, 100  #: of colours over time, in each of two modes
SLOW_SECONDS = 1.0  #: the same where workers are slow in turn, so that all come to a solution
SLOW_WORDS = ("--work", "200", "--slow-in-turn", "10ms", "--slowness", "3")  #: workers that are slow in turn
SLOW_NAME = "workers slow in turn"
MOST_FILMED_NODES = 100_000  #: beyond which a page has no room for colours over time


class _Unfinished(Interrupted):
    """In the middle of a launch, which has left these rows of finished runs."""

    def __init__(self, rows: list[Row]) -> None:
        super().__init__()
        self.rows = rows


def color(
    options: DemoOptions,
    graph: GraphFile,
    workers: Workers,
    launcher: Launcher,
    program: pathlib.Path,
    folder: str | pathlib.Path,
    status: Status,
) -> tuple[list[Row], pathlib.Path]:
    """Colours one graph on one layout in all modes, in one launch. Gives (rows, colours file)."""
    rows_file = pathlib.Path(folder) / "rows.csv"
    colors_file = pathlib.Path(folder) / "colors.csv"
    for old in (rows_file, colors_file):
        old.unlink(missing_ok=True)
    words = _words(options, graph, workers, options.modes, options.seconds, options.replicates)
    words += ["--output", str(rows_file), "--colors-output", str(colors_file), *(["--watch"] if options.watch else [])]
    status.begin(f"{graph.name}, {workers}")
    try:
        _launch(words, workers, launcher, program, 60 + 3 * options.seconds * len(options.modes) * options.replicates, status)
    except Interrupted:
        raise _Unfinished(_read_finished(rows_file, graph)) from None
    rows = _read_finished(rows_file, graph)
    _check_layout(rows, workers, launcher)
    return rows, colors_file


def film(
    options: DemoOptions,
    graph: GraphFile,
    workers: Workers,
    launcher: Launcher,
    program: pathlib.Path,
    folder: pathlib.Path,
    status: Status,
    is_slow: bool,
) -> None:
    """Colours a graph in two modes, and keeps colours over time and quality of service. is_slow: its workers are slow in turn, and it
    has all replicates, so that times to a solution can be compared."""
    wanted = [mode for mode in (0, 3) if mode in options.modes]
    modes = wanted if len(wanted) == 2 else options.modes[:2]
    seconds = SLOW_SECONDS if is_slow else min(options.seconds, FILM_SECONDS)
    words = _words(options, graph, workers, modes, seconds, options.replicates if is_slow else 1)
    for option, name in (("output", "rows"), ("colors-output", "colors"), ("frames", "frames"), ("quality", "quality")):
        words += [f"--{option}", str(folder / f"{name}.csv")]
    words += ["--frame-interval", f"{max(seconds / FILM_FRAMES, 1e-3):.9f}", *(SLOW_WORDS if is_slow else ())]
    snapshot = f"{max(seconds / 5, 1e-3):.9f}"
    words += ["--snapshot-interval", snapshot, "--snapshot-length", snapshot]
    status.begin(f"{graph.name}, {workers}, {SLOW_NAME if is_slow else 'colours over time'}")
    time_limit = 60 + 3 * seconds * len(modes) * options.replicates
    _launch(words, workers, launcher, program, time_limit, status, is_counted=False)


def _words(
    options: DemoOptions, graph: GraphFile, workers: Workers, modes: Sequence[int], seconds: float, replicates: int
) -> list[str]:
    words = ["--graph", str(graph.path), "--threads", str(workers.threads), "--replicates", str(replicates), "--progress"]
    words += ["--modes", ",".join(str(mode) for mode in modes), "--duration", f"{seconds:.9f}"]
    words += ["--period-fixed", f"{FIXED_PERIOD_MS}ms", "--seed", str(options.seed)]
    return words + (["--directed"] if options.directed else [])


def _launch(
    words: Sequence[str],
    workers: Workers,
    launcher: Launcher,
    program: pathlib.Path,
    time_limit: float,
    status: Status,
    is_counted: bool = True,
) -> None:
    errors: list[str] = []
    others: list[str] = []

    def on_line(line: str) -> None:
        if status.take(line, is_counted):
            return
        if match := _ERROR.fullmatch(line):
            errors.append(match[1])
        elif match := _TABLE.fullmatch(line):
            status.watch(line, match[1] is not None, workers.count)
        elif line.strip():
            others.append(line)

    code = launch.run(launcher.command(workers.processes, program, words), launcher.environment(), on_line, time_limit)
    if code != 0:
        if errors:
            raise (InputError if code == 2 else OutputError if code == 5 else ToolError)(errors[0])
        raise ToolError("\n".join([f"channel_selection on {workers} ended with code {code}", *others[-10:]]))


def _read_finished(path: pathlib.Path, graph: GraphFile) -> list[Row]:
    if not path.exists():
        return []
    rows = [row for row in results.read_rows(path) if row["stopped_by"] in ("clock", "count")]
    for row in rows:
        row["graph"] = graph.name
    return rows


def _check_layout(rows: Sequence[Row], workers: Workers, launcher: Launcher) -> None:
    seen = {(row["processes"], row["threads"]) for row in rows}
    if seen != {(workers.processes, workers.threads)}:
        raise ToolError(
            f"asked {launcher.path} for {workers.processes} processes, got rows of {seen or 'none'}: "
            "the program was built with another MPI than this launcher's"
        )


def list_graphs(options: DemoOptions) -> list[GraphFile]:
    """The graphs to colour; the demo's own, and what the program cannot read, are written into the output folder."""
    from netuit import demo_graphs, matrix_file

    if not options.graphs:
        try:
            return demo_graphs.write_demo_graphs(options.output, options.seed)
        except OSError as error:
            raise OutputError(f"{options.output}: {error.strerror}") from None
    names = [path.name for path in options.graphs]
    return [
        demo_graphs.GraphFile(
            str(path) if names.count(path.name) > 1 else path.name,
            matrix_file.for_programs(path, options.output / f"graph{number}.csr"),
        )
        for number, path in enumerate(options.graphs)
    ]


def legend(replicates: int, seconds: float) -> str:
    """What the columns of the table mean."""
    return (
        "node updates/s: updates of single nodes in a second, in millions, of all workers together\n"
        "conflicts: pairs of adjacent nodes of one colour at the end, each pair once, recounted serially\n"
        f"both are means over {replicates} run{'' if replicates == 1 else 's'} of {seconds:g} s\n"
        "refused: puts that found no room / attempted, skipped: messages overtaken by a newer one before they were read / accepted;\n"
        "both on channels between workers\n"
        "effective: updates that count whatever was late / updates of a worker; oldest: age of the oldest value that was read, in updates"
    )


def report(rows: Sequence[Row], options: DemoOptions, out: TextIO) -> bool:
    """Prints the table and what to know when reading it. Gives whether accounting was exact in every run."""
    summaries = results.summarize(rows)
    print("\n".join(results.format_table(summaries)), file=out)
    print(file=out)
    print(legend(options.replicates, options.seconds), file=out)
    if 2 in options.modes:
        print(f"mode 2: its period is shortened to {FIXED_PERIOD_MS} ms here (1 s elsewhere)", file=out)
    if any(summary.oversubscribed for summary in summaries):
        print(
            f"*: oversubscribed, more workers than the {len(os.sched_getaffinity(0))} CPUs here: "
            "workers take turns, so rates compare modes but are no measure of speed-up",
            file=out,
        )
    wrong = [summary for summary in summaries if not summary.is_accounted]
    if wrong:
        for summary in wrong:
            print(f"accounting WRONG: {summary.graph}, {summary.workers}, mode {summary.mode}", file=out)
    else:
        num_runs = len({(row["graph"], row["processes"], row["threads"], row["mode"], row["replicate"]) for row in rows})
        print(f"accounting: exact in all {num_runs} runs, nothing in flight at the end", file=out)
    return not wrong


def run_demo(options: DemoOptions, out: TextIO, err: TextIO) -> int:
    from netuit import report as page

    started = time.monotonic()
    build = find_build(options.build)
    program = build / "demos" / PROGRAM
    launcher = launch.find_launcher(build)
    for workers in options.workers:
        launcher.check(workers.processes)
    num_left = launch.remove_leftovers()
    if num_left:
        print(f"removed {num_left} files of shared memory that jobs which were killed had left in /dev/shm", file=err)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{options.output}: {error.strerror}") from None

    graphs = list_graphs(options)
    num_runs = len(graphs) * len(options.workers) * len(options.modes)
    status = Status(err, num_runs)
    rows_path = options.output / "rows.csv"
    rows: list[Row] = []
    picture: Picture | None = None
    slow: Race | None = None
    code = 0
    with tempfile.TemporaryDirectory(prefix="conduit-demo-") as folder:
        try:
            with signals_as_exceptions():
                for graph in graphs:
                    for workers in options.workers:
                        news, colors = color(options, graph, workers, launcher, program, folder, status)
                        rows += news
                        results.write_rows(rows_path, rows)
                        files.write_json(options.output / results.DEMO, {"command_line": command_again(options)})
                        picture = keep_colors(picture, graph, workers, colors)
                slow = keep_film(options, graphs[0], rows, launcher, program, status)
        except Interrupted as interrupted:
            status.clear()
            if isinstance(interrupted, _Unfinished):
                rows += interrupted.rows
            if rows:
                results.write_rows(rows_path, rows)
            kept = f"; finished rows are in {rows_path}" if rows else ""
            print(f"conduit: error: interrupted{kept}", file=err)
            return 130
    status.clear()
    if not report(rows, options, out):
        print("conduit: error: messages are not accounted for", file=err)
        code = 1
    if slow:
        print(slow_words(slow), file=out)
    written = [("rows", rows_path)] + draw(rows, picture, slow, options, err)
    written += [("report", path) for path in page.try_report([options.output], err)]
    print(file=out)
    for what, path in written:
        print(f"{what + ':':<9}{path}", file=out)
    print(f"{num_runs * options.replicates} runs in {time.monotonic() - started:.0f} s", file=out)
    return code


def command_again(options: DemoOptions) -> list[str]:
    """The command line that does all of this again, in the folder that it was given in. tools/demo sets --build itself."""
    started_as = os.environ.get(STARTED_AS)
    if started_as is None:
        return ["netuit", "demo", *options.words]
    return [started_as, *(options.words[2:] if options.words[:1] == ["--build"] else options.words)]


def choose_film(options: DemoOptions) -> tuple[Workers, bool]:
    """The layout to film, and whether its workers are slow in turn: the last of those with two workers or more that have a CPU
    each, since otherwise they would take turns anyway; else the last of all."""
    num_cpus = len(os.sched_getaffinity(0))
    apart = [workers for workers in options.workers if 2 <= workers.count <= num_cpus]
    if apart and {0, 3} <= set(options.modes):
        return apart[-1], True
    return options.workers[-1], False


def keep_film(
    options: DemoOptions,
    graph: GraphFile,
    rows: Sequence[Row],
    launcher: Launcher,
    program: pathlib.Path,
    status: Status,
) -> Race | None:
    """Leaves in runs/film of the output how colours of the first graph came about, for the page. Gives the comparison of modes 0 and
    3 if workers were slow in turn. The program writes there itself, so that its command can be run again."""
    from netuit import loading, race

    place = options.output / "runs" / "film"
    workers, is_slow = choose_film(options)
    try:
        shutil.rmtree(place, ignore_errors=True)
        if rows[0]["nodes"] > MOST_FILMED_NODES:
            return None
        place.mkdir(parents=True)
        try:
            film(options, graph, workers, launcher, program, place, status, is_slow)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        if not is_slow:
            return None
        told = results.read_rows(place / "rows.csv")
        results.write_rows(place / "rows.csv", [{**row, "case": SLOW_NAME} for row in told])
        return race.race_of(f"{graph.name}, {workers}", loading.load(place / "rows.csv"), loading.load(place / "frames.csv"))
    except OSError as error:
        raise OutputError(f"{place}: {error.strerror}") from None


def slow_words(race: Race) -> str:
    """What came of workers that are slow in turn, in a line."""
    return f"{race.name}, {SLOW_NAME} (each three times slower for 10 ms): {race.verdict()}"


def keep_colors(picture: Picture | None, graph: GraphFile, workers: Workers, path: pathlib.Path) -> Picture | None:
    """The picture to keep, of the one so far and that of the colours at `path`: of the first grid-like graph, on its last
    layout."""
    if picture and picture[0] != graph.name:
        return picture
    with open(path, newline="", encoding="utf-8") as file:
        cells: list[Cell] = []
        for row in csv.DictReader(file):
            if row["replicate"] != "0":
                continue
            place = parse_cell(row["label"])
            if place is None:
                return picture
            worker = (int(row["process"]), int(row["thread"]))
            cells.append((int(row["mode"]), place, int(row["color"]), worker, row["in_conflict"] == "1"))
    return (graph.name, str(workers), cells)


def draw(
    rows: Sequence[Row], picture: Picture | None, slow: Race | None, options: DemoOptions, err: TextIO
) -> list[tuple[str, pathlib.Path]]:
    """Chart and picture as PNG files, each with an SVG file beside it; gives what each is, and its path. Raises OutputError."""
    from netuit import demo_charts

    drawn: list[tuple[str, pathlib.Path]] = []
    try:
        chart = options.output / "chart.png"
        demo_charts.draw_chart(results.summarize(rows), chart, options.seconds, FIXED_PERIOD_MS)
        drawn.append(("chart", chart))
        if slow:
            drawn.append(("slow", options.output / "slow_in_turn.png"))
            demo_charts.draw_race(slow, drawn[-1][1])
        if picture:
            grid = options.output / "torus.png"
            demo_charts.draw_grid(*picture, grid, arguments.MODE_NAMES)
            drawn.append(("picture", grid))
        else:
            print("no picture: no node labels of the form (row, column)", file=err)
    except OSError as error:
        raise OutputError(f"{options.output}: {error.strerror}") from None
    return drawn


def main(words: list[str] | None = None) -> int:
    def body() -> int:
        options = arguments.parse_demo(sys.argv[1:] if words is None else words)
        if options is None:
            sys.stdout.write(arguments.read_help())
            return 0
        return run_demo(options, sys.stdout, sys.stderr)

    return exit_code_of_command(body)


if __name__ == "__main__":
    sys.exit(main())
