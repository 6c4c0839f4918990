"""Bootstrapped intervals of means, and of what follows from means and deviations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

INTERVALS = "bootstrapped 95 % intervals"  #: what figures call them
FEWEST = 5  #: replicates, of which a figure shows an interval; of fewer it shows each


def bootstrap_interval(
    values: Any, level: float = 0.95, num_samples: int = 2000, seed: int = 1, statistic: Callable[..., Any] = numpy.mean
) -> tuple[float, float]:
    """The bootstrapped interval of the mean of `values`, or of another statistic that takes an axis, by percentiles.
    Deterministic in the seed; NaN without values.

    Of few values it is too short: at a level of 95 % it holds the mean of a normal distribution in 75 % of cases with 3
    values, 84 % with 5, 90 % with 10, and 93 % with 30."""
    values = numpy.asarray(values, dtype=float)
    if values.size == 0:
        return math.nan, math.nan
    generator = numpy.random.default_rng(seed)
    statistics = statistic(values[generator.integers(values.size, size=(num_samples, values.size))], axis=1)
    low, high = numpy.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def ratio_interval(one: Any, other: Any, level: float = 0.95, num_samples: int = 4000) -> tuple[float, float, float]:
    """Ratio of two means with its bootstrapped interval: (ratio, low, high)."""
    one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
    if one.size == 0 or other.size == 0:
        return math.nan, math.nan, math.nan
    ratios = _ratios(one, other, num_samples, numpy.random.default_rng(1))
    low, high = numpy.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(one.mean() / other.mean()), float(low), float(high)


def gain_interval(
    ours: tuple[Any, Any], base: tuple[Any, Any], level: float = 0.95, num_samples: int = 4000
) -> tuple[float, float, float]:
    """By how much one ratio of two means is above another, with its bootstrapped interval: (difference, low, high)."""
    arrays = [[numpy.asarray(values, dtype=float) for values in pair] for pair in (ours, base)]
    if any(values.size == 0 for pair in arrays for values in pair):
        return math.nan, math.nan, math.nan
    generator = numpy.random.default_rng(1)
    ratios = [_ratios(above, below, num_samples, generator) for above, below in arrays]
    low, high = numpy.quantile(ratios[0] - ratios[1], [(1 - level) / 2, (1 + level) / 2])
    here, there = (above.mean() / below.mean() for above, below in arrays)
    return float(here - there), float(low), float(high)


def _ratios(one: Any, other: Any, num_samples: int, generator: Any) -> Any:
    """Ratios of the means of samples that are drawn anew of both."""
    above = one[generator.integers(one.size, size=(num_samples, one.size))].mean(1)
    return above / other[generator.integers(other.size, size=(num_samples, other.size))].mean(1)


def deviation_ratio_interval(
    one: Any, other: Any, level: float = 0.95, num_samples: int = 4000
) -> tuple[float, float, float]:
    """Ratio of two standard deviations with its bootstrapped interval: (ratio, low, high). Of few samples one is often
    drawn again and again, so that an end may be infinite."""
    one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
    if one.size < 2 or other.size < 2 or other.std() == 0:
        return math.nan, math.nan, math.nan
    random = numpy.random.default_rng(1)
    above, below = (
        values[random.integers(values.size, size=(num_samples, values.size))].std(axis=1, ddof=1) for values in (one, other)
    )
    with numpy.errstate(divide="ignore", invalid="ignore"):
        ratios = above / below
    # Not between two of the ratios, some of which are infinite; without those of 0 to 0.
    low, high = numpy.nanquantile(ratios, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    return float(one.std(ddof=1) / other.std(ddof=1)), float(low), float(high)
