#!/usr/bin/env python3
"""draw.py [FOLDER]: runs the cells of heat.ipynb, and draws their picture in FOLDER, by default here, as heat.svg."""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")  # no display needed
import matplotlib.pyplot as plt  # noqa: E402

HERE = pathlib.Path(__file__).parent

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
cells = json.loads((HERE / "heat.ipynb").read_text(encoding="utf-8"))["cells"]
exec("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))
with plt.rc_context({"svg.hashsalt": "heat", "svg.fonttype": "none"}):
    plt.savefig(folder / "heat.svg", metadata={"Date": None, "Creator": None})
print(folder / "heat.svg")
