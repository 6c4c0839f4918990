import math

import numpy
import pytest
from netuit import intervals
from netuit.intervals import bootstrap_interval


def test_a_bootstrapped_interval_holds_the_mean_and_narrows_with_agreement():
    low, high = bootstrap_interval([9.0, 10.0, 11.0])
    assert 9 <= low < 10 < high <= 11
    assert bootstrap_interval([5.0, 5.0]) == (5.0, 5.0)
    assert bootstrap_interval([9.0, 10.0, 11.0]) == (low, high)


def test_a_ratio_without_samples_is_not_a_number():
    assert all(map(math.isnan, intervals.ratio_interval([], [1.0])))
    assert all(map(math.isnan, intervals.gain_interval(([1.0], [1.0]), ([1.0], []))))
    assert all(map(math.isnan, intervals.deviation_ratio_interval([1.0], [1.0, 2.0])))
    assert all(map(math.isnan, intervals.deviation_ratio_interval([1.0, 2.0], [2.0, 2.0])))


@pytest.mark.parametrize("size, share", [(3, 0.75), (5, 0.84), (10, 0.90), (30, 0.93)])
def test_the_interval_of_a_mean_holds_it_as_often_as_is_said(size, share):
    random = numpy.random.default_rng(1)
    held = 0
    for _ in range(1000):
        low, high = bootstrap_interval(random.normal(size=size))
        held += low <= 0 <= high
    assert held / 1000 == pytest.approx(share, abs=0.035)  # 2.5 standard deviations of the first, and more of the others


def test_the_interval_of_a_spread_holds_the_truth_about_as_often_as_it_says():
    random = numpy.random.default_rng(1)
    held = 0
    for _ in range(200):
        _, low, high = intervals.deviation_ratio_interval(random.normal(0, 2, 10), random.normal(0, 1, 10), num_samples=500)
        held += low <= 2 <= high
    assert 0.85 <= held / 200 <= 0.99
