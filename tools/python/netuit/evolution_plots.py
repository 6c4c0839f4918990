"""Pictures of digital evolution: the world by kin group, genome and resource, as it moves, and how it went."""

from __future__ import annotations

import colorsys
import io
import pathlib
from collections.abc import Sequence
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy
import pandas
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from PIL import Image, ImageDraw, ImageFont

from netuit import evolution_records, files, units
from netuit.style import STYLE, save

GIF_BYTES = 5_000_000  #: at most
_GIF_FRAMES = 125
_OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
_CAPTION = 24  #: pixels below the animation
_EMPTY = (0, 0, 0)
_LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C6D31", "#999999")
_DASHES = ("-", "--", "-.")


def _shades() -> list[tuple[int, int, int]]:
    """Colours for groups without number: the palette that colour-blind readers can tell apart, in four lightnesses."""
    shades = []
    for lightness in (0.55, 0.38, 0.72, 0.84):
        for name in _OKABE_ITO:
            hue, _, saturation = colorsys.rgb_to_hls(*to_rgb(name))
            red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, lightness, saturation * 0.8))
            shades.append((red, green, blue))
    return shades


_SHADES = numpy.array([_EMPTY, *_shades()], dtype=numpy.uint8)


def _kin_indices(labels: Any) -> Any:
    """Which of _SHADES each place has: the same group has the same in every picture."""
    mixed = (labels.astype(numpy.uint64) * 0x9E3779B97F4A7C15) >> numpy.uint64(40)
    return numpy.where(labels == 0, 0, 1 + mixed % (len(_SHADES) - 1)).astype(numpy.uint8)


def kin_image(labels: Any) -> Any:
    """Kin groups as an image, rows x columns x red, green, blue: the same group has one colour in every picture."""
    return _SHADES[_kin_indices(labels)]


def genome_image(labels: Any, commonest: Any) -> Any:
    """Genomes likewise: the first of `commonest` each in a colour of their own, others in greys."""
    greys = 70 + (labels.astype(numpy.uint64) * 0x9E3779B97F4A7C15 >> numpy.uint64(40)) % 130
    image = numpy.repeat(greys[..., None], 3, axis=2).astype(numpy.uint8)
    image[labels == 0] = _EMPTY
    for color, kind in zip(_OKABE_ITO, commonest):
        image[labels == kind] = [round(255 * part) for part in to_rgb(color)]
    return image


def commonest_genomes(labels: Any) -> tuple[Any, Any]:
    """Labels of genomes, commonest first, and how many places have each."""
    kinds, counts = numpy.unique(labels[labels != 0], return_counts=True)
    order = numpy.argsort(-counts, kind="stable")
    return kinds[order], counts[order]


def stockpile_image(frame: evolution_records.Frame, top: float) -> Any:
    """Resource likewise, from dark to light as it goes from none to `top`."""
    image = matplotlib.colormaps["cividis"](numpy.clip(frame.stockpile / top, 0, 1), bytes=True)[..., :3]
    image[frame.kin == 0] = _EMPTY
    return image


def top_stockpile(held: Any) -> float:
    """What is shown as the most that a cell holds: a hundredth of the cells hold more."""
    return (float(numpy.quantile(held, 0.99)) if held.size else 0.0) or 1.0


def draw_world(frame: evolution_records.Frame, title: str, path: pathlib.Path) -> None:
    """Keeps world_figure in a file. Raises OutputError."""
    save(world_figure(frame, title), path, dpi=110)


def world_figure(frame: evolution_records.Frame, title: str) -> Any:
    """One picture of the world three times: by kin group, by genome, by resource."""
    rows, columns = frame.kin.shape
    with plt.rc_context(STYLE):
        side = 4.5  # inches of a panel
        figure = plt.figure(figsize=(3 * side + 0.8, side * rows / columns + 1.5))
        width, height = figure.get_size_inches()
        axes = [
            figure.add_axes((((side + 0.3) * number + 0.1) / width, 0.9 / height, side / width, side * rows / columns / height))
            for number in range(3)
        ]
        axes[0].imshow(kin_image(frame.kin), interpolation="none")
        axes[0].add_collection(LineCollection(_borders(frame.kin), colors="#222222", linewidths=0.5, rasterized=True))
        num_groups, num_cells = _num_labels(frame.kin), int((frame.kin != 0).sum())
        axes[0].set_title(f"kin groups: {num_groups:,}, of {_mean(num_cells, num_groups)} cells on average")
        _draw_genomes(axes[1], frame.genome)
        _draw_stockpiles(figure, axes[2], frame)
        for panel in axes:
            panel.grid(False)
            panel.set_xticks([])
            panel.set_yticks([])
            for spine in panel.spines.values():
                spine.set_visible(True)
        figure.suptitle(title, fontsize=12, y=1 - 0.08 / height, va="top")
    return figure


