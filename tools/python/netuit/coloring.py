"""netuit run: colours one graph on one layout, and prints a table of its modes."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from netuit import InputError, graph_format
from netuit.arguments import Workers, check_folder, check_readable, parse_modes, parse_seconds, parse_whole, parse_workers
from netuit.command import Parser, exit_code_of_command


@dataclasses.dataclass(frozen=True)
class Options:
    """A command line that makes sense."""

    graph: pathlib.Path | None  #: none: a torus
    workers: Workers
    modes: list[int]
    seconds: float
    replicates: int
    seed: int
    placement: str | None
    output: pathlib.Path | None  #: for the rows
    build: pathlib.Path | None
    program_options: dict[str, Any]  #: as netuit.run takes them


def read_help() -> str:
    """The text of --help."""
    return (pathlib.Path(__file__).parent / "run_help.txt").read_text(encoding="utf-8")


def parse(words: Sequence[str]) -> Options | None:
    """Options from a command line; None if it asks for help. Raises InputError or OutputError."""
    words = list(words)
    cut = words.index("--") if "--" in words else len(words)
    parser = Parser(prog="netuit run", add_help=False, allow_abbrev=False)
    parser.add_argument("graph", nargs="?", type=pathlib.Path)
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--workers", default="2x1")
    parser.add_argument("--modes", default="0,1,2,3,4")
    parser.add_argument("--seconds", default="1")
    parser.add_argument("--replicates", default="1")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--placement")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("-h", "--help", action="store_true")
    given = parser.parse_args(words[:cut])
    if given.help:
        return None
    layouts = parse_workers(given.workers)
    if len(layouts) != 1:
        raise InputError(f"--workers {given.workers}: expected one layout; netuit demo takes several")
    if given.graph is not None:
        check_readable(given.graph)
        graph_format.recognise(given.graph)
    elif given.directed:
        raise InputError("--directed: requires a graph file")
    if given.output is not None:
        check_folder(given.output.parent)
    return Options(
        graph=given.graph,
        workers=layouts[0],
        modes=parse_modes(given.modes),
        seconds=parse_seconds(given.seconds, days=1),
        replicates=parse_whole("--replicates", given.replicates, 1, 1000),
        seed=parse_whole("--seed", given.seed, 0, 2**63 - 1),
        placement=given.placement,
        output=given.output,
        build=given.build,
        program_options={**program_options(words[cut + 1 :]), **({"directed": True} if given.directed else {})},
    )


def program_options(words: Sequence[str]) -> dict[str, Any]:
    """`--work 100 --watch` as {"work": "100", "watch": True}. Raises InputError."""
    options: dict[str, Any] = {}
    name = ""
    for word in words:
        if word.startswith("--") and len(word) > 2:
            name, is_given, value = word[2:].partition("=")
            options[name] = value if is_given else True
        elif name and options[name] is True:
            options[name] = word
        else:
            raise InputError(f"{word} behind --: expected an option of channel_selection, which begins with --")
    return options


def color(options: Options, output: pathlib.Path) -> str:
    """Runs the program, which writes its rows to `output`; returns the table. On a terminal, stderr shows what runs. Raises as
    netuit.run."""
    from netuit import demo, results, run_graph
    from netuit.demo_status import Status

    status = Status(sys.stderr, len(options.modes))
    is_live = sys.stderr.isatty() and "watch" not in options.program_options

    def show(line: str) -> None:
        if not status.has_begun:  # not before the program runs, because it may have to be built first
            status.begin(f"{options.graph or 'torus'}, {options.workers}")
        status.take(line, True)

    try:
        run_graph.color(
            options.graph, options.workers, options.modes, options.seconds, output, replicates=options.replicates,
            seed=options.seed, placement=options.placement, options=options.program_options, build=options.build,
            on_progress=show if is_live else None,
        )  # fmt: skip
    finally:
        status.clear()
    rows = results.read_rows(output)
    if (name := run_graph.name_of(options.graph)) is not None:
        rows = [{**row, "graph": name} for row in rows]
        results.write_rows(output, rows)
    table = results.format_table(results.summarize(rows))
    return "\n".join([*table, "", demo.legend(options.replicates, options.seconds)])


def _run_command(words: Sequence[str]) -> int:
    options = parse(words)
    if options is None:
        sys.stdout.write(read_help())
        return 0
    with tempfile.TemporaryDirectory(prefix="conduit-run-") as scratch:
        print(color(options, options.output or pathlib.Path(scratch) / "rows.csv"))
    if options.output is not None:
        print(f"\nrows: {options.output}")
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    return exit_code_of_command(lambda: _run_command(sys.argv[1:] if words is None else words))


if __name__ == "__main__":
    sys.exit(main())
