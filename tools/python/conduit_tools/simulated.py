"""Starts launches on simulated clusters: a host with one core for each process, time that of the simulation."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import pathlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from conduit_tools import InputError, ToolError
from conduit_tools.arguments import Workers
from conduit_tools.starter import CannotStart, Starter

_NO_CLUSTER: Mapping[str, Any] = {}


class SimulatedStarter(Starter):
    """Starts a program that was built with SimGrid's MPI. Settings of a cluster are options of tools/simulate by name,
    without its hosts, seed and output: network, latency, noise, faulty-host, node-seconds, update-seconds, cell-seconds."""

    kind = "simulated"
    help_word = "-h"  # --help is the simulator's own
    runs_here = False  # how busy this machine is has no influence

    def __init__(self, build: pathlib.Path) -> None:
        try:
            self._clusters: Any = importlib.import_module("conduit_tools.clusters")
            self._simulator = self._clusters.find_simulator()
        except ImportError:
            raise CannotStart("launcher simulated: simulated clusters are not part of this checkout") from None
        except ToolError as error:
            raise CannotStart(f"launcher simulated: {error}") from None
        if "simgrid" not in str(build.resolve()).lower():
            raise CannotStart(f"launcher simulated: {build} was not built with SimGrid's MPI (cmake --preset simgrid)")
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="conduit-simulated-"))
        self._num_commands = 0

    @property
    def version(self) -> str:
        source = pathlib.Path(self._clusters.__file__).read_bytes()
        return f"SimGrid at {self._simulator.path}; clusters {hashlib.sha256(source).hexdigest()[:12]}"

    def command(
        self, workers: Workers, program: pathlib.Path, words: Sequence[str], cluster: Mapping[str, Any] = _NO_CLUSTER
    ) -> list[str]:
        if workers.threads > 1:
            raise CannotStart("a simulated process has one thread")
        options = self._options(workers, _seed(words), cluster)
        self._num_commands += 1
        folder = self._folder / str(self._num_commands)
        folder.mkdir()
        command = self._simulator.command(options.cluster, folder, program.resolve(), words)
        return [str(word) for word in command]

    def environment(self, cluster: Mapping[str, Any] = _NO_CLUSTER, shared_memory: bool = True) -> Mapping[str, str]:
        options = self._options(Workers(1, 1), "1", {name: cluster[name] for name in cluster if name != "faulty-host"})
        return dict(self._simulator.environment(options.cluster, options.cost))

    def _options(self, workers: Workers, seed: str, cluster: Mapping[str, Any]) -> Any:
        """Checked by tools/simulate's own rules."""
        words = ["--hosts", str(workers.processes), "--seed", seed, "--output", str(self._folder)]
        for name, value in cluster.items():
            words += [f"--{name}", str(value)]
        try:
            return self._clusters.parse(words)
        except InputError as error:
            raise InputError(f"cluster: {error}") from None

    def facts(self, workers: Workers, words: Sequence[str], cluster: Mapping[str, Any] = _NO_CLUSTER) -> dict[str, Any]:
        options = self._options(workers, _seed(words), cluster)
        return {"cluster": dataclasses.asdict(options.cluster), "cost": dataclasses.asdict(options.cost)}

    def num_cpus(self, workers: Workers) -> int:
        return workers.count

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _seed(words: Sequence[str]) -> str:
    return words[words.index("--seed") + 1] if "--seed" in words else "1"
