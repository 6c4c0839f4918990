"""Launches Conduit's programs, reads their results and draws them."""


class ToolError(Exception):
    """Ends a tool with one line, `conduit: error: ...`, and this exit code."""

    exit_code = 1


class InputError(ToolError):
    """An option or a file of the user's that makes no sense."""

    exit_code = 2


class OutputError(ToolError):
    """Results that cannot be written."""

    exit_code = 5
