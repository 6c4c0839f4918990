import dataclasses
import json
import os
import pathlib
import statistics
import sys
import xml.etree.ElementTree

import pytest
from conduit_tools import InputError, OutputError, ToolError, clusters, schema
from documented import members_of, names_in


def parse_platform(cluster):
    return xml.etree.ElementTree.fromstring(cluster.platform().split("\n", 2)[2])


def test_a_platform_has_the_hosts_asked_for_each_with_a_link_to_the_switch():
    platform = parse_platform(clusters.Cluster(hosts=5, network=clusters.NETWORKS["fast"]))
    names = [host.get("id") for host in platform.iter("host")]
    assert names == [f"host{i}" for i in range(5)]
    assert [link.get("id") for link in platform.iter("host_link")] == names
    latencies = [float(link.get("latency").rstrip("s")) for link in platform.iter("link")]
    assert latencies == [0.5e-6] * 5  # two links make the way from host to host
    assert all(float(link.get("bandwidth").removesuffix("Bps")) == 25e9 for link in platform.iter("link"))


def test_the_same_cluster_is_the_same_text_and_another_seed_another():
    cluster = clusters.Cluster(hosts=8)
    assert cluster.platform() == clusters.Cluster(hosts=8).platform()
    assert cluster.platform() != dataclasses.replace(cluster, seed=2).platform()


def test_a_larger_cluster_keeps_the_hosts_of_a_smaller_one():
    small, large = clusters.Cluster(hosts=2), clusters.Cluster(hosts=64)
    assert [small.speed(host) for host in range(2)] == [large.speed(host) for host in range(2)]
    assert small.spells(1) == large.spells(1)


def test_without_noise_all_hosts_are_nominal():
    cluster = clusters.Cluster(hosts=4, noise=clusters.NOISES["none"])
    assert {cluster.speed(host) for host in range(4)} == {clusters.NOMINAL_FLOPS}
    assert "<trace" not in cluster.platform()


def test_noise_is_as_wide_and_as_frequent_as_it_says():
    noise = clusters.NOISES["usual"]
    cluster = clusters.Cluster(hosts=256, noise=noise)
    speeds = [cluster.speed(host) / clusters.NOMINAL_FLOPS for host in range(256)]
    assert statistics.stdev(speeds) == pytest.approx(noise.spread, rel=0.2)
    spells = [spell for host in range(16) for spell in cluster.spells(host)]
    assert statistics.median(end - begin for begin, end in spells) == pytest.approx(noise.length, rel=0.2)
    assert len(spells) == pytest.approx(16 * clusters._TRACE_SECONDS / noise.interval, rel=0.1)


def test_spells_ascend_and_do_not_touch():
    spells = clusters.Cluster(hosts=1).spells(0)
    times = [time for spell in spells for time in spell]
    assert times == sorted(set(times))
    assert 0 < times[0] and times[-1] < clusters._TRACE_SECONDS


def test_only_the_faulty_host_is_slow_and_badly_linked():
    healthy = clusters.Cluster(hosts=4)
    faulty = dataclasses.replace(healthy, faulty_host=2)
    assert [faulty.speed(h) / healthy.speed(h) for h in range(4)] == [1, 1, clusters.FAULTY_SPEED, 1]
    latencies = [float(link.get("latency").rstrip("s")) for link in parse_platform(faulty).iter("link")]
    assert latencies[2] == pytest.approx(clusters.FAULTY_LATENCY * latencies[0]) and latencies[0] == latencies[3]


def test_costs_reach_the_program_by_its_environment():
    network = clusters.NETWORKS["fast"]
    cluster = clusters.Cluster(hosts=1, network=network)
    environment = clusters.Simulator("smpimain").environment(cluster, clusters.Cost(node=1e-9, update=2e-6, step=3e-9, cell=4e-9))
    assert environment["UIT_SIMULATED_NODE_SECONDS"] == "1e-09"
    assert environment["UIT_SIMULATED_UPDATE_SECONDS"] == "2e-06"
    assert environment["UIT_SIMULATED_STEP_SECONDS"] == "3e-09"
    assert environment["UIT_SIMULATED_CELL_SECONDS"] == "4e-09"
    assert environment["UIT_SIMULATED_NETWORK"] == "simulated fast"


def test_a_latency_that_is_given_replaces_the_network_s_alone():
    paper = clusters.NETWORKS["paper"]
    cluster = clusters.parse(["--network", "paper", "--latency", "8e-6"]).cluster
    assert cluster.network == dataclasses.replace(paper, latency=8e-6) and paper.latency == 25e-6
    assert 'latency="4e-06s"' in cluster.platform()


