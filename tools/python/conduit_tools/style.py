"""What all figures have in common."""

from __future__ import annotations

# Okabe and Ito's palette, which colour-blind readers can tell apart; in order of modes 0 to 4.
MODE_COLORS = ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#999999")

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
