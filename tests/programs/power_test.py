"""power_test.py PROGRAM [LAUNCHER…]: compares the angles of a grid with those of a direct solution by numpy.

Draws a connected grid with weights and powers that are in balance. Exits with 1 if flows or angles differ.
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx
import numpy


def main() -> int:
    program, *launcher = sys.argv[1:]
    draw = random.Random(3)
    grid = networkx.connected_watts_strogatz_graph(40, 4, 0.3, seed=3)
    for _, _, data in grid.edges(data=True):
        data["weight"] = draw.uniform(0.5, 2)
    power = {node: draw.uniform(-1, 1) for node in grid}
    mean = sum(power.values()) / len(power)
    power = {node: value - mean for node, value in power.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        networkx.write_weighted_edgelist(grid, folder / "grid.edgelist")
        rows = [["label", "power"], *([node, repr(value)] for node, value in power.items())]
        with open(folder / "power.csv", "w", newline="") as file:
            csv.writer(file).writerows(rows)
        files = [str(folder / file) for file in ("grid.edgelist", "power.csv", "angles.csv")]
        print(subprocess.run([*launcher, program, *files], check=True, text=True, capture_output=True).stdout)
        with open(folder / "angles.csv", newline="") as file:
            theta = {int(row["label"]): float(row["theta"]) for row in csv.DictReader(file)}
    nodes = list(grid)
    laplacian = networkx.laplacian_matrix(grid, nodes, weight="weight").toarray()
    exact = numpy.linalg.pinv(laplacian) @ numpy.array([power[node] for node in nodes])
    found = numpy.array([theta[node] for node in nodes])
    error = numpy.abs((found - found.mean()) - (exact - exact.mean())).max()
    print(f"largest error of an angle: {error:.2g}")
    return 0 if error < 1e-8 else 1


if __name__ == "__main__":
    sys.exit(main())
