import os
import re
import stat
import sys
from pathlib import Path

import pytest

from netuit import InputError, bench_numpy

ROOT = Path(__file__).resolve().parents[3]
FORMULA = "0.5 * {0} + 0.125 * {1}"


def make_program(folder, name, line):
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> "{folder}/calls"\n{line}\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


def test_both_programs_compute_the_same():
    numpy = (ROOT / "microbenchmarks/python/heat_rate.py").read_text(encoding="utf-8")
    native = (ROOT / "microbenchmarks/python/heat_rate.cpp").read_text(encoding="utf-8")
    assert FORMULA.format("part[heat]", "part.sum_in(heat)") in numpy
    assert FORMULA.format("heat[node]", "sum") in native
    for text in (numpy, native):
        assert re.search(r"Torus\(side, side\)", text) and len(re.findall(r"EveryUpdate[({]\.?updates ?= ?2[)}]", text)) == 1


@pytest.mark.parametrize("theirs, verdict", [("0.5", "ok"), ("0.4", "short")])
def test_a_row_says_whether_numpy_takes_at_most_twice_the_time(tmp_path, theirs, verdict):
    variables = {**os.environ, "UIT_PYTHON": make_program(tmp_path, "python", "echo 1.0")}
    program = make_program(tmp_path, "heat_rate", f"echo {theirs}")
    (row,) = bench_numpy.measure(ROOT, program, "mpirun", [bench_numpy.Entry(1, side=10, updates=3)], 2, variables)
    assert row["verdict"] == verdict and row["at_most"] == 2.0 and row["least"] == 1 / float(theirs)
    assert row["figure"] == "numpy: time of heat on 100 nodes, 1 process, to the same in C++"
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 4 and all(call.endswith(" 10 3") for call in calls)


def test_several_processes_are_started_by_the_launcher(tmp_path):
    launcher = make_program(tmp_path, "launcher", "echo 1.0")
    variables = {**os.environ, "UIT_PYTHON": sys.executable}
    (row,) = bench_numpy.measure(ROOT, "heat_rate", launcher, [bench_numpy.Entry(2)], 1, variables)
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 2 and all(" -n 2 " in call for call in calls) and "1,000,000 nodes, 2 processes" in row["figure"]


def test_a_program_that_fails_is_named(tmp_path):
    variables = {**os.environ, "UIT_PYTHON": make_program(tmp_path, "python", "echo no module >&2; exit 1")}
    with pytest.raises(InputError, match="heat_rate.py 1000 20: no module"):
        bench_numpy.measure(ROOT, "heat_rate", "mpirun", [bench_numpy.Entry(1)], 1, variables)
