"""Colours over time, as the page plays them."""

from __future__ import annotations

import math
from typing import Any

import pandas

from netuit import InputError
from netuit.report.inputs import Inputs, Launch
from netuit.report.stage import make_stage

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_CHARACTERS = 3_000_000  # of colours in a page, so that it stays below 5 MB
MOST_TAKES = 20


def make_takes(inputs: Inputs, notes: list[str]) -> dict[str, Any]:
    """{"stages": …, "takes": …} of all launches that left final colours; what is left out is said in `notes`."""
    runs = []
    for launch in inputs.launches:
        if launch.colors is not None:
            runs += [
                (launch, mode, replicate, table)
                for (mode, replicate), table in launch.colors.groupby(["mode", "replicate"])
            ]
        else:
            notes.append(
                "Frames without final colours (--colors-output) cannot be drawn: where the nodes are is not known."
            )
    if len(runs) > MOST_TAKES:
        notes.append(f"To keep this page small, no more than {MOST_TAKES} of {len(runs)} runs can be played.")
        runs = sorted(runs, key=lambda run: run[2])[:MOST_TAKES]  # first replicates first
    stages: list[dict[str, Any]] = []
    takes: list[dict[str, Any]] = []
    for launch, mode, replicate, table in runs:
        rows = launch.rows if launch.rows is not None else inputs.whole.rows
        graph, num_edges = ("torus", 0) if rows is None else (str(rows["graph"].iloc[0]), int(rows["edges"].iloc[0]))
        folders = [launch.folder, inputs.whole.folder, inputs.whole.folder.parent]
        stage = make_stage(table, graph, num_edges, folders)
        if stage not in stages:
            stages.append(stage)
        takes.append(_take(launch, rows, table, int(mode), int(replicate)) | {"stage": stages.index(stage)})
    if takes and not any(len(take["times"]) > 1 for take in takes):
        notes.append("No colours over time (--frames): the final ones are shown.")
    return {"stages": stages, "takes": _thinned(takes, notes)}


def _take(
    launch: Launch, rows: pandas.DataFrame | None, table: pandas.DataFrame, mode: int, replicate: int
) -> dict[str, Any]:
    names: dict[int, str] = {} if rows is None else dict(zip(rows["mode"].astype(int), rows["mode_name"]))
    take = {
        "mode": mode,
        "replicate": replicate,
        "case": "" if rows is None else case_name(rows),
        "name": names.get(mode, "").replace("_", " "),
    }
    frames = launch.frames
    if frames is not None:
        frames = frames[(frames["mode"] == mode) & (frames["replicate"] == replicate)].sort_values("elapsed_s")
    if frames is not None and len(frames):
        _check_frames(launch, frames, len(table))
        return take | {
            "times": frames["elapsed_s"].round(6).tolist(),
            "frames": frames["colors"].tolist(),
            "conflicts": frames["conflicts"].astype(int).tolist(),
        }
    colors = table.sort_values("node")["color"].astype(int)
    return take | {"times": [0.0], "conflicts": [-1], "frames": ["".join(DIGITS[color % 62] for color in colors)]}


def case_name(rows: pandas.DataFrame) -> str:
    """What tells a launch's rows from another's: the case of a sweep if there is one, and the layout."""
    layout = f"{rows['processes'].iloc[0]:g}x{rows['threads'].iloc[0]:g}"
    return f"{rows['case'].iloc[0]}, {layout}" if "case" in rows.columns else layout


def _check_frames(launch: Launch, frames: pandas.DataFrame, num_nodes: int) -> None:
    if (frames["colors"].str.len() != num_nodes).any():
        raise InputError(f"{launch.folder}: a frame has not a colour for each of {num_nodes} nodes")
    if not frames["colors"].str.fullmatch("[0-9a-zA-Z]*").all():
        raise InputError(f"{launch.folder}: a frame has a colour that is not a digit or letter")


def _thinned(takes: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    """No more than a page should hold: first replicates of the first cases, and then fewer frames of each."""
    size = sum(len(frame) for take in takes for frame in take["frames"])
    if size > MOST_CHARACTERS and any(take["replicate"] for take in takes):
        takes = [take for take in takes if take["replicate"] == 0]
        notes.append("To keep this page small, only the first replicate of each mode can be played.")
    size = sum(len(frame) for take in takes for frame in take["frames"])
    if size > MOST_CHARACTERS:
        every = math.ceil(size / MOST_CHARACTERS)
        notes.append(f"To keep this page small, one frame in {every} is shown.")
        for take in takes:
            keep = sorted({*range(0, len(take["frames"]), every), len(take["frames"]) - 1})
            for key in ("times", "conflicts", "frames"):
                take[key] = [take[key][index] for index in keep]
    return takes
