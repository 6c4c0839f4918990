"""tools/experiment: runs a sweep with a line of progress, continues where it stopped, and gathers what came of it.

`--check` checks the command line and the sweep alone, and `--preset` prints how which program is to be built; they want
nothing but the standard library (and tomli before Python 3.11).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import pathlib
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from conduit_tools import InputError, ToolError, builds, starters, store, sweeps
from conduit_tools.command import Parser
from conduit_tools.arguments import check_folder
from conduit_tools.program import find_build
from conduit_tools.progress import Estimate, span
from conduit_tools.runner import Runner, now
from conduit_tools.starter import Starter
from conduit_tools.sweeps import Sweep


class Interrupted(Exception):
    """Ctrl-C, or a signal that asks the tool to end."""


@dataclasses.dataclass
class Options:
    """A command line that makes sense."""

    sweep: Sweep
    is_quick: bool
    is_dry: bool
    output: pathlib.Path
    build: pathlib.Path | None
    mpi: str


def read_help() -> str:
    """The text of --help."""
    return (pathlib.Path(__file__).parent / "experiment_help.txt").read_text(encoding="utf-8")


def parse(words: list[str]) -> Options | str:
    """Options from a command line, or the text that it asks for. Raises InputError or OutputError."""
    parser = Parser(prog="tools/experiment", add_help=False, allow_abbrev=False)
    parser.add_argument("sweep", nargs="?")
    for name in ("quick", "dry-run", "check", "preset", "help"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("output", "cases", "replicates", "seconds", "launcher", "build", "mpi"):
        parser.add_argument(f"--{name}")
    parser.add_argument("-h", dest="help", action="store_true")
    given = parser.parse_args(words)
    if given.help:
        return read_help()
    if given.sweep is None:
        raise InputError("want the name of a sweep; tools/experiment list shows them")
    if given.sweep == "list":
        return list_sweeps()
    if given.mpi not in (None, "default", "mpich"):
        raise InputError(f"--mpi {given.mpi}: want default or mpich")
    sweep = sweeps.load(sweeps.find(given.sweep), quick=given.quick, overrides=_overrides(given))
    if given.cases is not None:
        sweep = _only(sweep, given.cases)
    suffix = "-quick" if given.quick else ""
    output = pathlib.Path(given.output or pathlib.Path("experiment-results") / (sweep.name + suffix))
    if not given.dry_run:
        check_folder(output)
    return Options(sweep, given.quick, given.dry_run, output, pathlib.Path(given.build) if given.build else None,
                   given.mpi or "default")  # fmt: skip


def _overrides(given: argparse.Namespace) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    for name, kind in (("replicates", int), ("seconds", float)):
        text = getattr(given, name)
        if text is not None:
            try:
                overrides[name] = kind(text)
            except ValueError:
                raise InputError(f"--{name} {text}: not a number") from None
    if given.launcher is not None:
        overrides["launcher"] = given.launcher
    return overrides


def _only(sweep: Sweep, text: str) -> Sweep:
    names = [name.strip() for name in text.split(",")]
    known = [case.name for case in sweep.cases]
    for name in names:
        if name not in known:
            raise InputError(f"--cases {text}: no case {name} ({', '.join(known)})")
    return dataclasses.replace(sweep, cases=tuple(case for case in sweep.cases if case.name in names))


def list_sweeps() -> str:
    """A line for each sweep that comes with the tool: what it shows, how long it takes, in full and quick."""
    lines = []
    for path in sweeps.ready_made():
        sweep, quick = sweeps.load(path), sweeps.load(path, quick=True)
        lines.append((sweep.name, span(_declared(sweep)), span(_declared(quick)), sweep.title))
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    heading = f"{'sweep':<{widths[0]}}  {'time':>{widths[1]}}  {'quick':>{widths[2]}}  what it shows\n"
    return heading + "".join(
        f"{name:<{widths[0]}}  {full:>{widths[1]}}  {quick:>{widths[2]}}  {title}\n" for name, full, quick, title in lines
    )


def _declared(sweep: Sweep) -> float:
    estimate = Estimate()
    return sum(estimate.of(each) for each in sweeps.launches(sweep))


@contextlib.contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise Interrupted, once; further ones do nothing until the end."""

    def interrupt(number: int, frame: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)


