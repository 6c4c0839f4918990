"""A program of Conduit's that has been built: where it is, and what its end means."""

from __future__ import annotations

import os
import pathlib

from conduit_tools import InputError, OutputError, ToolError

PROGRAM = "channel_selection"
SIZE_OPTIONS = {"channel_selection": "nodes-per-worker", "digital_evolution": "cells-per-worker"}  #: of each program
_FOLDERS = ("build/demo", "build/release")
_CHATTER = ("srun:", "slurmstepd:", "-----", "mpirun ", "mpiexec ")  # of launchers, about an end that they did not cause


def find_build(build: str | os.PathLike[str] | None = None, program: str = PROGRAM) -> pathlib.Path:
    """The build folder that has the program: the one given, else that of the environment variable CONDUIT_BUILD, else
    what tools/demo, tools/evolve or `cmake --preset release` has built in the checkout that this package is in, or in
    the current folder. Raises ToolError; InputError if the one given is not a folder."""
    named = build if build is not None else os.environ.get("CONDUIT_BUILD")
    if named is not None:
        candidates = [pathlib.Path(named)]
    else:
        roots = (pathlib.Path.cwd(), pathlib.Path(__file__).resolve().parents[3])
        candidates = [root / folder for root in roots for folder in _FOLDERS]
    for folder in candidates:
        if os.access(folder / "demos" / program, os.X_OK):
            return folder
    where = named if named is not None else " or ".join(_FOLDERS)
    tool = "tools/demo" if program == PROGRAM else "tools/evolve"
    error = InputError if build is not None and not pathlib.Path(build).is_dir() else ToolError
    raise error(f"{program}: not built in {where}; {tool} builds it, and CONDUIT_BUILD names another folder")


def check_exit(code: int, lines: list[str], program: str) -> None:
    """Raises what a program's exit code and its lines on stderr mean, if it did not end well."""
    if code == 0:
        return
    mark = "conduit: error: "
    said = next((line[len(mark) :] for line in lines if line.startswith(mark)), None)
    if said is None:
        last = [line for line in lines if line.strip() and not line.startswith(_CHATTER)][-1:]
        raise ToolError(f"{program} ended with code {code}" + "".join(f": {line.strip()}" for line in last))
    raise (InputError if code == 2 else OutputError if code == 5 else ToolError)(said)
