"""epidemic_demo_test.py PROGRAM [LAUNCHER…]: compares an epidemic in mode 0 with a serial program that uses NetworkX.

Draws two networks over the same nodes, and compares every node's state after every day. Exits with 1 if any differs.
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx

DAYS = 30
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def philox(counter, key):
    """Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011)."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        p0, p1 = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & M32, (p0 >> 32) ^ c[3] ^ k1, p0 & M32]
        k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
    return c


def uniform(seed, node, update):
    """Returns a node's first random number in an update."""
    counter = (node, update & M32, update >> 32, 0)
    return philox(counter, (seed & M32, seed >> 32))[0] * 2.0**-32


def histories(home, work, numbers):
    """Returns the nodes' states day by day, in base 3 (0 well, 1 sick, 2 immune)."""
    nodes = sorted(numbers.values())
    label = {number: name for name, number in numbers.items()}
    state = {node: 1 if node % 10 == 0 else 0 for node in nodes}
    history = dict.fromkeys(nodes, 0)
    for day in range(DAYS):
        seen = dict(state)
        for node in nodes:
            force = 0.0
            if label[node] in home:
                for other, data in home.adj[label[node]].items():
                    force += data["weight"] * (seen[numbers[other]] == 1)
            if day % 7 == 0 and label[node] in work:
                for other in work.adj[label[node]]:
                    force += 0.1 * (seen[numbers[other]] == 1)
            draw = uniform(1, node, day)
            if seen[node] == 0:
                state[node] = 1 if draw < 1 - 1 / (1 + force) else 0
            elif seen[node] == 1:
                state[node] = 2 if draw < 0.2 else 1
            history[node] = (3 * history[node] + state[node]) & M64
    return [history[node] for node in nodes]


def days_of(all_histories):
    """Returns the lines that the program prints."""
    lines = []
    for day in range(DAYS):
        states = [history // 3 ** (DAYS - 1 - day) % 3 for history in all_histories]
        lines.append(f"day {day}: {states.count(0)} well, {states.count(1)} sick, {states.count(2)} immune")
    return lines


def main() -> int:
    program, *launcher = sys.argv[1:]
    draw = random.Random(7)
    home = networkx.relabel_nodes(networkx.connected_caveman_graph(20, 6), lambda n: f"p{n}")
    for _, _, data in home.edges(data=True):
        data["weight"] = draw.choice((0.0625, 0.125, 0.25))  # the sum does not depend on the order
    names = list(home)
    draw.shuffle(names)
    work = networkx.relabel_nodes(networkx.watts_strogatz_graph(len(names), 4, 0.2, seed=3), dict(enumerate(names)))
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{name}.edgelist") for name in ("home", "work")]
        networkx.write_weighted_edgelist(home, files[0])
        networkx.write_edgelist(work, files[1], data=False)
        numbers: dict[str, int] = {}  # by label, in the order of first appearance
        for file in files:
            for line in Path(file).read_text().splitlines():
                for name in line.split()[:2]:
                    numbers.setdefault(name, len(numbers))
        ran = subprocess.run([*launcher, program, *files, str(DAYS), str(Path(folder) / "results")], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            print(ran.stderr)
            return 1
        with open(Path(folder) / "results" / "epidemic.csv", newline="") as table:
            history_of = {row["label"]: int(row["history"]) for row in csv.DictReader(table)}
    expected = histories(home, work, numbers)
    computed = [history_of[label] for label in sorted(numbers, key=numbers.__getitem__)]
    if ran.stdout.splitlines() != days_of(expected):
        print("the program counted differently:", ran.stdout, sep="\n")
        return 1
    differing = [node for node, pair in enumerate(zip(computed, expected)) if pair[0] != pair[1]]
    print(f"{len(computed)} nodes, {DAYS} days, {len(differing)} nodes differ, {sum(1 for h in expected if h)} were ever ill")
    return 0 if len(computed) == len(expected) == len(numbers) and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
