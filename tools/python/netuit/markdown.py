"""Tables of Markdown: their lines, and means with intervals in their cells."""

from __future__ import annotations

from typing import Any

from netuit.intervals import bootstrap_interval


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def rule(num_cells: int) -> str:
    """What stands below a heading."""
    return "|---" * num_cells + "|"


def mean(values: Any, form: str) -> str:
    """A mean with its bootstrapped 95 % interval, each written by `form`."""
    middle, low, high = (_number(value, form) for value in (values.mean(), *bootstrap_interval(values)))
    return f"{middle} [{low}, {high}]"


def _number(value: float, form: str) -> str:
    """Without a sign where nothing but zeros is left."""
    text = form.format(value)
    return text if any(digit in text for digit in "123456789") else text.lstrip("+-")