def test_costs_that_are_given_or_assumed_are_written_down():
    options = clusters.parse(["--node-seconds", "1e-9", "--cell-seconds", "3e-7"])
    cost = json.loads(clusters.describe(options))["cost"]
    assert cost == {"node": 1e-9, "update": clusters.Cost.update, "step": clusters.Cost.step, "cell": 3e-7}


def test_the_schema_documents_what_is_written_down():
    written = json.loads(clusters.describe(clusters.parse(["--faulty-host", "1", "--", "--modes", "0"])))
    assert members_of(written, schema.CLUSTER) == names_in(schema.CLUSTER)


def test_the_command_names_program_platform_and_one_host_per_process(tmp_path):
    cluster = clusters.Cluster(hosts=3)
    command = clusters.Simulator("smpimain").command(cluster, tmp_path, pathlib.Path("prog"), ["--modes", "0"])
    assert command[:2] == ["smpimain", "prog"] and command[-3:] == [str(tmp_path / "platform.xml"), "--modes", "0"]
    assert "--cfg=smpi/np:3" in command and "--cfg=smpi/simulate-computation:no" in command
    assert (tmp_path / "hosts.txt").read_text().split() == ["host0", "host1", "host2"]


@pytest.mark.parametrize(
    "words, reason",
    [
        (["--hosts", "0"], "--hosts 0: want a whole number from 1 to 1024"),
        (["--hosts", "many"], "--hosts many: want a whole number from 1 to 1024"),
        (["--hosts", "4", "--faulty-host", "4"], "--faulty-host 4: want a whole number from 0 to 3"),
        (["--network", "carrier-pigeon"], "--network carrier-pigeon: want one of machine, commodity, fast, paper"),
        (["--latency", "-1"], "--latency -1: want a number of seconds from 0 to 1"),
        (["--latency", "short"], "--latency short: want a number of seconds from 0 to 1"),
        (["--noise", "loud"], "--noise loud: want one of none, quiet, usual"),
        (["--node-seconds", "-1"], "--node-seconds -1: want a number of seconds from 0 to 1"),
        (["--cell-seconds", "2"], "--cell-seconds 2: want a number of seconds from 0 to 1"),
        (["--node-seconds", "nan"], "--node-seconds nan: want a number of seconds from 0 to 1"),
        (["--node-seconds", "0", "--update-seconds", "0"], "updates that take no time never end"),
        (["--", "--threads", "2"], "--threads: tools/simulate sets it, or gives a process one thread"),
        (["--", "--output=x.csv"], "--output=x.csv: tools/simulate sets it"),
        (["--host", "4"], "unrecognized arguments: --host 4"),
    ],
)
def test_bad_options_end_with_one_line_and_code_2(words, reason, capsys):
    assert clusters.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("conduit: error: ") and reason in captured.err


def test_clusters_that_cannot_be_are_refused():
    with pytest.raises(InputError):
        clusters.Cluster(hosts=0)
    with pytest.raises(InputError):
        clusters.Cluster(hosts=2, faulty_host=2)


def test_an_output_that_is_no_folder_ends_with_code_5(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert clusters.main(["--output", str(tmp_path / "file" / "x")]) == OutputError.exit_code
    assert "is no folder" in capsys.readouterr().err


def test_help_names_every_network_and_noise(capsys):
    assert clusters.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in [*clusters.NETWORKS, *clusters.NOISES])


