"""power_flow_demo_test.py PROGRAM [LAUNCHER…]: runs the demo power_flow on a grid that is drawn here.

Exits with 1 if a way has not come within 1e-8 of the solution of a sparse solver.
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx

sys.path.insert(0, str(Path(__file__).parents[2] / "demos" / "power_flow"))
import grid  # noqa: E402


def main() -> int:
    program, *launcher = sys.argv[1:]
    draw = random.Random(3)
    graph = networkx.connected_watts_strogatz_graph(200, 4, 0.3, seed=3)
    susceptances = {(min(a, b), max(a, b)): draw.uniform(0.5, 20) for a, b in graph.edges}
    powers = {node: draw.uniform(-1, 1) for node in graph}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "grid"
        grid.write_grid(folder, susceptances, powers, reference=7)
        print(subprocess.run([*launcher, program, str(folder)], check=True, text=True, capture_output=True).stdout)
        with open(folder / "ways.csv", newline="") as file:
            rows = list(csv.DictReader(file))
    errors = [float(row["error"]) for row in rows]
    is_whole = {(row["noise"], row["way"]) for row in rows} == {
        (noise, way) for noise in ("none", "in turn", "one") for way in ("mode 0", "mode 5", "mode 3, slack 4", "mode 3")
    }
    return 0 if is_whole and len(rows) == 12 and max(errors) <= 1e-8 else 1


if __name__ == "__main__":
    sys.exit(main())
