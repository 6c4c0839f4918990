"""Arrays between processes that mpirun has started."""

import os
import pathlib
import subprocess
import sys

import pytest

import built
import netuit
from netuit import launch, native

PACKAGE = pathlib.Path(netuit.__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def _module():
    built.need_module()


def run(text, processes, tmp_path, **variables):
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    launcher = launch.find_launcher(native.folder())
    command = launcher.command(processes, sys.executable, [str(script)])
    variables = {**launcher.environment(), "PYTHONPATH": str(PACKAGE), **variables}
    ended = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


EXCHANGE = """
import sys
import numpy, netuit
conduits = netuit.Conduits()
here, other = conduits.rank, 1 - conduits.rank
newest = conduits.inlet("state", to=other), conduits.outlet("state", source=other)
every = conduits.inlet("all", to=other, keep="every", depth=4), conduits.outlet("all", source=other, keep="every", depth=4)
assert newest[1].get() is None and not newest[1].jump()
conduits.connect()
num_put, received, last = 0, [], -1
while num_put < 500 or len(received) < 500:
    newest[0].try_put(numpy.full((3, 4), num_put + 0.5 * here))
    if num_put < 500 and every[0].try_put(numpy.arange(num_put % 7, dtype="int16") + num_put):
        num_put += 1
    while every[1].step():
        received.append(every[1].get())
    if newest[1].jump():
        state = newest[1].get()
        if state.shape == ():
            continue  # the other has ended
        assert state.shape == (3, 4) and (state == state[0, 0]).all() and state[0, 0] >= last, state
        last = state[0, 0]
assert newest[0].try_put(numpy.array("the end"))
assert conduits.close()
newest[1].jump()
assert newest[1].get() == "the end"
for k, array in enumerate(received):
    assert array.dtype == numpy.int16 and (array == numpy.arange(k % 7) + k).all(), array
assert not every[0].try_put(numpy.zeros(1))
sys.stdout.write(f"{here} {len(received)}\\n")
"""


@pytest.mark.parametrize("shares_memory", ["1", "0"])
def test_arrays_arrive_in_order_or_the_newest_does(shares_memory, tmp_path):
    assert sorted(run(EXCHANGE, 2, tmp_path, UIT_SHARED_MEMORY=shares_memory)) == ["0 500", "1 500"]


TO_ITSELF = """
import numpy, netuit
conduits = netuit.Conduits()
inlet = conduits.inlet("a", to=conduits.rank, keep="every", depth=2, most_bytes=100)
outlet = conduits.outlet("a", source=conduits.rank, keep="every", depth=2, most_bytes=100)
conduits.connect()
for array in (5, 2.5, True, [[1, 2], [3, 4]], numpy.zeros((0, 3), "float32"), numpy.array(["ab", "c"]), numpy.arange(6).reshape(2, 3)[:, ::-1]):
    assert inlet.try_put(array)
    while not outlet.step():
        pass
    got, wanted = outlet.get(), numpy.asarray(array)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape and (got == wanted).all(), (got, wanted)
    got[...] = 0  # a copy
assert [inlet.try_put(k) for k in range(3)] == [True, True, False]
while outlet.get().shape != () or outlet.get() != 1:
    outlet.step()
conduits.close()
"""


def test_any_kind_of_array_is_sent_as_it_is(tmp_path):
    run(TO_ITSELF, 2, tmp_path)


def test_what_cannot_be_is_refused(tmp_path):
    text = """
import netuit, numpy
conduits = netuit.Conduits()
other = 1 - conduits.rank
inlet = conduits.inlet("a", to=other, most_bytes=8)
def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
refuses(netuit.InputError, "process 2 is not in this job of 2 processes", lambda: conduits.inlet("b", to=2))
refuses(netuit.InputError, "expected newest or every", lambda: conduits.outlet("b", source=0, keep="all"))
refuses(netuit.InputError, "depth of at least 1", lambda: conduits.outlet("b", source=0, depth=0))
refuses(netuit.InputError, "opened already", lambda: conduits.inlet("a", to=other))
refuses(netuit.InputError, "16 bytes does not fit", lambda: inlet.try_put(numpy.zeros(2)))
refuses(netuit.InputError, "cannot be sent", lambda: inlet.try_put([object()]))
refuses(netuit.ToolError, "cannot exchange with rank", conduits.connect)  # nobody has opened the outlet
"""
    run(text, 2, tmp_path)
    run("import netuit\ntry:\n    netuit.Conduits()\nexcept netuit.InputError as error:\n    assert 'mpirun -n 2' in str(error)", 1, tmp_path)


def test_it_works_beside_mpi4py(tmp_path):
    pytest.importorskip("mpi4py", reason="NOT TESTED: mpi4py is missing")
    text = "from mpi4py import MPI\n" + EXCHANGE + "assert MPI.COMM_WORLD.allreduce(1) == 2\n"
    assert sorted(run(text, 2, tmp_path)) == ["0 500", "1 500"]
