"""draw.py FOLDER [PICTURE]: draws what the program wave has written to FOLDER as moments.csv and points.csv."""

import csv
import sys
from pathlib import Path

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

EXACT = ("mode 0", "mode 5", "mode 3, slack 0")
COLOURS = {"mode 3, slack 1": "#e1a93f", "mode 3, slack 4": "#d5743c", "mode 3": "#a03c4c", "mode 3, newest heights": "#8a8a8a"}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def draw_membrane(panel, points, way, title):
    height = numpy.array([float(row["height"]) for row in points if row["way"] == way])
    side = round(len(height) ** 0.5)
    panel.set(title=title, xticks=[], yticks=[])
    return panel.imshow(height.reshape(side, side), cmap="RdBu", vmin=-1, vmax=1)


def main():
    folder = Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else folder / "wave.svg"
    moments, points = read(folder / "moments.csv"), read(folder / "points.csv")
    plt.rcParams.update({"svg.hashsalt": "wave", "font.size": 10})
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", width_ratios=(1, 1, 1.7))
    draw_membrane(left, points, "mode 5", "Heights, mode 5")
    image = draw_membrane(middle, points, "mode 3, slack 4", "Heights, mode 3, slack 4")
    figure.colorbar(image, ax=middle, shrink=0.8)
    for way in dict.fromkeys(row["way"] for row in moments):
        own = [row for row in moments if row["way"] == way]
        label = {"mode 0": "modes 0 and 5; mode 3, slack 0"}.get(way, None if way in EXACT else way)
        energy = [min(float(row["energy"]), 1e30) for row in own]  # no infinities
        right.plot([int(row["update"]) for row in own], energy, color=COLOURS.get(way, "#4878a8"), label=label)
    right.set(title="Energy, in that of the start", xlabel="update", yscale="log", ylim=(0.1, 1e24), xlim=(0, None))
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False, fontsize=9)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
