"""Asynchronicity modes of Mesh.run as values; see tools/guide/graphs.md."""

from __future__ import annotations

import dataclasses
from typing import Any

automatic = -1  #: for Free.slack: each worker looks for the slack with which its effective updates come fastest


@dataclasses.dataclass(frozen=True)
class Until:
    """A condition on a reduction that ends a run; made by comparing a Reduction with a number."""

    reduction: int
    bound: float
    is_below: bool


@dataclasses.dataclass(frozen=True)
class _Limits:
    updates: int = 0  #: of each worker; 0: no limit
    seconds: float = 0  #: 0: no limit
    until: Until | None = None  #: ends the run when it holds

    def words(self) -> dict[str, Any]:
        """What the extension module wants to know."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"mode": _MODES[type(self)], **own}


@dataclasses.dataclass(frozen=True)
class EveryUpdate(_Limits):
    """Mode 0: a barrier follows every update. The result is the same for any number of processes and threads."""


@dataclasses.dataclass(frozen=True)
class Rolling(_Limits):
    """Mode 1: workers update for a span between barriers."""

    span: float = 0.01  #: seconds between barriers


@dataclasses.dataclass(frozen=True)
class Fixed(_Limits):
    """Mode 2: a barrier is due at each multiple of a period since the start."""

    period: float = 1  #: seconds between barriers


@dataclasses.dataclass(frozen=True)
class Free(_Limits):
    """Mode 3: best effort. No worker waits for another, unless there is a slack."""

    slack: int | None = None  #: updates that a worker may be ahead of those whose values it reads, or `automatic`


@dataclasses.dataclass(frozen=True)
class Isolated(_Limits):
    """Mode 4: nothing leaves a worker until the run ends. It measures the cost of computation alone."""


@dataclasses.dataclass(frozen=True)
class Dataflow(_Limits):
    """Mode 5: the result of EveryUpdate without a barrier."""


Schedule = _Limits
_MODES: dict[type, int] = {EveryUpdate: 0, Rolling: 1, Fixed: 2, Free: 3, Isolated: 4, Dataflow: 5}
