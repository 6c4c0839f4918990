"""A program of Conduit's that has been built: where it is, and what its end means."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse

from netuit import InputError, OutputError, ToolError

PROGRAM = "channel_selection"
SIZE_OPTIONS = {"channel_selection": "nodes-per-worker", "digital_evolution": "cells-per-worker"}  #: of each program
_FOLDERS = ("build/demo", "build/release")
_IN_WHEEL = pathlib.Path(__file__).resolve().parent / "programs"  # laid out as a build folder; absent in a checkout
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
    """The checkout that this package is in, or that pip installed it from; None if it is no longer there."""
    here = pathlib.Path(__file__).resolve()
    candidates = [*list(here.parents)[3:4], *_installed_from()]
    return next((path for path in candidates if (path / "tools" / "build_program.sh").is_file()), None)


def _installed_from() -> list[pathlib.Path]:
    """The checkout, as pip notes it beside a package that it installs from a folder; nothing if it came from elsewhere."""
    try:
        note = importlib.metadata.distribution("netuit").read_text("direct_url.json")
        url = urllib.parse.urlsplit(json.loads(note or "{}").get("url", ""))
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError):
        return []
    return [pathlib.Path(urllib.parse.unquote(url.path)).parents[1]] if url.path.endswith("/tools/python") else []


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
    """The build folder that has the program. In this order: the one given, that of the environment variable UIT_BUILD, the
    programs that were installed with this package, and what tools/demo, tools/evolve or `cmake --preset release` has built in
    the current folder or in the checkout that this package is in or came from.

    Raises ToolError if the program is in none; InputError if the one given is not a folder."""
    named = build if build is not None else os.environ.get("UIT_BUILD")
    checkout = find_checkout()
    if named is not None:
        candidates = [pathlib.Path(named)]
    else:
        roots = (pathlib.Path.cwd(), *([checkout] if checkout else []))
        candidates = [_IN_WHEEL, *(root / folder for root in roots for folder in _FOLDERS)]
    for folder in candidates:
        if os.access(folder / "demos" / program, os.X_OK):
            return folder
    if named is None and checkout is None:
        raise ToolError(
            f"{program}: not installed with this package, and not built in {' or '.join(_FOLDERS)}; "
            f"`pip install --verbose` of tools/python in Conduit's checkout tells why, and UIT_BUILD names a build folder"
        )
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
