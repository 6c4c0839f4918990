"""Simulated runs, where SimGrid is installed and the preset `simgrid` is built (`tools/test --preset simgrid`)."""

import csv
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from netuit import InputError, ToolError, experiment, schema, simulate
from netuit.simulated_clusters import NETWORKS, NOISES, Cost
from documented import members_of, names_in

ROOT = pathlib.Path(__file__).parents[3]
SIMULATED = ROOT / "build" / "simgrid"
REAL = ROOT / "build" / "release" / "demos"
SIZES = {"channel_selection": ("--nodes-per-worker", "256"), "digital_evolution": ("--cells-per-worker", "100")}

pytestmark = [
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is missing"),
    pytest.mark.skipif(
        not all((SIMULATED / "demos" / program).exists() for program in SIZES), reason="the preset simgrid is not built"
    ),
]


def run_simulation(folder, *words, hosts=4, noise="usual", network="commodity", seed=1, program="channel_selection", **more):
    """The rows and lines of a run."""
    given = ["--hosts", str(hosts), "--noise", noise, "--network", network, "--seed", str(seed), "--output", str(folder)]
    given += ["--program", program]
    for name, value in more.items():
        given += [f"--{name.replace('_', '-')}"] if value is True else [f"--{name.replace('_', '-')}", str(value)]
    lines = []
    options = simulate.parse([*given, "--build", str(SIMULATED), "--", *SIZES[program], *words])
    simulate.simulate(options, lines.append)
    return read(folder / "rows.csv"), lines


SNAPSHOTS = ("--snapshot-interval", "2ms", "--snapshot-length", "1ms")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_simulated_run_leaves_what_a_real_one_does(tmp_path):
    rows, lines = run_simulation(tmp_path, "--modes", "0,1,2,3,4", "--duration", "5ms", "--replicates", "1", *SNAPSHOTS, quality=True)
    assert len(rows) == 5 * 4 and len(lines) == 5
    assert all(row["processes"] == "4" and row["threads"] == "1" and row["balanced"] == "1" for row in rows)
    assert all(row["oversubscribed"] == "0" and row["stopped_by"] == "clock" for row in rows)
    manifest = json.loads((tmp_path / "rows.json").read_text())
    assert manifest["simulated"] is True and manifest["complete"] is True and manifest["processes"] == 4
    assert [host["hostname"] for host in read(tmp_path / "rows.hosts.csv")] == ["host0", "host1", "host2", "host3"]
    assert {row["transport"] for row in read(tmp_path / "quality.csv")} == {"mpi"}
    assert json.loads((tmp_path / "cluster.json").read_text())["cluster"]["hosts"] == 4


def test_the_same_seed_gives_the_same_rows_and_another_does_not(tmp_path):
    words = ("--modes", "0,3", "--duration", "5ms", "--replicates", "2", *SNAPSHOTS)
    first, _ = run_simulation(tmp_path / "a", *words, quality=True)
    again, _ = run_simulation(tmp_path / "b", *words, quality=True)
    assert first == again
    assert read(tmp_path / "a" / "quality.csv")
    assert read(tmp_path / "a" / "quality.csv") == read(tmp_path / "b" / "quality.csv")
    assert run_simulation(tmp_path / "c", *words, seed=7)[0] != first


def test_time_passes_only_as_the_simulation_says(tmp_path):
    began = time.monotonic()
    rows, _ = run_simulation(tmp_path, "--modes", "3", "--duration", "20s", "--replicates", "1", "--updates", "50",
                       hosts=2, noise="none", update_seconds=0.1, node_seconds=0)  # fmt: skip
    assert time.monotonic() - began < 20  # five simulated seconds
    for row in rows:
        assert row["updates"] == "50" and float(row["elapsed_s"]) == pytest.approx(5, rel=0.001)


def test_work_is_charged_by_its_steps(tmp_path):
    words = ("--modes", "4", "--duration", "1s", "--updates", "10", "--replicates", "1")
    idle = float(run_simulation(tmp_path, *words, hosts=1, noise="none")[0][0]["elapsed_s"])
    busy = float(run_simulation(tmp_path, *words, "--work", "1000", hosts=1, noise="none")[0][0]["elapsed_s"])
    assert busy - idle == pytest.approx(10 * 256 * 1000 * Cost.step, rel=0.001)


def test_a_cell_is_charged_beside_its_node(tmp_path):
    words = ("--modes", "4", "--duration", "1s", "--updates", "10")
    given = {"hosts": 1, "noise": "none", "program": "digital_evolution"}
    usual = float(run_simulation(tmp_path, *words, **given)[0][0]["elapsed_s"])
    slow = float(run_simulation(tmp_path, *words, cell_seconds=1e-6, **given)[0][0]["elapsed_s"])
    assert usual == pytest.approx(10 * (100 * (Cost.node + Cost.cell) + Cost.update), rel=0.01)
    assert slow - usual == pytest.approx(10 * 100 * (1e-6 - Cost.cell), rel=0.001)


def test_simulated_worlds_bear_offspring_in_all_modes_and_lose_no_resource(tmp_path):
    words = ("--modes", "0,1,2,3,4", "--duration", "1s", "--updates", "40", "--period-rolling", "1ms", "--period-fixed", "1ms")
    rows, lines = run_simulation(tmp_path, *words, program="digital_evolution")
    assert len(rows) == 5 * 4 and len(lines) == 5
    assert all(row["stopped_by"] == "count" and row["updates"] == "40" and row["balanced"] == "1" for row in rows)
    assert all(row["resource_exact"] == "1" and int(row["births"]) > 0 and int(row["cells"]) > 0 for row in rows)


