import json
import pathlib
import subprocess
import time
import types

import fake_build
import pytest
from netuit import starters, store, sweep_files, sweeps
from netuit.arguments import Workers
from netuit.starters import CannotStart


@pytest.fixture
def build(tmp_path, monkeypatch):
    return fake_build.make(tmp_path, monkeypatch)


@pytest.fixture
def job(tmp_path, monkeypatch, build):
    """A job of four nodes with eight CPUs each, and a srun that knows pmix."""
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text('#!/bin/sh\necho "MPI plugin types are..." >&2; printf "\\tnone\\n\\tpmix\\n\\tpmi2\\n"\n')
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{srun.parent}:/usr/bin:/bin")
    for name, text in (("SLURM_JOB_ID", "7"), ("SLURM_JOB_NUM_NODES", "4"), ("SLURM_CPUS_ON_NODE", "8")):
        monkeypatch.setenv(name, text)
    for name in ("UIT_PER_NODE", "UIT_SRUN_MPI"):
        monkeypatch.delenv(name, raising=False)
    return build


def options(command):
    return {word for word in command if word.startswith("--")}


def test_threads_stay_on_one_node_and_processes_have_a_node_each(job):
    starter = starters.SlurmStarter(job)
    command = starter.command(Workers(1, 4), "prog", ["-x"])
    assert command[-2:] == ["prog", "-x"]
    assert options(command) >= {"--mpi=pmix", "--nodes=1", "--ntasks=1", "--cpus-per-task=4"}
    assert options(starter.command(Workers(4, 1), "prog", [])) >= {"--nodes=4", "--ntasks=4", "--ntasks-per-node=1"}
    assert starter.num_cpus(Workers(4, 1)) == 32


def test_more_nodes_than_the_job_has_cannot_be_had(job, monkeypatch):
    with pytest.raises(CannotStart, match="requires 16 nodes, this job has 4"):
        starters.SlurmStarter(job).command(Workers(16, 1), "prog", [])
    monkeypatch.setenv("UIT_PER_NODE", "4")
    assert options(starters.SlurmStarter(job).command(Workers(16, 1), "prog", [])) >= {"--nodes=4", "--ntasks-per-node=4"}


def test_what_sbatch_left_in_the_environment_does_not_meddle(job, monkeypatch):
    for name in ("SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_NTASKS_PER_NODE", "OMPI_MCA_btl"):
        monkeypatch.setenv(name, "x")
    environment = starters.SlurmStarter(job).environment()
    assert environment["SLURM_JOB_ID"] == "7"
    assert not {"SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_NTASKS_PER_NODE", "OMPI_MCA_btl"} & set(environment)


def test_a_plug_in_of_the_callers_is_taken_and_decides_the_build(job, monkeypatch):
    before = starters.SlurmStarter(job).version
    monkeypatch.setenv("UIT_SRUN_MPI", "pmi2")
    starter = starters.SlurmStarter(job)
    assert "--mpi=pmi2" in starter.command(Workers(1, 1), "prog", []) and starter.version != before


def test_hosts_want_root_and_two_processes(build, monkeypatch):
    monkeypatch.setattr(starters.os, "getuid", lambda: 1000)
    with pytest.raises(CannotStart, match="only root"):
        starters.HostsStarter(build)


def test_without_mpi_a_layout_of_several_processes_cannot_start(build):
    (build / "CMakeCache.txt").write_text("UIT_WITH_MPI:BOOL=OFF\n")
    with starters.opened(build) as made:
        assert made.get("local").command(Workers(1, 2), "prog", ["-x"]) == ["prog", "-x"]
        with pytest.raises(CannotStart, match="built without MPI"):
            made.get("local").command(Workers(2, 1), "prog", [])


