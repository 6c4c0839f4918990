"""The program itself, for tests that run it."""

import os

import pytest
from netuit import ToolError, launch, native
from netuit.program import find_build


def folder_of(program):
    """The build folder that has a program, as an absolute path. Where there is none a test is skipped, but where CI=true it fails."""
    try:
        return find_build(program=program).resolve()
    except ToolError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"NOT TESTED: {error}")


def is_nightly():
    return os.environ.get("UIT_NIGHTLY", "0") not in ("", "0")


def launcher_of(folder):
    """The launcher of a build with MPI; without MPI a test is skipped."""
    found = launch.find_launcher(folder)
    if not found.has_mpi:
        pytest.skip(f"NOT TESTED: {folder} is built without MPI")
    return found


def write_graph(folder):
    """A small graph, as the pages name the user's."""
    (folder / "my.edgelist").write_text("".join(f"{i} {(i + step) % 64}\n" for i in range(64) for step in (1, 5)), encoding="utf-8")


def need_module():
    """Skips a test where the extension module has not been built, but fails where CI=true."""
    if native.find() is None:
        words = "the extension module is not built (-DUIT_PYTHON=ON), or older than its sources"
        pytest.fail(words) if os.environ.get("CI") == "true" else pytest.skip(f"NOT TESTED: {words}")
