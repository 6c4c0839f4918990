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

import atexit
import dataclasses
import os
import sys
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import networkx
import numpy

from netuit import InputError, ToolError, graph_arrays, native
from netuit.schedules import Schedule, Until, whole

_TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


@dataclasses.dataclass(frozen=True)
class Field:
    """A value per node, which the mesh owns. Index a part with it."""

    mesh: str
    number: int
    dtype: str
    is_published: bool


@dataclasses.dataclass(frozen=True)
class EdgeWeights:
    """The weights of the graph's edges. Index a part with it for those of its edges, or pass it to sum_in and mean_in."""

    mesh: str


@dataclasses.dataclass(frozen=True)
class Reduction:
    """The largest or smallest of a number of all nodes: `part[change] = numbers`, and `until=change < 1e-9`."""

    mesh: str
    number: int
    is_maximum: bool

    def __lt__(self, bound: float) -> Until:
        return Until(self.mesh, self.number, float(bound), True)

    def __gt__(self, bound: float) -> Until:
        return Until(self.mesh, self.number, float(bound), False)


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of a run; `print(report)` tells it in two lines."""

    text: str
    workers: list[dict[str, Any]]  #: a row per worker
    updates: int  #: the most of a worker
    effective_updates: int | None  #: that count, whatever was late or lost
    staleness: int  #: updates that the oldest value was old when it was read
    seconds: float
    put: int  #: messages
    read: int
    is_balanced: bool  #: whether every message is accounted for
    message: str  #: what went wrong, if anything
    exit_code: int
    signal: int

    def __str__(self) -> str:
        return self.text.rstrip("\n")


class Part:
    """The nodes that a worker updates at once. Valid while the update function is called.

    A neighbour is a node from which an edge leads here; a graph without directions has an edge both ways. Arrays "by edge" have an
    element for each edge that ends at one of the nodes, node by node.
    """

    def __init__(self, mesh: Any, loaded: Any, name: str) -> None:
        self._part = loaded.Part(mesh)
        self._fold = loaded.Fold
        self._name = name
        self._last: tuple[int, Any] = (-1, None)  # the field that was read last, and its values

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._part)

    def __getitem__(self, handle: Field | EdgeWeights) -> Any:
        """The nodes' own values of a field, to be read and written in place, or the weights by edge."""
        if isinstance(handle, EdgeWeights):
            check(handle, self._name)
            return self._part._weights()
        own = self._own(handle)
        self._last = (handle.number, own)
        return own

    def __setitem__(self, handle: Field | Reduction, values: Any) -> None:
        """Sets the nodes' own values of a field, or gives their numbers to a reduction."""
        if isinstance(handle, Reduction):
            check(handle, self._name)
            numbers = numpy.asarray(values, dtype=float)
            if numbers.size:
                self._part._contribute(handle.number, float(numbers.max() if handle.is_maximum else numbers.min()))
            return
        number, last = self._last
        if values is last and isinstance(handle, Field) and handle.number == number:
            return  # an operator like += has changed them in place
        own = self._own(handle)
        try:
            numpy.copyto(own, values, casting="same_kind")
        except TypeError:
            given = numpy.asarray(values).dtype
            raise InputError(f"a field of {own.dtype} cannot take values of {given}: make the field with another initial value or dtype") from None

    def _own(self, field: Any) -> Any:
        own = self._part._own(number_of(field, self._name))
        return own.view(bool) if field.dtype == "bool" else own

    @property
    def ids(self) -> Any:
        """The numbers of the nodes in the whole graph."""
        return self._part.ids

    @property
    def worker(self) -> int:
        """The number of the worker, among all threads of all processes."""
        return int(self._part.worker)

    @property
    def update(self) -> int:
        """The number of this update, from 0."""
        return int(self._part.update)

    @property
    def first_edges(self) -> Any:
        """Where each node's edges begin in arrays by edge, and where the last one's end: the row pointers of a CSR matrix."""
        return self._part.first_edges

    @property
    def sources(self) -> Any:
        """The neighbour's number, by edge."""
        return self._part.sources

    def neighbors(self, field: Field) -> Any:
        """The neighbours' values, by edge."""
        values = self._part._neighbors(number_of(field, self._name))
        return values.view(bool) if field.dtype == "bool" else values

    def _combine(self, field: Field, fold: Any, weights: EdgeWeights | None = None) -> Any:
        if weights is not None:
            check(weights, self._name)
        return self._part._combine(number_of(field, self._name), fold, weights is not None)

    def sum_in(self, field: Field, weights: EdgeWeights | None = None) -> Any:
        """The sum of the neighbours' values for each node, each multiplied by the weight of its edge if weights are given."""
        return self._combine(field, self._fold.sum, weights)

    def mean_in(self, field: Field, weights: EdgeWeights | None = None) -> Any:
        """Their mean; 0 where a node has no neighbours."""
        return self._combine(field, self._fold.mean, weights)

    def min_in(self, field: Field) -> Any:
        """The smallest of them; 0 where a node has no neighbours."""
        values = self._combine(field, self._fold.minimum)
        return values.view(bool) if field.dtype == "bool" else values

    def max_in(self, field: Field) -> Any:
        """The largest of them; 0 where a node has no neighbours."""
        values = self._combine(field, self._fold.maximum)
        return values.view(bool) if field.dtype == "bool" else values

    def sum_edges(self, values: Any) -> Any:
        """The sum of numbers by edge for each node."""
        return self._part._sum_edges(_flat("sum_edges", values))

    def per_edge(self, values: Any) -> Any:
        """Numbers by node, repeated for each of its edges."""
        return self._part._per_edge(_flat("per_edge", values))

    def random(self, draw: int = 0) -> Any:
        """A number from [0, 1) for each node. It depends only on the run's seed, the node, the update and `draw`."""
        return self._part._random(whole("draw", draw, 0, 2**32 - 1))

    def stay_silent(self, nodes: Any = True) -> None:
        """These nodes (an array of truth values, or all) publish nothing in this update."""
        mask = numpy.broadcast_to(numpy.asarray(nodes, dtype=bool), (len(self),))
        self._part._stay_silent(numpy.ascontiguousarray(mask).view(numpy.uint8))

    def request_stop(self) -> None:
        """Asks all workers to end the run after their current update."""
        self._part.request_stop()