def _mean(total: int, count: int) -> str:
    return f"{total / count:.1f}" if count else "no"


def _num_labels(labels: Any) -> int:
    return int((numpy.unique(labels) != 0).sum())


def _draw_genomes(panel: Any, labels: Any) -> None:
    """The commonest genomes each in a colour of their own, all others in greys."""
    kinds, counts = commonest_genomes(labels)
    image = genome_image(labels, kinds)
    handles = []
    for color, count in zip(_OKABE_ITO, counts):
        share = 100 * count / counts.sum()
        handles.append(Patch(facecolor=color, edgecolor="#444444", linewidth=0.5, label=f"{share:.1f} %"))
    rest = counts[len(_OKABE_ITO) :].sum()
    if rest:
        handles.append(Patch(facecolor="#888888", edgecolor="#444444", linewidth=0.5, label=f"rest, {100 * rest / counts.sum():.1f} %"))
    panel.imshow(image, interpolation="none")
    panel.set_title(f"genomes: {len(kinds):,}, the commonest in colour")
    panel.legend(handles=handles, ncol=4, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=9,
                 handlelength=1.1, columnspacing=1.2)  # fmt: skip


def _draw_stockpiles(figure: Any, panel: Any, frame: evolution_records.Frame) -> None:
    is_empty = frame.kin == 0
    stockpiles = numpy.ma.masked_array(frame.stockpile, mask=is_empty)
    held = frame.stockpile[~is_empty]
    top = top_stockpile(held)
    colors = matplotlib.colormaps["cividis"].with_extremes(bad="black")
    image = panel.imshow(stockpiles, cmap=colors, vmin=0, vmax=top, interpolation="none")
    panel.set_title("resource held")
    extend = "max" if held.size and held.max() > top else "neither"
    box = panel.get_position()
    place = figure.add_axes((box.x0 + 0.1 * box.width, 0.62 / figure.get_size_inches()[1], 0.8 * box.width, 0.14 / figure.get_size_inches()[1]))
    bar = figure.colorbar(image, cax=place, orientation="horizontal", extend=extend)
    bar.set_label("units of resource; a birth costs 1 and the endowment", fontsize=9)
    bar.ax.tick_params(labelsize=9)


def _borders(labels: Any) -> list[Any]:
    """Line segments between neighbours of different labels, x to the right and y down."""
    rows, columns = labels.shape
    segments = []
    for row, column in zip(*numpy.nonzero(labels[:, 1:] != labels[:, :-1])):
        segments.append([(column + 0.5, row - 0.5), (column + 0.5, row + 0.5)])
    for row, column in zip(*numpy.nonzero(labels[1:] != labels[:-1])):
        segments.append([(column - 0.5, row + 0.5), (column + 0.5, row + 0.5)])
    return segments


