"""Draws the moving picture at the top of README: a torus that is coloured in two modes at the same time.

    python3 -m netuit.moving_picture RESULTS FILM.gif

RESULTS is a folder with rows.csv, rows.json and frames.csv of channel_selection; tables may be compressed, as rows.csv.gz. Those of
the film are in binder/data/film, and binder/README.md has the command that makes them.
"""

from __future__ import annotations

import dataclasses
import io
import math
import pathlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy

from netuit import InputError, files
from netuit.command import Parser, exit_code_of_command
from netuit.loading import load
from netuit.style import MODE_COLORS, STYLE

if TYPE_CHECKING:
    from PIL.Image import Image

MODES = {0: "mode 0: a barrier after every update", 3: "mode 3: best effort, nobody waits"}
INKS = ("#f6e3a1", "#9ccbe6", "#b7dcc4")  #: of nodes without conflict, by colour
CONFLICT = "#c40018"
STEP_MS, LAST_MS = 100, 3000  #: how long a frame is shown, and the last one
_WIDTH, _HEIGHT, _DPI = 640, 450, 100  #: pixels, and pixels an inch
_PANEL, _BELOW = (64, 164, 256, 256), (64, 84, 556, 66)  #: left, bottom, width and height in pixels: four for a node of 64 x 64


@dataclasses.dataclass(frozen=True)
class Take:
    """One run: colours by frame, row and column, and how many percent of the adjacent pairs have one colour."""

    elapsed_ms: Any
    colors: Any
    conflicts: Any


def read_take(folder: pathlib.Path, mode: int, replicate: int = 0) -> Take:
    """One run of a torus. Raises InputError."""
    rows, frames = (load(files.present(folder / name)) for name in ("rows.csv", "frames.csv"))
    rows = rows[(rows["mode"] == mode) & (rows["replicate"] == replicate)]
    frames = frames[(frames["mode"] == mode) & (frames["replicate"] == replicate)].sort_values("elapsed_s")
    if not len(rows) or not len(frames):
        raise InputError(f"{folder}: no frames of mode {mode}, run {replicate}")
    if rows["graph"].iloc[0] != "torus" or not set("".join(frames["colors"])) <= set("012"):
        raise InputError(f"{folder}: expected a torus in three colours")
    num_nodes = len(frames["colors"].iloc[0])
    side = next(side for side in range(math.isqrt(num_nodes), 0, -1) if num_nodes % side == 0)
    colors = numpy.array([[int(digit) for digit in text] for text in frames["colors"]], numpy.uint8)
    share = 100 * frames["conflicts"].to_numpy() / rows["conflict_edges_total"].iloc[0]
    return Take(1000 * frames["elapsed_s"].to_numpy(), colors.reshape(len(frames), side, -1), share)


def in_conflict(colors: Any) -> Any:
    """Which nodes of a torus have the colour of one of their four neighbours."""
    return numpy.logical_or.reduce([colors == numpy.roll(colors, step, axis) for step in (1, -1) for axis in (0, 1)])


def painted(colors: Any) -> Any:
    """A torus as an image of red, green and blue."""
    inks = numpy.array([[int(ink[k : k + 2], 16) for k in (1, 3, 5)] for ink in (*INKS, CONFLICT)], numpy.uint8)
    return inks[numpy.where(in_conflict(colors), len(INKS), colors)]


def draw(takes: dict[int, Take], about: str) -> list[Image]:
    """The pictures of the film, as many as all the takes have."""
    from PIL import Image

    num_frames = min(len(take.elapsed_ms) for take in takes.values())
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(_WIDTH / _DPI, _HEIGHT / _DPI), dpi=_DPI)
        below = figure.add_axes(_share(*_BELOW))
        last = max(take.elapsed_ms[num_frames - 1] for take in takes.values())
        below.set(xlim=(0, last), ylim=(0, max(take.conflicts.max() for take in takes.values())), xlabel="time, ms", ylabel="pairs in conflict, %")
        figure.text(0.5, 0.02, about, ha="center", fontsize=8, color="#666666")
        panels, lines = {}, {}
        for number, (mode, take) in enumerate(takes.items()):
            axes = figure.add_axes(_share(_PANEL[0] + number * (_BELOW[2] - _PANEL[2]), *_PANEL[1:]))
            axes.set_axis_off()
            axes.set_title(MODES[mode], color=MODE_COLORS[mode], fontsize=9.5, fontweight="bold")
            panels[mode] = axes.imshow(painted(take.colors[0]), interpolation="nearest")
            (lines[mode],) = below.plot([], [], color=MODE_COLORS[mode], linewidth=2, label=f"mode {mode}")
        below.legend(frameon=False, loc="upper right", ncols=len(takes))
        pictures = []
        for frame in range(num_frames):
            for mode, take in takes.items():
                panels[mode].set_data(painted(take.colors[frame]))
                lines[mode].set_data(take.elapsed_ms[: frame + 1], take.conflicts[: frame + 1])
            figure.canvas.draw()
            pictures.append(Image.fromarray(numpy.asarray(figure.canvas.buffer_rgba())[..., :3]))
        plt.close(figure)
    return pictures


def _share(left: int, bottom: int, width: int, height: int) -> tuple[float, float, float, float]:
    """A place in pixels as parts of the figure."""
    return left / _WIDTH, bottom / _HEIGHT, width / _WIDTH, height / _HEIGHT


def write_gif(path: pathlib.Path, pictures: Sequence[Image]) -> None:
    """Writes pictures as an endless film, in 32 colours. Raises OutputError."""
    from PIL import Image

    palette = pictures[len(pictures) // 2].quantize(32, dither=Image.Dither.NONE)
    first, *rest = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    content = io.BytesIO()
    durations = [STEP_MS] * len(rest) + [LAST_MS]
    first.save(content, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)
    files.write_bytes(path, content.getvalue())


def describe(folder: pathlib.Path, step_ms: float) -> str:
    """The line below the picture: what was run, and how much slower than the run the film is. Raises InputError."""
    run = files.read_json(folder / "rows.json")
    words = dict(zip(run["command_line"], run["command_line"][1:]))
    slow = ""
    if "--slow-in-turn" in words:
        slow = f", each in turn {words.get('--slowness', '3')} times slower for {words['--slow-in-turn']}"
    workers = run["processes"] * run["threads"]
    return (
        f"{run['nodes']:,} nodes on {workers} workers{slow}. One run of each mode.\n"
        f"Red nodes have the colour of a neighbour. Shown {STEP_MS / step_ms:.0f} times slower than it was."
    )


def main(words: Sequence[str] | None = None) -> int:
    """The command. Gives the exit code."""

    def body() -> int:
        parser = Parser(prog="python3 -m netuit.moving_picture", allow_abbrev=False, description="Draws a film of two modes as a GIF.")
        parser.add_argument("results", type=pathlib.Path, help="folder with rows.csv and frames.csv of channel_selection")
        parser.add_argument("film", type=pathlib.Path, help="the GIF to write")
        options = parser.parse_args(words)
        takes = {mode: read_take(options.results, mode) for mode in MODES}
        write_gif(options.film, draw(takes, describe(options.results, takes[0].elapsed_ms[1])))
        return 0

    return exit_code_of_command(body)


if __name__ == "__main__":
    sys.exit(main())
