"""draw.py FOLDER [PICTURE]: draws what the program heat has written to FOLDER as plate.csv and ways.csv."""

import csv
import sys
from pathlib import Path

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def main():
    folder = Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else folder / "heat.svg"
    heat = numpy.array([float(row["heat"]) for row in sorted(read(folder / "plate.csv"), key=lambda row: int(row["label"]))])
    side = round(len(heat) ** 0.5)
    ways = read(folder / "ways.csv")[::-1]
    plt.rcParams.update({"svg.hashsalt": "heat", "font.size": 10})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=(1, 1.6))
    image = left.imshow(heat.reshape(side, side), cmap="inferno", vmin=0, vmax=1)
    left.set(title="Temperature at rest", xticks=[], yticks=[])
    figure.colorbar(image, ax=left, shrink=0.8)
    updates = [int(row["updates"]) for row in ways]
    bars = right.barh([row["way"] for row in ways], updates, color="#4878a8")
    right.bar_label(bars, [f"{number:,}" for number in updates], padding=3)
    right.set(title="Updates until the largest change is below 1e-6", xlim=(0, 1.15 * max(updates)))
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
