"""draw.py FOLDER: draws what the programs of the gallery have written to FOLDER, into the same folder."""

import csv
import re
import sys
from pathlib import Path

import matplotlib
import networkx
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def column(path: Path, name: str) -> dict[str, str]:
    """The values of a column by label."""
    return {row["label"]: row[name] for row in rows(path)}


def by_node(path: Path, name: str) -> numpy.ndarray:
    """The numbers of a column in order of the nodes' ids, which are their labels."""
    numbers = column(path, name)
    return numpy.array([float(numbers[str(node)]) for node in range(len(numbers))])


def square(values: numpy.ndarray) -> numpy.ndarray:
    side = round(len(values) ** 0.5)
    return values.reshape(side, side)


def draw_newest(folder: Path, figure) -> None:
    steps = [int(row["step"]) for row in rows(folder / "drawn.csv")]
    drawings = range(1, len(steps) + 1)
    panel = figure.subplots()
    panel.plot(drawings, [step / 1e6 for step in steps], "o", color="#4878a8", markersize=4, label="newest value")
    panel.plot(drawings, [step / 1e6 for step in drawings], color="#999999", label="all states in a queue, for comparison")
    panel.set(xlabel="drawing", ylabel="drawn step, million", ylim=(-0.05, 1.05))
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(loc="upper left", frameon=False)


def draw_ring(folder: Path, figure) -> None:
    members = [{name: int(value) for name, value in row.items()} for row in rows(folder / "ring.csv")]
    angles = numpy.pi / 2 - 2 * numpy.pi * numpy.arange(len(members)) / len(members)
    panel = figure.subplots()
    for member, angle in zip(members, angles):
        before = members[member["member"] - 1]
        middle = angle + numpy.pi / len(members)
        arc = numpy.linspace(middle + 0.22, middle - 0.22, 30)
        for count, color in ((before["sent"], "#d0d0d0"), (member["read"], "#d1603d")):
            panel.plot(numpy.cos(arc), numpy.sin(arc), color=color, linewidth=count / 20, solid_capstyle="butt")
        text = f"{member['read']} of {before['sent']}"
        panel.text(1.5 * numpy.cos(middle), 1.3 * numpy.sin(middle), text, ha="center", va="center")
        color = ("#4878a8", "#666666")[member["process"] % 2]
        panel.plot(numpy.cos(angle), numpy.sin(angle), "o", color=color, markersize=24)
        panel.text(numpy.cos(angle), numpy.sin(angle), member["member"], color="white", ha="center", va="center_baseline")
    panel.set(aspect="equal", xlim=(-1.9, 1.9), ylim=(-1.5, 1.5))
    panel.set_axis_off()


def draw_heat(folder: Path, figure) -> None:
    heat = square(by_node(folder / "heat.csv", "heat"))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
    image = left.imshow(heat, cmap="inferno", vmin=0)
    left.set(title="all nodes", xticks=[], yticks=[])
    figure.colorbar(image, ax=left, shrink=0.9)
    right.plot(heat[32], color="#d1603d")
    right.set(title="the row in the middle", xlabel="column", ylabel="heat", xlim=(0, 63), ylim=(0, None))
    right.spines[["top", "right"]].set_visible(False)


def draw_life(folder: Path, figure) -> None:
    film = numpy.load(folder / "life.npy")
    for panel, frame in zip(figure.subplots(1, 3), (1, 8, len(film) - 1)):
        panel.imshow(square(film[frame]), cmap="Greys", interpolation="nearest")
        panel.set(title=f"after {10 * (frame + 1)} updates", xticks=[], yticks=[])


def draw_ising(folder: Path, figure) -> None:
    kinds = {"cold": "temperature 1.8", "critical": "2.269", "hot": "3.5"}
    for panel, (name, title) in zip(figure.subplots(1, 3), kinds.items()):
        panel.imshow(square(by_node(folder / "spins.csv", name)), cmap="coolwarm", vmin=-1, vmax=1)
        panel.set(title=title, xticks=[], yticks=[])


def draw_kuramoto(folder: Path, figure) -> None:
    phases = numpy.load(folder / "phases.npy")
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
    left.plot(numpy.abs(numpy.exp(1j * phases).mean(axis=1)), color="#4878a8")
    left.set(xlabel="copy of all phases", ylabel="order parameter", ylim=(0, 1))
    for frame, color, name in ((0, "#bbbbbb", "first"), (len(phases) - 1, "#d1603d", "last")):
        right.plot(numpy.cos(phases[frame]), numpy.sin(phases[frame]), ".", color=color, alpha=0.4, label=name, rasterized=True)
    right.set(aspect="equal", xticks=[], yticks=[], title="phases on the circle")
    right.legend(loc="center", frameon=False, markerscale=2)


def draw_edges(panel, graph: networkx.Graph, position: dict, linewidth: float) -> None:
    """All edges in one path, which keeps the file small."""
    ends = [point for one, other in graph.edges for point in (position[one], position[other], (numpy.nan, numpy.nan))]
    panel.plot(*zip(*ends), color="#999999", linewidth=linewidth, zorder=0)


