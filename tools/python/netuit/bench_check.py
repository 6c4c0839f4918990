"""Whether what tools/bench has measured is slower than what is committed.

    python -m netuit.bench_check check RESULT.json…     # compares
    python -m netuit.bench_check accept RESULT.json…    # makes them what later runs are compared with

What is committed are the ratios of claims, one file for each class of machine (HT, NEAR, FAR, ONE), in
microbenchmarks/results/reference. Standard library only.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from netuit import InputError, files
from netuit.command import Parser, exit_code_of_command

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "microbenchmarks" / "results" / "reference"
MARGIN = 0.03  #: by which spreads are to be apart
SLOWER, UNTOLD = 1, 3  #: exit codes
MACHINE = ("cpu", "num_cpus", "compiler", "flags")  #: what rows of one file have in common
RULE = f"""\
A row compares the measured ratio of a claim with the committed ratio of the same figure, class and MPI. The spread of a
ratio is the middle half of its rounds (its quartiles), or beside programs of others of blocks of ten rounds; the committed spread covers all runs that were accepted at its
commit. The row is SLOWER if the better end of the measured spread is worse than the worse end of the committed spread by
more than {MARGIN:.0%}. A figure that is noisy, or was measured only in another class, is not judged. A committed figure that is no
longer measured is MISSING. A row about compile times or NumPy, which has a budget instead (microbenchmarks/compile_budgets.json,
bench_numpy.py), is OVER BUDGET if the least of its rounds exceeds it by more than {MARGIN:.0%}. Exit code 0: none of these; 1:
something is slower, missing or over budget; 3: undecided, because more than half of the figures could not be compared."""

Key = tuple[str, str]  #: a figure, and the name of the MPI that carries it


@dataclasses.dataclass(frozen=True)
class Row:
    """A claim's ratio in one class."""

    figure: str
    program: str
    mpi: str  #: name and version, or none
    proximity: str  #: the class
    better: str  #: low or high
    ratio: float  #: median of the rounds, or the ratio of mean times; of several runs the mean of theirs
    low: float  #: quartiles; of several runs the outermost
    high: float
    rounds: int
    commit: str
    date: str
    runs: int = 1

    @property
    def key(self) -> Key:
        """What a row of another run, or in another class, has in common with this one."""
        return self.figure, mpi_name(self.mpi)

    def text(self) -> str:
        """The ratio with its spread."""
        return f"{self.ratio:.3g} [{self.low:.3g}, {self.high:.3g}]"

    def joined(self, other: Row) -> Row:
        """Of this run and another at the same commit."""
        runs = self.runs + other.runs
        ratio = (self.runs * self.ratio + other.runs * other.ratio) / runs
        return dataclasses.replace(other, ratio=ratio, low=min(self.low, other.low), high=max(self.high, other.high),
                                   rounds=self.rounds + other.rounds, runs=runs)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Run:
    """What one run of tools/bench has measured."""

    rows: list[Row]
    noisy: set[Key]
    budgets: dict[str, tuple[float, float]]  #: compile times by figure, and what they may be at most
    mpis: set[str]  #: names, none among them
    filter: str
    is_quick: bool
    commits: set[str]
    machine: dict[str, Any]

    def wants(self, key: Key) -> bool:
        """Whether the figure was to be measured."""
        return self.filter.lower() in key[0].lower() and key[1] in self.mpis


@dataclasses.dataclass(frozen=True)
class Reference:
    """What is committed of one class."""

    proximity: str
    machine: dict[str, Any]
    rows: list[Row]


def mpi_name(mpi: str) -> str:
    """Open MPI, of Open MPI v4.1.4."""
    return re.split(r" v?\d", mpi)[0]


def read_run(paths: Iterable[Path]) -> Run:
    """The results of one run. Raises InputError."""
    rows: list[Row] = []
    noisy: set[Key] = set()
    budgets: dict[str, tuple[float, float]] = {}
    records = []
    for path in paths:
        record = files.read_json(path)
        try:
            for row in record["rows"]:
                if "ratio" in row:
                    rows.append(_row(record, row))
                elif row["verdict"] in ("noisy", "ok?", "short?"):
                    noisy.add((row["figure"], mpi_name(record["mpi"])))
                elif "at_most" in row and not record["quick"]:  # one round is not enough to judge
                    budgets[row["figure"]] = float(row["least"]), float(row["at_most"])
            records.append({name: record[name] for name in ("mpi", "filter", "quick", "commit", *MACHINE)})
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(f"{path}: no result of tools/bench") from None
    if not records:
        raise InputError("no results; tools/bench measures them")
    if len({record["filter"] for record in records}) > 1:
        raise InputError("results of runs with different filters; tools/bench without one measures all anew")
    return Run(rows, noisy, budgets, {mpi_name(record["mpi"]) for record in records}, records[0]["filter"],
               any(record["quick"] for record in records), {record["commit"] for record in records},
               {name: records[0][name] for name in MACHINE})  # fmt: skip


