"""Conduit from Python: graphs in and out, partitions, launches, results and their figures.

    import networkx, netuit
    graph = networkx.watts_strogatz_graph(1000, 4, 0.1, seed=1)
    rows = netuit.run(graph, workers="2x1", modes=[0, 3], seconds=1, replicates=3)
    netuit.plot_rates(rows).figure.savefig("rates.png", bbox_inches="tight")
    netuit.draw_partition(graph, netuit.partition(graph, 2)).figure.savefig("partition.png")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netuit.checkpoints import Checkpoints
    from netuit.conduits import Conduits, Inlet, Outlet
    from netuit.csr_file import write_csr
    from netuit.experiment import run_sweep
    from netuit.graph_files import read_graph, read_placement, write_graph, write_placement
    from netuit.graph_arrays import Torus
    from netuit.loading import load
    from netuit.local_mesh import Report
    from netuit.mesh import Mesh
    from netuit.part import Part
    from netuit.partition_plots import draw_partition
    from netuit.partitioning import cut_weight, partition
    from netuit.result_plots import plot_conflicts, plot_quality, plot_rates
    from netuit.run_graph import run
    from netuit.schedules import Dataflow, EveryUpdate, Fixed, Free, Isolated, Rolling, automatic
    from netuit.vtk import write_vtk

__version__ = "0.2.0"

__all__ = [
    "Checkpoints",
    "Conduits",
    "Dataflow",
    "EveryUpdate",
    "Fixed",
    "Free",
    "Inlet",
    "InputError",
    "Isolated",
    "Mesh",
    "Outlet",
    "OutputError",
    "Part",
    "Report",
    "Rolling",
    "ToolError",
    "Torus",
    "automatic",
    "cut_weight",
    "draw_partition",
    "load",
    "partition",
    "plot_conflicts",
    "plot_quality",
    "plot_rates",
    "read_graph",
    "read_placement",
    "run",
    "run_sweep",
    "write_csr",
    "write_graph",
    "write_placement",
    "write_vtk",
]

# Loaded when first asked for: arguments are checked where nothing but the standard library is installed yet.
_HOME_OF = {
    **dict.fromkeys(("Dataflow", "EveryUpdate", "Fixed", "Free", "Isolated", "Rolling", "automatic"), "schedules"),
    "Checkpoints": "checkpoints",
    "Mesh": "mesh",
    "Part": "part",
    "Report": "local_mesh",
    **dict.fromkeys(("Conduits", "Inlet", "Outlet"), "conduits"),
    "Torus": "graph_arrays",
    "write_vtk": "vtk",
    "write_csr": "csr_file",
    "run_sweep": "experiment",
    "read_graph": "graph_files",
    "read_placement": "graph_files",
    "write_graph": "graph_files",
    "write_placement": "graph_files",
    "load": "loading",
    "draw_partition": "partition_plots",
    "cut_weight": "partitioning",
    "partition": "partitioning",
    "plot_conflicts": "result_plots",
    "plot_quality": "result_plots",
    "plot_rates": "result_plots",
    "run": "run_graph",
}


class ToolError(Exception):
    """Ends a tool with one line, `conduit: error: ...`, and this exit code."""

    exit_code = 1


class InputError(ToolError):
    """An option or a file of the user's that makes no sense."""

    exit_code = 2


class OutputError(ToolError):
    """Results that cannot be written."""

    exit_code = 5


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(importlib.import_module(f"netuit.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'netuit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))])
