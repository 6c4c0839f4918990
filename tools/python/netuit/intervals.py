"""Bootstrapped intervals of means, and of what follows from means and deviations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import scipy.stats

INTERVALS = "bootstrapped 95 % intervals"  #: what figures call them
FEWEST = 5  #: replicates, for which figures have an interval; with fewer, each is shown


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
    return _ends(_draw([values], statistic, num_samples, seed), level)


def ratio_interval(one: Any, other: Any, level: float = 0.95, num_samples: int = 4000) -> tuple[float, float, float]:
    """Ratio of two means with its bootstrapped interval: (ratio, low, high)."""
    one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
    if one.size == 0 or other.size == 0:
        return math.nan, math.nan, math.nan
    return float(_ratio(one, other)), *_ends(_draw([one, other], _ratio, num_samples), level)


def gain_interval(
    ours: tuple[Any, Any], base: tuple[Any, Any], level: float = 0.95, num_samples: int = 4000
) -> tuple[float, float, float]:
    """By how much one ratio of two means is above another, with its bootstrapped interval: (difference, low, high)."""
    arrays = [numpy.asarray(values, dtype=float) for values in (*ours, *base)]
    if any(values.size == 0 for values in arrays):
        return math.nan, math.nan, math.nan
    return float(_gain(*arrays)), *_ends(_draw(arrays, _gain, num_samples), level)


def deviation_ratio_interval(
    one: Any, other: Any, level: float = 0.95, num_samples: int = 4000
) -> tuple[float, float, float]:
    """Ratio of two standard deviations with its bootstrapped interval: (ratio, low, high). Of few samples one is often
    drawn again and again, so that an end may be infinite."""
    one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
    if one.size < 2 or other.size < 2 or other.std() == 0:
        return math.nan, math.nan, math.nan
    with numpy.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
        ratios = _draw([one, other], _deviation_ratio, num_samples)
    # Not between two of the ratios, some of which are infinite; without those of 0 to 0.
    low, high = numpy.nanquantile(ratios, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    return float(_deviation_ratio(one, other)), float(low), float(high)


def _draw(samples: list[Any], statistic: Callable[..., Any], num_samples: int, seed: int = 1) -> Any:
    """A statistic of samples that are each drawn anew, so many times."""
    pairs = tuple(numpy.repeat(values, 2) if values.size == 1 else values for values in samples)  # SciPy wants two values
    return scipy.stats.bootstrap(
        pairs, statistic, n_resamples=num_samples, method="percentile", vectorized=True, random_state=numpy.random.default_rng(seed)
    ).bootstrap_distribution


def _ends(statistics: Any, level: float) -> tuple[float, float]:
    low, high = numpy.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _ratio(one: Any, other: Any, axis: int = -1) -> Any:
    return one.mean(axis=axis) / other.mean(axis=axis)


def _gain(above: Any, below: Any, base_above: Any, base_below: Any, axis: int = -1) -> Any:
    return _ratio(above, below, axis) - _ratio(base_above, base_below, axis)


def _deviation_ratio(one: Any, other: Any, axis: int = -1) -> Any:
    return one.std(axis=axis, ddof=1) / other.std(axis=axis, ddof=1)
