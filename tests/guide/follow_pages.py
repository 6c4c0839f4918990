"""Follows README and the tutorial to the letter, in a folder of their own: saves their programs, builds them by their
CMakeLists.txt, runs their commands.

usage: follow_pages.py SOURCE_FOLDER WORK_FOLDER

Ends with code 77 if python3 has no NetworkX, which the tutorial needs.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

README = {"cpp": ["states.cpp", "heat.cpp"]}  #: programs of the page, in its order
TUTORIAL = {"cpp": ["heat.cpp", "epidemic.cpp"], "python": ["contacts.py"]}
#: What begins the commands of README that are not run here, because a link to the source is the clone, and other tests run them.
ELSEWHERE = ("git clone ", "conduit/tools/setup demo && ", "python3 -m venv env && ", "tools/demo", "tools/test")


def steps(page):
    """The page's ("save", language, text) and ("run", command, None), in its order."""
    inside = None
    lines = []
    for line in page.splitlines():
        if line.startswith("```"):
            if inside:
                yield "save", inside, "\n".join(lines) + "\n"
            inside, lines = (None if inside else line[3:]), []
        elif inside:
            lines.append(line)
        elif line.startswith("    "):
            yield "run", re.sub(r"  +#.*", "", line.strip()), None


class Reader:
    """Somebody who reads the pages, and does what they say."""

    def __init__(self, source, work):
        self._conduit = work / "conduit"
        self._conduit.symlink_to(source)
        self._work = work
        self._sourced = []  # files that the shell has read

    def read(self, name):
        return (self._conduit / name).read_text(encoding="utf-8")

    def save(self, name, text, mode="w"):
        with open(self._work / name, mode, encoding="utf-8") as file:
            file.write(text.replace("/path/to/conduit", str(self._conduit)))

    def run(self, command):
        command = command.replace("/path/to/conduit", str(self._conduit)).replace("g++ ", os.environ.get("CXX", "g++") + " ")
        if command.startswith(". "):
            if pathlib.Path(command[2:]).exists():  # else everything is where CMake finds it anyway
                self._sourced.append(command)
            return ""
        ended = subprocess.run(["sh", "-ec", "\n".join([*self._sourced, command])], cwd=self._work, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            sys.exit(f"the command `{command}` ends with code {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def follow(self, page, programs, elsewhere=()):
        """Saves and runs what the page says, except for commands that begin as in `elsewhere`. Returns what each command has printed."""
        (self._work / "CMakeLists.txt").unlink(missing_ok=True)
        names = {language: iter(of) for language, of in programs.items()}
        told = {}
        left = set(elsewhere)
        for kind, what, text in steps(page):
            begin = next((each for each in elsewhere if kind == "run" and what.startswith(each)), None)
            if begin:
                left.discard(begin)
            elif kind == "run":
                told[what] = self.run(what)
            elif what == "cmake":
                self.save("CMakeLists.txt", text, "a")
            else:
                name = next(names[what])
                expect(f"`{name}`" in page, f"the page to name {name}")
                self.save(name, text)
        for language, rest in names.items():
            expect(next(rest, None) is None, f"the page to have a {language} program for each of {programs[language]}")
        expect(not left, f"the page to have a command that begins with each of {sorted(left)}")
        return told


def expect(is_so, words):
    if not is_so:
        sys.exit(f"expected {words}")


def main():
    source, work = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    reader = Reader(source, work)
    reader.run(". /path/to/conduit/.deps/env.sh")
    if reader.run("python3 -c 'import networkx' 2>/dev/null || echo none"):
        print("python3 has no NetworkX")
        sys.exit(77)

    told = "".join(reader.follow(reader.read("README.md"), README, ELSEWHERE).values())
    expect(re.search(r"saw \d+ of 1000000 states, the last at time 1e\+06", told), f"README's line of its first program in {told}")
    expect(re.search(r"4 workers, .* updates each, 0 barriers\nevery message accounted for", told), f"README's lines of its second in {told}")

    page = reader.read("tools/guide/tutorial.md")
    told = reader.follow(page.split("\n## 4.")[0], TUTORIAL)  # the rest is about clusters
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
