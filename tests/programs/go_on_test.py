"""go_on_test.py PROGRAM [LAUNCHER…]: a run that stops and goes on, on other workers, ends like one that does not stop."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

program, *launcher = sys.argv[1:]


def run(folder, threads, updates, command):
    subprocess.run([*command, program, folder, str(threads), str(updates)], check=True, timeout=60)
    checkpoint = json.loads((folder / "checkpoint.json").read_text())
    [heat] = folder.glob("**/heat.npy")
    return checkpoint["updates"], numpy.load(heat), numpy.load(folder / "film.npy")


with tempfile.TemporaryDirectory() as name:
    parts, whole = (pathlib.Path(name) / word for word in ("parts", "whole"))
    num_updates, heat, film = run(parts, 2, 40, launcher)
    assert num_updates == 40 and film.shape == (4, 300), (num_updates, film.shape)
    (parts / "film.npy").unlink()
    num_updates, heat, film = run(parts, 1, 60, [])
    expected_updates, expected, all_frames = run(whole, 3, 100, [])
    assert num_updates == expected_updates == 100, (num_updates, expected_updates)
    assert (heat == expected).all(), numpy.abs(heat - expected).max()
    assert film.shape == (6, 300) and (film == all_frames[4:]).all(), film.shape
    assert heat.std() > 0
print("the same after 40 and 60 updates as after 100")
