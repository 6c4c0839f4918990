import dataclasses
import json
import os
import pathlib
import sys

import pytest
from netuit import InputError, OutputError, ToolError, schema, simulate
from netuit.simulated_clusters import NETWORKS, NOISES, Cluster, Cost, Simulator
from documented import members_of, names_in


def test_a_latency_that_is_given_replaces_the_network_s_alone():
    paper = NETWORKS["paper"]
    cluster = simulate.parse(["--network", "paper", "--latency", "8e-6"]).cluster
    assert cluster.network == dataclasses.replace(paper, latency=8e-6) and paper.latency == 25e-6
    assert 'latency="4e-06s"' in cluster.platform()


def test_costs_that_are_given_or_assumed_are_written_down():
    options = simulate.parse(["--node-seconds", "1e-9", "--cell-seconds", "3e-7"])
    cost = json.loads(simulate.describe(options))["cost"]
    assert cost == {"node": 1e-9, "update": Cost.update, "step": Cost.step, "cell": 3e-7}


def test_the_schema_documents_what_is_written_down():
    written = json.loads(simulate.describe(simulate.parse(["--faulty-host", "1", "--", "--modes", "0"])))
    assert members_of(written, schema.CLUSTER) == names_in(schema.CLUSTER)


@pytest.mark.parametrize(
    "words, reason",
    [
        (["--hosts", "0"], "--hosts 0: expected a whole number from 1 to 1024"),
        (["--hosts", "many"], "--hosts many: expected a whole number from 1 to 1024"),
        (["--hosts", "4", "--faulty-host", "4"], "--faulty-host 4: expected a whole number from 0 to 3"),
        (["--network", "carrier-pigeon"], "--network carrier-pigeon: expected one of machine, commodity, fast, paper"),
        (["--latency", "-1"], "--latency -1: expected a number of seconds from 0 to 1"),
        (["--latency", "short"], "--latency short: expected a number of seconds from 0 to 1"),
        (["--noise", "loud"], "--noise loud: expected one of none, quiet, usual"),
        (["--node-seconds", "-1"], "--node-seconds -1: expected a number of seconds from 0 to 1"),
        (["--cell-seconds", "2"], "--cell-seconds 2: expected a number of seconds from 0 to 1"),
        (["--node-seconds", "nan"], "--node-seconds nan: expected a number of seconds from 0 to 1"),
        (["--node-seconds", "0", "--update-seconds", "0"], "updates that take no time never end"),
        (["--", "--threads", "2"], "--threads: tools/simulate sets it, or gives a process one thread"),
        (["--", "--output=x.csv"], "--output=x.csv: tools/simulate sets it"),
        (["--host", "4"], "unrecognized arguments: --host 4"),
    ],
)
def test_bad_options_end_with_one_line_and_code_2(words, reason, capsys):
    assert simulate.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("conduit: error: ") and reason in captured.err


def test_an_output_that_is_no_folder_ends_with_code_5(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert simulate.main(["--output", str(tmp_path / "file" / "x")]) == OutputError.exit_code
    assert "is not a folder" in capsys.readouterr().err


def test_help_names_every_network_and_noise(capsys):
    assert simulate.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in [*NETWORKS, *NOISES])


def test_a_program_that_is_not_built_is_one_line(tmp_path, capsys):
    assert simulate.main(["--build", str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    assert "not built" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def fake_simulator(tmp_path, text):
    """A simulator that is a Python program; it is given what SimGrid's would be."""
    path = tmp_path / "smpimain"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return Simulator(str(path))


def run_fake(tmp_path, text, on_line=lambda line: None):
    cluster = Cluster(hosts=2)
    simulate.run(fake_simulator(tmp_path, text), cluster, Cost(), pathlib.Path("prog"), [], on_line)


def test_lines_about_runs_are_passed_on_and_the_folder_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(simulate.tempfile, "tempdir", str(tmp_path))
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
    monkeypatch.setattr(simulate, "find_simulator", lambda: fake_simulator(tmp_path, SIMULATOR))

    def run_it(*words, on_line=lambda line: None):
        options = simulate.parse(["--build", str(build), "--output", str(tmp_path / "out"), *words])
        return simulate.simulate(options, on_line)

    return run_it


def contents(folder):
    return {path.name: path.read_text() for path in folder.rglob("*")}


def write_old_run(folder):
    folder.mkdir()
    for name in (*simulate.FILES, "my notes"):
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
    assert simulate.main(["--check", "--build", str(tmp_path), "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr() == ("", "") and list(tmp_path.iterdir()) == []
