"""draw.py FOLDER [PICTURE]: draws what the program epidemic has written to FOLDER as epidemic.csv, in a run of 40 days."""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

DAYS = 40
STATES = (("well", "#4878a8"), ("sick", "#d1603d"), ("immune", "#999999"))


def main():
    folder = Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else folder / "epidemic.svg"
    with open(folder / "epidemic.csv", newline="") as file:
        histories = [int(row["history"]) for row in csv.DictReader(file)]
    counts = [[0, 0, 0] for _ in range(DAYS)]
    for history in histories:
        for day in range(DAYS):  # a digit each, the last day's last
            counts[day][history // 3 ** (DAYS - 1 - day) % 3] += 1
    plt.rcParams.update({"svg.hashsalt": "epidemic", "font.size": 10})
    figure, panel = plt.subplots(figsize=(7, 3.2), layout="constrained")
    panel.stackplot(range(DAYS), *zip(*counts), labels=[name for name, _ in STATES], colors=[color for _, color in STATES])
    for monday in range(0, DAYS, 7):
        panel.axvline(monday, color="white", linewidth=0.8, linestyle=":")
    panel.set(xlabel="day; dotted: at work, too", ylabel="persons", xlim=(0, DAYS - 1), ylim=(0, len(histories)))
    panel.legend(loc="lower left", frameon=True)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
