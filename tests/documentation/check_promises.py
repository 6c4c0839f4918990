"""Checks PROMISES.md against a build: check_promises.py SOURCE_FOLDER BUILD_FOLDER CTEST [RESULTS_FOLDER]

Every paragraph, list item and table row below the first heading of level two must name a test in italics, and this build
must have every test named. A Catch2 case counts if its source is compiled into a program that a CTest test runs, if no tag
hides it, and, where the program has been built, if the program contains it. A pytest test counts if pytest collects it.

Where RESULTS_FOLDER exists, promises.tsv there gets a line for each name: the name, then the tests that run it.
tools/test_summary.py reads it, to see that each of them ran and passed in some stage.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys


def named(text: str) -> list[str]:
    """Returns the texts in italics, which name tests. Ignores bold text and code."""
    text = re.sub(r"`[^`]*`", "", text).replace("**", "")
    return [" ".join(span.split()) for span in re.findall(r"\*([^*]+)\*", text)]


def unnamed(text: str) -> list[str]:
    """Returns the first words of each paragraph, list item and table row that names no test."""
    body = text[text.index("\n## ") :]
    blocks: list[str] = []
    is_open = False
    for line in body.splitlines():
        if line.startswith("|"):
            is_head = not blocks or not blocks[-1].startswith("|") or not is_open
            is_open = True
            if is_head:  # head of a table; the line below it belongs to the head
                blocks.append("|")
            elif not set(line) <= set("|-: "):
                blocks.append(line)
        elif not line.strip() or line.startswith("#"):
            is_open = False
        elif line.startswith("- ") or not is_open:
            blocks.append(line)
            is_open = True
        else:
            blocks[-1] += " " + line.strip()
    return [block[:60] for block in blocks if block != "|" and not named(block)]


def cases_of(source: str) -> set[str]:
    """Returns the names of the test cases of a C++ source that run by default."""
    names = set()
    for literals, tags in re.findall(r'^(?:TEMPLATE_(?:LIST_)?)?TEST_CASE(?:_SIG)?\(\s*((?:"[^"]*"\s*)+)(?:,\s*"([^"]*)")?', source, re.MULTILINE):
        if "[." not in tags and "[!hide]" not in tags:
            names.add("".join(re.findall(r'"([^"]*)"', literals)))
    return names


def programs_of(build: pathlib.Path) -> dict[str, pathlib.Path]:
    """Returns the programs that CTest's tests run, with their paths in the build, by name of the target."""
    # Other tests make and remove folders of their own in the build meanwhile.
    files = [pathlib.Path(folder) / name for folder, _, names in os.walk(build / "tests") for name in names if name == "CTestTestfile.cmake"]
    tests = "".join(path.read_text(encoding="utf-8") for path in files)
    words = re.findall(rf'"({re.escape(str(build))}/[^"]+)"', "\n".join(re.findall(r"^add_test\(.*", tests, re.MULTILINE)))
    return {pathlib.Path(word).name: pathlib.Path(word) for word in words}


def compiled_cases(source: pathlib.Path, build: pathlib.Path) -> dict[str, set[str]]:
    """Returns the test cases that CTest's tests run, each with the names of its programs."""
    programs = programs_of(build)
    contents: dict[str, bytes | None] = {}
    names: dict[str, set[str]] = {}
    for compiled in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        target = re.search(r" -o \S*CMakeFiles/([^/ ]+)\.dir/", compiled["command"])
        path = pathlib.Path(compiled["file"])
        if not target or target[1] not in programs or source / "tests" not in path.parents:
            continue
        if target[1] not in contents:
            program = programs[target[1]]
            contents[target[1]] = program.read_bytes() if program.is_file() else None
        built = contents[target[1]]
        for name in cases_of(path.read_text(encoding="utf-8")):
            if built is None or name.encode() in built:
                names.setdefault(name, set()).add(target[1])
    return names


def collected(source: pathlib.Path) -> set[str]:
    """Returns the tests of the tools, without their parameters."""
    folder = source / "tools/python"
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path[1:]]), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(folder / "tests")]
    ended = subprocess.run(words, cwd=source, env=variables, check=False, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(f"pytest cannot collect the tests of the tools:\n{ended.stdout}{ended.stderr}")
    return set(re.findall(r"::(test_\w+)", ended.stdout))


def ctest_names(build: pathlib.Path, ctest: str) -> dict[str, set[str]]:
    """Returns CTest's tests, each also by its name without the number of ranks."""
    listing = subprocess.run([ctest, "-N"], cwd=build, check=True, capture_output=True, text=True).stdout
    names: dict[str, set[str]] = {}
    for name in re.findall(r"^ *Test +#\d+: (.+?)$", listing, re.MULTILINE):
        names.setdefault(name, set()).add(name)
        names.setdefault(re.sub(r" x\d+.*", "", name), set()).add(name)
    return names


def main() -> int:
    """Prints what is missing, and the number of names."""
    source, build, ctest = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    text = (source / "PROMISES.md").read_text(encoding="utf-8")
    wanted = named(text)
    of_ctest = ctest_names(build, ctest)
    runs = {name: set().union(*(of_ctest.get(program, {program}) for program in programs))
            for name, programs in compiled_cases(source, build).items()} | of_ctest
    if any(name.startswith("test_") for name in wanted):
        runs |= {name: {name} for name in collected(source)}
    missing = [name for name in wanted if name not in runs]
    for name in missing:
        print(f"PROMISES.md names a test that this build does not have: {name}")
    bare = unnamed(text)
    for words in bare:
        print(f"PROMISES.md has a paragraph, list item or table row that names no test: {words}")
    if len(sys.argv) > 4 and pathlib.Path(sys.argv[4]).is_dir():
        rows = ["\t".join([name, *sorted(runs[name])]) for name in dict.fromkeys(wanted) if name in runs]
        (pathlib.Path(sys.argv[4]) / "promises.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(wanted)} tests named, {len(missing)} missing, {len(bare)} paragraphs, list items and table rows without one")
    return 1 if missing or bare or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