def draw_communities(folder: Path, figure) -> None:
    graph = networkx.read_edgelist(folder / "groups.edgelist")
    groups = column(folder / "communities.csv", "community")
    numbers = {group: number for number, group in enumerate(sorted(set(groups.values()), key=int))}
    panel = figure.subplots()
    position = networkx.spring_layout(graph, seed=2)
    draw_edges(panel, graph, position, linewidth=0.3)
    colors = ("#4878a8", "#d1603d", "#e0b040", "#555555")
    shades = [colors[numbers[groups[node]] % len(colors)] for node in graph]
    networkx.draw_networkx_nodes(graph, position, ax=panel, node_size=35, node_color=shades, linewidths=0)
    panel.set_axis_off()


def draw_walkers(folder: Path, figure) -> None:
    last = square(by_node(folder / "walkers.csv", "walkers").astype(int))
    first = numpy.zeros_like(last)
    first[4, 4] = last.sum()
    random = numpy.random.default_rng(1)
    for panel, counts, title in zip(figure.subplots(1, 2), (first, last), ("at first", "at last")):
        y, x = (numpy.repeat(axis.ravel(), counts.ravel()) for axis in numpy.indices(counts.shape))
        x, y = (axis + random.uniform(0.12, 0.88, len(axis)) for axis in (x, y))
        panel.plot(x, y, "o", color="#4878a8", markersize=2.5, markeredgewidth=0)
        panel.set(aspect="equal", title=f"{title}: {counts.sum()} walkers")
        panel.set(xlim=(0, 8), ylim=(8, 0), xticks=range(9), yticks=range(9))
        panel.tick_params(length=0, labelbottom=False, labelleft=False)
        panel.grid(color="#cccccc", linewidth=0.6)
        panel.set_axisbelow(True)


def draw_ranks(folder: Path, figure) -> None:
    graph = networkx.read_edgelist(folder / "club.edgelist")
    ranks = {node: float(rank) for node, rank in column(folder / "ranks.csv", "rank").items()}
    most = sorted(ranks, key=ranks.get)[-10:]
    position = networkx.kamada_kawai_layout(graph)
    left, right = figure.subplots(1, 2, width_ratios=(1.9, 1))
    draw_edges(left, graph, position, linewidth=0.6)
    shades = ["#d1603d" if node in most[-3:] else "#4878a8" for node in graph]
    sizes = [4500 * ranks[node] for node in graph]
    networkx.draw_networkx_nodes(graph, position, ax=left, node_size=sizes, node_color=shades, edgecolors="white")
    networkx.draw_networkx_labels(graph, position, {node: node for node in most}, ax=left, font_size=6.5, font_color="white")
    left.set_axis_off()
    bars = right.barh(most, [ranks[node] for node in most], color=["#4878a8"] * 7 + ["#d1603d"] * 3)
    right.bar_label(bars, [f"{ranks[node]:.3f}" for node in most], padding=3)
    right.set(title="the ten largest ranks", ylabel="member", xticks=[], xlim=(0, 0.13))
    right.spines[["top", "right", "bottom"]].set_visible(False)


def draw_log(folder: Path, figure) -> None:
    lines = [line for path in folder.glob("log.*") for line in path.read_text().splitlines()]
    heard = [tuple(int(number) for number in re.findall(r"\d+", line)) for line in lines]
    when = {node: update for update, node, _ in heard}
    side = 16
    y, x = numpy.divmod(numpy.arange(side**2), side)
    position = dict(enumerate(zip(x, y)))
    steps = [(source, node) for _, node, source in heard if abs(node - source) in (1, side)]  # without those around the torus
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
    draw_edges(left, networkx.Graph(steps), position, linewidth=0.8)
    dots = left.scatter(x, y, c=[when.get(node, 0) for node in position], cmap="viridis", s=22)
    left.set(aspect="equal", xticks=[], yticks=[])
    figure.colorbar(dots, ax=left, shrink=0.9, label="heard in update")
    updates = range(max(when.values()) + 1)
    right.plot(updates, [1 + sum(update <= now for update in when.values()) for now in updates], color="#4878a8")
    right.set(xlabel="update", ylabel="nodes that know the rumour", xlim=(0, updates[-1]), ylim=(0, side**2 + 4))
    right.spines[["top", "right"]].set_visible(False)


#: name of the picture → the program's file, how to draw it, and the picture's size in inches
PICTURES = {
    "newest_value": ("drawn.csv", draw_newest, (7, 3)),
    "ring": ("ring.csv", draw_ring, (5.6, 4.4)),
    "heat_flow": ("heat.csv", draw_heat, (8, 3)),
    "game_of_life": ("life.npy", draw_life, (9, 3.2)),
    "ising": ("spins.csv", draw_ising, (9, 3.2)),
    "kuramoto": ("phases.npy", draw_kuramoto, (8, 3.2)),
    "communities": ("communities.csv", draw_communities, (6, 4.5)),
    "walkers": ("walkers.csv", draw_walkers, (7, 3.7)),
    "ranks": ("ranks.csv", draw_ranks, (8.5, 4.2)),
    "shared_log": ("log.0", draw_log, (8, 3.2)),
}


def main() -> None:
    folder = Path(sys.argv[1])
    plt.rcParams.update({"svg.hashsalt": "gallery", "font.size": 10, "image.interpolation": "nearest"})
    for name, (needed, draw, size) in PICTURES.items():
        if not (folder / needed).exists():
            continue
        figure = plt.figure(figsize=size)
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
        draw(folder, figure)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