def _row(record: dict[str, Any], row: dict[str, Any]) -> Row:
    return Row(
        figure=row["figure"], program=record["program"], mpi=record["mpi"], proximity=row["class"], better=row["better"],
        ratio=float(row["ratio"]), low=float(row["low"]), high=float(row["high"]), rounds=int(row["rounds"]),
        commit=record["commit"], date=record["date"],
    )  # fmt: skip


def read_references(folder: Path) -> list[Reference]:
    """What is committed, class by class. Raises InputError."""
    return [_read_reference(path) for path in sorted(folder.glob("*.json"))]


def _read_reference(path: Path) -> Reference:
    value = files.read_json(path)
    try:
        rows = [Row(proximity=value["class"], **row) for row in value["rows"]]
        return Reference(value["class"], {name: value[name] for name in MACHINE}, rows)
    except (KeyError, TypeError):
        raise InputError(f"{path}: no reference of tools/bench") from None


def is_slower(measured: Row, committed: Row) -> bool:
    """By RULE."""
    if committed.better == "low":
        return measured.low > committed.high * (1 + MARGIN)
    return measured.high < committed.low * (1 - MARGIN)


def is_faster(measured: Row, committed: Row) -> bool:
    """The same the other way round."""
    if committed.better == "low":
        return measured.high < committed.low * (1 - MARGIN)
    return measured.low > committed.high * (1 + MARGIN)


@dataclasses.dataclass
class Comparison:
    """What came of a check. Figures are counted once, in however many classes they are."""

    lines: list[str] = dataclasses.field(default_factory=list)
    num_compared: int = 0
    num_slower: int = 0
    num_faster: int = 0
    num_noisy: int = 0
    num_elsewhere: int = 0
    num_missing: int = 0
    num_new: int = 0
    num_budgets: int = 0
    num_over: int = 0

    @property
    def can_tell(self) -> bool:
        """Whether at least half of the figures could be compared."""
        return self.num_compared + self.num_budgets > 0 and self.num_compared >= self.num_noisy + self.num_elsewhere

    @property
    def exit_code(self) -> int:
        """Of the check."""
        if self.num_slower or self.num_missing or self.num_over:
            return SLOWER
        return 0 if self.can_tell else UNTOLD

    def summary(self) -> str:
        """A line of numbers."""
        alike = self.num_compared - self.num_slower - self.num_faster
        return (f"compared {self.num_compared}: {self.num_slower} slower, {self.num_faster} faster, {alike} alike; not compared: "
                f"{self.num_noisy} noisy, {self.num_elsewhere} in another class, {self.num_missing} missing, {self.num_new} new; "
                f"{self.num_over} of {self.num_budgets} compile times over budget")  # fmt: skip


def compare(run: Run, references: Iterable[Reference]) -> Comparison:
    """A run with what is committed."""
    committed: dict[Key, dict[str, Row]] = {}
    result = Comparison()
    for reference in references:
        mine = [row for row in reference.rows if run.wants(row.key)]
        for row in mine:
            committed.setdefault(row.key, {})[reference.proximity] = row
        others = [f"{run.machine[name]} (committed: {reference.machine[name]})" for name in MACHINE
                  if run.machine[name] != reference.machine[name]]  # fmt: skip
        if mine and others:
            result.lines.append(f"NOTE: {reference.proximity}: measured with {'; '.join(others)}")
    measured: dict[Key, dict[str, Row]] = {}
    for row in run.rows:
        measured.setdefault(row.key, {})[row.proximity] = row
    for key, rows in committed.items():
        _compare_figure(result, key, rows, measured.get(key, {}), key in run.noisy)
    result.num_new = sum(key not in committed for key in measured)
    result.num_budgets = len(run.budgets)
    for figure, (least, at_most) in run.budgets.items():
        if least > at_most * (1 + MARGIN):
            result.num_over += 1
            result.lines.append(f"OVER BUDGET: {figure}: {least:.2f} at the least, budget {at_most:.2f}")
    return result


def _compare_figure(result: Comparison, key: Key, committed: dict[str, Row], measured: dict[str, Row], is_noisy: bool) -> None:
    """One figure, in all its classes."""
    name = key[0] + (f" ({key[1]})" if key[1] != "none" else "")
    pairs = [(row, committed[proximity]) for proximity, row in measured.items() if proximity in committed]
    slower = [(mine, theirs) for mine, theirs in pairs if is_slower(mine, theirs)]
    for mine, theirs in slower:
        result.lines.append(f"SLOWER: {name}, {mine.proximity}: committed {theirs.text()} at {theirs.commit}, measured {mine.text()}; "
                            f"{theirs.better} is better")  # fmt: skip
    if pairs:
        result.num_compared += 1
        result.num_slower += bool(slower)
        result.num_faster += not slower and any(is_faster(mine, theirs) for mine, theirs in pairs)
    elif measured:
        result.num_elsewhere += 1
        result.lines.append(f"OTHER CLASS: {name}: measured in {', '.join(measured)}, committed in {', '.join(committed)}")
    elif is_noisy:
        result.num_noisy += 1
        result.lines.append(f"NOISY: {name}: too few clean samples")
    else:
        result.num_missing += 1
        result.lines.append(f"MISSING: {name}: committed, and not measured any more (tools/bench --accept forgets it)")


