"""heat_demo_test.py PROGRAM [LAUNCHER…]: compares the temperatures of the demo heat with those of a direct solution by numpy.

Exits with 1 if they differ, if a way has not come to rest, or if Gauss and Seidel's iteration takes more than 0.75 times as many
updates as Jacobi's. (It needs half as many, and makes some more until all have agreed to stop, which takes time.)
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx
import numpy

SIDE = 30


def solve():
    grid = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(SIDE, SIDE), ordering="sorted")
    matrix = 4 * numpy.eye(SIDE * SIDE) - networkx.adjacency_matrix(grid, nodelist=range(SIDE * SIDE)).toarray()
    heat = numpy.zeros(SIDE * SIDE)
    heat[:SIDE] = 1
    return numpy.linalg.solve(matrix, heat)


def main() -> int:
    program, *launcher = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        print(subprocess.run([*launcher, program, folder], check=True, text=True, capture_output=True).stdout)
        with open(Path(folder) / "ways.csv", newline="") as file:
            ways = {row["way"]: row for row in csv.DictReader(file)}
        with open(Path(folder) / "plate.csv", newline="") as file:
            plate = {int(row["label"]): float(row["heat"]) for row in csv.DictReader(file)}
    error = numpy.abs(numpy.array([plate[node] for node in range(SIDE * SIDE)]) - solve()).max()
    print(f"largest error of a temperature: {error:.2g}")
    updates = {name: int(row["updates"]) for name, row in ways.items()}
    is_estimate = {name: name.startswith("newest") for name in ways}  # of the largest change
    is_at_rest = all(float(row["residual"]) < (1e-4 if is_estimate[name] else 1.1e-6) for name, row in ways.items())
    is_faster = all(updates[f"Gauss-Seidel by {order}, mode 5"] < 0.75 * updates["Jacobi, mode 0"] for order in ("number", "colour"))
    return 0 if len(ways) == 8 and error < 1e-3 and is_at_rest and is_faster else 1


if __name__ == "__main__":
    sys.exit(main())
