"""What the evidence says: a table with bootstrapped intervals, sentences, and a figure."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import matplotlib

matplotlib.use("Agg")  # no display needed

import pandas

from netuit import files
from netuit.evidence_plots import COLUMNS, base_mode, cases, differences, draw, knocked, never_filled, values
from netuit.evidence_tables import OF_MODES, absent, as_markdown
from netuit.experiment_report import aligned
from netuit.intervals import bootstrap_interval
from netuit.style import save

#: Measures in the table: experiment, measure, what to call it, how to write it.
_MEASURES = (
    ("competition", "share", "rival's share of cells at the end", "{:.3f}"),
    ("competition", "advantage", "rival's gain, ln of odds per 1000 updates", "{:.2f}"),
    ("knock-out", "share", "share of cells without the class at the end", "{:.3f}"),
    ("knock-out", "advantage", "their gain, ln of odds per 1000 updates", "{:.2f}"),
    ("knock-out", "num_replaced", "instructions of the class in the genome", "{:.1f}"),
    ("filling", "doubling_time", "doubling time in an empty world, updates", "{:.1f}"),
    ("evolution", "births_within_kin", "births that stay in the kin group", "{:.3f}"),
    ("evolution", "kin_cells", "kin group of a cell at the end, cells", "{:.1f}"),
    ("evolution", "kin_size", "the same as cells estimate it", "{:.1f}"),
    ("evolution", "shared", "resource shared per 1000 updates and cell", "{:.3f}"),
    ("evolution", "shared_to_kin", "of that, to kin", "{:.3f}"),
    ("evolution", "births", "births per 1000 updates and cell", "{:.2f}"),
    ("evolution", "generation", "mean generation", "{:.0f}"),
    ("evolution", "genome_length", "mean genome length, instructions", "{:.1f}"),
    ("modes", "rate", "updates per second and worker", "{:.0f}"),
    ("modes", "generations", "generations per 1000 updates", "{:.2f}"),
    ("modes", "genome_length", "mean genome length, instructions", "{:.1f}"),
    ("modes", "kin_cells", "kin group of a cell at the end, cells", "{:.1f}"),
    ("modes", "kin_size", "the same as cells estimate it", "{:.1f}"),
    ("modes", "harvested", "resource harvested per 1000 updates and cell", "{:.2f}"),
    ("modes", "births_within_kin", "births that stay in the kin group", "{:.3f}"),
)


def write(folder: pathlib.Path, rows: Iterable[dict[str, Any]], out: TextIO) -> list[pathlib.Path]:
    """Writes evidence.csv, evidence.png, evidence.md and report.txt, and prints the last. Gives their paths. Raises
    OutputError."""
    table = pandas.DataFrame(list(rows), columns=list(COLUMNS))
    files.write_text(folder / "evidence.csv", table.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
    text = as_text(table) + "\n" + sentences(table)
    out.write(text)
    files.write_text(folder / "report.txt", text)
    files.write_text(folder / "evidence.md", as_markdown(table))
    figure = draw(table)
    save(figure, folder / "evidence.png", dpi=110)
    return [folder / name for name in ("evidence.csv", "evidence.png", "evidence.md", "report.txt")]


def as_text(table: pandas.DataFrame) -> str:
    """A line for each case and measure: mean over seeds, bootstrapped 95 % interval, least, greatest, and how many."""
    cells: list[Sequence[str]] = []
    for experiment, measure, name, form in _MEASURES:
        for case in cases(table, experiment):
            found = values(table, experiment, case, measure)
            if len(found):
                numbers = [found.mean(), *bootstrap_interval(found), found.min(), found.max()]
                mean, low, high, least, most = (form.format(number) for number in numbers)
                cells.append((experiment, case, name, mean, f"{low} to {high}", f"{least} to {most}", str(len(found))))
    heading = ("experiment", "case", "measure", "mean", "95 %", "range", "seeds")
    return "\n".join(aligned(heading, cells, (0, 1, 2))) + "\n"


def sentences(table: pandas.DataFrame) -> str:
    """What follows, in words, where it was measured."""
    said = []
    shares = values(table, "competition", "evolved", "share")
    if len(shares):
        low, high = bootstrap_interval(shares)
        verdict = "beat" if low > 0.5 else "are beaten by" if high < 0.5 else "are not told apart from"
        said.append(f"The evolved {verdict} their ancestor: {_share(shares)} of the cells, {_interval(low, high)}.")
    shares = values(table, "competition", "genomes ignored", "share")
    if len(shares):
        low, high = bootstrap_interval(shares)
        verdict = "contains" if low <= 0.5 <= high else "DOES NOT contain"
        said.append(f"Where genomes do nothing, the interval {verdict} one half: {_share(shares)}, {_interval(low, high)}.")
    for case, who in (("keen ancestor", "An ancestor that bears as soon as it can pay has"), ("against keen ancestor", "Against it, the evolved have")):
        shares = values(table, "competition", case, "share")
        if len(shares):
            said.append(f"{who} {_share(shares)} of the cells, {_interval(*bootstrap_interval(shares))}.")
    for case in cases(table, "filling"):
        times, num_never = values(table, "filling", case, "doubling_time"), never_filled(table, case)
        never = f"; {num_never} of {len(times) + num_never} never fill half of it" if num_never else ""
        found = "does not double"
        if len(times):
            low, high = bootstrap_interval(times)
            found = f"doubles in {times.mean():.0f} updates, 95 % interval {low:.0f} to {high:.0f}"
        said.append(f"In an empty world, the {case} {found}{never}.")
    for case in cases(table, "knock-out"):
        shares = knocked(table, case)
        if len(shares) < 2:
            seen = f"one genome comes to {_share(shares)}" if len(shares) else "nothing is to be seen"
            said.append(f"Without {case}, {seen}{absent(table, case)}.")
            continue
        low, high = bootstrap_interval(shares)
        verdict = "lose to" if high < 0.5 else "beat" if low > 0.5 else "are not told apart from"
        said.append(f"Without {case}, the evolved {verdict} the whole: {_share(shares)}, {_interval(low, high)}{absent(table, case)}.")
    base = base_mode(table)
    said += [_of_modes(table, base, measure, name) for measure, name, _ in OF_MODES if len(values(table, "modes", base, measure))]
    return "\n".join(said) + "\n"


def _of_modes(table: pandas.DataFrame, base: str, measure: str, name: str) -> str:
    """Which modes have more or less of something than mode 0, seed by seed."""
    found: dict[str, list[str]] = {"more": [], "less": [], "not told apart": []}
    for case in cases(table, "modes"):
        apart = differences(table, "modes", case, base, measure)
        if case != base and len(apart):
            low, high = bootstrap_interval(apart)
            found["more" if low > 0 else "less" if high < 0 else "not told apart"].append(case[0])
    told = "; ".join(f"{verdict} in {', '.join(modes)}" for verdict, modes in found.items() if modes)
    return f"Against mode 0, {name}: {told or 'no other mode'}."


def _share(shares: Any) -> str:
    return f"{100 * shares.mean():.1f} %"


def _interval(low: float, high: float) -> str:
    return f"95 % interval {100 * low:.1f} to {100 * high:.1f}"
