"""Numbers as people read them."""

from __future__ import annotations


def short(value: float) -> str:
    """A number as a tick: 0.05, 12, 1.5k, 30M."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.4g}{letter}"
    return f"{value:.3g}"


def seconds(value: float) -> str:
    """A span of seconds with its unit: 250 ns, 7.7 µs, 1.2 ms, 3 s."""
    if value == 0:
        return "0 s"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= 0.9995 * factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def percent(value: float) -> str:
    return "0 %" if value == 0 else f"{100 * value:.3g} %"
