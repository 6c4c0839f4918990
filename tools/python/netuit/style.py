"""What all figures have in common."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import matplotlib.pyplot as plt

from netuit import files

# Okabe and Ito's palette, which colour-blind readers can tell apart; in order of modes 0 to 5.
MODE_COLORS = ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#999999", "#CC79A7")

STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
    "figure.dpi": 150,
}


def save(figure: Any, path: str | os.PathLike[str], dpi: int | str = "figure") -> None:
    """Writes a figure in one step, and closes it. Raises OutputError."""
    try:
        files.write_figure(pathlib.Path(path), figure, bbox_inches="tight", pad_inches=0.15, dpi=dpi)
    finally:
        plt.close(figure)
