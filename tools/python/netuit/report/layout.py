"""Places the nodes of any graph in the plane, in seconds for thousands of them."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy

Floats = Any  # an array of numpy's

_PIVOTS = 40
_ROUNDS = 80
_SAMPLE = 256
_MOST_APART = 12
_BETWEEN = 0.05  #: strength of a spring between groups


def neighbours(num_nodes: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(num_nodes)]
    for a, b in edges:
        lists[a].append(b)
        lists[b].append(a)
    return lists


def _distances(around: list[list[int]], start: int) -> Floats:
    """Hops from `start`; nodes out of reach are a little farther than any other."""
    hops = [-1] * len(around)
    hops[start] = 0
    queue = collections.deque([start])
    farthest = 0
    while queue:
        node = queue.popleft()
        farthest = hops[node]
        for other in around[node]:
            if hops[other] < 0:
                hops[other] = farthest + 1
                queue.append(other)
    return numpy.array([hop if hop >= 0 else farthest + 2 for hop in hops], dtype=numpy.float64)


def _pivot_mds(around: list[list[int]]) -> Floats:
    """Pivot MDS (Brandes and Pich, 2006): classical scaling from the distances to a few far-apart nodes."""
    pivot = 0
    nearest = numpy.full(len(around), numpy.inf)
    columns = []
    for _ in range(min(_PIVOTS, len(around))):
        columns.append(_distances(around, pivot))
        nearest = numpy.minimum(nearest, columns[-1])
        pivot = int(nearest.argmax())
    squares = numpy.stack(columns, axis=1) ** 2
    centred = squares - squares.mean(0) - squares.mean(1, keepdims=True) + squares.mean()
    _, _, axes = numpy.linalg.svd(-0.5 * centred, full_matrices=False)
    place: Floats = -0.5 * centred @ axes[:2].T
    if place.shape[1] < 2:
        place = numpy.pad(place, ((0, 0), (0, 2 - place.shape[1])))
    return place


def _attraction(place: Floats, ends: Any, strength: Floats) -> Floats:
    pull = numpy.zeros_like(place)
    if len(ends):
        along = place[ends[:, 1]] - place[ends[:, 0]]
        along *= numpy.linalg.norm(along, axis=1, keepdims=True) * strength[:, None]
        numpy.add.at(pull, ends[:, 0], along)
        numpy.add.at(pull, ends[:, 1], -along)
    return pull


def _fitted(place: Floats) -> Floats:
    """In the unit square; what strays far is bent back."""
    middle = (numpy.percentile(place, 2, axis=0) + numpy.percentile(place, 98, axis=0)) / 2
    half = (numpy.percentile(place, 98, axis=0) - numpy.percentile(place, 2, axis=0)) / 2
    away = (place - middle) / numpy.maximum(half, 1e-9)
    size = numpy.abs(away)
    bent = numpy.where(size > 0.8, 0.8 + 0.4 * numpy.tanh((size - 0.8) / 0.4), size)
    scaled: Floats = 0.5 + 0.5 / 1.2 * numpy.sign(away) * bent
    return scaled


def _asides(group: Any) -> Floats:
    """Where each node's group begins: round a circle, if they are few."""
    names, number = numpy.unique(group, return_inverse=True)
    if not 1 < len(names) <= _MOST_APART:
        return numpy.zeros((len(group), 2))
    angle = 2 * numpy.pi * number / len(names) + numpy.pi
    aside: Floats = numpy.stack([numpy.cos(angle), numpy.sin(angle)], axis=1)
    return aside


def place_nodes(num_nodes: int, edges: Sequence[tuple[int, int]], groups: Sequence[int] | None = None) -> Floats:
    """(num_nodes, 2) in the unit square, the same whenever called: pivot MDS, then springs (Fruchterman and
    Reingold, 1991) whose repulsion is drawn from a sample of the nodes. Springs between groups are weak, so that
    groups come apart.
    """
    if num_nodes < 2:
        return numpy.full((num_nodes, 2), 0.5)
    random = numpy.random.default_rng(1)
    place = _pivot_mds(neighbours(num_nodes, edges))
    place = (
        (place - place.mean(0)) / (place.std() or 1) * numpy.sqrt(num_nodes) / 3
    )  # about a node for each unit of area
    place += random.normal(scale=0.3, size=place.shape)
    ends = numpy.array(edges, dtype=numpy.int64).reshape(-1, 2)
    group = numpy.zeros(num_nodes) if groups is None else numpy.array(groups)
    place += _asides(group) * numpy.sqrt(num_nodes)
    strength = numpy.where(group[ends[:, 0]] == group[ends[:, 1]], 1.0, _BETWEEN)
    for turn in range(_ROUNDS):
        sample = random.permutation(num_nodes)[: min(_SAMPLE, num_nodes)]
        apart = place[:, None, :] - place[None, sample, :]
        squares = (apart**2).sum(2) + 0.01
        push = (apart / squares[..., None]).sum(1) * (num_nodes / len(sample))
        force = push + _attraction(place, ends, strength)
        length = numpy.linalg.norm(force, axis=1, keepdims=True) + 1e-9
        heat = numpy.sqrt(num_nodes) * 0.05 * (1 - turn / _ROUNDS) + 0.02
        place += force / length * numpy.minimum(length, heat)
    return _fitted(place)
