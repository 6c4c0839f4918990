"""draw.py FOLDER [PICTURE]: draws what the program jacobi has written to FOLDER as history.csv."""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"mode 0": "#4878a8", "mode 5": "#5fa055", "mode 3, slack 4": "#d5743c", "mode 3": "#a03c4c"}


def by_time(rows):
    """Yields times, and the largest error of all blocks at each, as far as it is known."""
    errors = {}
    num_blocks = len({block for block, *_ in rows})
    for block, _, ms, error in sorted(rows, key=lambda row: row[2]):
        errors[block] = error
        if len(errors) == num_blocks:
            yield ms, max(errors.values())


def by_update(rows):
    """Yields numbers of updates, and the largest error of all blocks after each."""
    errors = {}
    for _, update, _, error in rows:
        errors[update] = max(errors.get(update, 0), error)
    return sorted(errors.items())


def main():
    folder = Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else folder / "jacobi.svg"
    histories = {}
    with open(folder / "history.csv", newline="") as file:
        for row in csv.DictReader(file):
            histories.setdefault(row["way"], []).append((row["block"], int(row["update"]), float(row["ms"]), float(row["error"])))
    plt.rcParams.update({"svg.hashsalt": "jacobi", "font.size": 10})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)
    for way, rows in histories.items():
        style = {"color": COLOURS[way], "label": way, "linestyle": "--" if way == "mode 5" else "-"}
        left.plot(*zip(*by_time(rows)), **style)
        right.plot(*zip(*by_update(rows)), **style)
    left.set(title="Largest error over time", xlabel="ms", yscale="log", xlim=(0, None))
    right.set(title="Largest error over updates", xlabel="updates of each worker", xlim=(0, None))
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
