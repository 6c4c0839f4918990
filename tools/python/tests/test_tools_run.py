"""The commands that the pages of the guide show for tools, run once each with the real programs, for a shorter time.

They run as the command `netuit`, which the scripts in `tools/` call after they have installed and built what is missing."""

import html
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import built
import netuit
import pandas
import pytest

PACKAGE = pathlib.Path(netuit.__file__).parents[1]


@pytest.fixture
def run(tmp_path):
    """Runs a command of the package in a folder of its own, and returns what it has printed."""
    built.write_graph(tmp_path)

    def run_command(*words):
        folder = built.folder_of("digital_evolution" if words[0] == "evolve" else "channel_selection")
        if words[0] != "evolve":
            built.launcher_of(folder)
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "UIT_BUILD": str(folder)}
        ended = subprocess.run([sys.executable, "-m", "netuit", *words], cwd=tmp_path, env=environment, capture_output=True,
                               text=True, check=False, timeout=240)  # fmt: skip
        assert ended.returncode == 0, f"{' '.join(words)}:\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    return run_command


def test_the_demo_colours_its_graphs_in_every_mode_and_its_report_is_drawn_again(run, tmp_path):
    told = run("demo", "--seconds", "0.05", "--replicates", "1", "--workers", "1x2,2x1")
    for mode in ("0 every_update", "1 rolling", "2 fixed", "3 no_barrier", "4 no_communication", "5 dataflow"):
        assert mode in told
    results = tmp_path / "demo-results"
    page = (results / "report.html").read_text(encoding="utf-8")
    assert (results / "rows.csv").is_file() and "<svg" in page
    (results / "report.html").unlink()
    run("report", "demo-results")
    assert (results / "report.html").is_file()


def test_the_command_that_the_demo_s_page_shows_makes_all_of_it_again(run, tmp_path):
    (tmp_path / "my.edgelist").rename(tmp_path / "my graph.edgelist")
    run("demo", "--graph", "my graph.edgelist", "--workers", "1x2", "--modes", "3,0", "--seconds", "0.05", "--replicates", "2", "--seed", "7", "--output", "my out")
    results = tmp_path / "my out"

    def layouts():
        rows = pandas.read_csv(results / "rows.csv")
        return rows[["graph", "processes", "threads", "mode", "replicate", "seed", "nodes"]].drop_duplicates().values.tolist()

    first, page = layouts(), (results / "report.html").read_text(encoding="utf-8")
    command = html.unescape(re.search(r"Command of the demo</th><td>(.*?)</td>", page)[1])
    assert "Command of the colours over time" in page and len(first) == 4
    shutil.rmtree(results)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "netuit").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m netuit "$@"\n', encoding="utf-8")
    (tmp_path / "bin" / "netuit").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "UIT_BUILD": str(built.folder_of("channel_selection"))}
    environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
    ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert ended.returncode == 0, f"{command}:\n{ended.stdout}{ended.stderr}"
    assert layouts() == first
    assert command in html.unescape((results / "report.html").read_text(encoding="utf-8"))


def test_the_demo_colours_a_graph_of_the_user_s(run, tmp_path):
    told = run("demo", "--graph", "my.edgelist", "--workers", "2x4", "--seconds", "0.05", "--replicates", "1")
    assert "my.edgelist" in told and "2x4" in told
    assert (tmp_path / "demo-results" / "report.html").is_file()


def test_a_graph_file_is_coloured(run):
    assert "my.edgelist  2x1" in run("run", "my.edgelist", "--workers", "2x1", "--seconds", "0.05")


def test_digital_cells_evolve_and_are_reported(run, tmp_path):
    run("evolve", "--seconds", "1", "--processes", "1", "--mode", "0", "--output", "world")
    assert (tmp_path / "world" / "world.png").is_file() and (tmp_path / "world" / "world.svg").is_file()
    run("report", "world")
    assert (tmp_path / "world" / "report.html").is_file()


def test_the_ready_made_sweeps_are_listed(run):
    told = run("experiment", "list")
    assert "paper" in told and "simulated" in told


def test_a_sweep_of_the_user_s_runs_and_is_compared_by_pairs(run, tmp_path):
    (tmp_path / "my_sweep.toml").write_text(
        'name = "my_sweep"\ntitle = "a ring"\nseconds = 0.05\nreplicates = 2\nmodes = [0, 3]\nworkers = ["1x2"]\n'
        '[[case]]\nname = "torus"\noptions = { nodes-per-worker = 64 }\n',
        encoding="utf-8",
    )
    run("experiment", "my_sweep.toml", "--output", "swept")
    assert len((tmp_path / "swept" / "rows.csv").read_text(encoding="utf-8").splitlines()) == 1 + 2 * 2 * 2
    assert "mode 3 / mode 0" in run("paired", "swept")


def test_a_program_is_started_so_that_others_survive(run):
    program = built.folder_of("channel_selection") / "demos" / "channel_selection"
    run("supervise", "-n", "2", str(program), "--modes", "3", "--duration", "50ms", "--nodes-per-worker", "64")
