"""The compiled library is built without nlohmann/json, too, if that is missing: then it leaves out the folders that need it."""

import pathlib
import re

import pytest

_ROOT = pathlib.Path(__file__).parents[3]
_CMAKE = _ROOT / "tools/cmake/UitCompiled.cmake"
_INCLUDE = _ROOT / "include"


def _reached_from(part: pathlib.Path) -> dict[str, str]:
    """Returns the headers that a file includes, also through others, each with the one that names it."""
    reached = {}
    to_read = [part]
    while to_read:
        file = to_read.pop()
        for name in re.findall(r"^#include <([^>]+)>", file.read_text(encoding="utf-8"), re.MULTILINE):
            if name in reached:
                continue
            reached[name] = str(file.relative_to(_INCLUDE))
            if (_INCLUDE / name).exists():
                to_read.append(_INCLUDE / name)
    return reached


@pytest.mark.skipif(not _CMAKE.exists(), reason="only a checkout has the headers")
def test_no_part_that_is_left_in_needs_json() -> None:
    left_out = re.search(r'EXCLUDE REGEX "([^"]+)"', _CMAKE.read_text(encoding="utf-8"))
    assert left_out
    parts = [part for part in _INCLUDE.glob("netuit/**/*.ipp") if not re.search(left_out[1], str(part.relative_to(_INCLUDE)))]
    assert len(parts) > 50
    culprits = {str(part.relative_to(_INCLUDE)): reached["nlohmann/json.hpp"]
                for part in parts if "nlohmann/json.hpp" in (reached := _reached_from(part))}
    assert not culprits
