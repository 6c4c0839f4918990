"""Sums up what clang has counted over many programs: coverage_sum.py LLVM_COV PROFILE FOLDER PROGRAM…

A header is in many programs, and a function that one of them never uses stands there with no counts: what ran in any of
them has run. A template counts as all of its instances together. Prints a line for the table of goals, and before it a
line for each file of FOLDER with the lines that never ran, and the conditions (line:column) that never held or, with a !,
never failed to. Exits with 1 below the goals.

clang counts no template that nothing makes an instance of, so that it is not in the percentages. Headers of which no program
has anything that is counted, be it for that or because they only declare, are listed, and their number stands in the last line.
"""

from __future__ import annotations

import collections
import concurrent.futures
import functools
import json
import os
import subprocess
import sys

GOALS = {"lines": 95.0, "branches": 85.0}  #: R17, in percent

# By file, then by (line,), or by (line, column, outcome) of a condition: whether it ran.
Ran = dict[str, dict[tuple[int, ...], bool]]


def export(llvm_cov: str, profile: str, folder: str, program: str) -> tuple[Ran, Ran]:
    """The lines and branches of one program."""
    root = os.path.abspath(folder) + os.sep
    command = [llvm_cov, "export", program, "-instr-profile", profile, "-skip-functions", "-skip-expansions"]
    run = functools.partial(subprocess.run, check=True, capture_output=True, text=True)
    lines: Ran = collections.defaultdict(dict)
    name = ""
    for line in run([*command, "-format=lcov"]).stdout.splitlines():
        if line.startswith("SF:"):
            name = line[3:]
        elif line.startswith("DA:"):
            number, count = map(int, line[3:].split(",")[:2])
            lines[name][(number,)] = count > 0
    branches: Ran = collections.defaultdict(dict)
    for file in json.loads(run([*command, "-format=text"]).stdout)["data"][0]["files"]:
        ran = branches[file["filename"]]
        for row, column, _, _, num_true, num_false, *_ in file.get("branches", ()):
            for outcome, count in ((True, num_true), (False, num_false)):
                place = (row, column, outcome)
                ran[place] = ran.get(place, False) or count > 0
    of_folder = [{name: places for name, places in each.items() if name.startswith(root)} for each in (lines, branches)]
    return of_folder[0], of_folder[1]


def unite(all_of: list[Ran]) -> Ran:
    """What ran in any of them."""
    united: Ran = collections.defaultdict(dict)
    for one in all_of:
        for name, places in one.items():
            for place, ran in places.items():
                united[name][place] = united[name].get(place, False) or ran
    return united


def uncounted(folder: str, lines: Ran) -> list[str]:
    """The headers of a folder in which no program has a line that is counted."""
    found = [os.path.join(where, name) for where, _, names in os.walk(os.path.abspath(folder)) for name in names]
    return sorted(name for name in found if name.endswith(".hpp") and not lines.get(name))


def main() -> int:
    """Prints the sums."""
    llvm_cov, profile, folder, *programs = sys.argv[1:]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(functools.partial(export, llvm_cov, profile, folder), programs))
    lines, branches = (unite([part[i] for part in parts]) for i in (0, 1))
    root = os.path.abspath(folder)
    for name in sorted(lines):
        missed = [str(line) for (line,), ran in sorted(lines[name].items()) if not ran]
        missed += [f"{row}:{column}{'' if outcome else '!'}" for (row, column, outcome), ran in sorted(branches[name].items()) if not ran]
        print(f"{os.path.relpath(name, root):60} {sum(lines[name].values()):5} of {len(lines[name]):5} lines "
              f"{sum(branches[name].values()):5} of {len(branches[name]):5} branches  {' '.join(missed)}")
    missing = uncounted(folder, lines)
    for name in missing:
        print(f"{os.path.relpath(name, root):60} nothing is counted in any program")
    words, holds = [], True
    for what, of in (("lines", lines), ("branches", branches)):
        total = sum(map(len, of.values()))
        num_ran = sum(sum(places.values()) for places in of.values())
        holds &= 100 * num_ran >= GOALS[what] * max(total, 1) and total > 0
        words.append(f"{100 * num_ran / max(total, 1):.1f} % of {what} ({num_ran} of {total})")
    uncounted_words = f"nothing is counted in {len(missing)} of {len(missing) + len(lines)} headers"
    print(f"goal R17: {', '.join(words)} of {folder}; {uncounted_words}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
