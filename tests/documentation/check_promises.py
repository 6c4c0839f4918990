"""Finds out whether this build has every test that PROMISES.md names: check_promises.py SOURCE_FOLDER BUILD_FOLDER CTEST

A case counts if its source is compiled into a program that a test of CTest runs, if it is not hidden by a tag, and, where the
program has been built, if it is in it. A test of the tools counts if pytest collects it.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys


def named(text: str) -> list[str]:
    """What stands in italics, which is how the page names tests; bold text and code are not."""
    text = re.sub(r"`[^`]*`", "", text).replace("**", "")
    return [" ".join(span.split()) for span in re.findall(r"\*([^*]+)\*", text)]


def cases_of(source: str) -> set[str]:
    """Names of the cases of a C++ source that run without being asked for."""
    names = set()
    for literals, tags in re.findall(r'^(?:TEMPLATE_(?:LIST_)?)?TEST_CASE(?:_SIG)?\(\s*((?:"[^"]*"\s*)+)(?:,\s*"([^"]*)")?', source, re.MULTILINE):
        if "[." not in tags and "[!hide]" not in tags:
            names.add("".join(re.findall(r'"([^"]*)"', literals)))
    return names


def programs_of(build: pathlib.Path) -> dict[str, pathlib.Path]:
    """Programs that tests of CTest run, and where they are or will be, by name of the target."""
    tests = "".join(path.read_text(encoding="utf-8") for path in build.rglob("CTestTestfile.cmake"))
    words = re.findall(rf'"({re.escape(str(build))}/[^"]+)"', "\n".join(re.findall(r"^add_test\(.*", tests, re.MULTILINE)))
    return {pathlib.Path(word).name: pathlib.Path(word) for word in words}


def compiled_cases(source: pathlib.Path, build: pathlib.Path) -> set[str]:
    """Cases that tests of CTest run."""
    programs = programs_of(build)
    contents: dict[str, bytes | None] = {}
    names = set()
    for compiled in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        target = re.search(r"CMakeFiles/([^/ ]+)\.dir/", compiled["command"])
        path = pathlib.Path(compiled["file"])
        if not target or target[1] not in programs or source / "tests" not in path.parents:
            continue
        if target[1] not in contents:
            program = programs[target[1]]
            contents[target[1]] = program.read_bytes() if program.is_file() else None
        built = contents[target[1]]
        names.update(name for name in cases_of(path.read_text(encoding="utf-8")) if built is None or name.encode() in built)
    return names


def collected(source: pathlib.Path) -> set[str]:
    """Tests of the tools, without their parameters."""
    folder = source / "tools/python"
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path[1:]]), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(folder / "tests")]
    ended = subprocess.run(words, cwd=source, env=variables, check=False, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(f"pytest cannot collect the tests of the tools:\n{ended.stdout}{ended.stderr}")
    return set(re.findall(r"::(test_\w+)", ended.stdout))


def ctest_names(build: pathlib.Path, ctest: str) -> set[str]:
    """Tests of CTest, also without the number of ranks."""
    listing = subprocess.run([ctest, "-N"], cwd=build, check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^ *Test +#\d+: (.+?)$", listing, re.MULTILINE)
    return {*names, *(re.sub(r" x\d+.*", "", name) for name in names)}


def main() -> int:
    """Prints what is missing, and how many names there are."""
    source, build, ctest = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    wanted = named((source / "PROMISES.md").read_text(encoding="utf-8"))
    there = compiled_cases(source, build) | ctest_names(build, ctest)
    missing = [name for name in wanted if name not in there]
    if any(name.startswith("test_") for name in missing):
        there |= collected(source)
        missing = [name for name in missing if name not in there]
    for name in missing:
        print(f"PROMISES.md names a test that this build has not: {name}")
    print(f"{len(wanted)} tests named, {len(missing)} missing")
    return 1 if missing or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
