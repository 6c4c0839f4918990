"""wave_demo_test.py PROGRAM [LAUNCHER…]: compares the heights of the demo wave with those of a serial loop.

Exits with 1 if a height of modes 0 and 5, or of mode 3 with slack 0, differs in a bit; if one of these ways loses or gains energy;
if the error does not fall with the square of the spacing; or if mode 3 with the newest heights, whatever their time, keeps its
energy, which the demo's README denies.
"""

import csv
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

SIDES = (15, 31)
SQUARE = 0.25  # a power of two, so that its products are exact, and a fused multiplication rounds no other way
NUM_CROSSINGS = 16
EXACT = ("mode 0", "mode 5", "mode 3, slack 0")
OTHERS = ("mode 3, slack 1", "mode 3, slack 4", "mode 3", "mode 3, newest heights")


def start(side, update):
    step = math.pi / (side + 1)
    shape = [math.sin(step * (i + 1)) for i in range(side)]
    swing = math.cos(math.sqrt(2 * SQUARE) * step * update)
    heights = numpy.zeros((side + 2, side + 2))
    heights[1:-1, 1:-1] = [[a * b * swing for b in shape] for a in shape]
    return heights


def serial_loop(side):
    now, before = start(side, 0), start(side, -1)
    for _ in range(NUM_CROSSINGS * 2 * (side + 1)):
        around = now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1]
        following = numpy.zeros_like(now)
        following[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + SQUARE * (around - 4 * now[1:-1, 1:-1])
        now, before = following, now
    return now[1:-1, 1:-1].ravel()


def run(command, side):
    """Returns the last heights, the energies and the largest error, each by way."""
    with tempfile.TemporaryDirectory() as folder:
        print(subprocess.run([*command, folder, str(side)], check=True, text=True, capture_output=True).stdout)
        heights, energies, errors = {}, {}, {}
        with open(Path(folder) / "points.csv", newline="") as file:
            for row in csv.DictReader(file):
                heights.setdefault(row["way"], []).append(float(row["height"] or "nan"))
        with open(Path(folder) / "moments.csv", newline="") as file:
            for row in csv.DictReader(file):
                energies.setdefault(row["way"], []).append(float(row["energy"]))
                errors[row["way"]] = max(errors.get(row["way"], 0), float(row["error"]))
    return heights, energies, errors


def main() -> int:
    program, *launcher = sys.argv[1:]
    faults, errors_by_side = [], []
    for side in SIDES:
        heights, energies, errors = run([*launcher, program], side)
        errors_by_side.append(errors)
        if tuple(sorted(heights)) != tuple(sorted(EXACT + OTHERS)):
            faults.append(f"ways: {sorted(heights)}")
        serial = serial_loop(side)
        for way in EXACT:
            if not numpy.array_equal(heights[way], serial):
                faults.append(f"{way}, {side}: differs by up to {numpy.abs(numpy.array(heights[way]) - serial).max():.2g}")
            drift = max(abs(energy - 1) for energy in energies[way])
            if drift > 1e-12:
                faults.append(f"{way}, {side}: the energy changes by {drift:.2g}")
        if max(energies["mode 3, newest heights"]) < 1e3:
            faults.append("the newest heights keep the energy")
    ratio = errors_by_side[0]["mode 5"] / errors_by_side[1]["mode 5"]
    print(f"error at twice the spacing / error: {ratio:.2f}")
    if not 3.6 < ratio < 4.4:
        faults.append("the scheme is not of second order")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