def _flat(what: str, values: Any) -> Any:
    array = numpy.ascontiguousarray(values, dtype=float)
    if array.ndim != 1:
        raise InputError(f"{what}: expected an array of one dimension, not of {array.ndim}")
    return array


def check(handle: Any, mesh: str) -> None:
    """Raises InputError if a handle is not one of this mesh."""
    if handle.mesh != mesh:
        raise InputError(f"the {type(handle).__name__} belongs to another mesh")


def number_of(field: Any, mesh: str) -> int:
    """The number of a field of this mesh. Raises InputError if it is none."""
    if not isinstance(field, Field):
        raise InputError(f"expected a field of the mesh, not {type(field).__name__}")
    check(field, mesh)
    return field.number


class Here:
    """A mesh of which this process has its part: alone, or with the processes that a launcher has started."""

    def __init__(self, graph: graph_arrays.Torus | graph_arrays.Arrays | graph_arrays.File | None, threads: int, name: str) -> None:
        self._native = native.load()
        self._name = name
        self._process = os.getpid()
        end_at_exit(self._native)
        self._mesh = self._native.Mesh(self._make(graph), threads)
        self._parts = [Part(self._mesh, self._native, name) for _ in range(threads)]

    def _make(self, graph: Any) -> Any:
        if isinstance(graph, graph_arrays.Torus):
            return self._native.torus(graph.width, graph.height)
        if isinstance(graph, graph_arrays.File):
            return self._native.load(graph.path, graph.directed)
        if isinstance(graph, graph_arrays.Arrays):
            labels = list(graph.labels)
            return self._native.graph(graph.num_nodes, graph.sources, graph.targets, graph.weights, labels)
        return self._native.no_graph()

    def num_nodes(self) -> int:
        return int(self._mesh.num_nodes)

    def num_edges(self) -> int:
        return int(self._mesh.num_edges)

    def num_updates(self) -> int:
        return int(self._mesh.num_updates)

    def add_field(self, initial: Any, dtype: str | None, published: bool) -> Field:
        values = _initial_values(initial, dtype, self.num_nodes())
        stored = values.view(numpy.uint8) if values.dtype == bool else values
        return Field(self._name, int(self._mesh.add_field(stored, published)), values.dtype.name, published)

    def add_weights(self) -> None:
        self._mesh.add_weights()

    def add_reduction(self, is_maximum: bool) -> int:
        return int(self._mesh.add_reduction(is_maximum))

    def gather(self, field: Field) -> Any:
        values = self._mesh.gather(number_of(field, self._name))
        return values if values is None or field.dtype != "bool" else values.view(bool)

    def run(self, schedule: Schedule, update: Callable[[Part], object], options: Mapping[str, Any]) -> Report:
        if os.getpid() != self._process:
            raise ToolError("a mesh cannot run in a child that fork has made")
        words = self._native.RunWords()
        for name, value in {**schedule.words(), **options}.items():
            if isinstance(value, Until):
                value = self._mesh.until(value.reduction, value.bound, value.is_below)
            if name != "until" or value is not None:
                setattr(words, name, value)
        parts = self._parts
        return Report(**self._mesh.run(words, lambda thread: update(parts[thread]), [part._part for part in parts]))

    def close(self) -> None:
        self._mesh.drop()