def test_two_hosts_share_the_processes_and_are_gone_afterwards(build, monkeypatch):
    done = []
    monkeypatch.setattr(starters.os, "getuid", lambda: 0)
    monkeypatch.setattr(starters.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(starters.launch, "find_launcher", lambda build: starters.launch.Launcher("mpirun", "Open MPI", 4))
    succeeds = starters.subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(starters.subprocess, "run", lambda words, **named: done.append(" ".join(words)) or succeeds)
    with starters.opened(build) as made:
        starter = made.get("hosts")
        command = starter.command(Workers(3, 1), "prog", ["-x"])
        assert command[command.index("-H") + 1] == "10.231.78.1:2,10.231.78.2:1"
        with pytest.raises(CannotStart, match="two processes"):
            starter.command(Workers(1, 2), "prog", [])
    added = [line.split()[-1] for line in done if "netns add" in line]
    assert len(added) == 2 and [line.split()[-1] for line in done if "netns del" in line] == added


def test_a_machine_without_namespaces_is_told_once_and_cleaned_up(build, monkeypatch):
    num_calls = 0

    def refuse(words, **named):
        nonlocal num_calls
        num_calls += 1
        return starters.subprocess.CompletedProcess(words, 1, "", "Operation not permitted\nmore\n")

    monkeypatch.setattr(starters.os, "getuid", lambda: 0)
    monkeypatch.setattr(starters.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(starters.launch, "find_launcher", lambda build: starters.launch.Launcher("mpirun", "Open MPI", 4))
    monkeypatch.setattr(starters.subprocess, "run", refuse)
    with starters.opened(build) as made:
        for _ in range(2):
            with pytest.raises(CannotStart, match="no network namespaces: Operation not permitted$"):
                made.get("hosts")
    assert num_calls == 3  # one to add, two to remove


def test_where_srun_has_no_plug_in_mpirun_takes_its_place(job, tmp_path, monkeypatch):
    (tmp_path / "bin" / "srun").write_text("#!/bin/sh\necho none\n")
    monkeypatch.setenv("SLURM_NTASKS_PER_NODE", "1")
    starter = starters.SlurmStarter(job)
    command = starter.command(Workers(2, 3), "prog", [])
    assert command[0].endswith("mpirun") and command[command.index("--map-by") + 1] == "ppr:1:node"
    assert starter.environment()["SLURM_NTASKS_PER_NODE"] == "1"


def test_the_batch_script_runs_a_sweep_and_passes_on_the_signal_that_time_is_up(job, tmp_path, monkeypatch):
    root = pathlib.Path(__file__).parents[3]
    srun = tmp_path / "bin" / "srun"
    srun.write_text(
        '#!/bin/sh\nif [ "$1" = --mpi=list ]; then echo pmix; exit; fi\n'
        'for word; do case $word in --ntasks=*) export STUB_PROCESSES=${word#*=} ;; esac; done\n'
        'while [ "${1#/}" = "$1" ]; do shift; done\nexec "$@"\n'
    )
    sweep = tmp_path / "s.toml"
    sweep.write_text('name = "s"\nseconds = 0.1\nreplicates = 2\nmodes = [0]\nworkers = ["1x2", "2x1", "8x1"]\n[[case]]\nname = "one"\n')
    monkeypatch.setenv("SLURM_SUBMIT_DIR", str(root))
    monkeypatch.setenv("UIT_BUILD", str(job))
    command = ["sh", str(root / "tools" / "slurm" / "experiment.sbatch"), str(sweep), "--output", str(tmp_path / "out")]
    monkeypatch.setenv("STUB_FAULT", "hang")
    started = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "hanging").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    started.terminate()
    _, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "left out: case one, 8x1: requires 8 nodes, this job has 4" in err
    assert "interrupted; 2 of 4 launches are done" in err
    monkeypatch.setenv("STUB_FAULT", "")
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
    assert ended.returncode == 0 and "2 of 4 launches were done before" in ended.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["complete"] is True


@pytest.fixture
def clusters(tmp_path, monkeypatch):
    """Simulated clusters whose simulator is a stand-in."""
    class Simulator:
        path = "/bin/simulator"

        def command(self, cluster, folder, program, words):
            (folder / "platform.xml").write_text(str(cluster))
            return [self.path, program, *words, *cluster]

        def environment(self, cluster, cost):
            return {"COST": cost}

    monkeypatch.setattr(starters.simulated_clusters, "find_simulator", Simulator)
    monkeypatch.setattr(starters.simulate, "parse", lambda words: types.SimpleNamespace(cluster=words, cost="some"))
    build = tmp_path / "simgrid"
    build.mkdir()
    return build


def test_a_simulated_launch_has_a_host_for_each_process_and_the_seed_of_its_replicate(clusters):
    with starters.opened(clusters) as made:
        starter = made.get("simulated")
        command = starter.command(Workers(16, 1), clusters / "prog", ["--seed", "7"], {"network": "paper", "faulty-host": 3})
        text = " ".join(command)
        assert "--hosts 16 --seed 7" in text and "--network paper --faulty-host 3" in text
        assert starter.num_cpus(Workers(16, 1)) == 16 and not starter.runs_here
        assert starter.environment({"faulty-host": 3}) == {"COST": "some"}
        with pytest.raises(CannotStart, match="one thread"):
            starter.command(Workers(1, 2), clusters / "prog", [])
        folder = pathlib.Path(command[command.index("--output") + 1])
        assert folder.exists()
    assert not folder.exists()


def test_simulated_launches_of_two_modes_are_kept_apart(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text('name = "s"\nlauncher = "simulated"\nmodes = [0, 3]\n[[case]]\nname = "one"\n')
    sweep = sweep_files.load(path)
    results = store.Store(tmp_path / "out", sweep, types.SimpleNamespace(id="abc"))
    keys = [results.key(each) for each in sweeps.launches(sweep)]
    assert [key.rpartition("-")[0] for key in keys] == ["one-1x1-m0-r0", "one-1x1-m3-r0"]


def test_a_program_that_was_built_for_real_machines_is_not_simulated(clusters, build):
    with pytest.raises(CannotStart, match="not built with SimGrid"), starters.opened(build) as made:
        made.get("simulated")
