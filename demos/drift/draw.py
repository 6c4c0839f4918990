"""draw.py FOLDER [PICTURE]: draws what the program drift has written to FOLDER as steps.csv and owners.csv."""

import csv
import sys
from pathlib import Path

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STORM = 8  # rows and columns
COLOURS = {"without moves": "#a03c4c", "with moves": "#4878a8"}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def draw_owners(panel, owners, step):
    workers = numpy.array([int(row["worker"]) for row in owners if row["way"] == "with moves" and int(row["step"]) == step])
    side = round(len(workers) ** 0.5)
    panel.imshow(workers.reshape(side, side), cmap="Pastel1", vmin=0, vmax=8)
    panel.add_patch(plt.Rectangle((step - 0.5, step - 0.5), STORM, STORM, fill=False, linewidth=1.5))
    panel.set(title=f"Workers, step {step}", xticks=[], yticks=[])


def main():
    folder = Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else folder / "drift.svg"
    steps, owners = read(folder / "steps.csv"), read(folder / "owners.csv")
    plt.rcParams.update({"svg.hashsalt": "drift", "font.size": 10})
    figure, (first, second, third, right) = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained", width_ratios=(1, 1, 1, 1.9))
    for panel, step in ((first, 0), (second, 7), (third, 14)):
        draw_owners(panel, owners, step)
    for way, colour in COLOURS.items():
        own = [row for row in steps if row["way"] == way]
        right.plot([int(row["step"]) for row in own], [float(row["ms"]) for row in own], color=colour, label=way)
    right.set(title="Time", xlabel="step of the storm", ylabel="ms", ylim=(0, None))
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False, fontsize=9)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