def run_experiment(options: Options, out: TextIO, err: TextIO) -> int:
    """Runs a sweep. Gives the exit code."""
    sweep = options.sweep
    folder = find_build(options.build, sweep.program)
    program = folder / "demos" / sweep.program
    began = time.monotonic()
    started = now()
    with signals_as_exceptions(), store.locked(options.output), starters.opened(folder) as made:
        kinds = {case.launcher for case in sweep.cases}
        build = builds.inspect(program, _first_starter(made, sorted(kinds)))
        results = store.Store(options.output, sweep, build)
        note = results.set_aside()
        runner = Runner(sweep, build, results, made, err)
        if note:
            print(note, file=err)
        for what, why in runner.left_out.items():
            print(f"left out: {what}: {why}", file=err)
        if not runner.num_launches:
            raise ToolError("nothing of this sweep can be run here")

        def facts(complete: bool) -> dict[str, Any]:
            return {
                "quick": options.is_quick, "command_line": sys.argv, "started": started, "ended": now(),
                "complete": complete, "num_launches": runner.num_launches, "num_done": len(runner.done),
                "failed": runner.failed, "left_out": runner.left_out,
            }  # fmt: skip

        results.write_manifest(facts(complete=False))
        try:
            runner.run_all()
        except Interrupted:
            runner.gather()
            results.write_manifest(facts(complete=False))
            raise Interrupted(f"{len(runner.done)} of {runner.num_launches} launches are done; their rows are in "
                              f"{options.output / store.ROWS}, and the same command continues") from None  # fmt: skip
        except ToolError:
            runner.gather()
            results.write_manifest(facts(complete=False))
            raise
        num_rows = runner.gather()
        results.write_manifest(facts(complete=not runner.failed))
    code = 0
    if num_rows:
        from conduit_tools import experiment_report

        try:
            with signals_as_exceptions():
                written = experiment_report.write(options.output, sweep, out)
        except Interrupted:
            raise Interrupted(f"all launches are over; their rows are in {options.output / store.ROWS}, and the same "
                              "command draws them") from None  # fmt: skip
        print(file=out)
        for path in [options.output / store.ROWS, options.output / store.MANIFEST, *written]:
            print(path, file=out)
    print(f"{len(runner.done)} launches, {span(time.monotonic() - began)}; build {build.id}", file=out)
    if runner.failed:
        print(f"conduit: error: {len(runner.failed)} of {runner.num_launches} launches failed; first, {runner.failed[0]}", file=err)
        code = 1
    return code


def _first_starter(made: starters.Starters, kinds: list[str]) -> Starter:
    """One that can start a single process of the program, to look at it."""
    if kinds == ["slurm"] or kinds == ["simulated"]:
        return made.get(kinds[0])
    return made.get("local")


def preset_of(options: Options) -> str:
    """The CMake preset that builds the program for the sweep, as tools/experiment wants to know."""
    if any(case.launcher == "simulated" for case in options.sweep.cases):
        return "simgrid"
    return "mpich" if options.mpi == "mpich" else "release"


def show_plan(options: Options, out: TextIO) -> None:
    """Prints what would be run."""
    estimate = Estimate()
    planned = list(sweeps.launches(options.sweep))
    for case in options.sweep.cases:
        mine = [each for each in planned if each.case == case]
        layouts = ", ".join(map(str, case.workers)) or "none"
        print(f"case {case.name} ({case.launcher}): {case.about}" if case.about else f"case {case.name} ({case.launcher})", file=out)
        print(f"  workers {layouts}; modes {', '.join(map(str, case.modes))}; {case.seconds:g} s; {case.replicates} replicates", file=out)
        if mine:
            print(f"  {' '.join([options.sweep.program, *mine[0].words()])}", file=out)
    total = sum(estimate.of(each) for each in planned)
    print(f"{len(planned)} launches, about {span(total)}, into {options.output}", file=out)


def main(words: list[str] | None = None) -> int:
    """The command. Gives the exit code."""
    words = sys.argv[1:] if words is None else words
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tools/experiment starts Python with Ctrl-C ignored
    try:
        options = parse(words)
        if isinstance(options, str):
            sys.stdout.write(options)
        elif options.is_dry:
            show_plan(options, sys.stdout)
        elif "--preset" in words:
            print(preset_of(options), options.sweep.program)
        elif "--check" not in words:
            return run_experiment(options, sys.stdout, sys.stderr)
        return 0
    except ToolError as error:
        print(f"conduit: error: {error}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:
        print(f"conduit: error: Python's {error.name} is missing; tools/setup demo installs it", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Interrupted) as error:
        kept = f"; {error}" if str(error) else ""
        print(f"conduit: error: interrupted{kept}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
