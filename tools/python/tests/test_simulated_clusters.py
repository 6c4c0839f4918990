import dataclasses
import pathlib
import statistics
import xml.etree.ElementTree

import pytest
from netuit import InputError, ToolError
from netuit.simulated_clusters import (
    _TRACE_SECONDS,
    FAULTY_LATENCY,
    FAULTY_SPEED,
    NETWORKS,
    NOISES,
    NOMINAL_FLOPS,
    Cluster,
    Cost,
    Simulator,
    find_simulator,
)


def parse_platform(cluster):
    return xml.etree.ElementTree.fromstring(cluster.platform().split("\n", 2)[2])


def test_a_platform_has_the_hosts_asked_for_each_with_a_link_to_the_switch():
    platform = parse_platform(Cluster(hosts=5, network=NETWORKS["fast"]))
    names = [host.get("id") for host in platform.iter("host")]
    assert names == [f"host{i}" for i in range(5)]
    assert [link.get("id") for link in platform.iter("host_link")] == names
    latencies = [float(link.get("latency").rstrip("s")) for link in platform.iter("link")]
    assert latencies == [0.5e-6] * 5  # two links make the way from host to host
    assert all(float(link.get("bandwidth").removesuffix("Bps")) == 25e9 for link in platform.iter("link"))


def test_the_same_cluster_is_the_same_text_and_another_seed_another():
    cluster = Cluster(hosts=8)
    assert cluster.platform() == Cluster(hosts=8).platform()
    assert cluster.platform() != dataclasses.replace(cluster, seed=2).platform()


def test_a_larger_cluster_keeps_the_hosts_of_a_smaller_one():
    small, large = Cluster(hosts=2), Cluster(hosts=64)
    assert [small.speed(host) for host in range(2)] == [large.speed(host) for host in range(2)]
    assert small.spells(1) == large.spells(1)


def test_without_noise_all_hosts_are_nominal():
    cluster = Cluster(hosts=4, noise=NOISES["none"])
    assert {cluster.speed(host) for host in range(4)} == {NOMINAL_FLOPS}
    assert "<trace" not in cluster.platform()


def test_noise_is_as_wide_and_as_frequent_as_it_says():
    noise = NOISES["usual"]
    cluster = Cluster(hosts=256, noise=noise)
    speeds = [cluster.speed(host) / NOMINAL_FLOPS for host in range(256)]
    assert statistics.stdev(speeds) == pytest.approx(noise.spread, rel=0.2)
    spells = [spell for host in range(16) for spell in cluster.spells(host)]
    assert statistics.median(end - begin for begin, end in spells) == pytest.approx(noise.length, rel=0.2)
    assert len(spells) == pytest.approx(16 * _TRACE_SECONDS / noise.interval, rel=0.1)


def test_spells_ascend_and_do_not_touch():
    spells = Cluster(hosts=1).spells(0)
    times = [time for spell in spells for time in spell]
    assert times == sorted(set(times))
    assert 0 < times[0] and times[-1] < _TRACE_SECONDS


def test_only_the_faulty_host_is_slow_and_badly_linked():
    healthy = Cluster(hosts=4)
    faulty = dataclasses.replace(healthy, faulty_host=2)
    assert [faulty.speed(h) / healthy.speed(h) for h in range(4)] == [1, 1, FAULTY_SPEED, 1]
    latencies = [float(link.get("latency").rstrip("s")) for link in parse_platform(faulty).iter("link")]
    assert latencies[2] == pytest.approx(FAULTY_LATENCY * latencies[0]) and latencies[0] == latencies[3]


def test_costs_reach_the_program_by_its_environment():
    network = NETWORKS["fast"]
    cluster = Cluster(hosts=1, network=network)
    environment = Simulator("smpimain").environment(cluster, Cost(node=1e-9, update=2e-6, step=3e-9, cell=4e-9))
    assert environment["UIT_SIMULATED_NODE_SECONDS"] == "1e-09"
    assert environment["UIT_SIMULATED_UPDATE_SECONDS"] == "2e-06"
    assert environment["UIT_SIMULATED_STEP_SECONDS"] == "3e-09"
    assert environment["UIT_SIMULATED_CELL_SECONDS"] == "4e-09"
    assert environment["UIT_SIMULATED_NETWORK"] == "simulated fast"


def test_the_command_names_program_platform_and_one_host_per_process(tmp_path):
    cluster = Cluster(hosts=3)
    command = Simulator("smpimain").command(cluster, tmp_path, pathlib.Path("prog"), ["--modes", "0"])
    assert command[:2] == ["smpimain", "prog"] and command[-3:] == [str(tmp_path / "platform.xml"), "--modes", "0"]
    assert "--cfg=smpi/np:3" in command and "--cfg=smpi/simulate-computation:no" in command
    assert (tmp_path / "hosts.txt").read_text().split() == ["host0", "host1", "host2"]


def test_clusters_that_cannot_be_are_refused():
    with pytest.raises(InputError):
        Cluster(hosts=0)
    with pytest.raises(InputError):
        Cluster(hosts=2, faulty_host=2)


def test_the_simulator_is_that_of_smpirun(tmp_path, monkeypatch):
    simulator = tmp_path / "smpimain"
    simulator.write_text("#!/bin/sh\n")
    simulator.chmod(0o755)
    smpirun = tmp_path / "smpirun"
    smpirun.write_text(f'#!/bin/sh\n${{WRAPPER}} "{simulator}" "${{EXEC}}"\n')
    smpirun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_simulator() == Simulator(str(simulator))
    smpirun.unlink()
    with pytest.raises(ToolError, match="tools/setup simgrid"):
        find_simulator()
