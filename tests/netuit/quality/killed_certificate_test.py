"""Processes are killed in runs, and the others check what their reports promise (killed_certificate_program.cpp)."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import re
import sys

from reports import SANITIZER_REPORT
from netuit import ToolError, launch, supervise

PROCESSES = 6  # of which all but one are killed, in a run each
LIMIT = 200  # seconds, for a job
NUMBERS = ("killed", "certificates", "violated", "exact", "updates", "effective")


def numbers_of_job(seed: int, launcher: launch.Launcher, program: str) -> tuple[dict[str, int], list[str]]:
    """Returns the numbers that the last process of a job tells, and all lines of the job if that did not end well."""
    lines: list[str] = []
    try:
        launch.run(supervise.surviving_command(launcher, PROCESSES, program, [str(seed)]), launcher.environment(), lines.append, LIMIT)
    except ToolError as error:
        return {}, [*lines, f"seed {seed}: {error}"]
    told = {name: int(value) for line in lines for name, value in re.findall(r"^(\w+): (\d+)$", line) if name in NUMBERS}
    is_well = tuple(told) == NUMBERS and told["killed"] == PROCESSES - 1 and not re.search(SANITIZER_REPORT + "|conduit: error", "\n".join(lines))
    return told, [] if is_well else [*lines, f"seed {seed}: the job has not ended well"]


def main() -> int:
    """Runs the jobs, two at once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--jobs", type=int, required=True)
    options = parser.parse_args()
    launcher = launch.launcher_at(options.mpiexec)
    if launcher.vendor != "Open MPI" or launcher.major != 4:
        print("SKIPPED: this launcher lets no process outlive another, or was not tried: Open MPI 4 does")
        return 77
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = list(pool.map(lambda seed: numbers_of_job(seed, launcher, options.program), range(options.jobs)))
    sums = collections.Counter[str]()
    for told, faults in jobs:
        sums.update(told)
        print(*faults, sep="\n", end="\n" if faults else "")
    print(*(f"{name}: {sums[name]}" for name in NUMBERS), sep=", ")
    is_telling = 4 * sums["exact"] > sums["certificates"] and sums["effective"] < 0.9 * sums["updates"]
    return 0 if sums["violated"] == 0 and is_telling and not any(faults for _, faults in jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