def draw_animation(frames: Sequence[evolution_records.Frame], path: pathlib.Path, max_bytes: int = GIF_BYTES) -> None:
    """Kin groups over time, as a GIF of at most so many bytes: of long films, every second, third, … picture. Raises
    OutputError."""
    stride = -(-len(frames) // _GIF_FRAMES)
    while True:
        content = _gif(frames[::stride])
        if len(content) <= max_bytes or stride >= len(frames):
            break
        stride += 1
    files.write_bytes(path, content)


def _gif(frames: Sequence[evolution_records.Frame]) -> bytes:
    scale = max(1, round(420 / max(frames[0].kin.shape)))
    white = len(_SHADES)
    palette = [*_SHADES.flatten().tolist(), 255, 255, 255]
    font = ImageFont.load_default(14)
    images = []
    for frame in frames:
        world = numpy.kron(_kin_indices(frame.kin), numpy.ones((scale, scale), dtype=numpy.uint8))
        pixels = numpy.vstack([world, numpy.zeros((_CAPTION, world.shape[1]), dtype=numpy.uint8)])
        image = Image.frombytes("P", (pixels.shape[1], pixels.shape[0]), pixels.tobytes())
        image.putpalette(palette)
        text = f"{frame.elapsed_s:.1f} s: {_num_labels(frame.kin):,} kin groups"
        ImageDraw.Draw(image).text((6, world.shape[0] + 3), text, fill=white, font=font)
        images.append(image)
    out = io.BytesIO()
    durations = [100] * (len(images) - 1) + [1500]
    images[0].save(out, format="GIF", save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)
    return out.getvalue()


def draw_history(history: pandas.DataFrame, title: str, path: pathlib.Path) -> None:
    """How one run went, over its updates. Raises OutputError."""
    rates = evolution_records.rates(history)
    updates = history["updates"]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(3, 3, figsize=(13.2, 9.2), layout="constrained", sharex=True)
        panels = axes.flat
        _line(next(panels), updates, history["cells"], "population, cells", most=1.1 * history["places"].max())
        _line(next(panels), updates, history["mean_generation"], "mean generation, births since a founder")
        _line(next(panels), updates, history["mean_genome_length"], "mean genome length, instructions", least=None)
        _line(next(panels), updates, history["kin_groups"], "kin groups")
        _line(next(panels), updates, history["mean_kin_size"], "mean kin size that a cell sees, cells")
        panel = next(panels)
        smooth = _smoothed(rates)
        _line(panel, smooth["updates"], 1000 * smooth["births"], "births per 1000 updates and cell", label="all")
        panel.plot(smooth["updates"], 1000 * smooth["births_kin"], color=_LINES[1], linestyle="--", label="within kin")
        panel.legend(frameon=False, fontsize=9)
        panel = next(panels)
        _line(panel, smooth["updates"], 1000 * smooth["harvested"], "resource per 1000 updates and cell", label="harvested")
        panel.plot(smooth["updates"], 1000 * smooth["shared"], color=_LINES[1], linestyle="--", label="shared")
        panel.legend(frameon=False, fontsize=9)
        grid = axes[2, 1].get_gridspec()
        for spare in axes[2, 1:]:
            spare.remove()
        _draw_use(figure.add_subplot(grid[2, 1:]), smooth)
        for panel in figure.axes:
            panel.xaxis.set_major_formatter(lambda value, _: units.short(value))
            panel.tick_params(labelbottom=True)
            panel.set_xlabel("updates", fontsize=9)
        figure.suptitle(title, fontsize=12)
        save(figure, path, dpi=110)


def _line(panel: Any, x: Any, y: Any, label_y: str, *, least: float | None = 0, most: float | None = None, label: str = "") -> None:
    panel.plot(x, y, color=_LINES[0], linewidth=1.6, label=label or None)
    if least is not None:
        panel.set_ylim(bottom=least)
    if most is not None:
        panel.set_ylim(top=most)
    panel.yaxis.set_major_formatter(lambda value, _: units.short(value))
    panel.set_title(label_y, fontsize=10, loc="left")


def _smoothed(rates: pandas.DataFrame) -> pandas.DataFrame:
    """Means over a fortieth of the rows, so that what lasts can be seen."""
    return rates.rolling(max(1, len(rates) // 40), center=True, min_periods=1).mean()


def _draw_use(panel: Any, rates: pandas.DataFrame) -> None:
    names = sorted(evolution_records.CLASSES, key=lambda name: -float(rates[f"use_{name}"].iloc[-1]))
    for number, name in enumerate(evolution_records.CLASSES):
        use = rates[f"use_{name}"]
        panel.plot(rates["updates"], use.where(use > 0), color=_LINES[number], linestyle=_DASHES[number % 3], linewidth=1.5, label=name)
    panel.set_yscale("log")
    panel.set_title("instructions executed per update and cell, by class", fontsize=10, loc="left")
    handles = dict(zip(*reversed(panel.get_legend_handles_labels())))
    panel.legend([handles[name] for name in names], names, frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
