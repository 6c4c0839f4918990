"""One log per process: in order, the same for any number of threads, and together the same for any number of processes."""

import pathlib
import re
import subprocess
import sys
import tempfile

program, *launcher = sys.argv[1:]


def key(line):
    update, node = re.match(r"update (\d+): node (\d+) ", line).groups()
    return int(update), int(node)


def logs(folder, threads, command):
    prefix = folder / f"{len(command)}.{threads}."
    subprocess.run([*command, program, str(threads), prefix], check=True, timeout=60)
    found = sorted(folder.glob(f"{prefix.name}*"))
    return [path.read_text().splitlines() for path in found]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (alone,) = logs(folder, 1, [])
    assert len(alone) > 200, len(alone)
    assert alone == sorted(alone, key=key)
    for threads in 1, 2, 3:
        for log in (together := logs(folder, threads, launcher)):
            assert log == sorted(log, key=key)
        assert sorted((line for log in together for line in log), key=key) == alone, threads
print("the logs are the same on every layout")
