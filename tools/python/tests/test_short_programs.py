"""Algorithms on conveyors and calls stay short: their lines of code, without comments and blank lines."""

import pathlib
import re

import pytest

DEMOS = pathlib.Path(__file__).parents[3] / "demos"


def code_lines(text: str) -> list[str]:
    """Returns the lines of a C++ source that are neither blank nor a comment."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")]


def classes_of(text: str) -> dict[str, str]:
    """Returns the classes of a header at the top level, by name."""
    return {found[1]: found[0] for found in re.finditer(r"^class (\w+) .*?^};", text, re.MULTILINE | re.DOTALL)}


@pytest.mark.parametrize(
    "header, versions", [("bfs/by_calls.hpp", {"ByLevels", "WithoutLevels"}), ("page_rank/by_calls.hpp", {"ByIterations", "ByMass"})]
)
def test_a_graph_algorithm_by_calls_takes_at_most_60_lines(header, versions):
    classes = classes_of((DEMOS / header).read_text(encoding="utf-8"))
    assert classes.keys() == versions
    for name, text in classes.items():
        assert 10 < len(code_lines(text)) <= 60, name


def test_random_updates_by_a_conveyor_take_at_most_40_lines():
    header = (DEMOS / "gups/by_conveyor.hpp").read_text(encoding="utf-8")
    assert "uit::Conveyor<Update>" in header
    assert 10 < len(code_lines(header)) <= 40
