"""What every way to start the processes of a launch has in common."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from conduit_tools import ToolError, launch
from conduit_tools.arguments import Workers

NO_CLUSTER: Mapping[str, Any] = {}  #: of what is not simulated


class CannotStart(ToolError):
    """What this machine or this job does not allow; other cases may still run."""


class Starter:
    """Starts a program on a layout. Here: over MPI on this machine."""

    kind = "local"
    help_word = "--help"  #: that the program prints its options for
    runs_here = True  #: all that it starts is of this machine, and descends from this process

    def __init__(self, build: pathlib.Path) -> None:
        self._launcher = launch.find_launcher(build)

    @property
    def version(self) -> str:
        """What decides how a program runs, for the identity of a build."""
        return f"{self._launcher.vendor} {self._launcher.major} {pathlib.Path(self._launcher.path).name}"

    def command(
        self, workers: Workers, program: pathlib.Path, words: Sequence[str], cluster: Mapping[str, Any] = NO_CLUSTER
    ) -> list[str]:
        """The command line. cluster: settings of a simulated one. Raises CannotStart for a layout that cannot be had."""
        return self._launcher.command(workers.processes, program, words)

    def environment(self, cluster: Mapping[str, Any] = NO_CLUSTER, shared_memory: bool = True) -> Mapping[str, str]:
        """The environment of that command. shared_memory: whether processes of this machine may talk through it; sweeps
        ask for false of launcher local alone."""
        variables = self._launcher.environment()
        return variables if shared_memory else {**variables, "UIT_SHARED_MEMORY": "0"}

    def facts(self, workers: Workers, words: Sequence[str], cluster: Mapping[str, Any] = NO_CLUSTER) -> dict[str, Any]:
        """What a launch's record is to tell beside its command: all that holds of a simulated cluster, given or not."""
        return {}

    def num_cpus(self, workers: Workers) -> int:
        """CPUs that the workers share."""
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def close(self) -> None:
        """Undoes what was set up. Safe to call twice."""