def test_a_program_that_is_not_built_is_one_line(tmp_path, capsys):
    assert clusters.main(["--build", str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    assert "not built" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_simulator_is_that_of_smpirun(tmp_path, monkeypatch):
    simulator = tmp_path / "smpimain"
    simulator.write_text("#!/bin/sh\n")
    simulator.chmod(0o755)
    smpirun = tmp_path / "smpirun"
    smpirun.write_text(f'#!/bin/sh\n${{WRAPPER}} "{simulator}" "${{EXEC}}"\n')
    smpirun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert clusters.find_simulator() == clusters.Simulator(str(simulator))
    smpirun.unlink()
    with pytest.raises(ToolError, match="tools/setup simgrid"):
        clusters.find_simulator()


def fake_simulator(tmp_path, text):
    """A simulator that is a Python program; it is given what SimGrid's would be."""
    path = tmp_path / "smpimain"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return clusters.Simulator(str(path))


def run_fake(tmp_path, text, on_line=lambda line: None):
    cluster = clusters.Cluster(hosts=2)
    clusters.run(fake_simulator(tmp_path, text), cluster, clusters.Cost(), pathlib.Path("prog"), [], on_line)


def test_lines_about_runs_are_passed_on_and_the_folder_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters.tempfile, "tempdir", str(tmp_path))
    lines = []
    text = "import os, sys\nassert os.path.exists(sys.argv[-1])\nprint('noise\\nmode 3, run 1 of 1: fine', file=sys.stderr)"
    run_fake(tmp_path, text, lines.append)
    assert lines == ["mode 3, run 1 of 1: fine"]
    assert os.listdir(tmp_path) == ["smpimain"]


@pytest.mark.parametrize("code, kind", [(2, InputError), (5, OutputError), (1, ToolError)])
def test_the_programs_own_words_are_the_error(tmp_path, code, kind):
    text = f"import sys\nprint('conduit: error: so it is', file=sys.stderr)\nsys.exit({code})"
    with pytest.raises(kind, match="^so it is$") as caught:
        run_fake(tmp_path, text)
    assert caught.value.exit_code == code


def test_a_simulator_that_crashes_is_one_line(tmp_path):
    with pytest.raises(ToolError, match="prog ended with code -6: Segmentation violation"):
        run_fake(tmp_path, "import os, sys\nprint('Segmentation violation', file=sys.stderr, flush=True)\nos.abort()")


SIMULATOR = """import csv, pathlib, sys
words = sys.argv[sys.argv.index("--output"):]
given = dict(zip(words[::2], words[1::2]))
if given.get("--duration") == "soon":
    sys.exit(print("conduit: error: --duration soon: no time", file=sys.stderr) or 2)
for option in ("--output", "--quality"):
    if option in given:
        pathlib.Path(given[option]).write_text("new")
pathlib.Path(given["--output"]).with_suffix(".json").write_text("new")
print("mode 3, run 1 of 1: fine", file=sys.stderr)"""


@pytest.fixture
def simulated(tmp_path, monkeypatch):
    """simulate() of a command line, with a simulator that is a stand-in, into tmp_path/out."""
    build = tmp_path / "build"
    (build / "demos").mkdir(parents=True)
    (build / "demos" / "channel_selection").write_text("")
    monkeypatch.setattr(clusters, "find_simulator", lambda: fake_simulator(tmp_path, SIMULATOR))

    def run_it(*words, on_line=lambda line: None):
        options = clusters.parse(["--build", str(build), "--output", str(tmp_path / "out"), *words])
        return clusters.simulate(options, on_line)

    return run_it


def contents(folder):
    return {path.name: path.read_text() for path in folder.rglob("*")}


def write_old_run(folder):
    folder.mkdir()
    for name in (*clusters.FILES, "my notes"):
        (folder / name).write_text("old")
    return contents(folder)


def test_a_whole_run_takes_the_place_of_an_earlier_one_and_of_nothing_else(tmp_path, simulated):
    write_old_run(tmp_path / "out")
    written = simulated()
    assert [path.name for path in written] == ["rows.csv", "rows.json", "cluster.json"]
    found = contents(tmp_path / "out")
    assert sorted(found) == ["cluster.json", "my notes", "rows.csv", "rows.json"]  # a quality.csv would be of other rows
    assert found["rows.csv"] == "new" and found["my notes"] == "old" and "commodity" in found["cluster.json"]
    assert simulated("--quality")[2] == tmp_path / "out" / "quality.csv"


def test_a_refused_run_leaves_what_was_there(tmp_path, simulated):
    before = write_old_run(tmp_path / "out")
    with pytest.raises(InputError, match="--duration soon"):
        simulated("--", "--duration", "soon")
    assert contents(tmp_path / "out") == before


def test_a_refused_run_makes_no_folder(tmp_path, simulated):
    with pytest.raises(InputError, match="--duration soon"):
        simulated("--output", str(tmp_path / "far" / "out"), "--", "--duration", "soon")
    assert not (tmp_path / "far").exists()


def test_an_interrupted_run_leaves_what_was_there(tmp_path, simulated):
    before = write_old_run(tmp_path / "out")

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulated(on_line=interrupt)
    assert contents(tmp_path / "out") == before


def test_a_check_runs_nothing(tmp_path, capsys):
    assert clusters.main(["--check", "--build", str(tmp_path), "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr() == ("", "") and list(tmp_path.iterdir()) == []
