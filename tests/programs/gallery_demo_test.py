"""gallery_demo_test.py PROGRAM [LAUNCHER…]: runs a program of the gallery and checks what it has computed.

States are drawn in their order, up to the last. A member of the ring reads no more greetings than its neighbour sent, and some are
read. Heat and walkers are neither lost nor made, and have left the node where they began. The game of life is compared, frame by
frame, with one computed by numpy. Of the Ising model, the magnetisation must be near the exact one of an endless lattice (Onsager,
Yang) below the critical temperature, and near 0 above. Oscillators must have found a common phase. Communities must be those with
which the graph was made. Ranks must be those that NetworkX computes. Logs must be in order, and all their lines together the same in
modes 0 and 5, on any number of threads and processes.
"""

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx
import numpy


def run(folder: Path, *words: str, then: tuple[str, ...] = (), is_alone: bool = False) -> str:
    """Runs the program with these words, the folder and the words `then`; if `is_alone`, without the launcher."""
    program, *launcher = sys.argv[1:]
    command = [*([] if is_alone else launcher), program, *words, str(folder), *then]
    printed = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    print(printed)
    return printed


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def check_newest(folder: Path) -> bool:
    printed = run(folder)
    steps = [int(row["step"]) for row in rows(folder / "drawn.csv")]
    return steps[0] > 0 and all(one < other for one, other in zip(steps, steps[1:])) and steps[-1] == 999_999 and "drew some states, the last at step 999999" in printed


def check_ring(folder: Path) -> bool:
    printed = run(folder)
    process, sent, read = ([int(row[name]) for row in rows(folder / "ring.csv")] for name in ("process", "sent", "read"))
    is_right = process == sorted([*range(2 if sys.argv[2:] else 1)] * 4) and sum(read) > 0
    is_right &= all(number <= sent[member - 1] for member, number in enumerate(read))
    return is_right and f"{len(read)} members, {sum(read)} of {sum(sent)} greetings read" in printed


def check_heat(folder: Path) -> bool:
    printed = run(folder)
    heat = numpy.array([float(row["heat"]) for row in rows(folder / "heat.csv")])
    print(f"{heat.sum():.9f} in all, {heat.max():.3f} at most")
    is_told = re.search(r"every message accounted for: [0-9,]+ put.*\nheat 4096\.000000 of 4096$", printed, re.DOTALL | re.MULTILINE) is not None
    return len(heat) == 4096 and heat.min() >= 0 and abs(heat.sum() - 4096) < 1e-6 and heat.max() < 4095 and is_told


def check_walkers(folder: Path) -> bool:
    printed = run(folder)
    walkers = [int(row["walkers"]) for row in rows(folder / "walkers.csv")]
    return len(walkers) == 64 and sum(walkers) == 192 and max(walkers) < 192 and "192 of 192 walkers, messages accounted for" in printed


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
    label = {int(row["label"]): row["community"] for row in rows(folder / "communities.csv")}
    found = {frozenset(node for node in label if label[node] == one) for one in label.values()}
    return found == {frozenset(range(32 * group, 32 * group + 32)) for group in range(4)}


def check_ranks(folder: Path) -> bool:
    club = networkx.karate_club_graph()
    networkx.write_edgelist(club, folder / "club.edgelist", data=False)
    printed = run(folder, str(folder / "club.edgelist"))
    ranks = {int(row["label"]): float(row["rank"]) for row in rows(folder / "ranks.csv")}
    exact = networkx.pagerank(club, alpha=0.85, tol=1e-12, max_iter=1000, weight=None)
    error = max(abs(ranks[node] - exact[node]) for node in exact)
    print(f"largest error of a rank: {error:.2g}")
    is_right = len(ranks) == len(exact) and error < 1e-6 and abs(sum(ranks.values()) - 1) < 1e-9
    return is_right and f"ranks from {min(exact.values()):.4f} to {max(exact.values()):.4f}, in all 1.0000" in printed


def check_log(folder: Path) -> bool:
    def place(line: str) -> tuple[int, ...]:
        return tuple(int(number) for number in re.match(r"update (\d+): node (\d+) hears it", line).groups())

    def logs(mode: str, threads: str, is_alone: bool = False) -> list[list[str]]:
        own = Path(tempfile.mkdtemp(dir=folder))
        run(own, then=(mode, threads), is_alone=is_alone)
        return [path.read_text().splitlines() for path in own.iterdir()]

    (alone,) = logs("0", "1", is_alone=True)
    is_right = len(alone) == 255 and alone == sorted(alone, key=place)
    for mode in "0", "5":
        for threads in "1", "2", "3":
            together = logs(mode, threads)
            is_right &= len(together) == (2 if sys.argv[2:] else 1) and all(log == sorted(log, key=place) for log in together)
            is_right &= sorted((line for log in together for line in log), key=place) == alone
    return is_right


#: name of the program → how to check it
CHECKS = {
    "newest_value": check_newest,
    "ring": check_ring,
    "heat_flow": check_heat,
    "game_of_life": check_life,
    "ising": check_ising,
    "kuramoto": check_kuramoto,
    "communities": check_communities,
    "walkers": check_walkers,
    "ranks": check_ranks,
    "shared_log": check_log,
}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return 0 if CHECKS[Path(sys.argv[1]).name](Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
