"""Puts the fragments of the guide, its ```cpp blocks without a main, where fragments.cpp.in has a line `//@ PAGE`, so that they are
compiled as they stand. Each such line takes the next fragment of its page.

usage: fragments.py SOURCE_FOLDER OUTPUT_FILE

An error of the compiler names the page and its line.
"""

import pathlib
import re
import sys


def fragments_of(page):
    """The fragments of a page: number of the first line, text."""
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if "int main" not in block[1]:
            yield text.count("\n", 0, block.start(1)) + 1, block[1]


def main():
    source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    around = source / "tests/guide/fragments.cpp.in"
    left = {page.name: list(fragments_of(page)) for page in sorted((source / "tools/guide").glob("*.md"))}
    includes, lines = set(), []
    for number, line in enumerate(around.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("//@ "):
            lines.append(line)
            continue
        name = line.removeprefix("//@ ")
        if not left.get(name):
            sys.exit(f"{around}:{number}: {name} has no further fragment")
        first, fragment = left[name].pop(0)
        includes.update(re.findall(r"^#include .*", fragment, re.MULTILINE))
        fragment = re.sub(r"^#include .*", "", fragment, flags=re.MULTILINE)
        lines += [f'#line {first} "tools/guide/{name}"', fragment + f'#line {number + 1} "{around.name}"']
    for name, rest in left.items():
        if rest:
            sys.exit(f"tools/guide/{name}:{rest[0][0]}: fragments.cpp.in has no place for this fragment")
    output.write_text("\n".join([*sorted(includes), f'#line 1 "{around.name}"', *lines, ""]), encoding="utf-8")


main()
