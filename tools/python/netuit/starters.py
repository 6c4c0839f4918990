"""Ways to start the processes of a launch: on this machine, on two hosts made of it, in a Slurm job, in a simulation."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netuit import InputError, ToolError, launch, simulate, simulated_clusters
from netuit.arguments import Workers

NO_CLUSTER: Mapping[str, Any] = {}  #: of what is not simulated
_MPIRUN = "mpirun"
# What sbatch's own options leave in the environment, where srun would take it for ours.
_JOBS_OWN = ("SLURM_CPU_BIND", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TRES_PER_TASK", "SLURM_THREADS_PER_CORE")


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
        try:
            return self._launcher.command(workers.processes, program, words)
        except InputError as error:
            raise CannotStart(f"launcher local: {error}") from None

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


class SlurmStarter(Starter):
    """Starts in the job that this runs in: the threads of a process on one node, and by default one process a node.
    By srun where it has a plug-in that the MPI can use, else by mpirun. Environment: UIT_PER_NODE, processes a node;
    UIT_SRUN_MPI, the plug-in for `srun --mpi`, or mpirun."""

    kind = "slurm"
    runs_here = False

    def __init__(self, build: pathlib.Path) -> None:
        super().__init__(build)
        if not self._launcher.has_mpi:
            raise CannotStart("launcher slurm: the programs were built without MPI")
        if "SLURM_JOB_ID" not in os.environ or shutil.which("srun") is None:
            raise CannotStart("launcher slurm: this is not a Slurm job; sbatch tools/slurm/experiment.sbatch SWEEP makes one")
        self._num_nodes = _number("SLURM_JOB_NUM_NODES", _number("SLURM_NNODES", 1))
        self._cpus_on_node = _number("SLURM_CPUS_ON_NODE", 1)
        self._per_node = _number("UIT_PER_NODE", 1)
        self._mpi = os.environ.get("UIT_SRUN_MPI") or self._find_plugin()

    @property
    def version(self) -> str:
        return f"{super().version}; slurm {self._mpi}, {self._per_node} a node"

    def _find_plugin(self) -> str:
        listed = subprocess.run(
            ["srun", "--mpi=list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
        )
        words = set(re.findall(r"[\w.-]+", listed.stdout + listed.stderr))
        wanted = ("pmi2", "pmix", "cray_shasta") if self._launcher.vendor == "MPICH" else ("pmix", "pmi2")
        for name in wanted:
            if name in words:
                return name
        return _MPIRUN

    def command(
        self, workers: Workers, program: pathlib.Path, words: Sequence[str], cluster: Mapping[str, Any] = NO_CLUSTER
    ) -> list[str]:
        per_node = min(self._per_node, workers.processes)
        num_nodes = -(-workers.processes // per_node)
        if num_nodes > self._num_nodes:
            raise CannotStart(f"requires {num_nodes} nodes, this job has {self._num_nodes}")
        if self._mpi == _MPIRUN:
            placing = ["-ppn", str(per_node)]
            if self._launcher.vendor == "Open MPI":
                placing = ["--map-by", f"ppr:{per_node}:node", "--oversubscribe", "--bind-to", "none"]
            return [self._launcher.path, "-n", str(workers.processes), *placing, str(program), *words]
        cpus = max(1, min(workers.threads, self._cpus_on_node // per_node))
        return [
            *("srun", f"--mpi={self._mpi}", f"--nodes={num_nodes}", f"--ntasks={workers.processes}"),
            *(f"--ntasks-per-node={per_node}", f"--cpus-per-task={cpus}", "--overcommit", "--cpu-bind=none"),
            *("--kill-on-bad-exit=1", str(program), *words),
        ]

    def environment(self, cluster: Mapping[str, Any] = NO_CLUSTER, shared_memory: bool = True) -> Mapping[str, str]:
        variables = dict(self._launcher.environment())
        if self._num_nodes > 1:
            variables.pop("OMPI_MCA_btl", None)  # which was for one machine
        meddling = () if self._mpi == _MPIRUN else _JOBS_OWN
        return {name: text for name, text in variables.items() if not name.startswith(meddling)}

    def num_cpus(self, workers: Workers) -> int:
        return self._cpus_on_node * -(-workers.processes // min(self._per_node, workers.processes))


class HostsStarter(Starter):
    """Two hosts on this machine, each a network namespace with a name of its own, joined by a virtual link; processes
    are spread over both evenly. Wants root, iproute2 and Open MPI."""

    kind = "hosts"
    runs_here = False  # the second host's processes descend from a daemon
    _network = "10.231.78"

    def __init__(self, build: pathlib.Path) -> None:
        super().__init__(build)
        if os.getuid() != 0:
            raise CannotStart("launcher hosts: only root can make network namespaces")
        missing = next((tool for tool in ("ip", "unshare") if shutil.which(tool) is None), None)
        if missing or self._launcher.vendor != "Open MPI":
            raise CannotStart(f"launcher hosts: {missing} is missing" if missing else "launcher hosts: requires Open MPI")
        self._names = [f"conduit_exp_{side}_{os.getpid()}" for side in "ab"]
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="conduit-hosts-"))
        try:
            self._set_up()
        except BaseException:
            self.close()
            raise

    @property
    def version(self) -> str:
        return f"{super().version}; two network namespaces"

    def _set_up(self) -> None:
        a, b = self._names
        for words in (
            f"netns add {a}", f"netns add {b}", f"-n {a} link add link_a type veth peer name link_b netns {b}",
            f"-n {a} addr add {self._network}.1/24 dev link_a", f"-n {b} addr add {self._network}.2/24 dev link_b",
            f"-n {a} link set lo up", f"-n {a} link set link_a up",
            f"-n {b} link set lo up", f"-n {b} link set link_b up",
        ):  # fmt: skip
            done = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
                raise CannotStart(f"launcher hosts: this machine has no network namespaces: {reason}")
        agent = self._folder / "agent"  # how Open MPI starts its daemon on a host: in the namespace of that address
        agent.write_text(
            f"#!/bin/sh\nhost=$1; shift\ncase $host in *.2) of={b} name=b ;; *) of={a} name=a ;; esac\n"
            'exec ip netns exec $of unshare -u sh -c "hostname $name; $*"\n'
        )
        agent.chmod(0o755)

    def command(
        self, workers: Workers, program: pathlib.Path, words: Sequence[str], cluster: Mapping[str, Any] = NO_CLUSTER
    ) -> list[str]:
        if workers.processes < 2:
            raise CannotStart("two hosts require two processes or more")
        first = -(-workers.processes // 2)
        hosts = f"{self._network}.1:{first},{self._network}.2:{workers.processes - first}"
        mpirun = [
            *(self._launcher.path, "-n", str(workers.processes), "-H", hosts, "--bind-to", "none"),
            *("--mca", "plm_rsh_agent", str(self._folder / "agent"), "--mca", "orte_keep_fqdn_hostnames", "true"),
            *("--mca", "btl_tcp_if_include", f"{self._network}.0/24", "--mca", "oob_tcp_if_include", f"{self._network}.0/24"),
            *(str(program), *words),
        ]
        script = 'hostname a; exec "$@"'
        return ["ip", "netns", "exec", self._names[0], "unshare", "-u", "sh", "-c", script, "sh", *mpirun]

    def environment(self, cluster: Mapping[str, Any] = NO_CLUSTER, shared_memory: bool = True) -> Mapping[str, str]:
        variables = dict(self._launcher.environment())
        for name in ("OMPI_MCA_btl", "OMPI_MCA_plm_rsh_agent"):
            variables.pop(name, None)
        return variables

    def close(self) -> None:
        for name in self._names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        shutil.rmtree(self._folder, ignore_errors=True)


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else default


class SimulatedStarter(Starter):
    """Starts a program that was built with SimGrid's MPI. Settings of a cluster are options of tools/simulate by name,
    without its hosts, seed and output: network, latency, noise, faulty-host, node-seconds, update-seconds, cell-seconds."""

    kind = "simulated"
    help_word = "-h"  # --help is the simulator's own
    runs_here = False  # how busy this machine is has no influence

    def __init__(self, build: pathlib.Path) -> None:
        try:
            self._simulator = simulated_clusters.find_simulator()
        except ToolError as error:
            raise CannotStart(f"launcher simulated: {error}") from None
        if "simgrid" not in str(build.resolve()).lower():
            raise CannotStart(f"launcher simulated: {build} was not built with SimGrid's MPI (cmake --preset simgrid)")
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="conduit-simulated-"))
        self._num_commands = 0

    @property
    def version(self) -> str:
        source = pathlib.Path(simulated_clusters.__file__).read_bytes()
        return f"SimGrid at {self._simulator.path}; clusters {hashlib.sha256(source).hexdigest()[:12]}"

    def command(
        self, workers: Workers, program: pathlib.Path, words: Sequence[str], cluster: Mapping[str, Any] = NO_CLUSTER
    ) -> list[str]:
        if workers.threads > 1:
            raise CannotStart("a simulated process has one thread")
        options = self._options(workers, _seed(words), cluster)
        self._num_commands += 1
        folder = self._folder / str(self._num_commands)
        folder.mkdir()
        command = self._simulator.command(options.cluster, folder, program.resolve(), words)
        return [str(word) for word in command]

    def environment(self, cluster: Mapping[str, Any] = NO_CLUSTER, shared_memory: bool = True) -> Mapping[str, str]:
        options = self._options(Workers(1, 1), "1", {name: cluster[name] for name in cluster if name != "faulty-host"})
        return dict(self._simulator.environment(options.cluster, options.cost))

    def _options(self, workers: Workers, seed: str, cluster: Mapping[str, Any]) -> Any:
        """Checked by tools/simulate's own rules."""
        words = ["--hosts", str(workers.processes), "--seed", seed, "--output", str(self._folder)]
        for name, value in cluster.items():
            words += [f"--{name}", str(value)]
        try:
            return simulate.parse(words)
        except InputError as error:
            raise InputError(f"cluster: {error}") from None

    def facts(self, workers: Workers, words: Sequence[str], cluster: Mapping[str, Any] = NO_CLUSTER) -> dict[str, Any]:
        options = self._options(workers, _seed(words), cluster)
        return {"cluster": dataclasses.asdict(options.cluster), "cost": dataclasses.asdict(options.cost)}

    def num_cpus(self, workers: Workers) -> int:
        return workers.count

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _seed(words: Sequence[str]) -> str:
    return words[words.index("--seed") + 1] if "--seed" in words else "1"


_KINDS = {each.kind: each for each in (Starter, SlurmStarter, HostsStarter, SimulatedStarter)}


class Starters:
    """The starters of a sweep, made when first asked for."""

    def __init__(self, build: pathlib.Path) -> None:
        self._build = build
        self._made: dict[str, Starter | CannotStart] = {}

    def get(self, kind: str) -> Starter:
        """The starter of a kind. Raises CannotStart."""
        if kind not in self._made:
            try:
                self._made[kind] = _KINDS[kind](self._build)
            except CannotStart as error:
                self._made[kind] = error
        made = self._made[kind]
        if isinstance(made, CannotStart):
            raise made
        return made

    def close(self) -> None:
        """Undoes what they set up."""
        for starter in self._made.values():
            if isinstance(starter, Starter):
                starter.close()


@contextlib.contextmanager
def opened(build: pathlib.Path) -> Iterator[Starters]:
    """Starters whose set-ups are undone at the end."""
    starters = Starters(build)
    try:
        yield starters
    finally:
        starters.close()
