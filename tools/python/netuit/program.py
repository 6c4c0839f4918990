"""A program of Conduit's that has been built: where it is, and what its end means."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from netuit import InputError, OutputError, ToolError

PROGRAM = "channel_selection"
SIZE_OPTIONS = {"channel_selection": "nodes-per-worker", "digital_evolution": "cells-per-worker"}  #: of each program
_FOLDERS = ("build/demo", "build/release")
_CHATTER = ("srun:", "slurmstepd:", "-----", "mpirun ", "mpiexec ")  # of launchers, about an end that they did not cause


_BUILD = """
set -eu
root=$1
"$root/tools/setup" demo >&2
. "$root/.deps/env.sh"
. "$root/tools/build_program.sh"
build_program netuit release "$2" >&2
"""


def find_checkout() -> pathlib.Path | None:
    """The checkout that this package is in, or that it was installed from; None if it is no longer there."""
    here = pathlib.Path(__file__).resolve()
    candidates = [here.parents[3]]
    noted = here.parent / "checkout.txt"
    if noted.is_file():
        candidates.append(pathlib.Path(noted.read_text(encoding="utf-8").strip()))
    return next((path for path in candidates if (path / "tools" / "build_program.sh").is_file()), None)


def find_or_build(build: str | os.PathLike[str] | None = None, program: str = PROGRAM) -> pathlib.Path:
    """What find_build finds. If no build is named, and the program is in none, builds it in the checkout, once. Raises as
    find_build, and ToolError if it cannot be built."""
    try:
        return find_build(build, program)
    except ToolError:
        checkout = find_checkout()
        if build is not None or "UIT_BUILD" in os.environ or checkout is None:
            raise
    print(f"netuit: {program} is not built yet; builds it in {checkout}, which takes some minutes", file=sys.stderr)
    built = subprocess.run(["sh", "-c", _BUILD, "sh", checkout, program], stdin=subprocess.DEVNULL, check=False)
    if built.returncode != 0:
        raise ToolError(f"{program}: could not be built in {checkout}; {checkout / 'tools' / 'demo'} says why")
    return find_build(build, program)


def find_build(build: str | os.PathLike[str] | None = None, program: str = PROGRAM) -> pathlib.Path:
    """The build folder that has the program: the one given, else that of the environment variable UIT_BUILD, else
    what tools/demo, tools/evolve or `cmake --preset release` has built in the current folder, or in the checkout that this
    package is in or came from. Raises ToolError; InputError if the one given is not a folder."""
    named = build if build is not None else os.environ.get("UIT_BUILD")
    if named is not None:
        candidates = [pathlib.Path(named)]
    else:
        checkout = find_checkout()
        roots = (pathlib.Path.cwd(), *([checkout] if checkout else []))
        candidates = [root / folder for root in roots for folder in _FOLDERS]
    for folder in candidates:
        if os.access(folder / "demos" / program, os.X_OK):
            return folder
    where = named if named is not None else " or ".join(_FOLDERS)
    tool = "tools/demo" if program == PROGRAM else "tools/evolve"
    error = InputError if build is not None and not pathlib.Path(build).is_dir() else ToolError
    raise error(f"{program}: not built in {where}; {tool} builds it, and UIT_BUILD names another folder")


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
