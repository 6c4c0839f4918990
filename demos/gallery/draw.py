"""draw.py FOLDER: draws what the programs of the gallery have written to FOLDER, into the same folder."""

import csv
import sys
from pathlib import Path

import matplotlib
import networkx
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def column(path: Path, name: str) -> dict[str, str]:
    """The values of a column by label."""
    with open(path, newline="") as file:
        return {row["label"]: row[name] for row in csv.DictReader(file)}


def square(values: numpy.ndarray) -> numpy.ndarray:
    side = round(len(values) ** 0.5)
    return values.reshape(side, side)


def draw_life(folder: Path, figure) -> None:
    film = numpy.load(folder / "life.npy")
    for panel, frame in zip(figure.subplots(1, 3), (1, 8, len(film) - 1), strict=True):
        panel.imshow(square(film[frame]), cmap="Greys", interpolation="nearest")
        panel.set(title=f"after {10 * (frame + 1)} updates", xticks=[], yticks=[])


def draw_ising(folder: Path, figure) -> None:
    kinds = {"cold": "temperature 1.8", "critical": "2.269", "hot": "3.5"}
    for panel, (name, title) in zip(figure.subplots(1, 3), kinds.items(), strict=True):
        spins = column(folder / "spins.csv", name)
        panel.imshow(square(numpy.array([int(spins[str(node)]) for node in range(len(spins))])), cmap="coolwarm", vmin=-1, vmax=1)
        panel.set(title=title, xticks=[], yticks=[])


def draw_kuramoto(folder: Path, figure) -> None:
    phases = numpy.load(folder / "phases.npy")
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
    left.plot(numpy.abs(numpy.exp(1j * phases).mean(axis=1)), color="#4878a8")
    left.set(xlabel="copy of all phases", ylabel="order parameter", ylim=(0, 1))
    for frame, color, name in ((0, "#bbbbbb", "first"), (len(phases) - 1, "#d1603d", "last")):
        right.plot(numpy.cos(phases[frame]), numpy.sin(phases[frame]), ".", color=color, alpha=0.4, label=name)
    right.set(aspect="equal", xticks=[], yticks=[], title="phases on the circle")
    right.legend(loc="center", frameon=False)


def draw_communities(folder: Path, figure) -> None:
    graph = networkx.read_edgelist(folder / "groups.edgelist")
    groups = column(folder / "communities.csv", "community")
    numbers = {group: number for number, group in enumerate(sorted(set(groups.values()), key=int))}
    panel = figure.subplots()
    networkx.draw_networkx_edges(graph, position := networkx.spring_layout(graph, seed=2), ax=panel, width=0.3, edge_color="#999999")
    networkx.draw_networkx_nodes(
        graph, position, ax=panel, node_size=35, cmap="tab10", vmin=0, vmax=9, node_color=[numbers[groups[node]] for node in graph]
    )
    panel.set_axis_off()


#: name of the picture → the program's file, how to draw it, and the picture's size in inches
PICTURES = {
    "game_of_life": ("life.npy", draw_life, (9, 3.2)),
    "ising": ("spins.csv", draw_ising, (9, 3.2)),
    "kuramoto": ("phases.npy", draw_kuramoto, (8, 3.2)),
    "communities": ("communities.csv", draw_communities, (6, 4.5)),
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
