"""gallery_demo_test.py PROGRAM [LAUNCHER…]: runs a program of the gallery and checks what it has computed.

The game of life is compared, frame by frame, with one computed by numpy. Of the Ising model, the magnetisation must be near the exact
one of an endless lattice (Onsager, Yang) below the critical temperature, and near 0 above. Oscillators must have found a common
phase. Communities
must be those with which the graph was made.
"""

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx
import numpy


def run(folder: Path, *words: str) -> str:
    program, *launcher = sys.argv[1:]
    printed = subprocess.run([*launcher, program, *words, str(folder)], check=True, text=True, capture_output=True).stdout
    print(printed)
    return printed


def check_life(folder: Path) -> bool:
    printed = run(folder)
    side = 64
    board = numpy.zeros((side, side), int)
    for row, at in ((0, 1), (0, 2), (1, 0), (1, 1), (2, 1)):
        board[side // 2 + row, side // 2 + at] = 1
    film = numpy.load(folder / "life.npy")
    is_right = len(film) == 20
    for update in range(200):
        near = sum(numpy.roll(board, (x, y), (0, 1)) for x in (-1, 0, 1) for y in (-1, 0, 1)) - board
        board = ((near == 3) | ((near == 2) & (board == 1))).astype(int)
        if update % 10 == 9:
            is_right &= bool((film[update // 10].reshape(side, side) == board).all())
    return is_right and f"{board.sum()} cells" in printed


def check_ising(folder: Path) -> bool:
    cold, _, hot = (float(number) for number in re.findall(r"magnetisation ([-+.\d]+)", run(folder)))
    exact = (1 - numpy.sinh(2 / 1.8) ** -4) ** 0.125
    print(f"exact at 1.8: {exact:.3f}")
    return abs(cold - exact) < 0.02 and abs(hot) < 0.1


def check_kuramoto(folder: Path) -> bool:
    before, after = (float(number) for number in re.findall(r"([.\d]+) at", run(folder)))
    phases = numpy.load(folder / "phases.npy")
    order = numpy.abs(numpy.exp(1j * phases).mean(axis=1))
    return before < 0.3 and after > 0.9 and phases.shape == (60, 400) and order[0] < 0.5 and order[-1] > 0.9


def check_communities(folder: Path) -> bool:
    graph = networkx.planted_partition_graph(4, 32, 0.4, 0.005, seed=1)
    networkx.write_edgelist(graph, folder / "groups.edgelist", data=False)
    run(folder, str(folder / "groups.edgelist"))
    with open(folder / "communities.csv", newline="") as file:
        label = {int(row["label"]): row["community"] for row in csv.DictReader(file)}
    found = {frozenset(node for node in label if label[node] == one) for one in label.values()}
    return found == {frozenset(range(32 * group, 32 * group + 32)) for group in range(4)}


def main() -> int:
    check = {"game_of_life": check_life, "ising": check_ising, "kuramoto": check_kuramoto, "communities": check_communities}
    with tempfile.TemporaryDirectory() as folder:
        return 0 if check[Path(sys.argv[1]).name](Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
