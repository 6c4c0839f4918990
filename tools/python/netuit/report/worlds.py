"""Pictures of digital evolution's world over time, as images in the page."""

from __future__ import annotations

import base64
import io
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from netuit import evolution_records, units
from netuit.report import svg

MOST_FILMS, MOST_PICTURES = 6, 6
MOST_PLACES = 240  #: along a side of an image


def section(films: Sequence[pathlib.Path], notes: list[str]) -> str:
    """A figure for each film: kin groups, genomes and resource at a few times. Empty where there is no film."""
    if len(films) > MOST_FILMS:
        notes.append(f"The worlds of {MOST_FILMS} of {len(films)} runs are shown.")
    figures = [_figure(path, notes) for path in films[:MOST_FILMS]]
    return f'<section id="worlds"><h2>The world</h2>{"".join(figures)}</section>' if figures else ""


def _figure(path: pathlib.Path, notes: list[str]) -> str:
    import numpy

    from netuit import evolution_plots

    frames = _spread(list(evolution_records.read_frames(path)))
    commonest, _ = evolution_plots.commonest_genomes(numpy.concatenate([frame.genome.ravel() for frame in frames]))
    top = evolution_plots.top_stockpile(numpy.concatenate([frame.stockpile[frame.kin != 0] for frame in frames]))
    stride = max(math.ceil(max(frame.kin.shape) / MOST_PLACES) for frame in frames)
    if stride > 1:
        notes.append(f"To keep this page small, one place in {stride} along each side of the world is shown.")
    lines = []
    for name, images in (
        ("kin groups", [evolution_plots.kin_image(frame.kin) for frame in frames]),
        ("genomes", [evolution_plots.genome_image(frame.genome, commonest) for frame in frames]),
        ("resource held", [evolution_plots.stockpile_image(frame, top) for frame in frames]),
    ):
        cells = "".join(
            f'<td><img class="world" alt="{name} after {units.seconds(frame.elapsed_s)}" src="{_as_data(image[::stride, ::stride])}"></td>'
            for frame, image in zip(frames, images)
        )
        lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    times = "".join(f'<th scope="col">{units.seconds(frame.elapsed_s)}</th>' for frame in frames)
    drawing = f'<div class="scroll-x"><table class="worlds"><thead><tr><td></td>{times}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    first, last = frames[0], frames[-1]
    caption = (
        f"From the first picture to the last, cells go from {(first.kin != 0).sum():,} to {(last.kin != 0).sum():,}, and kin groups from "
        f"{_num_labels(first.kin):,} to {_num_labels(last.kin):,}. A kin group keeps its colour. Of genomes, the commonest of these "
        "pictures have a colour each, others are grey. Resource "
        f"goes from none, dark, to {top:.2g} and more, light. Places without a cell are black."
    )
    numbers = svg.table(
        ["time", "cells", "kin groups", "genomes", "resource held, mean"],
        [
            [units.seconds(frame.elapsed_s), int((frame.kin != 0).sum()), _num_labels(frame.kin), _num_labels(frame.genome), _mean_held(frame)]
            for frame in frames
        ],
    )
    return svg.figure(f"World of {path.parent.name.replace('-', ', ')}", drawing, caption, "", numbers)


def _spread(frames: list[evolution_records.Frame]) -> list[evolution_records.Frame]:
    """A few of them, evenly over the film, the first and the last included."""
    last, count = len(frames) - 1, min(len(frames), MOST_PICTURES)
    return [frames[round(number * last / max(1, count - 1))] for number in range(count)]


def _num_labels(labels: Any) -> int:
    return len(set(labels.ravel().tolist()) - {0})


def _mean_held(frame: evolution_records.Frame) -> str:
    held = frame.stockpile[frame.kin != 0]
    return f"{held.mean():.3f}" if held.size else "-"


def _as_data(image: Any) -> str:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image).save(file, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
