"""Follows the tutorial to the letter, in a folder of its own: saves its programs, builds them by its CMakeLists.txt, runs its commands.

usage: run_tutorial.py SOURCE_FOLDER WORK_FOLDER

Ends with code 77 if python3 has no NetworkX, which the tutorial needs.
"""

import pathlib
import re
import shutil
import subprocess
import sys

NAMES = {"cpp": ["heat.cpp", "epidemic.cpp"], "python": ["contacts.py"]}  #: of the page's programs, in its order


def steps(page):
    """The page's ("save", language, text) and ("run", command), in its order, up to the section about clusters."""
    inside = None
    lines = []
    for line in page.split("\n## 4.")[0].splitlines():
        if line.startswith("```"):
            if inside:
                yield "save", inside, "\n".join(lines) + "\n"
            inside, lines = (None if inside else line[3:]), []
        elif inside:
            lines.append(line)
        elif line.startswith("    "):
            yield "run", re.sub(r"  +#.*", "", line.strip()), None


class Reader:
    """Somebody who reads the page, and does what it says."""

    def __init__(self, source, work):
        self._source, self._work = source, work
        self._sourced = []  # files that the shell has read

    def save(self, name, text, mode="w"):
        with open(self._work / name, mode, encoding="utf-8") as file:
            file.write(text.replace("/path/to/conduit", str(self._source)))

    def run(self, command):
        command = command.replace("/path/to/conduit", str(self._source))
        if command.startswith(". "):
            if pathlib.Path(command[2:]).exists():  # else everything is where CMake finds it anyway
                self._sourced.append(command)
            return ""
        ended = subprocess.run(["sh", "-ec", "\n".join([*self._sourced, command])], cwd=self._work, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            sys.exit(f"the tutorial's `{command}` ends with code {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        return ended.stdout


def expect(is_so, words):
    if not is_so:
        sys.exit(f"tutorial: expected {words}")


def main():
    source, work = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    reader = Reader(source, work)
    reader.run(". /path/to/conduit/.deps/env.sh")
    if reader.run("python3 -c 'import networkx' 2>/dev/null || echo none"):
        print("python3 has no NetworkX")
        sys.exit(77)
    page = (source / "tools/guide/tutorial.md").read_text(encoding="utf-8")
    names = {language: iter(of) for language, of in NAMES.items()}
    told = {}
    for kind, what, text in steps(page):
        if kind == "run":
            told[what] = reader.run(what)
        elif what == "cmake":
            reader.save("CMakeLists.txt", text, "a")
        else:
            name = next(names[what])
            expect(f"`{name}`" in page, f"the page to name {name}")
            reader.save(name, text)
    for language, left in names.items():
        expect(next(left, None) is None, f"the page to have a {language} program for each of {NAMES[language]}")

    expect("updates" in told.get("build/heat", ""), f"a line about updates from build/heat among {told}")
    heat = (work / "heat.csv").read_text()
    expect(len(heat.splitlines()) == 1 + 32 * 32, "a row of heat.csv for each node")
    text = (work / "heat.cpp").read_text()
    reader.save("heat.cpp", text.replace("{.threads = 2}", "{.threads = 1}"))
    reader.run("cmake --build build && build/heat")
    expect((work / "heat.csv").read_text() == heat, "the same heat.csv on one thread")

    counts = [re.findall(r"\d+ of \d+ stayed well", out) for command, out in told.items() if command.endswith("build/epidemic contacts.edgelist")]
    expect(len(counts) == 2 and counts[0] == counts[1] != [], f"the same count on one process and on two, not {counts}")


main()
