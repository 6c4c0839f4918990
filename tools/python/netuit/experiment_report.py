"""What tools/experiment shows at the end of a sweep: a table, figures, what the sweep was made to tell, and a page."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import matplotlib

matplotlib.use("Agg")  # no display needed

import matplotlib.pyplot as plt
import pandas

from netuit import InputError, OutputError, files, footers, headline, report
from netuit.analysis import by_run
from netuit.footers import DISTURBED_CPUS
from netuit.intervals import bootstrap_interval, gain_interval, ratio_interval
from netuit.loading import load
from netuit.result_plots import plot_conflicts, plot_generations, plot_quality, plot_rates
from netuit.style import STYLE, save
from netuit.sweeps import Sweep


def write(parts: Sequence[tuple[pathlib.Path, Sweep]], out: TextIO) -> list[pathlib.Path]:
    """Prints the report of folders of results, with one table of headlines, and keeps it in the first; figures stay in
    the folder that they are of. Gives the paths of all, the page's last."""
    texts: list[str] = []
    measured = []
    loaded = []
    for folder, sweep in parts:
        rows = load(folder / "rows.csv")
        quality = load(folder / "quality.csv") if (folder / "quality.csv").exists() else None
        loaded.append((folder, rows, quality))
        texts.append(summary(rows))
        if "factors" in sweep.reports:
            texts.append(factors(rows, [case.name for case in sweep.cases]))
        if "headline" in sweep.reports:
            measured.append((rows, quality))
    written = [parts[0][0] / "report.txt"]
    if measured:
        lines = headline.table(*measured)
        texts.append(headline.as_text(lines))
        written.append(parts[0][0] / "headline.md")
        files.write_text(written[1], headline.as_markdown(lines))
    text = "\n".join(texts)
    out.write(text)
    files.write_text(written[0], text)
    written += [figure for each in loaded for figure in draw(*each)]
    return written + report.try_report([folder for folder, _ in parts], out)


def summary(rows: pandas.DataFrame) -> str:
    """A line for each case, layout and mode: rates, and conflicts or generations, with bootstrapped 95 % intervals over
    replicates, and the rate of the slowest worker."""
    runs = by_run(rows)
    has_conflicts = "conflicts" in runs
    heading = ["case", "workers", "mode", "updates/s/worker", "95 %", "slowest", "per CPU"]
    heading += ["conflicts", "95 %", "of pairs"] if has_conflicts else ["generations/1000 updates"]
    cells: list[Sequence[str]] = []
    keys = ["case", "workers", "mode", "mode_name"]
    for (case, workers, mode, name), group in runs.groupby(keys, observed=True, sort=False):
        rate = group["rate"].to_numpy()
        line = [str(case), workers + (" *" if group["oversubscribed"].any() else "  "), f"{mode} {name}", f"{rate.mean():,.0f}"]
        line += [_interval(rate), f"{group['slowest'].mean():,.0f}", f"{group['rate_per_cpu'].mean():,.0f}"]
        if has_conflicts:
            conflicts = group["conflicts"].to_numpy()
            line += [_count(conflicts.mean()), _interval(conflicts), f"{100 * group['conflict_share'].mean():.2f} %"]
        else:
            line.append(f"{group['generations'].mean():.2f}")
        cells.append(line)
    lines = aligned(heading, cells, (0, 1, 2))
    if runs["oversubscribed"].any():
        lines.append("* oversubscribed: more workers than CPUs, which take turns")
    disturbance = rows.groupby("key", observed=True)["others_cpus"].first().mean()
    if disturbance > DISTURBED_CPUS:
        lines.append(
            f"DISTURBED: other work took {disturbance:.2f} CPUs meanwhile, on average; column others_cpus tells which "
            "launches it met"
        )
    return "\n".join(lines) + "\n"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _interval(values: Any) -> str:
    if len(values) < 2:
        return "-"
    low, high = bootstrap_interval(values)
    return f"{low:,.0f} to {high:,.0f}"


def factors(rows: pandas.DataFrame, order: list[str]) -> str:
    """For each case and number of workers: what is lost per CPU against one worker, and how much of the first case's
    loss that explains, both with bootstrapped 95 % intervals over replicates."""
    runs = by_run(rows)
    rates = {
        (str(case), layout): group["rate_per_cpu"].to_numpy()
        for (case, layout), group in runs.groupby(["case", "workers"], observed=True)
    }
    crowded = set(runs.loc[runs["oversubscribed"], "workers"])
    present = [case for case in order if any(case == of for of, _ in rates)]
    base = present[0]
    layouts = [layout for layout in dict.fromkeys(runs["workers"]) if (base, layout) in rates]
    first = layouts[0]
    heading = ("case", "workers", "updates/s/CPU", f"lost against {first}", f"of {base}'s loss, explains")
    cells: list[Sequence[str]] = []
    for case in present:
        for layout in layouts:
            if (case, layout) not in rates or (case, first) not in rates:
                continue
            lost = explains = "-"
            if layout != first:
                kept = [100 * share for share in ratio_interval(rates[case, layout], rates[case, first])]
                lost = f"{100 - kept[0]:.1f} % ({100 - kept[2]:.1f} to {100 - kept[1]:.1f})"
                if case != base:
                    ours, theirs = ((rates[each, layout], rates[each, first]) for each in (case, base))
                    gain = [100 * share for share in gain_interval(ours, theirs)]
                    explains = f"{gain[0]:+.1f} points ({gain[1]:+.1f} to {gain[2]:+.1f})"
            cells.append((case, layout + (" *" if layout in crowded else "  "), f"{rates[case, layout].mean():,.0f}", lost, explains))
    return "\n".join(aligned(heading, cells, (0, 1))) + "\n"


