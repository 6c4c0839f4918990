"""Finds out whether every test that PROMISES.md names is there: check_promises.py SOURCE_FOLDER BUILD_FOLDER CTEST"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys


def named(text: str) -> list[str]:
    """What stands in italics, which is how the page names tests; bold text and code are not."""
    text = re.sub(r"`[^`]*`", "", text).replace("**", "")
    return [" ".join(span.split()) for span in re.findall(r"\*([^*]+)\*", text)]


def test_names(source: pathlib.Path, build: pathlib.Path, ctest: str) -> set[str]:
    """Cases of the sources, tests of the tools, and tests of CTest without the number of ranks."""
    names = set()
    for path in (source / "tests").rglob("*.cpp"):
        text = path.read_text(encoding="utf-8")
        for literals in re.findall(r'TEST_CASE\(\s*((?:"[^"]*"\s*)+)', text):
            names.add("".join(re.findall(r'"([^"]*)"', literals)))
    for path in (source / "tools/python/tests").glob("test_*.py"):
        names.update(re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE))
    listing = subprocess.run([ctest, "-N"], cwd=build, check=True, capture_output=True, text=True).stdout
    for name in re.findall(r"^ *Test +#\d+: (.+)$", listing, re.MULTILINE):
        names.update({name, re.sub(r" x\d+.*", "", name)})
    return names


def main() -> int:
    """Prints what is missing, and how many names there are."""
    source, build, ctest = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    wanted = named((source / "PROMISES.md").read_text(encoding="utf-8"))
    there = test_names(source, build, ctest)
    missing = [name for name in wanted if name not in there]
    for name in missing:
        print(f"PROMISES.md names a test that is not there: {name}")
    print(f"{len(wanted)} tests named, {len(missing)} missing")
    return 1 if missing or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
