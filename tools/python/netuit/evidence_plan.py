"""What tools/evidence runs for each seed, and what it reads from what was left."""

from __future__ import annotations

import csv
import dataclasses
import math
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy
import pandas

from netuit import InputError, evolution_records
from netuit.arguments import MODE_NAMES

#: Classes of instructions, one at a time. Without the last, cells must lose: a competition that shows no loss there shows none.
KNOCKED_OUT = ("messaging", "sharing", "apoptosis", "regulation", "sensing", "reproduction")
NUM_COMPETITIONS = 4  #: per pair of genomes, with different random numbers; the mean is reported
ROWS, RECORD, KNOCKED = "rows.csv", "record", "knocked-out.genome"
_EVERY_MODE = ",".join(map(str, range(len(MODE_NAMES))))
_COMPETITION_SEED = 1_000_000  #: added, so that no competition repeats the draws of another, or of what evolved


@dataclasses.dataclass(frozen=True)
class Scale:
    """How large the experiments are."""

    cells: int  #: of a worker's world
    arena: int  #: cells of a competition's world: the more, the less chance has a say
    updates: int  #: for which cells evolve
    competition: int  #: updates of a competition
    filling: int  #: updates for which founders fill an empty world
    mode_updates: int  #: of a run of each mode
    mode_period_s: float  #: of mode 2's barriers


FULL = Scale(cells=1_600, arena=3_600, updates=50_000, competition=1_000, filling=8_000, mode_updates=8_000, mode_period_s=0.5)
QUICK = Scale(cells=900, arena=900, updates=15_000, competition=1_000, filling=8_000, mode_updates=2_000, mode_period_s=0.1)


@dataclasses.dataclass(frozen=True)
class Task:
    """One launch: an experiment's case with one seed. Genomes are named by the task that left them."""

    experiment: str
    case: str
    seed: int
    words: tuple[str, ...]
    ancestor: tuple[str, str] | None = None  #: experiment and case whose dominant genome the founders have
    rival: tuple[str, str] | None = None  #: likewise, of half of them
    knocked_out: str = ""  #: the class that the rival lacks
    keen: str = ""  #: ancestor or rival: which of them has the ancestor's genome, and bears as soon as it can pay
    processes: int = 1

    @property
    def name(self) -> str:
        """A name for people and files."""
        return f"{self.experiment}-{self.case}-s{self.seed}".replace(" ", "_")

    @property
    def is_evolution(self) -> bool:
        """Whether others want what evolves here."""
        return self.ancestor is None and self.rival is None


WAVE, NEUTRAL = ("evolution", "wave"), ("evolution", "genomes ignored")
ANCESTOR = ("filling", "ancestor")  #: nothing mutates there, so the dominant genome is the ancestor's
#: What the ancestor has saved before it bears, and what a birth costs, in 1024ths: the ancestor could do better by one number.
_SAVING, _KEEN = "  set r1 2048", "  set r1 1024"


def tasks(seed: int, scale: Scale) -> list[Task]:
    """All launches of one seed, those that others build on first."""
    world = ("--cells-per-worker", str(scale.cells))
    fixed = (*world, "--modes", "0")
    evolving = (*fixed, "--seed", str(seed), "--updates", str(scale.updates), "--sample-interval", "50ms")
    filling = (*fixed, "--seed", str(seed + _COMPETITION_SEED), "--mutation-rate", "0", "--updates", str(scale.filling),
               "--founders", "9", "--sample-interval", "2ms")  # fmt: skip

    def competing(number: int) -> tuple[str, ...]:
        return ("--cells-per-worker", str(scale.arena), "--modes", "0", "--seed", str(1000 * seed + number * _COMPETITION_SEED),
                "--replicates", str(NUM_COMPETITIONS), "--mutation-rate", "0", "--updates", str(scale.competition), "--sample-interval", "5ms")  # fmt: skip

    both = (*world, "--seed", str(seed), "--modes", _EVERY_MODE, "--updates", str(scale.mode_updates),
            "--period-fixed", f"{scale.mode_period_s:g}", "--sample-interval", "50ms")  # fmt: skip
    return [
        Task(*WAVE, seed, evolving),
        Task("evolution", "even", seed, (*evolving, "--harvest", "even")),
        Task(*NEUTRAL, seed, (*evolving, "--ignore-genomes")),
        Task("filling", "ancestor", seed, filling),
        Task("filling", "evolved", seed, filling, ancestor=WAVE),
        Task("competition", "evolved", seed, competing(1), rival=WAVE),
        Task("competition", "genomes ignored", seed, (*competing(2), "--ignore-genomes"), rival=NEUTRAL),
        Task("competition", "keen ancestor", seed, competing(9), ancestor=ANCESTOR, rival=ANCESTOR, keen="rival"),
        Task("competition", "against keen ancestor", seed, competing(10), ancestor=ANCESTOR, rival=WAVE, keen="ancestor"),
        *(
            Task("knock-out", name, seed, competing(number), ancestor=WAVE, rival=WAVE, knocked_out=name)
            for number, name in enumerate(KNOCKED_OUT, start=3)
        ),
        Task("modes alone", "all", seed, both),
        Task("modes", "all", seed, both, processes=2),
    ]


def classes(text: str) -> dict[str, str]:
    """The class of each instruction, from what the program prints for --instructions."""
    rows = list(csv.DictReader(text.splitlines()))
    if not rows or not {"instruction", "class"} <= set(rows[0]):
        raise InputError("digital_evolution --instructions: no columns instruction and class")
    return {row["instruction"]: row["class"] for row in rows}


