"""Puts a report together: one page with its style, script and data in it."""

from __future__ import annotations

import importlib.resources
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from netuit import results, units
from netuit.report import quality_charts, run_charts, svg, takes, worlds
from netuit.report.inputs import Inputs, Launch, is_evolution

_FACTS = {
    "program": "Program",
    "version": "Version",
    "started": "Started",
    "graph": "Graph",
    "nodes": "Nodes",
    "edges": "Edges",
    "processes": "Processes",
    "threads": "Threads in each",
    "placement": "Placement",
    "addressing": "Addressing",
    "modes": "Modes",
    "replicates": "Replicates",
    "seed": "First seed",
    "mpi_library": "MPI",
    "compiler": "Compiler",
    "build_type": "Build",
    "compile_flags": "Flags",
    "command_line": "Command",
}


def _part(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def make_page(inputs: Inputs, others: Sequence[Inputs] = ()) -> str:
    """The page of some results, and below them of others, each by themselves. Colours over time are of the first alone."""
    notes: list[str] = []
    player = takes.make_takes(inputs, notes)
    whole = inputs.whole
    converged = ""
    if player["takes"]:
        notes += [note for stage in player["stages"] for note in stage.pop("notes")]
        converged = _part("player.html").replace("</h2>", f"</h2><p>{svg.escape(_played(inputs, player['takes']))}</p>", 1)
    elif not _evolves(inputs):
        notes.append("No final colours (--colors-output, with --frames for all that came before): no graph is shown.")
    body = _body(inputs, converged, notes)
    for other in others:
        heading = f"<h1>{svg.escape(_title(other.whole))}</h1><p class=\"lead\">{svg.escape(_lead(other.whole))}</p>"
        left_out = ["Colours over time: only those of the first results are shown."] if other.launches else []
        body += f'<article>{heading}{_body(other, "", left_out)}</article>'
    words = {
        "TITLE": svg.escape(_title(whole)),
        "LEAD": svg.escape(_lead(whole)),
        "STYLE": _part("page.css"),
        "BODY": body,
        "FOOT": "Drawn by <code>tools/report</code>. All data are in this file; nothing is fetched.",
        "TAKES": json.dumps(player, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "SCRIPT": _part("drawing.js") + _part("player.js"),
    }
    page, *pieces = _part("page.html").split("@")
    for piece in pieces:  # words that look like a mark stay as they are
        page += words.get(piece, piece)
    return page


def _body(inputs: Inputs, converged: str, notes: list[str]) -> str:
    """What is between a heading and the next. converged: the graph as it converged."""
    figures = _figures(inputs, notes)
    body = _warnings(inputs.whole) + _tiles(inputs.whole) + converged + worlds.section(inputs.films, notes)
    if figures:
        body += f'<section><h2>Measured</h2><div class="charts">{"".join(figures)}</div></section>'
    if notes:
        items = "".join(f"<li>{svg.escape(note)}</li>" for note in dict.fromkeys(notes))
        body += f'<section class="left-out"><h2>Left out</h2><ul>{items}</ul></section>'
    return body + _facts(inputs.whole)


def _played(inputs: Inputs, takes: Sequence[Mapping[str, Any]]) -> str:
    """What one sees, below the heading of the graph as it converged."""
    cases = list(dict.fromkeys(str(take["case"]) for take in takes if take["case"]))
    place = f" Case: {cases[0]}." if len(cases) == 1 else ""
    words = f"Red nodes are in conflict.{place} Play shows which mode is rid of them sooner."
    has_slow = any(launch.rows is not None and "--slow-in-turn" in map(str, launch.manifest.get("command_line", [])) for launch in inputs.launches)
    return words + (" Each worker is slowed on purpose for a while, in turn, as noise on a cluster does it." if has_slow else "")


def _evolves(inputs: Inputs) -> bool:
    """Whether the results are from digital_evolution, which has no colours."""
    return bool(inputs.films) or is_evolution(inputs.whole.rows)


def _figures(inputs: Inputs, notes: list[str]) -> list[str]:
    whole = inputs.whole
    figures: list[str] = []
    if whole.rows is None:
        notes.append("No rows (--output): no rates" + ("." if _evolves(inputs) else " and no conflicts left."))
    else:
        figures += run_charts.rates(whole.rows, notes)
        figures += (run_charts.generations if is_evolution(whole.rows) else run_charts.conflicts_left)(whole.rows, notes)
    if not _evolves(inputs):
        figures += run_charts.conflicts_over_time(inputs, notes)
        if all(launch.frames is None for launch in inputs.launches):
            notes.append("No colours over time (--frames): no conflicts over time.")
    elif not inputs.films:
        notes.append("No film (--record, in the folder of a run): the world is not shown.")
    if whole.quality is not None and quality_charts.has_layers(whole.quality):
        figures += quality_charts.by_layer(whole.quality, notes)
        if not quality_charts.is_sweep(whole.quality):
            figures += quality_charts.by_snapshot(whole.quality[whole.quality["layer"] == whole.quality["layer"].min()])[:1]
        return figures
    figures += run_charts.losses(whole.rows, whole.quality, notes)
    if whole.quality is None:
        notes.append("No quality of service (--quality): no latency, and what was refused and skipped only over whole runs.")
    elif quality_charts.is_sweep(whole.quality):
        figures += quality_charts.latency_by_layout(whole.quality) + quality_charts.agreement(whole.quality)
        notes.append(
            "What changes along a run, or by pair of workers, is not shown for a sweep: name a folder of its runs."
        )
    else:
        figures += quality_charts.by_snapshot(whole.quality) + quality_charts.agreement(whole.quality)
        figures += quality_charts.latency_by_pair(whole.quality, notes)
    return figures


def _title(whole: Launch) -> str:
    name = str(whole.manifest.get("sweep") or whole.manifest.get("name") or whole.manifest.get("program") or "Results")
    return name.rsplit("/", 1)[-1].replace("_", " ").capitalize()


def _lead(whole: Launch) -> str:
    words = []
    if whole.rows is not None:
        graphs = whole.rows["graph"].astype(str).str.rsplit("/").str[-1].unique()
        words.append(", ".join(graphs[:3]) + (" and others" if len(graphs) > 3 else ""))
        cases = whole.rows[["processes", "threads"]].drop_duplicates()
        words.append(
            ", ".join(f"{row['processes']:g}x{row['threads']:g}" for _, row in cases.head(8).iterrows())
            + " workers (processes x threads)"
        )
    if whole.manifest.get("started"):
        words.append(str(whole.manifest["started"]))
    return "; ".join(words)


def _warnings(whole: Launch) -> str:
    found = []
    if whole.manifest.get("complete") is False:
        num_failed = len(whole.manifest.get("failed", []))
        reason = whole.manifest.get("stopped_by") or (f"{num_failed} launches failed" if num_failed else "reason unknown")
        found.append(f"This run was cut short ({reason}); what it had is shown.")
    if whole.manifest.get("simulated") is True:
        found.append("Simulated: times are those of a simulated cluster.")
    if whole.rows is not None:
        if (whole.rows["balanced"] != 1).any():
            found.append("The accounting of messages is wrong: attempted, accepted and received do not add up.")
        crowded = whole.rows["oversubscribed"] == 1
        if crowded.any():
            part = "All" if crowded.all() else "Some"
            found.append(f"{part} of these runs had more workers than CPUs: they took turns, and rates say little.")
    return "".join(f'<p class="warning">{svg.escape(text)}</p>' for text in found)


def _tiles(whole: Launch) -> str:
    """A tile for each mode; none where there are several graphs, cases or layouts."""
    if whole.rows is None:
        return ""
    rows = whole.rows
    keys = [key for key in ("graph", "case", "processes", "threads") if key in rows.columns]
    if len(rows[keys].drop_duplicates()) > 1:
        return ""
    base = _rate(rows[rows["mode"] == 0])
    unit = "updates per second and worker, each of all its nodes"
    if "num_nodes" in rows:
        unit = f"{'cell' if is_evolution(rows) else 'node'} updates per second, all workers together"
    items = []
    for mode, table in rows.groupby("mode"):
        rate = _rate(table)
        of_base = f" · {rate / base:.2f} x mode 0" if base > 0 and mode != 0 else ""
        outcome = _outcome(table)
        name = run_charts.mode_names(table).popitem()[1]
        items.append(
            f'<li class="{run_charts.mode_class(mode)}"><span class="name">{svg.escape(name)}</span>'
            f"<b>{units.short(rate)}/s</b><span>{unit}{of_base}</span>"
            f"<span>{outcome}</span>{_worth(table)}</li>"
        )
    return f'<ul class="tiles" aria-label="Modes">{"".join(items)}</ul>'


def _rate(rows: pandas.DataFrame) -> float:
    """Updates of nodes per second of all workers, means over replicates: unlike a worker's own rate, it does not rise when the worker's
    part shrinks. Where rows do not tell a worker's nodes, the mean of the workers' own rates."""
    if "num_nodes" not in rows:
        return float(rows["updates_per_second"].mean())
    by_worker = (rows["updates_per_second"] * rows["num_nodes"]).groupby([rows["process"], rows["thread"]])
    return float(by_worker.mean().sum())


def _worth(rows: pandas.DataFrame) -> str:
    """How many of a mode's updates are effective, and how old values were, if the rows tell."""
    words = []
    share = results.effective_share([run.to_dict("records") for _, run in rows.groupby("replicate")]) if "num_nodes" in rows else None
    if share is not None:
        words.append(f"{units.percent(share)} of updates effective")
    elif "effective_updates" in rows:
        words.append("effective updates unknown")
    if "staleness_max" in rows and rows["staleness_max"].notna().any():
        oldest = rows["staleness_max"].max()
        words.append(f"values at most {oldest:,.0f} update{'' if oldest == 1 else 's'} old{_bound(rows)}")
    return f"<span>{'; '.join(words)}</span>" if words else ""


def _bound(rows: pandas.DataFrame) -> str:
    """Whether values were as new as the slack demands, if there was one."""
    if "slack" not in rows or not rows["slack"].notna().any():
        return ""
    is_kept = (rows["staleness_max"].fillna(0) <= rows["slack"] + 1).all()
    return f", {'within the' if is_kept else 'more than the'} slack of {rows['slack'].max():,.0f}"


def _outcome(rows: pandas.DataFrame) -> str:
    """What came of a mode's runs, in a few words."""
    if is_evolution(rows):
        return f"{(1000 * rows['mean_generation'] / rows['updates']).mean():.2f} generations per 1000 updates"
    conflicts = rows.groupby("replicate")["conflicts"].first().mean()
    return f"{f'{conflicts:,.1f}'.removesuffix('.0')} conflicts left"


def _facts(whole: Launch) -> str:
    rows = []
    if whole.demo:
        rows.append(_fact("Command of the demo", shlex.join(map(str, whole.demo["command_line"]))))
    for key, name in _FACTS.items():
        value = whole.manifest.get(key)
        if value in (None, "", []):
            continue
        if isinstance(value, list):
            value = _command(whole.manifest) if key == "command_line" else ", ".join(map(str, value))
        rows.append(_fact("Command of the colours over time" if whole.demo and key == "command_line" else name, value))
    parts = (
        f'<table class="facts"><tbody>{"".join(rows)}</tbody></table>'
        if rows
        else "<p>No manifest (X.json) was given.</p>"
    )
    if whole.hosts is not None:
        columns = [column for column in whole.hosts.columns if column != "host"]
        headings = [column.replace("_", " ") for column in columns]
        parts += svg.table(headings, _cells(whole.hosts, columns), name="Hosts")
    words = "If there were several runs, this is one of them: that whose colours are shown, if any are."
    if whole.demo:
        words = ("The command of the demo makes all of this again, in the folder that it was given in: the runs of the charts of rates and "
                 "of conflicts left, and this page. All below it is of the run whose colours over time are shown, if any are.")  # fmt: skip
    return f"<section><h2>How it was run</h2>{f'<p>{words}</p>' if rows else ''}{parts}</section>"


def _fact(name: str, value: object) -> str:
    return f'<tr><th scope="row">{name}</th><td>{svg.escape(value)}</td></tr>'


def _command(manifest: Mapping[str, Any]) -> str:
    """The command that runs a program again."""
    words = shlex.join(map(str, manifest["command_line"]))
    processes = manifest.get("processes", 1)
    return words if processes in (None, 1) else f"mpirun -n {processes} {words}"


def _cells(table: pandas.DataFrame, columns: list[str]) -> list[list[Any]]:
    return [[row[column] for column in columns] for _, row in table.iterrows()]
