import os
import stat
import sys
from pathlib import Path

import built
import numpy
import pytest

from netuit import InputError, bench_numpy

ROOT = Path(__file__).resolve().parents[3]


def make_program(folder, name, line):
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> "{folder}/calls"\n{line}\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


def test_programs_that_compute_something_else_are_refused(tmp_path):
    variables = {**os.environ, "UIT_PYTHON": make_program(tmp_path, "python", "echo 1.0 7")}
    program = make_program(tmp_path, "heat_rate", "echo 1.0 8")
    with pytest.raises(InputError, match="the sums of squares differ: 7 and 8"):
        bench_numpy.measure(ROOT, program, "mpirun", [bench_numpy.Entry(1)], 1, variables)


def test_the_model_in_numpy_computes_what_a_plain_loop_does():
    built.need_module()
    program = str(ROOT / "microbenchmarks/python/heat_rate.py")
    _, heat = bench_numpy.measured([sys.executable, program, "8", "5"], bench_numpy.variables_of(ROOT, dict(os.environ)))
    grid = numpy.zeros((8, 8))
    grid[0, 0] = 1e6
    for _ in range(2 + 5):
        grid = 0.5 * grid + 0.125 * sum(numpy.roll(grid, by, axis) for by in (1, -1) for axis in (0, 1))
    assert float(heat) == pytest.approx((grid**2).sum(), rel=1e-5)


@pytest.mark.parametrize("theirs, verdict", [("0.5", "ok"), ("0.4", "short")])
def test_a_row_says_whether_numpy_takes_at_most_twice_the_time(tmp_path, theirs, verdict):
    variables = {**os.environ, "UIT_PYTHON": make_program(tmp_path, "python", "echo 1.0 7")}
    program = make_program(tmp_path, "heat_rate", f"echo {theirs} 7")
    (row,) = bench_numpy.measure(ROOT, program, "mpirun", [bench_numpy.Entry(1, side=10, updates=3)], 2, variables)
    assert row["verdict"] == verdict and row["at_most"] == 2.0 and row["least"] == 1 / float(theirs)
    assert row["figure"] == "numpy: time of heat on 100 nodes, 1 process, to the same in C++"
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 4 and all(call.endswith(" 10 3") for call in calls)


def test_several_processes_are_started_by_the_launcher(tmp_path):
    launcher = make_program(tmp_path, "launcher", "echo 1.0 7")
    variables = {**os.environ, "UIT_PYTHON": sys.executable}
    (row,) = bench_numpy.measure(ROOT, "heat_rate", launcher, [bench_numpy.Entry(2)], 1, variables)
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 2 and all(" -n 2 " in call for call in calls) and "1,000,000 nodes, 2 processes" in row["figure"]


def test_a_program_that_fails_is_named(tmp_path):
    variables = {**os.environ, "UIT_PYTHON": make_program(tmp_path, "python", "echo no module >&2; exit 1")}
    with pytest.raises(InputError, match="heat_rate.py 1000 20: no module"):
        bench_numpy.measure(ROOT, "heat_rate", "mpirun", [bench_numpy.Entry(1)], 1, variables)
