import json
import os
import stat
from pathlib import Path

import pytest

from netuit import InputError, bench_check, bench_compile

ROOT = Path(__file__).resolve().parents[3]


def make_checkout(folder, entries):
    (folder / "microbenchmarks").mkdir()
    (folder / bench_compile.BUDGETS).write_text(json.dumps({"entries": entries}), encoding="utf-8")
    (folder / bench_compile.YARDSTICK).write_text("int main() {}\n", encoding="utf-8")
    (folder / "page.md").write_text("```cpp\nint part;\n```\n\n```cpp\n#include <x>\nint main() {}\n```\n", encoding="utf-8")
    return folder


def make_compiler(folder, line):
    """A program that notes its arguments, and does what the line says."""
    path = folder / "compiler"
    path.write_text(f'#!/bin/sh\necho "$*" >> "{folder}/calls"\n{line}\n', encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


def test_every_budget_of_the_checkout_is_of_something_that_is_there():
    entries = bench_compile.entries(ROOT)
    assert len(entries) > 5
    assert len({entry.figure for entry in entries}) == len(entries)
    for entry in entries:
        assert "#include <" in entry.source
    assert all((ROOT / "include" / entry.name.split(">")[0][1:]).exists() for entry in entries if entry.name[0] == "<")


def test_a_program_of_a_page_is_one_with_a_main_function(tmp_path):
    (entry,) = bench_compile.entries(make_checkout(tmp_path, [{"program": "page.md", "number": 1, "at_most": 2}]))
    assert entry.source == "#include <x>\nint main() {}\n"
    assert entry.figure == "compile: program 1 of page.md, to a program of the standard library"


@pytest.mark.parametrize("entry", [{"program": "page.md", "number": 2, "at_most": 2}, {"program": "none.cpp", "at_most": 2},
                                   {"program": "page.md", "number": 0, "at_most": 2}, {"header": "a.hpp"}, {"at_most": 1}, "a.hpp"])  # fmt: skip
def test_a_budget_of_nothing_is_refused(tmp_path, entry):
    with pytest.raises(InputError, match="compile_budgets.json"):
        bench_compile.entries(make_checkout(tmp_path, [entry]))


def test_a_row_tells_whether_a_budget_is_kept(tmp_path):
    checkout = make_checkout(tmp_path, [{"header": "a.hpp", "at_most": 1000}, {"header": "b.hpp", "compiled": True, "at_most": 0.001}])
    # the time of the loop is more than a clock tick, so that no time is 0
    compiler = make_compiler(tmp_path, "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done")
    rows = bench_compile.measure(checkout, compiler, bench_compile.entries(checkout), 2, dict(os.environ))
    assert [row["verdict"] for row in rows] == ["ok", "short"]
    assert rows[0]["target"] == "<= 1000.00" and rows[0]["detail"].endswith("2 rounds")
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 6  # the yardstick and both headers, twice
    assert sum("-DUIT_COMPILED=1" in call for call in calls) == 2
    assert all("-fsyntax-only" in call for call in calls)


def test_a_program_that_does_not_compile_is_named(tmp_path):
    checkout = make_checkout(tmp_path, [{"header": "a.hpp", "at_most": 1}])
    compiler = make_compiler(tmp_path, "echo no such file >&2; exit 1")
    with pytest.raises(InputError, match="no such file"):
        bench_compile.measure(checkout, compiler, bench_compile.entries(checkout), 1, dict(os.environ))


def test_the_record_can_be_read_together_with_those_of_the_benchmarks(tmp_path):
    path = tmp_path / "compile.json"
    path.write_text(json.dumps(bench_compile.record([], "c++", "", False, "0123456789ab")), encoding="utf-8")
    run = bench_check.read_run([path])
    assert run.rows == [] and run.filter == "" and run.commits == {"0123456789ab"}
