"""draw.py FOLDER [PICTURE]: draws what the program power_flow has written to FOLDER as ways.csv."""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

NOISES = {"none": "undisturbed", "in turn": "workers slow in turn", "one": "one always slow"}


def main():
    folder = Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else folder / "power_flow.svg"
    with open(folder / "ways.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    ways = list(dict.fromkeys(row["way"] for row in rows))
    plt.rcParams.update({"svg.hashsalt": "power_flow", "font.size": 10})
    figure, panels = plt.subplots(1, len(NOISES), figsize=(10, 3.2), layout="constrained", sharey=True)
    for panel, (noise, title) in zip(panels, NOISES.items()):
        own = [row for row in rows if row["noise"] == noise]
        for place, way in enumerate(reversed(ways)):
            times = [float(row["ms"]) for row in own if row["way"] == way]
            panel.plot(times, [place] * len(times), "o", color="#4878a8", alpha=0.6)
        panel.set(title=title, xlabel="ms", xlim=(0, None), yticks=range(len(ways)), yticklabels=list(reversed(ways)))
        panel.spines[["top", "right"]].set_visible(False)
        panel.set_ylim(-0.5, len(ways) - 0.5)
    figure.suptitle("Time until all angles are within 1e-8 of the solution")
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
