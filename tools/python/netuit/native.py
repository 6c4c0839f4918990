"""The package's extension module: from its wheel, or built in the checkout."""

from __future__ import annotations

import fcntl
import importlib
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
from typing import Any

from netuit import ToolError, launch
from netuit.program import find_checkout

_NAME = "netuit._native"
_BUILDS = ("python", "release")  # folders of build/
_SOURCES = ("include", "tools/python/native")
_BUILD = """
set -eu
root=$1
"$root/tools/setup" demo python >&2
. "$root/.deps/env.sh"
cd "$root"
mkdir -p build/python
log=$root/build/python.log
begin=build/python/begin  # the module is as old as its sources are now, not as the compiler's end
touch "$begin"
nanobind=$("${UIT_PYTHON:-$2}" -m nanobind --cmake_dir)
if ! { cmake --preset release -B build/python -DUIT_TESTS=OFF -DUIT_DEMOS=OFF -DUIT_PYTHON=ON -DPython_EXECUTABLE="$2" -Dnanobind_DIR="$nanobind" &&
  cmake --build build/python --target netuit_native && touch -r "$begin" "build/python/python/$3"; } >"$log" 2>&1; then
  grep -m 5 -E 'error: |CMake Error' "$log" >&2 || tail -n 5 "$log" >&2
  echo "netuit: all of it is in $log" >&2
  exit 1
fi
"""


def load() -> Any:
    """The extension module. Builds it in the checkout if it is not there, or older than its sources. Raises ToolError if it cannot be
    had."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    path = find() or _build()
    spec = importlib.util.spec_from_file_location(_NAME, path)
    assert spec is not None
    try:
        try:
            module = importlib.util.module_from_spec(spec)
        except ImportError as error:
            if not launch.load_library(str(error).partition(":")[0]):
                raise
            module = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = module
        assert spec.loader is not None
        spec.loader.exec_module(module)
    except ImportError as error:
        sys.modules.pop(_NAME, None)
        raise ToolError(f"{path}: {error}") from None
    return module


def folder() -> pathlib.Path:
    """The CMake build folder of the extension module, or the package's programs, which are laid out as one."""
    path = pathlib.Path(load().__file__)
    return path.parents[1] if path.parent.name == "python" else path.parent / "programs"


def _file() -> str:
    return "_native" + importlib.machinery.EXTENSION_SUFFIXES[0]


def find() -> pathlib.Path | None:
    """The module for this Python: that of the wheel, else one that was built in the folder of UIT_BUILD, or in the checkout from its
    present sources."""
    in_wheel = pathlib.Path(__file__).parent / _file()
    if in_wheel.is_file():
        return in_wheel
    if "UIT_BUILD" in os.environ:
        named = pathlib.Path(os.environ["UIT_BUILD"]) / "python" / _file()
        return named if named.is_file() else None
    checkout = find_checkout()
    newest = _newest(checkout) if checkout else None
    return newest if checkout and newest and newest.stat().st_mtime >= _last_change(checkout) else None


def _newest(checkout: pathlib.Path) -> pathlib.Path | None:
    """The module that was built last in the checkout."""
    built = [path for name in _BUILDS if (path := checkout / "build" / name / "python" / _file()).is_file()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def _last_change(checkout: pathlib.Path) -> float:
    """When a source of the module was last changed, in seconds since the epoch."""
    last = 0.0
    for folder in _SOURCES:
        for path in (checkout / folder).rglob("*.*pp"):
            try:
                last = max(last, path.stat().st_mtime)
            except OSError:  # an editor's link to nowhere
                pass
    return last


def _build() -> pathlib.Path:
    checkout = find_checkout()
    if "UIT_BUILD" in os.environ:
        raise ToolError(f"UIT_BUILD={os.environ['UIT_BUILD']} has no extension module for this Python (-DUIT_PYTHON=ON builds it)")
    if checkout is None:
        raise ToolError("the extension module of netuit is missing: this package was installed without a C++ compiler or Python's headers")
    old = _newest(checkout)
    try:
        (checkout / "build").mkdir(exist_ok=True)
        lock = (checkout / "build" / "python.lock").open("w", encoding="utf-8")
    except OSError as error:
        if old is None:
            raise ToolError(f"the extension module of netuit cannot be built: {checkout}/build: {error.strerror}") from None
        print(f"netuit: the extension module is older than its sources, and {checkout}/build cannot be written", file=sys.stderr)
        return old
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # mpirun starts several at once
        path = find()
        if path is not None:
            return path
        why = "is not built yet" if old is None else "is older than its sources"
        print(f"netuit: the extension module {why}; builds it in {checkout}, which takes a minute or two", file=sys.stderr)
        built = subprocess.run(["sh", "-c", _BUILD, "sh", checkout, sys.executable, _file()], stdin=subprocess.DEVNULL, check=False)
        path = find() if built.returncode == 0 else None
    if path is None:
        raise ToolError(f"the extension module of netuit could not be built in {checkout}")
    return path