def make_keen(genome: str) -> str:
    """The ancestor's text, but that it bears as soon as it can pay. Raises InputError if it is not the ancestor's."""
    if genome.count(_SAVING) != 1:
        raise InputError(f"the ancestor's genome: expected {_SAVING.strip()} in it, once")
    return genome.replace(_SAVING, _KEEN)


def knock_out(genome: str, name: str, class_of: Mapping[str, str]) -> tuple[str, int]:
    """A genome's text with `nop` for each instruction of a class, and how many those were."""
    lines, count = [], 0
    for line in genome.splitlines():
        words = line.split("#")[0].split()
        is_hit = bool(words) and class_of.get(words[0]) == name
        lines.append("  nop" if is_hit else line)
        count += is_hit
    return "\n".join(lines) + "\n", count


Row = dict[str, Any]  #: experiment, case, seed, measure, value


def measure(task: Task, folder: pathlib.Path) -> list[Row]:
    """What one launch came to: rows of evidence.csv. Raises InputError."""

    def rows(case: str, values: Mapping[str, float]) -> Iterable[Row]:
        for name, value in values.items():
            yield {"experiment": task.experiment, "case": case, "seed": task.seed, "measure": name, "value": value}

    if task.experiment in ("modes", "modes alone"):
        return [row for mode, values in _modes(folder).items() for row in rows(f"{mode} {MODE_NAMES[mode]}", values)]
    if task.experiment == "filling":
        history = evolution_records.read_history(folder / RECORD)
        return list(rows(task.case, {"doubling_time": doubling_time(history["updates"], history["cells"], history["places"].max())}))
    if task.is_evolution:
        found = evolution_records.outcomes(evolution_records.read_history(folder / RECORD))
        return list(rows(task.case, found | _kin_cells(folder, mode=0)))
    values = {"share": _share(folder / ROWS), "advantage": advantage(evolution_records.read_history(folder / RECORD))}
    if task.knocked_out:
        genome = (folder / KNOCKED).read_text(encoding="utf-8")
        values["num_replaced"] = float(genome.split("# knocked out: ")[1].split()[0])
    return list(rows(task.case, values))


def _table(path: pathlib.Path, columns: Iterable[str]) -> pandas.DataFrame:
    try:
        table = pandas.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    if missing := set(columns) - set(table.columns):
        raise InputError(f"{path}:1: no column {', '.join(sorted(missing))}")
    return table


def _share(path: pathlib.Path) -> float:
    """The rival's share of the cells at the end."""
    table = _table(path, ("cells", "cells_of_rival"))
    cells = table["cells"].sum()
    return float(table["cells_of_rival"].sum() / cells) if cells else math.nan


def advantage(history: pandas.DataFrame) -> float:
    """How fast the rival gains: growth of the logarithm of the ratio of its cells to the others', for each 1000 updates,
    while both have a twentieth of the cells, mean over replicates."""
    return float(numpy.mean([_advantage(run) for _, run in history.groupby("replicate")]))


def _advantage(history: pandas.DataFrame) -> float:
    share = history["cells_of_rival"] / history["cells"]
    inside = (share.between(0.05, 0.95)).cummin()
    while_both = history[inside]
    if len(while_both) < 3:
        return math.nan
    odds = numpy.log(while_both["cells_of_rival"] / (while_both["cells"] - while_both["cells_of_rival"]))
    return 1000 * float(numpy.polyfit(while_both["updates"], odds, 1)[0])


def doubling_time(updates: Any, cells: Any, places: float) -> float:
    """Updates in which a population doubles, on average from twice its founders to a half of the world; NaN if it never
    gets there."""
    updates, cells = numpy.asarray(updates, dtype=float), numpy.asarray(cells, dtype=float)
    low, high = 2 * cells[0], places / 2
    reached = [numpy.flatnonzero(cells >= level) for level in (low, high)]
    if not all(len(each) for each in reached) or low >= high:
        return math.nan
    begin, end = (_crossing(updates, cells, int(each[0]), level) for each, level in zip(reached, (low, high)))
    return (end - begin) / math.log2(high / low)


def _crossing(updates: Any, cells: Any, index: int, level: float) -> float:
    if index == 0:
        return float(updates[0])
    logs = numpy.log2(numpy.maximum(cells[index - 1 : index + 1], 0.5))
    return float(numpy.interp(math.log2(level), logs, updates[index - 1 : index + 1]))


def _modes(folder: pathlib.Path) -> dict[int, dict[str, float]]:
    rates = _table(folder / ROWS, ("mode", "updates_per_second")).groupby("mode")["updates_per_second"].mean()
    history = evolution_records.read_history(folder / RECORD)
    found = {}
    for mode, run in history.groupby("mode"):
        values = evolution_records.outcomes(run)
        values["generations"] = 1000 * float(run["mean_generation"].iloc[-1] / run["updates"].iloc[-1])
        del values["generation"]
        found[int(mode)] = {"rate": float(rates[mode]), **values, **_kin_cells(folder, int(mode))}
    return found


def _kin_cells(folder: pathlib.Path, mode: int) -> dict[str, float]:
    """How many cells a cell's kin group has at the end, in the mean; not what cells estimate."""
    return {"kin_cells": evolution_records.kin_sizes(evolution_records.run_folder(folder / RECORD, mode))["size"]}