def test_in_mode_0_a_simulated_world_comes_to_the_state_of_a_real_one(tmp_path):
    words = ["--modes", "0", "--updates", "40"]
    simulated, _ = run_simulation(tmp_path / "s", *words, program="digital_evolution", seed=5)
    real = tmp_path / "r.csv"
    subprocess.run(
        [REAL / "digital_evolution", "--cells-per-worker", "400", *words, "--seed", "5", "--output", real],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    assert {row["state_hash"] for row in simulated} == {read(real)[0]["state_hash"]}


def test_mode_0_colours_as_the_real_program_does(tmp_path):
    words = ["--modes", "0", "--updates", "40", "--replicates", "1", "--seed", "5"]
    run_simulation(tmp_path / "s", *(word for word in words if word not in ("--seed", "5")),
             "--colors-output", str(tmp_path / "simulated.csv"), seed=5)  # fmt: skip
    subprocess.run(
        [REAL / "channel_selection", "--nodes-per-worker", "1024", *words, "--output", tmp_path / "r.csv", "--colors-output", tmp_path / "real.csv"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    colors = [[(row["node"], row["color"]) for row in read(tmp_path / f"{kind}.csv")] for kind in ("simulated", "real")]
    assert len(colors[0]) == 1024 and colors[0] == colors[1]
    assert read(tmp_path / "s" / "rows.csv")[0]["conflicts"] == read(tmp_path / "r.csv")[0]["conflicts"]


def test_a_slower_network_slows_bulk_synchronous_updates_and_hardly_others(tmp_path):
    rate = {}
    for network in ("fast", "commodity"):
        rows, _ = run_simulation(tmp_path, "--modes", "0,3", "--duration", "4ms", "--replicates", "1", noise="none", network=network)
        for mode in ("0", "3"):
            rate[network, mode] = min(float(row["updates_per_second"]) for row in rows if row["mode"] == mode)
    assert rate["fast", "0"] > 3 * rate["commodity", "0"]
    assert rate["commodity", "3"] > 5 * rate["commodity", "0"]


def test_a_faulty_host_is_slow_and_others_are_not(tmp_path):
    words = ("--modes", "3", "--duration", "4ms", "--replicates", "1", "--work", "50")
    healthy, _ = run_simulation(tmp_path / "h", *words)
    faulty, _ = run_simulation(tmp_path / "f", *words, faulty_host=2)
    rates = [float(f["updates_per_second"]) / float(h["updates_per_second"]) for f, h in zip(faulty, healthy)]
    assert rates[2] < 0.5 and all(rates[host] > 0.9 for host in (0, 1, 3))


def test_what_the_program_refuses_is_one_line(tmp_path):
    with pytest.raises(InputError, match="--duration soon"):
        run_simulation(tmp_path / "out", "--duration", "soon")
    assert not (tmp_path / "out").exists()


def test_a_launch_of_a_sweep_tells_what_cluster_it_was_on_and_what_computing_took(tmp_path):
    sweep = tmp_path / "little.toml"
    sweep.write_text(
        'name = "little"\nlauncher = "simulated"\nseconds = 0.002\nmodes = [0]\nsnapshot = 0\n[[case]]\nname = "one"\n'
        'workers = ["2x1"]\ncluster = { network = "fast", faulty-host = 1, node-seconds = 2e-9 }\n'
    )
    assert experiment.main([str(sweep), "--build", str(SIMULATED), "--output", str(tmp_path / "out")]) == 0
    record = json.loads(next(tmp_path.glob("out/runs/*/run.json")).read_text())
    assert members_of(record, schema.RUN) == names_in(schema.RUN)
    assert record["cluster"]["hosts"] == 2 and record["cluster"]["faulty_host"] == 1 and record["cluster"]["seed"] == 1
    assert record["cluster"]["network"] == dataclasses.asdict(NETWORKS["fast"])
    assert record["cluster"]["noise"] == dataclasses.asdict(NOISES["usual"])  # as tools/simulate has it
    assert record["cost"] == {**dataclasses.asdict(Cost()), "node": 2e-9}


def test_ctrl_c_leaves_nothing_running(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "python"), "TMPDIR": str(tmp_path)}
    words = ["--hosts", "2", "--output", str(tmp_path / "out"), "--build", str(SIMULATED), "--", "--duration", "60min"]
    child = subprocess.Popen(
        [sys.executable, "-m", "netuit.simulate", *words], env=environment, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not running(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(tmp_path)
    child.send_signal(signal.SIGINT)
    assert "interrupted" in child.communicate(timeout=30)[1]
    assert child.returncode == 130
    assert not running(tmp_path)
    assert not list(tmp_path.glob("conduit-simulate-*"))
    assert not (tmp_path / "out").exists()


def running(folder):
    """Simulators that work in the folder."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if b"smpimain" in words and str(folder).encode() in words:
            found.append(path.parent.name)
    return found


def test_a_program_that_is_no_simulated_one_is_refused(tmp_path):
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / "channel_selection").write_text("no program")
    options = simulate.parse(["--build", str(tmp_path), "--output", str(tmp_path / "out")])
    with pytest.raises(ToolError):
        simulate.simulate(options, lambda line: None)