def _initial_values(initial: Any, dtype: str | None, num_nodes: int) -> Any:
    """An array of one of _TYPES with a value per node."""
    values = numpy.asarray(initial, dtype=dtype)
    if values.dtype.name not in _TYPES:
        raise InputError(f"a field has values of {', '.join(_TYPES[:-1])} or {_TYPES[-1]}, not {values.dtype.name}")
    if values.ndim == 0:
        values = numpy.full(num_nodes, values)
    if values.shape != (num_nodes,):
        raise InputError(f"a field of {num_nodes} nodes needs as many initial values, not an array of shape {values.shape}")
    return numpy.ascontiguousarray(values)


_ends_at_exit = False


def end_at_exit(loaded: Any) -> None:
    """Lets the job end with the program: with the code of sys.exit, or of an exception that nobody has caught."""
    global _ends_at_exit
    if _ends_at_exit:
        return
    _ends_at_exit = True
    process = os.getpid()
    code = 0
    show, leave = sys.excepthook, sys.exit

    def note(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        nonlocal code
        code = getattr(error, "exit_code", 130 if issubclass(kind, KeyboardInterrupt) else 1)
        show(kind, error, trace)

    def note_and_leave(status: Any = None, /) -> NoReturn:
        nonlocal code
        code = status if isinstance(status, int) else int(status is not None)
        leave(status)

    def end() -> None:
        if os.getpid() == process:  # and not a child that fork has made
            loaded.end(code)

    sys.excepthook = note
    if loaded.size() > 1:
        sys.exit = note_and_leave
    atexit.register(end)


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
            from netuit.job import Elsewhere

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

    def field(self, initial: Any = 0.0, *, published: bool = False, dtype: str | None = None) -> Field:
        """Adds a value per node.

        initial: one value; an array or a list by number; a mapping or a pandas Series by node; the name of a node attribute of the
        NetworkX graph; or a function that gets an array of numbers, and gives one of values. Under mpirun, all processes must give the
        same values. published: neighbours read the value. dtype: float64, float32, int64, int32, uint8 or bool; by default what NumPy
        makes of the values, so 0 gives a field of whole numbers.
        """
        if isinstance(initial, str):
            initial = self._attribute(initial)
        elif isinstance(initial, Mapping) or hasattr(initial, "to_dict"):
            initial = self._by_node(initial if isinstance(initial, Mapping) else initial.to_dict(), "initial")
        elif callable(initial):
            initial = initial(numpy.arange(self.num_nodes))
        field: Field = self._engine.add_field(initial, dtype, published)
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
        """Adds the largest ("maximum") or smallest ("minimum") of a number of all nodes, for a schedule's `until`. At most two."""
        if which not in ("maximum", "minimum"):
            raise InputError(f"a reduction is a maximum or a minimum, not {which!r}")
        is_maximum = which == "maximum"
        return Reduction(self._name, self._engine.add_reduction(is_maximum), is_maximum)

    def run(
        self, schedule: Schedule, update: Callable[[Part], object], *, seed: int = 1, goes_on: bool = True, trace: str | os.PathLike[str] = ""
    ) -> Report:
        """Calls `update(part)` again and again on every worker, as the schedule says. Gives the report.

        goes_on: updates are numbered from where the last run ended. trace: a file for what each worker does when, for Perfetto
        (ui.perfetto.dev). An exception of the update ends the run, and is raised.
        Ctrl-C ends it, too. Every process gets the report of its own workers, and rank 0 that of all.
        """
        if not isinstance(schedule, Schedule):
            raise InputError(f"a run needs a schedule such as netuit.Free(seconds=1), not {schedule!r}")
        if schedule.until is not None:
            check(schedule.until, self._name)
        seed = whole("seed", seed)
        first_update = self._engine.num_updates() if goes_on else 0
        path = os.path.abspath(trace) if trace else ""
        report: Report = self._engine.run(schedule, update, {"seed": seed, "first_update": first_update, "trace": path})
        if report.signal == 2:
            raise KeyboardInterrupt
        if report.signal:
            raise SystemExit(report.exit_code)
        if report.exit_code:
            raise ToolError(report.message or f"the run ended with code {report.exit_code}")
        return report

    def gather(self, field: Field) -> Any:
        """The values of all nodes by number, on rank 0; None elsewhere."""
        return self._engine.gather(field)

    def close(self) -> None:
        """Ends the processes that the mesh has started, and gives its memory back."""
        self._engine.close()
