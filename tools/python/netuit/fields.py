"""Handles of what a mesh in Python owns. They hold no values, so functions can take them along to other processes."""

from __future__ import annotations

import dataclasses
from typing import Any

from netuit import InputError
from netuit.schedules import Until


@dataclasses.dataclass(frozen=True)
class Field:
    """A value per node, which the mesh owns. Index a part with it."""

    mesh: str
    number: int
    dtype: str
    is_published: bool


@dataclasses.dataclass(frozen=True)
class Film:
    """Copies of a field's values that runs take: `mesh.gather(film)[image, node]`."""

    mesh: str
    number: int
    field: Field


@dataclasses.dataclass(frozen=True)
class EdgeField:
    """A value per edge, which the worker of the node owns where the edge ends. Index a part with it."""

    mesh: str
    number: int
    dtype: str


@dataclasses.dataclass(frozen=True)
class EdgeWeights:
    """The weights of the graph's edges. Index a part with it for those of its edges, or pass it to sum_in and mean_in."""

    mesh: str


@dataclasses.dataclass(frozen=True)
class Reduction:
    """The largest, the smallest or the sum of a number of all nodes: `part[change] = numbers`, and `until=change < 1e-9`."""

    mesh: str
    number: int
    which: str

    def __lt__(self, bound: float) -> Until:
        return Until(self.mesh, self.number, float(bound), True)

    def __gt__(self, bound: float) -> Until:
        return Until(self.mesh, self.number, float(bound), False)


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


def typed(field: Field | EdgeField, stored: Any) -> Any:
    """Values of a field as its users see them: truth values are stored as bytes."""
    return stored.view(bool) if field.dtype == "bool" else stored
