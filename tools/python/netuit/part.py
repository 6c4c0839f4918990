"""The nodes that a worker of a mesh in Python updates at once."""

from __future__ import annotations

from typing import Any

import numpy

from netuit import InputError
from netuit.fields import EdgeField, EdgeWeights, Field, Reduction, check, number_of, typed
from netuit.schedules import whole


class Part:
    """The nodes that a worker updates at once. Valid while the update function is called.

    A neighbour is a node from which an edge leads here; a graph without directions has an edge both ways. Arrays "by edge" have an
    element for each edge that ends at one of the nodes, node by node.
    """

    def __init__(self, mesh: Any, loaded: Any, name: str) -> None:
        self._part = loaded.Part(mesh)
        self._fold = loaded.Fold
        self._graph_weights = loaded.graph_weights
        self._name = name
        self._last: tuple[Any, Any] = (None, None)  # the field that was read last, and its values

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._part)

    def __getitem__(self, handle: Field | EdgeField | EdgeWeights) -> Any:
        """The nodes' own values of a field, or an edge field's by edge, to be read and written in place; or the weights by edge."""
        if isinstance(handle, EdgeWeights):
            check(handle, self._name)
            return self._part._weights()
        own = self._own(handle)
        self._last = (handle, own)
        return own

    def __setitem__(self, handle: Field | EdgeField | Reduction, values: Any) -> None:
        """Sets the nodes' own values of a field, or an edge field's by edge; or gives the nodes' numbers to a reduction."""
        if isinstance(handle, Reduction):
            check(handle, self._name)
            numbers = numpy.asarray(values, dtype=float)
            if handle.which == "sum":
                try:
                    numbers = numpy.ascontiguousarray(numpy.broadcast_to(numbers, (len(self),)))
                except ValueError:
                    raise InputError(f"a sum takes a number of each of the part's {len(self)} nodes, not {numbers.shape}") from None
            elif numbers.size:
                numbers = numpy.array([numbers.max() if handle.which == "maximum" else numbers.min()])
            self._part._contribute(handle.number, numbers.ravel())
            return
        of, last = self._last
        if values is last and handle == of:
            return  # an operator like += has changed them in place
        own = self._own(handle)
        try:
            numpy.copyto(own, values, casting="same_kind")
        except TypeError:
            given = numpy.asarray(values).dtype
            raise InputError(f"a field of {own.dtype} cannot take values of {given}: make the field with another initial value or dtype") from None

    def _own(self, field: Any) -> Any:
        if isinstance(field, EdgeField):
            check(field, self._name)
            return typed(field, self._part._own_edges(field.number))
        return typed(field, self._part._own(number_of(field, self._name)))

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
    def targets(self) -> Any:
        """The number of the node where the edge ends, by edge."""
        return numpy.repeat(self.ids, numpy.diff(self.first_edges))

    @property
    def sources(self) -> Any:
        """The neighbour's number, by edge."""
        return self._part.sources

    def neighbors(self, field: Field) -> Any:
        """The neighbours' values, by edge."""
        return typed(field, self._part._neighbors(number_of(field, self._name)))

    def _combine(self, field: Field, fold: Any, weights: EdgeField | EdgeWeights | None = None) -> Any:
        if weights is None:
            return self._part._combine(number_of(field, self._name), fold)
        check(weights, self._name)
        of = weights.number if isinstance(weights, EdgeField) else self._graph_weights
        return self._part._combine(number_of(field, self._name), fold, of)

    def sum_in(self, field: Field, weights: EdgeField | EdgeWeights | None = None) -> Any:
        """The sum of the neighbours' values for each node, each multiplied by the weight of its edge if weights are given."""
        return self._combine(field, self._fold.sum, weights)

    def mean_in(self, field: Field, weights: EdgeField | EdgeWeights | None = None) -> Any:
        """Their mean; 0 where a node has no neighbours."""
        return self._combine(field, self._fold.mean, weights)

    def min_in(self, field: Field) -> Any:
        """The smallest of them; 0 where a node has no neighbours."""
        return typed(field, self._combine(field, self._fold.minimum))

    def max_in(self, field: Field) -> Any:
        """The largest of them; 0 where a node has no neighbours."""
        return typed(field, self._combine(field, self._fold.maximum))

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
