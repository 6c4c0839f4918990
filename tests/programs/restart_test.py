"""restart_test.py PROGRAM [LAUNCHER…]: kills a program that saves checkpoints, and lets it go on on other numbers of threads.

Reads the checkpoints with numpy. Exits with 1 if a run that went on differs from one that was never interrupted, or if a checkpoint
cannot be read.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from processes import marked  # noqa: E402

NODES = 60 * 50
WALKERS = NODES // 50


def values_of(folder: Path) -> dict[str, numpy.ndarray]:
    manifest = json.loads((folder / "checkpoint.json").read_text())
    data = folder / f"data-{manifest['data']}"
    values = {"heat": numpy.load(data / "heat.npy"), "crossed": numpy.load(data / "crossed.npy")}
    sizes = numpy.load(data / "field2.sizes.npy")
    values["standing"] = numpy.array(sizes.sum() // 4)
    messages = numpy.load(data / "channels1.sizes.npy")
    values["walking"] = numpy.array((messages.sum() - len(messages) * 12) // 12)  # a length and a number, the first is shown
    assert values["heat"].shape == (NODES,) and values["crossed"].shape == (4 * NODES,)
    assert manifest["nodes"] == NODES and len(list(folder.iterdir())) == 2
    return values


def older_heat_of(folder: Path) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Returns how many older values each node has, and all of them."""
    data = next(folder.glob("data-*"))
    return numpy.load(data / "heat.older.counts.npy").astype(int), numpy.load(data / "heat.older.npy")


def is_same(folder: Path, other: Path) -> bool:
    theirs = values_of(other)
    return all(numpy.array_equal(values, theirs[name]) for name, values in values_of(folder).items())


def kill(job: subprocess.Popen, mark: str) -> None:
    """Kills a job, and waits until none of its processes is left; they outlive the launcher for a while."""
    while processes := marked(mark.encode()):
        for process in (*processes, job.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    job.wait()


def main() -> int:
    program, *launcher = sys.argv[1:]
    mark = f"RESTART_TEST={uuid.uuid4()}"

    def command(folder: Path, mode: int, threads: int, updates: int, every: int, longest_delay: int = 1) -> list[str]:
        return [*launcher, "env", mark, program, *map(str, (folder, mode, threads, updates, every, longest_delay))]

    def run(*arguments) -> str:
        return subprocess.run(command(*arguments), check=True, text=True, capture_output=True).stdout.strip()

    wrong = []
    draw = random.Random(5)
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name) / "whole"
        print(run(whole, 0, 1, 300, 150))
        film = numpy.load(Path(name) / "whole.npy")
        if film.shape != (3, NODES) or not numpy.array_equal(film[2], values_of(whole)["heat"]) or numpy.array_equal(film[1], film[2]):
            wrong.append("the film is wrong")
        for mode in (0, 5):
            folder = Path(name) / f"mode{mode}"
            num_killed = 0
            for attempt in range(4):
                job = subprocess.Popen(command(folder, mode, 1 + attempt % 3, 300, 1), start_new_session=True)
                time.sleep(0.4 + 0.2 * draw.random())
                num_killed += job.poll() is None
                kill(job, mark)
                if (folder / "checkpoint.json").exists():
                    print(f"mode {mode}: killed after update", json.loads((folder / "checkpoint.json").read_text())["updates"])
            print(run(folder, mode, 2, 300, 20), f"after {num_killed} kills")
            if num_killed == 0:
                wrong.append("nothing was killed")
            if not is_same(folder, whole):
                wrong.append(f"mode {mode} differs from a run that was never interrupted")
        delayed = Path(name) / "delayed"
        print(run(delayed, 5, 1, 301, 301, 4))
        counts, older = older_heat_of(delayed)
        film = numpy.load(Path(name) / "delayed.npy")
        has_some = counts > 0
        youngest = older[(numpy.cumsum(counts) - counts)[has_some]]  # of two updates before the end
        if counts.max() != 3 or counts.sum() != len(older) or not numpy.array_equal(youngest, film[2][has_some]):
            wrong.append("the older values are not those of the film")
        folder = Path(name) / "delayed_parts"
        for threads, updates in ((3, 150), (2, 301)):
            print(run(folder, 5, threads, updates, 70, 4))
        if not is_same(folder, delayed) or not all(map(numpy.array_equal, older_heat_of(folder), (counts, older))):
            wrong.append("mode 5 with delays differs from a run that was never interrupted")
        folder = Path(name) / "mode3"
        for updates in (120, 300):
            said = run(folder, 3, 2, updates, 50)
            values = values_of(folder)
            print(f"mode 3: {said}; {values['standing']} walkers stand, {values['walking']} walk")
            if values["standing"] + values["walking"] != WALKERS or "balanced" not in said:
                wrong.append(f"mode 3 has not {WALKERS} walkers")
    for line in wrong:
        print("WRONG:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
