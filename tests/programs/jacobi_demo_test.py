"""jacobi_demo_test.py PROGRAM [LAUNCHER…]: compares the solutions of the demo jacobi with that of numpy.linalg.solve.

Exits with 1 if they differ by more than the condition of the end allows, if mode 0 ends after another number of updates than a
serial loop, or if an unknown of modes 0 and 5 differs in a bit from the serial loop after as many updates.
"""

import csv
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

NUM_BLOCKS = 8
NUM_ROWS = 32
SIZE = NUM_BLOCKS * NUM_ROWS
SHRINKAGE = 0.8
BOUND = 1e-10


def draw(number):
    """SplitMix64, as in the demo."""
    number = (number.astype(numpy.uint64) + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return ((number ^ (number >> numpy.uint64(31))) >> numpy.uint64(11)).astype(float) * 2.0**-53


def in_order(others, x, start, columns):
    """Returns start + others * x, summed in this order of columns, for the last bits."""
    total = start.copy()
    for column in columns:
        total += others[:, column] * x[column]
    return total


def make_system():
    others = draw(numpy.arange(SIZE * SIZE)).reshape(SIZE, SIZE)
    numpy.fill_diagonal(others, 0)
    exact = draw(SIZE * SIZE + numpy.arange(SIZE))
    zeros, all_columns = numpy.zeros(SIZE), range(SIZE)
    diagonal = in_order(others, numpy.ones(SIZE), zeros, all_columns) / SHRINKAGE
    return diagonal, others, diagonal * exact - in_order(others, exact, zeros, all_columns)


def serial_loop(diagonal, others, right):
    """Yields the unknowns and their largest change, update by update. A block of rows adds its own part first."""
    x = numpy.zeros(SIZE)
    blocks = [slice(first, first + NUM_ROWS) for first in range(0, SIZE, NUM_ROWS)]
    columns = numpy.arange(SIZE)
    orders = [numpy.concatenate([columns[own], numpy.delete(columns, own)]) for own in blocks]
    while True:
        sums = [in_order(others[own], x, right[own], order) for own, order in zip(blocks, orders)]
        following = numpy.concatenate(sums) / diagonal
        change = numpy.abs(following - x).max()
        x = following
        yield x, change


def main() -> int:
    program, *launcher = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        print(subprocess.run([*launcher, program, folder, str(NUM_BLOCKS)], check=True, text=True, capture_output=True).stdout)
        with open(Path(folder) / "ways.csv", newline="") as file:
            updates = {row["way"]: int(row["updates"]) for row in csv.DictReader(file)}
        solutions = {}
        with open(Path(folder) / "solution.csv", newline="") as file:
            for row in csv.DictReader(file):
                solutions.setdefault(row["way"], []).append(float(row["x"]))
    faults = []
    if set(updates) != {"mode 0", "mode 5", "mode 3, slack 4", "mode 3"}:
        faults.append(f"ways: {sorted(updates)}")
    diagonal, others, right = make_system()
    solution = numpy.linalg.solve(numpy.diag(diagonal) - others, right)
    for way, x in solutions.items():
        error = numpy.abs(numpy.array(x) - solution).max()
        if not error < (1 if way in ("mode 0", "mode 5") else 10) * BOUND / (1 - SHRINKAGE):  # otherwise the end is an estimate
            faults.append(f"{way}: the error is {error:.2g}")
    end = None
    allowed = 0 if platform.machine() in ("x86_64", "AMD64") else 1e-14  # other machines may fuse a product with its sum
    for update, (x, change) in enumerate(serial_loop(diagonal, others, right), start=1):
        if end is None and change < BOUND:
            end = update
        for way in ("mode 0", "mode 5"):
            if updates[way] == update and not numpy.abs(solutions[way] - x).max() <= allowed:
                faults.append(f"{way}: differs from the serial loop by up to {numpy.abs(solutions[way] - x).max():.2g}")
        if update >= max(updates["mode 0"], updates["mode 5"]) and end is not None:
            break
    print(f"the serial loop ends after {end} updates")
    if updates["mode 0"] != end:
        faults.append(f"mode 0 ends after {updates['mode 0']} updates")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
