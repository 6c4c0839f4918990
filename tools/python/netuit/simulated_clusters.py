"""Simulated clusters: hosts, network and noise as SimGrid's platform, costs of computing, and SimGrid's program."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import random
import re
import shutil
from collections.abc import Sequence

from netuit import InputError, ToolError

MAX_HOSTS = 1024
NOMINAL_FLOPS = 1e9  #: of a host that takes for simulated work the time that is charged for it
_TRACE_SECONDS = 2.0  #: of noise, which then repeats


@dataclasses.dataclass(frozen=True)
class Network:
    """What joins hosts, each of which has a link to one switch that never is the bottleneck; and how fast they are."""

    name: str
    latency: float  #: one way from host to host, in seconds
    bandwidth: float  #: of a host's link each way, in bytes per second
    send: float  #: time that the sender's processor spends on a frame, in seconds
    receive: float  #: likewise the receiver's
    test: float  #: of asking MPI whether a request is done
    speed: float  #: of a host, relative to the one that Cost was measured on
    about: str  #: what it stands for, and what is assumed


NETWORKS = {
    network.name: network
    for network in (
        Network("machine", 1.0e-6, 5e9, 0.5e-6, 0.5e-6, 40e-9, 1.0, "two processes of the machine calibrated on, over MPI"),
        Network("commodity", 25e-6, 1.25e9, 1.5e-6, 1.5e-6, 60e-9, 1.0, "10 Gbit/s Ethernet by TCP in the kernel"),
        Network("fast", 1e-6, 25e9, 0.3e-6, 0.3e-6, 40e-9, 1.0, "HDR InfiniBand, 200 Gbit/s"),
        Network(
            "paper",
            25e-6,
            7e9,
            0.5e-6,
            0.5e-6,
            40e-9,
            0.434,
            "MSU's HPCC of 2020: FDR InfiniBand, 56 Gbit/s, and Xeons of 2014 to 2018; assumed are a latency between busy "
            "nodes of 25 us, under a twentieth of the 550 us that the follow-up study saw from update to update, and "
            "processors 2.3 times slower than the one calibrated on",
        ),
    )
}


@dataclasses.dataclass(frozen=True)
class Noise:
    """What makes hosts unequal, and a host now and then slow."""

    name: str
    spread: float  #: standard deviation of hosts' speeds, as a share of the mean
    interval: float  #: mean seconds from one slow spell of a host to the next; 0: there are none
    length: float  #: median length of a spell, in seconds
    sigma: float  #: of the logarithm of its length
    speed: float  #: what is left of the host's speed meanwhile


NOISES = {
    noise.name: noise
    for noise in (
        Noise("none", 0, 0, 0, 0, 1),
        Noise("quiet", 0.01, 10e-3, 10e-6, 0.5, 0.1),
        Noise("usual", 0.03, 4e-3, 40e-6, 1.0, 0.1),
    )
}

#: A faulty host computes so much slower than others, and so much worse is its link.
FAULTY_SPEED, FAULTY_LATENCY, FAULTY_BANDWIDTH = 1 / 8, 40.0, 1 / 100


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Hosts with a core each. The same cluster is the same, bit by bit."""

    hosts: int
    network: Network = NETWORKS["commodity"]
    noise: Noise = NOISES["usual"]
    faulty_host: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= MAX_HOSTS:
            raise InputError(f"--hosts {self.hosts}: expected 1 to {MAX_HOSTS}")
        if self.faulty_host is not None and not 0 <= self.faulty_host < self.hosts:
            raise InputError(f"--faulty-host {self.faulty_host}: expected a host from 0 to {self.hosts - 1}")

    def host_name(self, host: int) -> str:
        return f"host{host}"

    def speed(self, host: int) -> float:
        """Of a host without slow spells, in flops."""
        factor = 1 + self.noise.spread * max(-3.0, min(3.0, self._random(host, "speed").gauss(0, 1)))
        return NOMINAL_FLOPS * self.network.speed * factor * (FAULTY_SPEED if host == self.faulty_host else 1)

    def spells(self, host: int) -> list[tuple[float, float]]:
        """When the host is slow: (begin, end) in seconds, ascending and apart, within the length of the noise."""
        if self.noise.interval == 0:
            return []
        stream = self._random(host, "spells")
        spells = []
        now = stream.expovariate(1 / self.noise.interval)
        while now < _TRACE_SECONDS:
            end = now + self.noise.length * math.exp(self.noise.sigma * stream.gauss(0, 1))
            if end >= _TRACE_SECONDS:
                break
            spells.append((now, end))
            now = end + stream.expovariate(1 / self.noise.interval)
        return spells

    def platform(self) -> str:
        """The cluster as SimGrid reads it."""
        lines = [
            "<?xml version='1.0'?>",
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            f"<!-- {self.hosts} hosts, {self.network.name}: {self.network.about} -->",
            '<platform version="4.1">',
            '  <zone id="cluster" routing="Cluster">',
        ]
        for host in range(self.hosts):
            is_faulty = host == self.faulty_host
            bandwidth = self.network.bandwidth * (FAULTY_BANDWIDTH if is_faulty else 1)
            latency = self.network.latency / 2 * (FAULTY_LATENCY if is_faulty else 1)
            name = self.host_name(host)
            lines.append(f'    <host id="{name}" speed="{self.speed(host):.9g}f"/>')
            lines.append(
                f'    <link id="link{host}" bandwidth="{bandwidth:.9g}Bps" latency="{latency:.9g}s" '
                'sharing_policy="SPLITDUPLEX"/>'
            )
            lines.append(f'    <host_link id="{name}" up="link{host}_UP" down="link{host}_DOWN"/>')
        lines += ['    <router id="switch"/>', "  </zone>"]
        for host in range(self.hosts):
            if spells := self.spells(host):
                lines.append(f'  <trace id="noise{host}" periodicity="{_TRACE_SECONDS}">')
                lines.append("    0 1")
                for begin, end in spells:
                    lines += [f"    {begin:.9f} {self.noise.speed}", f"    {end:.9f} 1"]
                lines.append("  </trace>")
        for host in range(self.hosts):
            if self.spells(host):
                name = self.host_name(host)
                lines.append(f'  <trace_connect kind="SPEED" trace="noise{host}" element="{name}"/>')
        return "\n".join([*lines, "</platform>", ""])

    def _random(self, host: int, what: str) -> random.Random:
        return random.Random(f"{self.seed} {host} {what}")


