"""The evidence in tables of Markdown: means over seeds with bootstrapped 95 % intervals.

`python -m netuit.evidence_tables EVIDENCE.CSV` prints them, as binder/README.md has them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import pandas

from netuit import InputError, ToolError, markdown
from netuit.evidence_plots import against_themselves, base_mode, cases, differences, knocked, never_filled, values
from netuit.loading import load

#: Outcomes that are told by mode: measure, what to call it, how to write it.
OF_MODES = (
    ("rate", "updates per second and worker", "{:,.0f}"),
    ("generations", "generations per 1000 updates", "{:.2f}"),
    ("births", "births per 1000 updates and cell", "{:.2f}"),
    ("harvested", "resource harvested per 1000 updates and cell", "{:.2f}"),
    ("kin_cells", "kin group of a cell at the end, cells", "{:.1f}"),
    ("kin_size", "the same as cells estimate it", "{:.1f}"),
    ("births_within_kin", "births that stay in the kin group", "{:.3f}"),
    ("genome_length", "mean genome length, instructions", "{:.1f}"),
)


def as_markdown(table: pandas.DataFrame) -> str:
    """Two tables in Markdown: the evidence, and outcomes by mode with what they differ by from mode 0, seed by seed, in
    percent of that mode's mean."""
    lines = [f"| means over {table['seed'].nunique()} seeds, 95 % intervals | |", "|---|---|"]
    lines += [f"| {name} | {told} |" for name, told in _evidence(table)]
    for experiment, title in (("modes", "2 processes"), ("modes alone", "1 process")):
        lines += _by_mode(table, experiment, title)
    return "\n".join(lines) + "\n"


def _by_mode(table: pandas.DataFrame, experiment: str, title: str) -> list[str]:
    modes, base = cases(table, experiment), base_mode(table, experiment)
    if not base:
        return []
    others = [case for case in modes if case != base]
    lines = ["", f"| {title} | mode 0 | " + "".join(f"mode {case[0]} less mode 0 | " for case in others).rstrip()]
    lines.append(markdown.rule(2 + len(others)))
    for measure, name, form in OF_MODES:
        if not len(found := values(table, experiment, base, measure)):
            continue
        apart = (100 * differences(table, experiment, case, base, measure) / found.mean() for case in others)
        lines.append(f"| {name} | {markdown.mean(found, form)} | " + " | ".join(markdown.mean(each, "{:+.0f}") + " %" for each in apart) + " |")
    return lines


def _evidence(table: pandas.DataFrame) -> Iterable[tuple[str, str]]:
    """What each line of the first table is of, and its numbers, where it was measured."""
    for experiment, case, measure, name, form in (
        ("competition", "evolved", "share", "evolved against ancestor: share of cells at the end", "{:.3f}"),
        ("competition", "against keen ancestor", "share", "evolved against an ancestor that bears as soon as it can pay", "{:.3f}"),
        ("competition", "keen ancestor", "share", "that ancestor against the plain one", "{:.3f}"),
        ("competition", "genomes ignored", "share", "evolved against ancestor where genomes are ignored", "{:.3f}"),
    ):
        if len(found := values(table, experiment, case, measure)):
            yield name, markdown.mean(found, form)
    for case in cases(table, "knock-out"):
        shares = knocked(table, case)
        told = markdown.mean(shares, "{:.3f}") if len(shares) > 1 else f"{shares[0]:.3f} of one genome" if len(shares) else "not to be had"
        yield f"evolved without {case}, against whole", told + absent(table, case)
    if len(shares := against_themselves(table)):
        yield "whole against itself (genomes that had none of a class)", f"{markdown.mean(shares, '{:.3f}')}; {len(shares)} of them"
    for case in cases(table, "filling"):
        times, num_never = values(table, "filling", case, "doubling_time"), never_filled(table, case)
        never = f"; {num_never} of {len(times) + num_never} never fill half of it" if num_never else ""
        yield f"doubling time in an empty world, {case}, updates", (markdown.mean(times, "{:.0f}") if len(times) else "none") + never
    for case in ("wave", "even"):
        if len(found := values(table, "evolution", case, "kin_cells")):
            yield f"kin group of a cell at the end, {case} harvest, cells", markdown.mean(found, "{:.1f}")
    if len(found := differences(table, "evolution", "wave", "even", "kin_cells")):
        yield "the same, wave less even, seed by seed", markdown.mean(found, "{:+.1f}")


def absent(table: pandas.DataFrame, case: str) -> str:
    """How many of the evolved genomes have no instruction of a class, and so none to lose; empty if all have one."""
    replaced = values(table, "knock-out", case, "num_replaced")
    return f"; {int((replaced == 0).sum())} of {len(replaced)} genomes have none" if (replaced == 0).any() else ""


def main(words: Sequence[str]) -> int:
    """Prints the tables of a file of evidence. Gives the exit code."""
    try:
        if len(words) != 1:
            raise InputError("expected one evidence.csv")
        table = load(words[0])
        if table.attrs["table"] != "evidence":
            raise InputError(f"{words[0]}: no evidence.csv")
    except ToolError as error:
        print(f"conduit: error: {error}", file=sys.stderr)
        return error.exit_code
    sys.stdout.write(as_markdown(table))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
