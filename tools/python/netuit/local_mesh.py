"""A mesh of which this process has its part, and how the processes of a job end."""

from __future__ import annotations

import atexit
import dataclasses
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy

from netuit import InputError, ToolError, graph_arrays, native
from netuit.fields import EdgeField, Field, Film, number_of, typed
from netuit.part import Part
from netuit.schedules import Schedule, Until

_TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


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

    def add_field(self, initial: Any, dtype: str | None, published: bool, name: str) -> Field:
        values = _initial_values(initial, dtype, self.num_nodes())
        return Field(self._name, int(self._mesh.add_field(_stored(values), published, name)), values.dtype.name, published)

    def add_edge_field(self, initial: Any, dtype: str | None, name: str) -> EdgeField:
        value = numpy.asarray(initial, dtype=dtype)
        if value.ndim != 0:
            raise InputError(f"an edge field has one initial value, not an array of shape {value.shape}; set others in the first update")
        values = _initial_values(value, None, 1)
        return EdgeField(self._name, int(self._mesh.add_edge_field(_stored(values), name)), values.dtype.name)

    def add_weights(self) -> None:
        self._mesh.add_weights()

    def add_reduction(self, which: str) -> int:
        return int(self._mesh.add_reduction(getattr(self._native.ReductionKind, which)))

    def gather(self, field: Field) -> Any:
        values = self._mesh.gather(number_of(field, self._name))
        return None if values is None else typed(field, values)

    def add_film(self, field: Field, every: int, most: int) -> Film:
        return Film(self._name, int(self._mesh.add_capture(number_of(field, self._name), every, most)), field)

    def gather_film(self, film: Film) -> tuple[Any, int]:
        values, missed = self._mesh.gather_capture(film.number)
        return None if values is None else typed(film.field, values).reshape(-1, self.num_nodes()), int(missed)

    def clear_film(self, film: Film) -> None:
        self._mesh.clear_capture(film.number)

    def save_checkpoint(self, folder: str, notes: dict[str, str]) -> None:
        self._mesh.save_checkpoint(folder, notes)

    def load_checkpoint(self, folder: str) -> dict[str, str]:
        notes: dict[str, str] = self._mesh.load_checkpoint(folder)
        return notes

    def has_checkpoint(self, folder: str) -> bool:
        return bool(self._mesh.has_checkpoint(folder))

    def run(self, schedule: Schedule, update: Callable[[Part], object], options: Mapping[str, Any]) -> Report:
        if os.getpid() != self._process:
            raise ToolError("a mesh cannot run in a child process that fork has created")
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


def _stored(values: Any) -> Any:
    return values.view(numpy.uint8) if values.dtype == bool else values


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
