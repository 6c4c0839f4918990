"""The program itself, for tests that run it."""

import os

import pytest
from netuit import ToolError
from netuit.program import find_build


def folder_of(program):
    """The build folder that has a program. Where there is none a test is skipped, but where CI=true it fails."""
    try:
        return find_build(program=program)
    except ToolError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"NOT TESTED: {error}")
