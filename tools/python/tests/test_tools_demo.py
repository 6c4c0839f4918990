"""The command tools/demo as far as it gets without setting anything up."""

import pathlib
import subprocess
import time

import pytest

DEMO = pathlib.Path(__file__).parents[2] / "demo"


def run(*words, cwd):
    return subprocess.run([DEMO, *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=30)


def test_help_works_anywhere_and_says_what_can_be_changed(tmp_path):
    ended = run("--workers", "nonsense", "--help", cwd=tmp_path)
    assert ended.returncode == 0
    assert "--graph FILE" in ended.stdout and ended.stderr == ""


@pytest.mark.parametrize("words", [["--modes", "7"], ["--graph", "missing.edgelist"], ["--workers", "0x2"], ["--what"]])
def test_nonsense_ends_before_anything_is_set_up(words, tmp_path):
    begun = time.monotonic()
    ended = run(*words, cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("conduit: error: ") and ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert time.monotonic() - begun < 10  # under a second, but for a busy machine