def check(results: Sequence[Path], folder: Path, out: TextIO) -> int:
    """Compares a run with what is committed. Gives the exit code."""
    comparison = compare(read_run(results), read_references(folder))
    for line in comparison.lines:
        print(line, file=out)
    print(comparison.summary(), file=out)
    if comparison.exit_code == UNTOLD:
        print("could not tell whether anything is slower: too little could be compared", file=out)
    return comparison.exit_code


def commit_of(run: Run, is_known: bool | None = None) -> str:
    """The commit that a whole run was measured at. Raises InputError if it cannot be a reference. is_known: whether this
    repository has the commit; looked up unless given."""
    if run.is_quick:
        raise InputError("measured with --quick: too few rounds to compare others with")
    if len(run.commits) > 1:
        raise InputError(f"results of several commits ({', '.join(sorted(run.commits))}); tools/bench measures all anew")
    (commit,) = run.commits
    if not re.fullmatch(r"[0-9a-f]{12}", commit):
        raise InputError(f"measured at no commit ({commit or 'unknown'}): commit the changes, and measure again")
    if is_known is None:
        words = ["git", "-C", str(ROOT), "cat-file", "-e", f"{commit}^{{commit}}"]
        is_known = subprocess.run(words, capture_output=True, check=False).returncode == 0
    if not is_known:
        raise InputError(f"measured at {commit}, which is not a commit of this repository")
    return commit


def accept(run: Run, references: Collection[Reference]) -> list[Reference]:
    """What is to be committed after a run. A second run at the same commit widens the spreads; one on another machine, or by
    another compiler, replaces all rows of the class. A whole run forgets figures that it does not know."""
    known = {row.key for row in run.rows} | run.noisy
    before = {reference.proximity: reference for reference in references}
    proximities = list(dict.fromkeys([*before, *(row.proximity for row in run.rows)]))
    after = []
    for proximity in proximities:
        mine = {row.key: row for row in run.rows if row.proximity == proximity}
        old = before.get(proximity)
        is_same = old is not None and (old.machine == run.machine or not mine)
        kept = {row.key: row for row in old.rows} if old is not None and is_same else {}
        if not run.filter:
            kept = {key: row for key, row in kept.items() if key in known or not run.wants(key)}
        for key, row in mine.items():
            kept[key] = _accepted(kept.get(key), row)
        machine = old.machine if old is not None and is_same else run.machine
        after.append(Reference(proximity, machine, sorted(kept.values(), key=lambda row: (row.program, row.key))))
    return after


def _accepted(old: Row | None, new: Row) -> Row:
    if old is None or old.commit != new.commit or old.better != new.better:
        return new
    return old if old.date == new.date else old.joined(new)


def write(references: Iterable[Reference], folder: Path) -> list[Path]:
    """Writes what is to be committed, a line for each row. Gives the paths. Raises OutputError."""
    files.make_folder(folder)
    paths = []
    for reference in references:
        head = {"class": reference.proximity, **reference.machine}
        lines = [f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
        rows = [{name: value for name, value in dataclasses.asdict(row).items() if name != "proximity"} for row in reference.rows]
        body = ",\n".join(f"    {json.dumps(row)}" for row in rows)
        paths.append(folder / f"{reference.proximity.lower()}.json")
        files.write_text(paths[-1], "\n".join(["{", *lines, '  "rows": [', body, "  ]", "}", ""]))
    return paths


def accept_results(results: Sequence[Path], folder: Path, out: TextIO) -> int:
    """Makes a run what later ones are compared with, and says what changes. Gives the exit code."""
    run = read_run(results)
    commit = commit_of(run)
    before = read_references(folder)
    after = accept(run, before)
    old_keys, new_keys = ({(reference.proximity, row.key) for reference in each for row in reference.rows} for each in (before, after))
    for proximity, key in sorted(old_keys - new_keys):
        print(f"forgotten: {key[0]}, {proximity}", file=out)
    for path in write(after, folder):
        print(path, file=out)
    print(f"{len(run.rows)} ratios of {commit} accepted, {len(run.noisy)} figures were noisy", file=out)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """The command. Gives the exit code."""

    def body() -> int:
        parser = Parser(prog="python -m netuit.bench_check", allow_abbrev=False, description=RULE)
        parser.add_argument("what", choices=["check", "accept"])
        parser.add_argument("results", nargs="+", type=Path)
        parser.add_argument("--reference", type=Path, default=REFERENCE)
        given = parser.parse_args(words)
        return (check if given.what == "check" else accept_results)(given.results, given.reference, sys.stdout)

    return exit_code_of_command(body)


if __name__ == "__main__":
    sys.exit(main())