def aligned(heading: Sequence[str], cells: Sequence[Sequence[str]], texts: Sequence[int]) -> list[str]:
    """Lines of a table; columns in `texts` are to the left."""
    widths = [max(len(row[column]) for row in [heading, *cells]) for column in range(len(heading))]

    def line(row: Sequence[str]) -> str:
        words = [
            cell.ljust(width) if column in texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        return "  ".join(words).rstrip()

    body = [line(row) for row in cells]
    return [line(heading), "-" * max(map(len, [line(heading), *body])), *body]


def draw(folder: pathlib.Path, rows: pandas.DataFrame, quality: pandas.DataFrame | None) -> list[pathlib.Path]:
    """rates.png and conflicts.png, or generations.png, a panel for each case that compares modes, or one that compares the cases;
    quality.png, or one a case where cases have the same layouts. Where no run left a conflict, or had a generation, the foot of
    rates.png says so instead. Each has an SVG file beside it. Gives their paths. Raises OutputError."""
    per_cpu = bool(rows["oversubscribed"].any())
    column, name, plot = "conflicts", "conflicts", plot_conflicts
    if column not in rows:
        column, name, plot = "mean_generation", "generations", plot_generations
    rates = _panels(rows, lambda *given, **named: plot_rates(*given, per_cpu=per_cpu, **named))
    has_any = bool(rows[column].any())
    if not has_any:
        footers.add(rates, f"{name}: none in any run")
    paths = [_save(rates, folder / "rates.png")]
    if has_any:
        paths.append(_save(_panels(rows, plot, column), folder / f"{name}.png"))
    else:
        for suffix in (".png", ".svg"):
            path = (folder / name).with_suffix(suffix)
            try:
                path.unlink(missing_ok=True)  # of an earlier time
            except OSError as error:
                raise OutputError(f"{path}: {error.strerror}") from None
    for name, part in _quality_figures(quality):
        try:
            paths.append(_save(plot_quality(part), folder / f"{name}.png"))
        except InputError:
            pass  # no metric was defined: no messages between workers
    return paths


def _quality_figures(quality: pandas.DataFrame | None) -> list[tuple[str, pandas.DataFrame]]:
    """One figure of all cases, or one a case where two have the same layout."""
    if quality is None or len(quality) == 0:
        return []
    if quality.groupby(["processes", "threads"], observed=True)["case"].nunique().max() == 1:
        return [("quality", quality)]
    cases = list(dict.fromkeys(quality["case"].astype(str)))
    return [(f"quality-{case.replace('_', '-')}", quality[quality["case"] == case]) for case in cases]


def _panels(rows: pandas.DataFrame, plot: Callable[..., Any], column: str = "") -> Any:
    """A panel for each case that compares modes, or one that compares the cases. column: a case in which it is 0 everywhere has no
    panel; the foot names it."""
    num_modes = rows.groupby("case", observed=True, sort=False)["mode"].nunique()
    compared = [case for case in dict.fromkeys(rows["case"].astype(str)) if num_modes[case] > 1]
    zeros = [case for case in compared if column and not rows.loc[rows["case"] == case, column].any()]
    cases = [case for case in compared if case not in zeros] or compared
    with plt.rc_context(STYLE):
        if not cases:
            return plot(rows, by="case").figure
        widths = [max(3.4, 1.2 + 0.95 * _num_layouts(rows, case)) for case in cases]
        figure, axes = plt.subplots(
            1, len(cases), figsize=(sum(widths), 3.9), squeeze=False, layout="constrained", width_ratios=widths
        )
        handles: dict[str, Any] = {}
        for panel, case in zip(axes[0], cases):
            plot(rows[rows["case"] == case], panel)
            handles |= dict(zip(*reversed(panel.get_legend_handles_labels())))
            panel.get_legend().remove()
            panel.set_title(case.replace("_", " "), fontsize=10)
            if panel is not axes[0][0]:
                panel.set_ylabel("")
        names = sorted(handles)
        figure.legend([handles[name] for name in names], names, ncol=len(names), loc="outside upper center", frameon=False)
    if zeros:
        footers.add(figure, f"none in any run: {', '.join(case.replace('_', ' ') for case in zeros)}")
    return figure


def _num_layouts(rows: pandas.DataFrame, case: str) -> int:
    return len(rows.loc[rows["case"] == case, ["processes", "threads"]].drop_duplicates())


def _save(figure: Any, path: pathlib.Path) -> pathlib.Path:
    save(figure, path, dpi=130)
    return path
