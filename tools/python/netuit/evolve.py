"""tools/evolve: runs digital_evolution, and shows what evolved in pictures and a table.

`--check` checks the command line alone, and wants nothing but the standard library.
"""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from netuit import InputError, files, launch, units
from netuit.arguments import MODE_NAMES, check_folder, parse_modes, parse_seconds, parse_whole
from netuit.command import Parser, exit_code_of_command
from netuit.program import check_exit, find_build

if TYPE_CHECKING:
    import pandas

PROGRAM = "digital_evolution"
NUM_SAMPLES = 120  #: looks at the world in a run
NUM_SNAPSHOTS = 10  #: of the quality of service in a run

_OURS = "output mode modes threads duration replicates seed record quality progress watch checkpoint-every".split()
_MAX_WORKERS = 1024


@dataclasses.dataclass(frozen=True)
class Options:
    """A command line that makes sense."""

    seconds: float
    mode: int
    processes: int
    threads: int
    seed: int | None  #: none: that of the world which goes on
    output: pathlib.Path
    build: pathlib.Path | None
    words: tuple[str, ...]  #: of the program


def read_help() -> str:
    """The text of --help."""
    return (pathlib.Path(__file__).parent / "evolve_help.txt").read_text(encoding="utf-8")


def parse(words: Sequence[str]) -> Options | None:
    """Options from a command line; None if it asks for help. Raises InputError or OutputError."""
    own, rest = list(words), []
    if "--" in own:
        rest = own[own.index("--") + 1 :]
        own = own[: own.index("--")]
    parser = Parser(prog="tools/evolve", add_help=False, allow_abbrev=False)
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--mode", default="3")
    parser.add_argument("--processes", default=str(min(2, num_cpus())))
    parser.add_argument("--threads", default="1")
    parser.add_argument("--seed")
    parser.add_argument("--output", default="evolution-results")
    parser.add_argument("--build")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    given = parser.parse_args(own)
    if given.help:
        return None
    modes = parse_modes(given.mode, "--mode")
    if len(modes) != 1:
        raise InputError(f"--mode {given.mode}: expected one mode")
    processes, threads = (parse_whole(f"--{name}", getattr(given, name), 1, _MAX_WORKERS) for name in ("processes", "threads"))
    if processes * threads > _MAX_WORKERS:
        raise InputError(f"--processes {processes} --threads {threads}: more than {_MAX_WORKERS} workers")
    for word in rest:
        name = word.split("=")[0]
        if name.startswith("--") and name[2:] in _OURS:
            raise InputError(f"{name} behind --: set by tools/evolve")
    goes_on = any(word.split("=")[0] == "--resume" for word in rest)
    if goes_on and given.seed is not None:
        raise InputError("--seed: cannot be combined with --resume, which sets it")
    output = pathlib.Path(given.output)
    check_folder(output)
    return Options(
        seconds=parse_seconds(given.seconds, days=7),
        mode=modes[0],
        processes=processes,
        threads=threads,
        seed=None if goes_on else parse_whole("--seed", "1" if given.seed is None else given.seed, 0, 2**63 - 1),
        output=output,
        build=pathlib.Path(given.build) if given.build else None,
        words=tuple(rest),
    )


def num_cpus() -> int:
    """CPUs that may be used."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def command_words(options: Options) -> list[str]:
    """The program's command line."""
    words = ["--mode", str(options.mode), "--duration", f"{options.seconds:.9f}", "--threads", str(options.threads)]
    words += [] if options.seed is None else ["--seed", str(options.seed)]
    words += ["--output", str(options.output / "rows.csv"), "--record", str(options.output)]
    if not any(word.split("=")[0] == "--sample-interval" for word in options.words):
        words += ["--sample-interval", f"{options.seconds / NUM_SAMPLES:.9f}"]
    words += ["--quality", str(options.output / "quality.csv")]
    if not any(word.split("=")[0] in ("--snapshot-interval", "--snapshot-length") for word in options.words):
        span = f"{options.seconds / NUM_SNAPSHOTS:.9f}"
        words += ["--snapshot-interval", span, "--snapshot-length", span]
    return [*words, "--progress", *options.words]


def run(options: Options, err: TextIO) -> str:
    """Runs the program, telling on `err` how it goes; gives the line in which it says what came of it. Raises ToolError."""
    folder = find_build(options.build, PROGRAM)
    launcher = launch.find_launcher(folder)
    files.make_folder(options.output)
    print(f"evolving for {options.seconds:g} s in mode {options.mode} {MODE_NAMES[options.mode]} on "
          f"{options.processes}x{options.threads} workers", file=err, flush=True)  # fmt: skip
    lines: list[str] = []

    def on_line(line: str) -> None:
        if not line.startswith("progress: "):
            lines.append(line)
        elif err.isatty():
            err.write("\r\033[K" + line.removeprefix("progress: ")[: os.get_terminal_size(err.fileno()).columns - 1])
            err.flush()

    command = launcher.command(options.processes, folder / "demos" / PROGRAM, command_words(options))
    try:
        code = launch.run(command, launcher.environment(), on_line, 300 + 3 * options.seconds)
    finally:
        if err.isatty():
            err.write("\r\033[K")
    check_exit(code, lines, PROGRAM)
    return next((line for line in reversed(lines) if ", run 1 of 1: " in line), "").split(", run 1 of 1: ")[-1]


