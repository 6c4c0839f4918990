import json
import pathlib
import shutil
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "coverage_sum.py"


def make_headers(folder):
    (folder / "include/own").mkdir(parents=True)
    (folder / "include/own/used.hpp").write_text(
        "#pragma once\ninline int Used(int i) { return i + 1; }\ntemplate <typename T>\nT Unused(T i) {\n  return i;\n}\n"
    )
    (folder / "include/own/unused.hpp").write_text("#pragma once\ntemplate <typename T>\nT Never(T i) { return i; }\n")
    (folder / "include/own/notes.txt").write_text("no header\n")


def run_tool(folder, llvm_cov, profile, program):
    return subprocess.run(
        [sys.executable, TOOL, llvm_cov, profile, "include", program], cwd=folder, capture_output=True, text=True, check=False
    )


def test_headers_of_which_nothing_is_counted_are_listed_and_leave_the_percentages_alone(tmp_path):
    make_headers(tmp_path)
    name = str(tmp_path / "include/own/used.hpp")
    (tmp_path / "lcov").write_text(f"SF:{name}\nDA:2,7\nDA:3,1\nDA:4,0\nend_of_record\n")
    branches = [[2, 1, 2, 9, 1, 1, 0, 0, 4], [3, 1, 3, 9, 1, 0, 0, 0, 4]]
    (tmp_path / "json").write_text(json.dumps({"data": [{"files": [{"filename": name, "branches": branches}]}]}))
    fake = tmp_path / "llvm-cov"
    fake.write_text('#!/bin/sh\ncase "$*" in *lcov*) cat lcov ;; *) cat json ;; esac\n')
    fake.chmod(0o755)
    done = run_tool(tmp_path, str(fake), "profile", "program")
    *files, goal = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr  # two lines of three
    assert [line.split()[0] for line in files] == ["own/used.hpp", "own/unused.hpp"]
    assert files[1].split(maxsplit=1)[1] == "nothing is counted in any program"
    assert goal == (
        "goal R17: 66.7 % of lines (2 of 3), 75.0 % of branches (3 of 4) of include; nothing is counted in 1 of 2 headers"
    )


def test_clang_counts_no_template_without_instances(tmp_path):
    clang, llvm_cov, profdata = (shutil.which(name) for name in ("clang++-19", "llvm-cov-19", "llvm-profdata-19"))
    if not clang or not llvm_cov or not profdata:
        pytest.skip("clang 19 and its llvm-cov are missing")
    make_headers(tmp_path)
    (tmp_path / "main.cpp").write_text(
        '#include "own/unused.hpp"\n#include "own/used.hpp"\nint main(int n, char**) { return Used(n) == 2 ? 0 : 1; }\n'
    )
    flags = ["-Iinclude", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "program", "main.cpp"]
    for command in (
        [clang, *[flag.replace("-Iinclude", f"-I{tmp_path}/include") for flag in flags]],
        [str(tmp_path / "program")],
        [profdata, "merge", "-o", "sum.profdata", "default.profraw"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    done = run_tool(tmp_path, llvm_cov, "sum.profdata", str(tmp_path / "program"))
    assert "own/unused.hpp" in done.stdout and "100.0 % of lines (1 of 1)" in done.stdout, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith("nothing is counted in 1 of 2 headers")
