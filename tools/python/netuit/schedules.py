"""Asynchronicity modes of Mesh.run as values; see tools/guide/graphs.md."""

from __future__ import annotations

import dataclasses
import math
import operator
from typing import Any

from netuit import InputError

automatic = -1  #: for Free.slack: each worker looks for the slack with which its effective updates come fastest
_LONGEST = 3e9  # seconds, about a century


@dataclasses.dataclass(frozen=True)
class Until:
    """A condition on a reduction that ends a run; made by comparing a Reduction with a number."""

    mesh: str
    reduction: int
    bound: float
    is_below: bool


def whole(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """The whole number that `value` is. Raises InputError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name}={value!r}: expected a whole number") from None
    if not least <= number <= most:
        raise InputError(f"{name}={value!r}: expected a whole number of at least {least}" + (f" and at most {most}" if most < 2**63 - 1 else ""))
    return number


def check_seconds(name: str, value: Any) -> None:
    """Raises InputError unless the value is a number of seconds."""
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= _LONGEST:
        raise InputError(f"{name}={value!r}: expected a number of seconds that is not negative")


@dataclasses.dataclass(frozen=True)
class _Limits:
    """What all schedules have in common: a run ends when the first of these limits is reached."""

    updates: int = 0  #: of each worker; 0: no limit
    seconds: float = 0  #: 0: no limit
    until: Until | None = None  #: ends the run when it holds

    def __post_init__(self) -> None:
        whole("updates", self.updates)
        check_seconds("seconds", self.seconds)
        if self.until is not None and not isinstance(self.until, Until):
            raise InputError("until: expected a comparison such as change < 1e-9, where change is a reduction of the mesh")

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

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("span", self.span)


@dataclasses.dataclass(frozen=True)
class Fixed(_Limits):
    """Mode 2: a barrier is due at each multiple of a period since the start."""

    period: float = 1  #: seconds between barriers

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("period", self.period)


def _positive(name: str, value: Any) -> None:
    check_seconds(name, value)
    if value <= 0:
        raise InputError(f"{name}={value!r}: expected more than 0 seconds")


@dataclasses.dataclass(frozen=True)
class Free(_Limits):
    """Mode 3: best effort. No worker waits for another, unless there is a slack."""

    slack: int | None = None  #: updates that a worker may be ahead of those whose values it reads, or `automatic`

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slack is not None and self.slack != automatic:
            whole("slack", self.slack)


@dataclasses.dataclass(frozen=True)
class Isolated(_Limits):
    """Mode 4: nothing leaves a worker until the run ends. It measures the cost of computation alone."""


@dataclasses.dataclass(frozen=True)
class Dataflow(_Limits):
    """Mode 5: the result of EveryUpdate without a barrier."""

    lag: int = 0  #: if not 0, `until` is looked at after each multiple of so many updates, and the run ends so many updates later

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("lag", self.lag)


Schedule = _Limits
_MODES: dict[type, int] = {EveryUpdate: 0, Rolling: 1, Fixed: 2, Free: 3, Isolated: 4, Dataflow: 5}
