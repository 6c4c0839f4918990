"""What rows of one file must have in common: the program to the byte, how it was built, MPI, launcher and machine."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import tempfile
from typing import Any

from netuit import ToolError, files, launch, results
from netuit.arguments import Workers
from netuit.program import SIZE_OPTIONS, check_exit
from netuit.starters import Starter

FACTS = ("version", "commit", "compiler", "build_type", "compile_flags", "mpi_library")
_OPTION = re.compile(r"--([a-z][a-z0-9-]*)")


class Rebuilt(ToolError):
    """The program changed while a sweep ran it."""


@dataclasses.dataclass(frozen=True)
class Build:
    """A program on a machine."""

    id: str  #: commit of the sources, if known, and 12 hexadecimal digits, of all that follows but options
    program: pathlib.Path
    sha256: str
    launcher: str
    machine: str
    facts: dict[str, str]  #: of FACTS, those that the program tells
    options: frozenset[str]  #: those that its --help lists

    def knows(self, option: str) -> bool:
        """Whether the program has the option."""
        return option in self.options

    def check_unchanged(self) -> None:
        """Raises Rebuilt if the program is not what it was."""
        if _digest(self.program) != self.sha256:
            raise Rebuilt(f"{self.program} was built anew while the sweep ran; the same command starts over with the new one")


def inspect(program: pathlib.Path, starter: Starter) -> Build:
    """Looks at a program: its bytes, its --help, and the facts that a run of one update tells. Raises ToolError."""
    digest = _digest(program)
    facts = _facts(program, starter)
    machine = describe_machine()
    identity = [digest, starter.version, machine, facts]
    build = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
    if facts.get("commit"):
        build = f"{facts['commit']}-{build}"
    return Build(build, program, digest, starter.version, machine, facts, _options(program, starter))


def _digest(program: pathlib.Path) -> str:
    try:
        return hashlib.sha256(program.read_bytes()).hexdigest()
    except OSError as error:
        raise ToolError(f"{program}: {error.strerror}") from None


def describe_machine() -> str:
    """Processor and CPUs that may be used."""
    model = platform.processor() or platform.machine()
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        model = match[1].strip() if match else model
    except OSError:
        pass
    num_cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {num_cpus} CPUs"


def _options(program: pathlib.Path, starter: Starter) -> frozenset[str]:
    command = starter.command(Workers(1, 1), program, [starter.help_word])
    try:
        done = subprocess.run(
            command, env=dict(starter.environment()), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", check=False, timeout=120, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ToolError(f"{program} --help: not done in time") from None
    except OSError as error:
        raise ToolError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        raise ToolError(f"{program} --help ended with code {done.returncode}" + "".join(f": {line}" for line in last))
    return frozenset(_OPTION.findall(done.stdout))


def _facts(program: pathlib.Path, starter: Starter) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="conduit-probe-", dir=_shared_folder(starter)) as folder:
        output = pathlib.Path(folder) / "rows.csv"
        size = f"--{SIZE_OPTIONS.get(program.name, 'nodes-per-worker')}"
        words = ["--updates", "1", size, "9", "--replicates", "1", "--modes", "3", "--output", str(output)]
        lines: list[str] = []
        command = starter.command(Workers(1, 1), program, words)
        check_exit(launch.run(command, starter.environment(), lines.append, 120), lines, program.name)
        told: dict[str, Any] = dict(results.read_rows(output)[0])
        if output.with_suffix(".json").exists():
            told.update(files.read_json(output.with_suffix(".json")))
    return {name: str(told[name]) for name in FACTS if name in told}


def _shared_folder(starter: Starter) -> str | None:
    return os.getcwd() if starter.kind == "slurm" else None  # /tmp is each node's own