#: What the table has: key of evolution_records.outcomes, what to call it, and how to write it.
_LINES = (
    ("births", "births per 1000 updates and cell", "{:.2f}"),
    ("generation", "mean generation", "{:.1f}"),
    ("genome_length", "mean genome length, instructions", "{:.1f}"),
    ("kin_size", "mean kin size that a cell sees", "{:.1f}"),
    ("births_within_kin", "births that stay in the kin group", "{:.1%}"),
    ("harvested", "resource harvested per 1000 updates and cell", "{:.2f}"),
    ("shared", "resource shared per 1000 updates and cell", "{:.2f}"),
    ("shared_to_kin", "of that, to kin", "{:.1%}"),
    ("packets", "packets per 1000 updates and cell", "{:.2f}"),
    ("packets_heeded", "of those that arrive, heeded", "{:.2%}"),
    ("cells", "places with a cell", "{:.1%}"),
)


def table(first: Mapping[str, float], last: Mapping[str, float]) -> str:
    """The end of a run beside its beginning."""
    cells = [["", "first tenth", "last tenth"]]
    for key, name, form in _LINES:
        cells.append([name, *(_or_dash(form, part[key]) for part in (first, last))])
    return _aligned(cells)


def quality_table(quality: pandas.DataFrame) -> str:
    """A line a layer, from evolution_records.read_quality; none where no workers talked to each other."""
    cells = [["layer", "failure rate", "simstep latency, updates", "wall latency", "clumpiness"]]
    for layer in quality.itertuples():
        bound = "> " if layer.is_bound else ""
        cells.append(
            [str(layer.Index), _or_dash("{:.2%}", layer.failure_rate), _or_dash(bound + "{:.3g}", layer.simstep_latency_updates),
             "-" if math.isnan(layer.wall_latency_s) else bound + units.seconds(layer.wall_latency_s),
             _or_dash("{:.2f}", layer.clumpiness)]
        )  # fmt: skip
    return _aligned(cells) if len(cells) > 1 else ""


def _or_dash(form: str, value: float) -> str:
    return "-" if math.isnan(value) else form.format(value)


def _aligned(cells: Sequence[Sequence[str]]) -> str:
    """Lines of a table, with a rule below the heading; but for the first, columns are to the right."""
    from netuit.experiment_report import aligned

    return "\n".join(aligned(cells[0], cells[1:], (0,))) + "\n"


def life(kin: Mapping[str, float], shares: pandas.Series) -> str:
    """Lines about kin groups as they are at the end, and about what was executed most."""
    if not kin["groups"]:
        return "Nothing lives.\n"
    commonest = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.head(8).items())
    return (
        f"Kin groups at the end: {kin['groups']:,.0f}, the largest of {kin['largest']:,.0f} cells; a cell's own has "
        f"{kin['size']:.1f} in the mean, by the cells' estimates {kin['estimate']:.1f}\n"
        f"Executed most: {commonest}\n"
    )


def show(options: Options, said: str, out: TextIO) -> None:
    """Draws the pictures and prints the table, from what a run has left in the folder. Raises ToolError."""
    import matplotlib

    matplotlib.use("Agg")  # no display needed
    from netuit import evolution_plots, evolution_records

    history = evolution_records.read_history(options.output)
    history = history[history["mode"] == options.mode]
    folder = evolution_records.run_folder(options.output, options.mode)
    frames = list(evolution_records.read_frames(folder / "frames.csv"))
    num_updates = f"{history['updates'].iloc[-1]:,.0f} updates"
    place = f"mode {options.mode} {MODE_NAMES[options.mode]}, {options.processes}x{options.threads} workers, "
    place += "resumed" if options.seed is None else f"seed {options.seed}"
    title = f"Digital evolution: {place}"
    evolution_plots.draw_world(frames[-1], f"{title}, after {num_updates}", options.output / "world.png")
    evolution_plots.draw_animation(frames, options.output / "world.gif")
    evolution_plots.draw_history(history, title, options.output / "history.png")
    text = table(evolution_records.outcomes(history, "first"), evolution_records.outcomes(history, "last"))
    if told := quality_table(evolution_records.read_quality(options.output / "quality.csv")):
        text += f"\nQuality of service by layer: failures of all messages, medians over workers and snapshots\n\n{told}"
    text += "\n" + life(evolution_records.kin_sizes(folder), evolution_records.instruction_shares(folder))
    heading = f"{place}: {num_updates}\n{said}\n\n"
    files.write_text(options.output / "report.txt", heading + text)
    out.write(heading + text + "\n")
    for what, path in (
        ("world", options.output / "world.png"), ("animation", options.output / "world.gif"),
        ("history", options.output / "history.png"), ("censuses", options.output / "evolution.csv"),
        ("dominant genome", folder / "dominant.genome"), ("its lineage", folder / "lineage.csv"),
        ("phylogeny", folder / "phylogeny.csv"), ("kin groups", folder / "kin_groups.csv"),
        ("instructions", folder / "instructions.csv"), ("rows", options.output / "rows.csv"),
        ("quality", options.output / "quality.csv"),
    ):  # fmt: skip
        print(f"{what + ':':<17}{path}", file=out)


def _show_program_help(build: pathlib.Path | None) -> int:
    program = find_build(build, PROGRAM) / "demos" / PROGRAM
    return subprocess.run([program, "--help"], check=False).returncode


def _run_command(words: Sequence[str]) -> int:
    options = parse(words)
    if options is None:
        sys.stdout.write(read_help())
    elif "--check" not in words:
        if {"--help", "-h"} & set(options.words):
            return _show_program_help(options.build)
        show(options, run(options, sys.stderr), sys.stdout)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command. Gives the exit code."""
    given = sys.argv[1:] if words is None else words
    return exit_code_of_command(lambda: _run_command(given))


if __name__ == "__main__":
    sys.exit(main())
