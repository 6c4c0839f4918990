"""The program itself, for tests that run it."""

import os

import pytest
from netuit import ToolError, native
from netuit.program import find_build


def folder_of(program):
    """The build folder that has a program. Where there is none a test is skipped, but where CI=true it fails."""
    try:
        return find_build(program=program)
    except ToolError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"NOT TESTED: {error}")


def need_module():
    """Skips a test where the extension module has not been built, but fails where CI=true."""
    if native.find() is None:
        words = "the extension module is not built (-DUIT_PYTHON=ON), or older than its sources"
        pytest.fail(words) if os.environ.get("CI") == "true" else pytest.skip(f"NOT TESTED: {words}")
