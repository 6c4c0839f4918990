"""Simulations on graphs in NumPy: a worker's nodes are updated at once, as arrays.

    import netuit, networkx
    mesh = netuit.Mesh(networkx.watts_strogatz_graph(100_000, 6, 0.05), processes=2)
    x = mesh.field(initial=lambda ids: (ids == 0) * 1.0, published=True)

    def update(part):
        part[x] = 0.5 * part[x] + 0.5 * part.mean_in(x)

    report = mesh.run(netuit.Free(seconds=2), update)
    print(report)
    print(mesh.gather(x))
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import networkx
import numpy

from netuit import InputError, ToolError, graph_arrays, native
from netuit.checkpoints import Checkpoints, checked_notes, folder as folder_of
from netuit.fields import EdgeField, EdgeWeights, Field, Film, Reduction, check
from netuit.local_mesh import Here, Report
from netuit.part import Part
from netuit.schedules import Schedule, whole


def _labels(file: graph_arrays.File) -> list[str]:
    loaded = native.load()
    return list(loaded.labels(loaded.load(file.path, file.directed)))


class Mesh:
    """A graph placed on threads and processes, and the values of its nodes.

    graph: a NetworkX graph, a SciPy sparse matrix (row: where an edge begins), a graph file, or netuit.Torus(width, height).
    processes: starts so many on this machine, by mpirun, which hold the mesh. Without it: this process, or, if mpirun has started
    several of this program, those. Then each of them makes the same calls.
    threads: of each process. NumPy's part of an update runs on one of them at a time.

    The number of a node is its position in the graph, and `nodes` has their names. Arrays of a part show the mesh's memory, also after
    close(). Raises InputError and ToolError.
    """

    def __init__(self, graph: Any, processes: int | None = None, threads: int = 1, *, directed: bool = False) -> None:
        threads = whole("threads", threads, 1, 4096)
        processes = None if processes is None else whole("processes", processes, 1, 2**20)
        described = graph_arrays.describe(graph, directed)
        if isinstance(described, graph_arrays.Arrays) and described.num_nodes == 0:
            raise InputError("a mesh needs a graph with nodes")
        self.graph = graph  #: as given
        self._described = described
        self._nodes: Any = list(graph.nodes) if isinstance(graph, networkx.Graph) else None
        self._name = uuid.uuid4().hex
        self._has_weights = False
        loaded = native.load()
        self.rank = int(loaded.rank())  #: of this process, among those that a launcher has started
        self.size = int(loaded.size())  #: number of those
        self._engine: Any
        if self.size == 1 and processes is not None and processes > 1:
            if not loaded.has_mpi:
                raise InputError(f"processes={processes}: this build of netuit is without MPI; it has threads")
            from netuit.job import Elsewhere  # needs more packages

            self._engine = Elsewhere(described, processes, threads, self._name)
        elif processes not in (None, self.size):
            raise InputError(f"processes={processes}, but the launcher has started {self.size}")
        else:
            self._engine = Here(described, threads, self._name)
        try:
            self.num_nodes: int = self._engine.num_nodes()  #: of the whole graph
            self.num_edges: int = self._engine.num_edges()  #: directed ones, of the whole graph
        except BaseException:
            self._engine.close()
            raise

    @property
    def nodes(self) -> Any:
        """The names of the nodes, by number: the nodes of the NetworkX graph, or the names in the file."""
        if self._nodes is None:
            described = self._described
            self._nodes = _labels(described) if isinstance(described, graph_arrays.File) else range(self.num_nodes)
        return self._nodes

    def __reduce__(self) -> Any:
        raise InputError("an update function must not use the mesh: use its fields and the part")

    def __enter__(self) -> Mesh:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def field(self, initial: Any = 0.0, *, published: bool = False, dtype: str | None = None, name: str = "") -> Field:
        """Adds a value per node.

        initial: one value; an array or a list by number; a mapping or a pandas Series by node; the name of a node attribute of the
        NetworkX graph; or a function that gets an array of numbers, and gives one of values. Under mpirun, all processes must give the
        same values. published: neighbours read the value. dtype: float64, float32, int64, int32, uint8 or bool; by default what NumPy
        makes of the values, so 0 gives a field of whole numbers. name: in checkpoints, where the field otherwise has a number.
        """
        if isinstance(initial, str):
            initial = self._attribute(initial)
        elif isinstance(initial, Mapping) or hasattr(initial, "to_dict"):
            initial = self._by_node(initial if isinstance(initial, Mapping) else initial.to_dict(), "initial")
        elif callable(initial):
            initial = initial(numpy.arange(self.num_nodes))
        field: Field = self._engine.add_field(initial, dtype, published, name)
        return field

    def edge_field(self, initial: Any = 0.0, *, dtype: str | None = None, name: str = "") -> EdgeField:
        """Adds a value per edge, which belongs to the node where the edge ends.

        initial: one value. For others, set them in the first update, from `part.sources` and `part.targets`. dtype, name: as of a field.
        """
        field: EdgeField = self._engine.add_edge_field(initial, dtype, name)
        return field

    def _attribute(self, name: str) -> list[Any]:
        if not isinstance(self.graph, networkx.Graph):
            raise InputError(f"initial={name!r}: only a NetworkX graph has node attributes")
        return self._by_node(networkx.get_node_attributes(self.graph, name), f"the attribute {name!r}")

    def _by_node(self, values: Mapping[Any, Any], what: str) -> list[Any]:
        missing = next((node for node in self.nodes if node not in values), None)
        if missing is not None:
            raise InputError(f"{what} has no value for node {missing!r}")
        return [values[node] for node in self.nodes]

    def edge_weights(self) -> EdgeWeights:
        """The weights of the graph's edges, or 1."""
        if not self._has_weights:
            self._engine.add_weights()
            self._has_weights = True
        return EdgeWeights(self._name)

    def reduction(self, which: str = "maximum") -> Reduction:
        """Adds the largest ("maximum"), the smallest ("minimum") or the sum ("sum") of a number of all nodes, for a schedule's `until`.

        A mesh may have two. The same numbers have the same sum, to the last bit, on any number of processes and threads.
        """
        if which not in ("maximum", "minimum", "sum"):
            raise InputError(f"a reduction is a maximum, a minimum or a sum, not {which!r}")
        return Reduction(self._name, self._engine.add_reduction(which), which)

    def run(
        self,
        schedule: Schedule,
        update: Callable[[Part], object],
        *,
        seed: int | None = None,
        goes_on: bool = True,
        trace: str | os.PathLike[str] = "",
        checkpoints: Checkpoints | None = None,
    ) -> Report:
        """Calls `update(part)` again and again on every worker, as the schedule says. Gives the report.

        seed: for random numbers; None: that of the last run, or of the checkpoint that was loaded, or 1.
        goes_on: updates are numbered from where the last run ended. trace: a file for what each worker does when, for Perfetto
        (ui.perfetto.dev). checkpoints: when to save the mesh meanwhile; see load_checkpoint. An exception of the update ends the run, and
        is raised.
        Ctrl-C ends it, too. Every process gets the report of its own workers, and rank 0 that of all.
        """
        if not isinstance(schedule, Schedule):
            raise InputError(f"a run needs a schedule such as netuit.Free(seconds=1), not {schedule!r}")
        if schedule.until is not None:
            check(schedule.until, self._name)
        if seed is not None:
            seed = whole("seed", seed)
        first_update = self.num_updates if goes_on else 0
        options: dict[str, Any] = {"seed": seed, "first_update": first_update, "trace": os.path.abspath(trace) if trace else ""}
        if checkpoints is not None:
            if not goes_on:
                raise InputError("updates of a run with checkpoints are numbered from where the last run ended: goes_on=False has no meaning")
            options.update(checkpoints.words())
        report: Report = self._engine.run(schedule, update, options)
        if report.signal == 2:
            raise KeyboardInterrupt
        if report.signal:
            raise SystemExit(report.exit_code)
        if report.exit_code:
            raise ToolError(report.message or f"the run ended with code {report.exit_code}")
        return report

    def film(self, field: Field, *, every: int = 1, most: int = 64) -> Film:
        """Lets the following runs copy a field's values after each so many updates of a worker, without a pause.

        In EveryUpdate and Dataflow, all values of an image are of the same update. In the other schedules an image is a consistent cut:
        no value in it depends on what another node published after its own copy was made. most: images for which there is memory.
        """
        film: Film = self._engine.add_film(field, whole("every", every, 1), whole("most", most, 1))
        return film

    def gather(self, field: Field | Film) -> Any:
        """The values of all nodes by number, on rank 0; None elsewhere. Of a film, all images: an array of images by nodes.

        Warns if later images found no memory.
        """
        if not isinstance(field, Film):
            return self._engine.gather(field)
        check(field, self._name)
        images, missed = self._engine.gather_film(field)
        if missed and images is not None:
            warnings.warn(f"{missed} images found no memory: raise `most`, or clear the film between runs", stacklevel=2)
        return images

    def clear(self, film: Film) -> None:
        """Forgets the images of a film, so that there is memory for others."""
        check(film, self._name)
        self._engine.clear_film(film)

    def save_checkpoint(self, folder: str | os.PathLike[str], *, notes: Mapping[str, str] | None = None) -> None:
        """Saves the state of the mesh: all fields and edge fields, and what neighbours see of them.

        The folder has a NumPy file for each field, in order of node or edge. An older checkpoint in it is replaced in one step.
        """
        self._engine.save_checkpoint(folder_of(folder), checked_notes(notes or {}))

    def load_checkpoint(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Takes the state from a checkpoint of a mesh of the same graph, with the same fields, added in the same order. Gives its notes.

        The mesh may have other numbers of processes and threads. The next run goes on where the checkpoint was made:

            if mesh.has_checkpoint("run.ckpt"):
                mesh.load_checkpoint("run.ckpt")
            mesh.run(netuit.Free(seconds=86400), update, checkpoints=netuit.Checkpoints("run.ckpt", seconds=600))

        Raises InputError if the folder has no checkpoint, or one of another mesh; the values of the fields are then not known.
        """
        notes: dict[str, str] = self._engine.load_checkpoint(folder_of(folder))
        return notes

    def has_checkpoint(self, folder: str | os.PathLike[str]) -> bool:
        """Whether the folder has a checkpoint."""
        return bool(self._engine.has_checkpoint(folder_of(folder)))

    @property
    def num_updates(self) -> int:
        """The number of the next update: of those that were made, also before a checkpoint."""
        return int(self._engine.num_updates())

    def close(self) -> None:
        """Ends the processes that the mesh has started, and gives its memory back."""
        self._engine.close()