@dataclasses.dataclass(frozen=True)
class Cost:
    """What computing takes on a host of nominal speed, in seconds, as measured; see `tools/simulate --help`."""

    node: float = 4.0e-9  #: of a node's update
    update: float = 0.2e-6  #: of an update of all nodes of a process, beside its nodes and frames
    step: float = 1.55e-9  #: of a step of --work, in channel_selection
    cell: float = 260e-9  #: of a cell's update beside its node's, in digital_evolution: median of 207 to 321 ns


@dataclasses.dataclass(frozen=True)
class Simulator:
    """SimGrid's program that runs a program of MPI on simulated hosts."""

    path: str

    def command(
        self, cluster: Cluster, folder: pathlib.Path, program: pathlib.Path, words: Sequence[str]
    ) -> list[str]:
        """The command line that runs `program` with a process per host. Writes what it reads into `folder`."""
        platform = folder / "platform.xml"
        hosts = folder / "hosts.txt"
        platform.write_text(cluster.platform(), encoding="utf-8")
        hosts.write_text("".join(f"{cluster.host_name(host)}\n" for host in range(cluster.hosts)), encoding="utf-8")
        settings = {
            "smpi/privatization": "dlopen",
            "smpi/np": cluster.hosts,
            "smpi/hostfile": hosts,
            "smpi/tmpdir": folder,
            "smpi/host-speed": f"{NOMINAL_FLOPS:.0f}f",
            "smpi/simulate-computation": "no",  # only what is charged takes time
            "smpi/grow-injected-times": "no",
            "smpi/os": f"0:{cluster.network.send:.9g}:0",
            "smpi/ois": f"0:{cluster.network.send:.9g}:0",
            "smpi/or": f"0:{cluster.network.receive:.9g}:0",
            "smpi/test": f"{cluster.network.test:.9g}",
            "smpi/iprobe": f"{cluster.network.test:.9g}",
            "smpi/wtime": "0",
            "smpi/bw-factor": "0:1",
            "smpi/lat-factor": "0:1",
            "smpi/alltoall": "bruck",
            "smpi/alltoallv": "pair",
            "surf/precision": "1e-9",
            "network/model": "SMPI",
            "network/crosstraffic": "no",
        }
        options = [f"--cfg={name}:{value}" for name, value in settings.items()]
        return [self.path, str(program), *options, "--log=root.thresh:error", str(platform), *words]

    def environment(self, cluster: Cluster, cost: Cost) -> dict[str, str]:
        """What the program finds in its environment."""
        return {
            **os.environ,
            "UIT_SIMULATED_NODE_SECONDS": repr(cost.node),
            "UIT_SIMULATED_UPDATE_SECONDS": repr(cost.update),
            "UIT_SIMULATED_STEP_SECONDS": repr(cost.step),
            "UIT_SIMULATED_CELL_SECONDS": repr(cost.cell),
            "UIT_SIMULATED_NETWORK": f"simulated {cluster.network.name}",
        }


def find_simulator() -> Simulator:
    """The one that smpirun of PATH would start. Raises ToolError."""
    launcher = shutil.which("smpirun")
    if launcher is None:
        raise ToolError("smpirun: not found; tools/setup simgrid installs it")
    text = pathlib.Path(launcher).read_text(encoding="utf-8", errors="replace")
    match = re.search(r'"([^"\n]*/smpimain)"', text)
    if match is None or not os.access(match[1], os.X_OK):
        raise ToolError(f"{launcher}: does not say where its smpimain is")
    return Simulator(match[1])
