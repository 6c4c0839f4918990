"""What all figures have in common."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import matplotlib.pyplot as plt

from netuit import files

# Okabe and Ito's palette, which colour-blind readers can tell apart; in order of modes 0 to 5.
MODE_COLORS = ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#999999", "#CC79A7")

#: A replicate beside the mean of few.
SINGLE: dict[str, Any] = {"color": "#333333", "marker": "o", "markersize": 2.5, "markeredgewidth": 0, "linestyle": "none", "zorder": 4}

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
    """Writes a figure as PNG, and beside it as SVG, for web pages; then closes it. Of the same figure always the same SVG. Raises
    OutputError."""
    path = pathlib.Path(path)
    options = {"bbox_inches": "tight", "pad_inches": 0.15, "dpi": dpi}
    try:
        files.write_figure(path, figure, **options)
        with plt.rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
            files.write_figure(path.with_suffix(".svg"), figure, metadata={"Date": None, "Creator": None}, **options)
    finally:
        plt.close(figure)
