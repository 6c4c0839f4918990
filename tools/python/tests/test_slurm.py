"""The batch script in a real Slurm, of this one machine, with the real program."""

import csv
import json
import pathlib
import subprocess

import pytest
from built import folder_of

ROOT = pathlib.Path(__file__).parents[3]
SWEEP = """
name = "slurm"
seconds = 0.2
modes = [0, 3]
[[case]]
name = "threads"
workers = ["1x2"]
[[case]]
name = "processes"
workers = ["2x1", "8x1"]
"""


@pytest.mark.parametrize("num_nodes, environment", [(1, {"UIT_PER_NODE": "2"}), (2, {"UIT_SRUN_MPI": "mpirun"})])
def test_a_sweep_runs_as_a_job(num_nodes, environment, tmp_path, monkeypatch):
    monkeypatch.setenv("UIT_BUILD", str(folder_of("channel_selection").resolve()))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "s.toml").write_text(SWEEP)
    ended = subprocess.run(
        [
            *(ROOT / "tools/slurm/here", "--nodes", str(num_nodes)),
            *("sbatch", "--wait", f"--nodes={num_nodes}", f"--output={tmp_path / 'log'}"),
            *(ROOT / "tools/slurm/experiment.sbatch", tmp_path / "s.toml", "--output", tmp_path / "out"),
        ],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if ended.returncode == 77:
        pytest.skip(ended.stderr.strip())
    log = (tmp_path / "log").read_text()
    assert ended.returncode == 0, ended.stderr + log
    assert f"left out: case processes, 8x1: requires {4 if num_nodes == 1 else 8} nodes, this job has {num_nodes}" in log
    with open(tmp_path / "out" / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted({(row["case"], row["processes"], row["threads"]) for row in rows}) == [("processes", "2", "1"), ("threads", "1", "2")]
    assert {row["launcher"] for row in rows} == {"slurm"} and all(row["balanced"] == "1" for row in rows)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["complete"] is True
