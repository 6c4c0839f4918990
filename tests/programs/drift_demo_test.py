"""drift_demo_test.py PROGRAM [LAUNCHER…]: compares the heat of the demo drift with that of a serial loop.

Exits with 1 if a value with moves differs in a bit from that without, if one is far from that of a serial loop, if no node moved,
or if the gain of the moves was not measured.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

SIDE, STORM, SMALL_STEPS, STEPS = 32, 8, 256, 16
UPDATES = 20  # per step of the storm


def serial_loop():
    heat = (numpy.arange(SIDE * SIDE) % 17).astype(float).reshape(SIDE, SIDE)
    for update in range(STEPS * UPDATES):
        rows = (numpy.arange(STORM) + update // UPDATES) % SIDE
        storm = numpy.ix_(rows, rows)
        mean = (numpy.roll(heat, 1, 0) + numpy.roll(heat, -1, 0) + numpy.roll(heat, 1, 1) + numpy.roll(heat, -1, 1)) / 4
        following = heat + (mean - heat) / 4
        following[storm] = heat[storm]
        for _ in range(SMALL_STEPS):
            following[storm] += (mean[storm] - following[storm]) / (4 * SMALL_STEPS)
        heat = following
    return heat.ravel()


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*sys.argv[2:], sys.argv[1], folder, str(UPDATES)], check=True, stdout=subprocess.DEVNULL)
        rows, steps = read(Path(folder) / "heat.csv"), read(Path(folder) / "steps.csv")
    without, with_moves = ([row["heat"] for row in rows if row["way"] == way] for way in ("without moves", "with moves"))
    gains = {way: {float(row["gain"]) for row in steps if row["way"] == way} for way in ("without moves", "with moves")}
    num_moved = {way: sum(int(row["moved"]) for row in steps if row["way"] == way) for way in ("without moves", "with moves")}
    if len(without) != SIDE * SIDE or with_moves != without:
        sys.exit("moves have changed the result")
    error = numpy.abs(numpy.array(without, dtype=float) - serial_loop()).max()
    if not error < 1e-9:
        sys.exit(f"the heat differs from that of a serial loop by {error}")
    if num_moved["without moves"] != 0 or num_moved["with moves"] == 0:
        sys.exit(f"nodes that moved: {num_moved}")
    if gains["without moves"] != {1.0} or len(gains["with moves"]) == 1 or min(gains["with moves"]) <= 0:
        sys.exit(f"what moves have gained: {gains}")


if __name__ == "__main__":
    main()
