"""tools/evidence: runs what evidence_plan lists, two launches at a time, and shows what it says.

`--check` checks the command line alone, and wants nothing but the standard library.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from netuit import InputError, OutputError, ToolError, files, launch
from netuit.arguments import Workers, check_folder
from netuit.command import Parser, exit_code_of_command
from netuit.evolve import PROGRAM, num_cpus
from netuit.program import check_exit, find_build

if TYPE_CHECKING:
    from netuit.builds import Build
    from netuit.evidence_plan import Row, Scale, Task

NUM_SEEDS, NUM_QUICK_SEEDS = 10, 3
TIME_LIMIT_S = 900  #: of a launch

_DONE = "run.json"
GENOMES = "genomes"  #: folder of what most cells had at the end, by seed
_BULKY = ("frames.csv", "phylogeny.csv")  # that nothing here reads


@dataclasses.dataclass(frozen=True)
class Options:
    """A command line that makes sense."""

    is_quick: bool
    num_seeds: int
    output: pathlib.Path
    build: pathlib.Path | None


def read_help() -> str:
    """The text of --help."""
    return (pathlib.Path(__file__).parent / "evidence_help.txt").read_text(encoding="utf-8")


def parse(words: Sequence[str]) -> Options | None:
    """Options from a command line; None if it asks for help. Raises InputError or OutputError."""
    parser = Parser(prog="tools/evidence", add_help=False, allow_abbrev=False)
    for name in ("quick", "check", "help"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("seeds", "output", "build"):
        parser.add_argument(f"--{name}")
    parser.add_argument("-h", dest="help", action="store_true")
    given = parser.parse_args(words)
    if given.help:
        return None
    seeds = given.seeds or str(NUM_QUICK_SEEDS if given.quick else NUM_SEEDS)
    if not (seeds.isascii() and seeds.isdigit()) or not 1 <= int(seeds) <= 1000:
        raise InputError(f"--seeds {seeds}: expected a whole number from 1 to 1000")
    output = pathlib.Path(given.output or ("evidence-results-quick" if given.quick else "evidence-results"))
    check_folder(output)
    return Options(given.quick, int(seeds), output, pathlib.Path(given.build) if given.build else None)


class Runner:
    """Runs tasks, each once: what is done is known by all that decides its result."""

    def __init__(self, build: Build, launcher: launch.Launcher, folder: pathlib.Path, class_of: dict[str, str]) -> None:
        self.build = build
        self._launcher, self.class_of = launcher, class_of
        self._runs = folder / "runs"
        self._stopping = threading.Event()
        self._places: dict[tuple[str, str, int], pathlib.Path] = {}

    def stop(self) -> None:
        """Ends what runs, soon; from any thread."""
        self._stopping.set()

    def run(self, task: Task) -> bool:
        """Runs a task, whose genomes are there; gives whether it had not been done before. Raises ToolError."""
        from netuit import evidence_plan as plan

        genomes = {name: self._genome(task, name) for name in ("ancestor", "rival") if getattr(task, name)}
        key = json.dumps([self.build.id, task.words, task.processes, genomes, task.knocked_out], sort_keys=True)
        place = self._runs / f"{task.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
        self._places[task.experiment, task.case, task.seed] = place
        if (place / _DONE).exists():
            return False
        draft = place.with_name(place.name + ".unfinished")
        files.make_new_folder(draft)
        words = [*task.words, "--output", str(draft / plan.ROWS), "--record", str(draft / plan.RECORD), "--progress"]
        for name, text in genomes.items():
            file = draft / (plan.KNOCKED if name == "rival" and task.knocked_out else f"{name}.genome")
            files.write_text(file, text)
            words += [f"--{name}", str(file)]
        command = self._launcher.command(task.processes, self.build.program, words)
        self._launch(task, command)
        for bulky in _BULKY:
            for path in draft.rglob(bulky):
                path.unlink()
        files.write_json(draft / _DONE, {"name": task.name, "command": command, "build": self.build.id})
        shutil.rmtree(place, ignore_errors=True)  # of a launch that was not whole
        try:
            draft.rename(place)
        except OSError as error:
            raise OutputError(f"{place}: {error.strerror}") from None
        return True

    def place(self, task: Task) -> pathlib.Path:
        """The folder of a task that has been run."""
        return self._places[task.experiment, task.case, task.seed]

    def dominant(self, experiment: str, case: str, seed: int) -> str:
        """The commonest genome at the end of a task that has been run, as text. Raises ToolError."""
        from netuit import evidence_plan as plan
        from netuit import evolution_records

        path = evolution_records.run_folder(self._places[experiment, case, seed] / plan.RECORD) / "dominant.genome"
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise ToolError(f"{path}: {error.strerror}") from None

    def _genome(self, task: Task, name: str) -> str:
        from netuit import evidence_plan as plan

        experiment, case = getattr(task, name)
        text = self.dominant(experiment, case, task.seed)
        if name == task.keen:
            return plan.make_keen(text)
        if name != "rival" or not task.knocked_out:
            return text
        changed, count = plan.knock_out(text, task.knocked_out, self.class_of)
        return f"# knocked out: {count} instructions of {task.knocked_out}\n{changed}"

    def _launch(self, task: Task, command: Sequence[str]) -> None:
        lines: list[str] = []

        def on_line(line: str) -> None:
            if self._stopping.is_set():
                raise ToolError("stopped")
            lines.append(line)

        if self._stopping.is_set():
            raise ToolError("stopped")
        code = launch.run(command, self._launcher.environment(), on_line, TIME_LIMIT_S)
        try:
            check_exit(code, [line for line in lines if not line.startswith("progress: ")], PROGRAM)
        except ToolError as error:
            raise type(error)(f"{task.name}: {error}") from None


class _Progress:
    """Tasks done and the time left: one live line on a terminal, now and then a line elsewhere."""

    def __init__(self, stream: TextIO, num_tasks: int) -> None:
        from netuit.progress import span

        self._stream, self._num_tasks, self._span = stream, num_tasks, span
        self._num_done = self._num_run = 0
        self._began = self._told = time.monotonic()

    def add(self, name: str, was_run: bool) -> None:
        """A task is done."""
        self._num_done += 1
        self._num_run += was_run
        now = time.monotonic()
        left = (now - self._began) / max(1, self._num_run) * (self._num_tasks - self._num_done)
        line = f"[{self._num_done:{len(str(self._num_tasks))}}/{self._num_tasks}] about {self._span(left)} left: {name} is done"
        if self._stream.isatty():
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\033[K" + line[:width] + ("\n" if self._num_done == self._num_tasks else ""))
            self._stream.flush()
        elif was_run and (now - self._told > 15 or self._num_done == self._num_tasks):
            self._told = now
            print(line, file=self._stream, flush=True)


def run_all(runner: Runner, tasks: Sequence[Task], err: TextIO) -> None:
    """Runs tasks two at a time: those that others build on first, and those of several processes alone, at the end.
    Raises ToolError for the first that fails, after those that run have ended."""
    stages: list[tuple[Callable[[Task], bool], int]] = [
        (lambda task: task.processes == 1 and task.is_evolution, min(2, num_cpus())),
        (lambda task: task.processes == 1 and not task.is_evolution, min(2, num_cpus())),
        (lambda task: task.processes > 1, 1),
    ]
    progress = _Progress(err, len(tasks))
    for chosen, at_a_time in stages:
        with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
            started = {pool.submit(runner.run, task): task for task in tasks if chosen(task)}
            try:
                for future in concurrent.futures.as_completed(started):
                    progress.add(started[future].name, future.result())
            except BaseException:
                runner.stop()
                pool.shutdown(cancel_futures=True)
                raise


def scale_of(options: Options) -> Scale:
    """How large the experiments are."""
    from netuit import evidence_plan as plan

    return plan.QUICK if options.is_quick else plan.FULL


def open_runner(options: Options) -> Runner:
    """Finds and looks at the program. Raises ToolError."""
    from netuit import builds, evidence_plan
    from netuit.starters import Starter

    folder = find_build(options.build, PROGRAM)
    starter = Starter(folder)
    build = builds.inspect(folder / "demos" / PROGRAM, starter)
    class_of = evidence_plan.classes(_instructions(build.program, starter))
    return Runner(build, launch.find_launcher(folder), options.output, class_of)


def collect(options: Options, scale: Scale, err: TextIO) -> list[Row]:
    """Runs what has not been run yet, and gives what was measured. Raises ToolError."""
    from netuit import evidence_plan, store

    with store.locked(options.output, "tools/evidence"):
        runner = open_runner(options)
        build = runner.build
        tasks = [task for seed in range(1, options.num_seeds + 1) for task in evidence_plan.tasks(seed, scale)]
        facts = {"name": "evidence", "build": build.id, "machine": build.machine, "seeds": options.num_seeds, "scale": dataclasses.asdict(scale), **build.facts}
        files.write_json(options.output / "manifest.json", {**facts, "complete": False})
        run_all(runner, tasks, err)
        measured = [row for task in tasks for row in evidence_plan.measure(task, runner.place(task))]
        files.make_folder(options.output / GENOMES)
        for seed in range(1, options.num_seeds + 1):
            files.write_text(options.output / GENOMES / f"seed{seed}.genome", runner.dominant(*evidence_plan.WAVE, seed))
        files.write_json(options.output / "manifest.json", {**facts, "complete": True})
    return measured


def _instructions(program: pathlib.Path, starter: Any) -> str:
    command = starter.command(Workers(1, 1), program, ["--instructions"])
    done = subprocess.run(command, env=dict(starter.environment()), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    check_exit(done.returncode, done.stderr.splitlines(), PROGRAM)
    return done.stdout


def run_evidence(options: Options, out: TextIO, err: TextIO) -> int:
    """Runs, writes and shows the evidence. Gives the exit code."""
    from netuit import evidence_report
    from netuit.progress import span

    began = time.monotonic()
    written = evidence_report.write(options.output, collect(options, scale_of(options), err), out)
    print(file=out)
    for path in written:
        print(path, file=out)
    print(f"{options.num_seeds} seeds, {span(time.monotonic() - began)}", file=out)
    return 0


def _run_command(words: Sequence[str]) -> int:
    options = parse(words)
    if options is None:
        sys.stdout.write(read_help())
    elif "--check" not in words:
        return run_evidence(options, sys.stdout, sys.stderr)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command. Gives the exit code."""
    given = sys.argv[1:] if words is None else words
    return exit_code_of_command(lambda: _run_command(given))


if __name__ == "__main__":
    sys.exit(main())
