"""tools/experiment: runs a sweep with a line of progress, continues where it stopped, and gathers what came of it.

`--check` checks the command line and the sweep alone, and `--preset` prints how which programs are to be built; they want
nothing but the standard library (and tomli before Python 3.11).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import pathlib
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

from netuit import InputError, ToolError, builds, starters, store, sweep_files, sweeps
from netuit.arguments import check_folder
from netuit.command import Interrupted, Parser, exit_code_of_command, signals_as_exceptions
from netuit.program import find_build
from netuit.progress import Estimate, span
from netuit.starters import Starter
from netuit.sweep_runner import Runner, now
from netuit.sweeps import Sweep

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class Part:
    """A sweep and the folder that its results go to."""

    sweep: Sweep
    output: pathlib.Path


@dataclasses.dataclass
class Options:
    """A command line that makes sense. Its parts are the sweep and those that it names by `also`; one or more."""

    parts: list[Part]
    is_quick: bool
    is_dry: bool
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
        raise InputError("expected the name of a sweep; netuit experiment list shows them")
    if given.sweep == "list":
        return list_sweeps()
    if given.mpi not in (None, "default", "mpich"):
        raise InputError(f"--mpi {given.mpi}: expected default or mpich")
    first, *others = sweep_files.load_all(sweep_files.find(given.sweep), quick=given.quick, overrides=_overrides(given))
    suffix = "-quick" if given.quick else ""
    output = pathlib.Path(given.output or pathlib.Path("experiment-results") / (first.name + suffix))
    parts = [Part(first, output), *(Part(other, output / other.name) for other in others)]
    if given.cases is not None:
        parts = _only(parts, given.cases)
    for part in () if given.dry_run else parts:
        check_folder(part.output)
    return Options(parts, given.quick, given.dry_run, pathlib.Path(given.build) if given.build else None,
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


def _only(parts: list[Part], text: str) -> list[Part]:
    """The cases named, of whichever part; parts that have none of them are left out."""
    names = [name.strip() for name in text.split(",")]
    known = list(dict.fromkeys(case.name for part in parts for case in part.sweep.cases))
    for name in names:
        if name not in known:
            raise InputError(f"--cases {text}: no case {name} ({', '.join(known)})")
    chosen = []
    for part in parts:
        cases = tuple(case for case in part.sweep.cases if case.name in names)
        if cases:
            chosen.append(Part(dataclasses.replace(part.sweep, cases=cases), part.output))
    return chosen


def list_sweeps() -> str:
    """A line for each sweep that comes with the tool: what it shows, how long it takes, in full and quick."""
    lines = []
    for path in sweep_files.ready_made():
        full, quick = sweep_files.load_all(path), sweep_files.load_all(path, quick=True)
        lines.append((full[0].name, span(_estimate(full)), span(_estimate(quick)), full[0].title))
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    heading = f"{'sweep':<{widths[0]}}  {'time':>{widths[1]}}  {'quick':>{widths[2]}}  what it shows\n"
    return heading + "".join(
        f"{name:<{widths[0]}}  {full:>{widths[1]}}  {quick:>{widths[2]}}  {title}\n" for name, full, quick, title in lines
    )


def _estimate(several: Iterable[Sweep]) -> float:
    """Seconds that sweeps are likely to take together."""
    estimate = Estimate()
    return sum(estimate.of(each) for sweep in several for each in sweeps.launches(sweep))


class _Prepared:
    """A part that can be run: its program has been looked at, and what can be started is known."""

    def __init__(self, part: Part, is_quick: bool, made: starters.Starters, program: pathlib.Path, err: TextIO) -> None:
        self.part, self._is_quick = part, is_quick
        kinds = {case.launcher for case in part.sweep.cases}
        self.build = builds.inspect(program, _first_starter(made, sorted(kinds)))
        self._results = store.Store(part.output, part.sweep, self.build)
        note = self._results.set_aside()
        self.runner = Runner(part.sweep, self.build, self._results, made, err)
        if note:
            print(note, file=err)
        for what, why in self.runner.left_out.items():
            print(f"left out: {what}: {why}", file=err)
        if not self.runner.num_launches:
            raise ToolError(f"nothing of sweep {part.sweep.name} can be run here")

    def run(self, later_s: float) -> int:
        """Runs it; others are to take later_s after it. Gives how many rows there are."""
        runner, results, started = self.runner, self._results, now()

        def facts(complete: bool) -> dict[str, Any]:
            return {
                "quick": self._is_quick, "command_line": sys.argv, "started": started, "ended": now(),
                "complete": complete, "num_launches": runner.num_launches, "num_done": len(runner.done),
                "failed": runner.failed, "left_out": runner.left_out,
            }  # fmt: skip

        results.write_manifest(facts(complete=False))
        try:
            runner.run_all(later_s)
        except Interrupted:
            runner.gather()
            results.write_manifest(facts(complete=False))
            raise Interrupted(f"{len(runner.done)} of {runner.num_launches} launches are done; their rows are in "
                              f"{self.part.output / store.ROWS}, and the same command continues") from None  # fmt: skip
        except ToolError:
            runner.gather()
            results.write_manifest(facts(complete=False))
            raise
        num_rows = runner.gather()
        results.write_manifest(facts(complete=not runner.failed))
        return num_rows


def run_experiment(options: Options, out: TextIO, err: TextIO) -> int:
    """Runs a sweep, and those that it names by `also`. Gives the exit code."""
    folders = [find_build(options.build, part.sweep.program) for part in options.parts]
    began = time.monotonic()
    with signals_as_exceptions(), contextlib.ExitStack() as held:
        for part in options.parts:
            held.enter_context(store.locked(part.output))
        made = {folder: held.enter_context(starters.opened(folder)) for folder in dict.fromkeys(folders)}
        prepared = [
            _Prepared(part, options.is_quick, made[folder], folder / "demos" / part.sweep.program, err)
            for part, folder in zip(options.parts, folders)
        ]
        whole = []
        for index, each in enumerate(prepared):
            if each.run(sum(later.runner.left_s() for later in prepared[index + 1 :])):
                whole.append(each.part)
    if whole:
        _report(whole, out)
    runners = [each.runner for each in prepared]
    num_done, num_launches = sum(len(runner.done) for runner in runners), sum(runner.num_launches for runner in runners)
    ids = ", ".join(each.build.id for each in prepared)
    print(f"{num_done} launches, {span(time.monotonic() - began)}; build {ids}", file=out)
    failed = [each for runner in runners for each in runner.failed]
    if failed:
        print(f"conduit: error: {len(failed)} of {num_launches} launches failed; first, {failed[0]}", file=err)
    return 1 if failed else 0


def _report(parts: list[Part], out: TextIO) -> None:
    """Prints the report of parts that have rows, and the files that they have left."""
    from netuit import experiment_report

    try:
        with signals_as_exceptions():
            written = experiment_report.write([(part.output, part.sweep) for part in parts], out)
    except Interrupted:
        rows = " and ".join(str(part.output / store.ROWS) for part in parts)
        raise Interrupted(f"all launches are over; their rows are in {rows}, and the same command draws them") from None
    print(file=out)
    for path in [*(part.output / name for part in parts for name in (store.ROWS, store.MANIFEST)), *written]:
        print(path, file=out)


def _first_starter(made: starters.Starters, kinds: list[str]) -> Starter:
    """One that can start a single process of the program, to look at it."""
    if kinds == ["slurm"] or kinds == ["simulated"]:
        return made.get(kinds[0])
    return made.get("local")


def preset_of(options: Options) -> str:
    """The CMake preset that builds the programs for the sweep, as tools/experiment wants to know."""
    if options.parts[0].sweep.is_simulated:
        return "simgrid"
    return "mpich" if options.mpi == "mpich" else "release"


def show_plan(options: Options, out: TextIO) -> None:
    """Prints what would be run."""
    for part in options.parts:
        planned = list(sweeps.launches(part.sweep))
        for case in part.sweep.cases:
            mine = [each for each in planned if each.case == case]
            layouts = ", ".join(map(str, case.workers)) or "none"
            print(f"case {case.name} ({case.launcher}): {case.about}" if case.about else f"case {case.name} ({case.launcher})", file=out)
            print(f"  workers {layouts}; modes {', '.join(map(str, case.modes))}; {case.seconds:g} s; {case.replicates} replicates"
                  f"{'' if case.shared_memory else '; without shared memory'}", file=out)
            if mine:
                print(f"  {' '.join([part.sweep.program, *mine[0].words()])}", file=out)
        print(f"{len(planned)} launches, about {span(_estimate([part.sweep]))}, into {part.output}", file=out)
    if len(options.parts) > 1:
        print(f"about {span(_estimate(part.sweep for part in options.parts))} in all", file=out)


def run_sweep(
    sweep: str | os.PathLike[str],
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    cases: Iterable[str] | None = None,
    replicates: int | None = None,
    seconds: float | None = None,
    build: str | os.PathLike[str] | None = None,
) -> pandas.DataFrame:
    """Runs a sweep as tools/experiment does, by its name or TOML file, and gives its rows as load() does.

    Goes on where an earlier one into the same folder stopped; output is that folder, by default
    experiment-results/SWEEP. Rows of sweeps that it names by `also` are in folders below. Progress and report are printed.
    Raises InputError, OutputError, or ToolError if some launches failed; their rows are missing in the folder, the
    others' are there.
    """
    from netuit.loading import load

    words = [os.fspath(sweep)] + (["--quick"] if quick else [])
    given = {
        "output": output, "cases": None if cases is None else ",".join(cases), "replicates": replicates,
        "seconds": seconds, "build": build,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    options = parse(words)
    if isinstance(options, str):
        raise InputError(f"sweep {sweep}: expected the name of one")
    try:
        code = run_experiment(options, sys.stdout, sys.stderr)
    except Interrupted as error:
        raise KeyboardInterrupt(str(error)) from None
    if code != 0:
        manifests = " and ".join(f"{part.output}/manifest.json" for part in options.parts)
        raise ToolError(f"sweep {options.parts[0].sweep.name}: some launches failed; {manifests} names them")
    return load(options.parts[0].output)


def main(words: list[str] | None = None) -> int:
    """The command. Gives the exit code."""
    given = sys.argv[1:] if words is None else words

    def body() -> int:
        try:
            return _run_command(given)
        except ModuleNotFoundError as error:
            raise ToolError(f"Python's {error.name} is missing; tools/setup demo installs it") from None

    return exit_code_of_command(body)


def _run_command(words: list[str]) -> int:
    options = parse(words)
    if isinstance(options, str):
        sys.stdout.write(options)
    elif options.is_dry:
        show_plan(options, sys.stdout)
    elif "--preset" in words:
        print(preset_of(options), *dict.fromkeys(part.sweep.program for part in options.parts))
    elif "--check" not in words:
        return run_experiment(options, sys.stdout, sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
