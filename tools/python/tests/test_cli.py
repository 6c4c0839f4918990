"""The command `netuit`: its subcommands, their help, and what it refuses."""

import csv
import pathlib
import subprocess
import sys

import fake_build
import pytest
from netuit import InputError, OutputError, cli, coloring

PACKAGE = pathlib.Path(cli.__file__).parent
HEAVY = {"matplotlib", "networkx", "numpy", "pandas", "pymetis", "scipy", "seaborn", "statsmodels"}


def run(words, folder):
    command = [sys.executable, "-m", "netuit", *words]
    variables = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_has_a_line_for_each_command(words, capsys):
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, command in cli.COMMANDS.items():
        assert f"  {name:<{max(map(len, cli.COMMANDS))}}  {command.about}" in lines
        assert (PACKAGE / f"{command.module}.py").is_file() or (PACKAGE / command.module / "__init__.py").is_file()


def test_the_version_is_the_packages(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"netuit {cli.__version__}\n"


HELP = {
    "run": "run_help.txt", "demo": "demo_help.txt", "experiment": "experiment_help.txt", "evolve": "evolve_help.txt",
    "evidence": "evidence_help.txt", "report": "report/help.txt", "figures": "figures_help.txt", "simulate": "simulate_help.txt",
    "supervise": "supervise_help.txt",
}  # fmt: skip


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_prints_its_help(name, tmp_path):
    ended = run([name, "--help"], tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"usage: netuit {name} ")
    if name in HELP:
        assert ended.stdout == (PACKAGE / HELP[name]).read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["--help"], ["--version"], *([name, "--help"] for name in HELP)])
def test_help_loads_nothing_heavy(words, tmp_path):
    text = f"import sys; from netuit import cli; cli.main({words!r}); sys.exit(' '.join({HEAVY!r} & set(sys.modules)) or 0)"
    variables = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr.strip()) == (0, "")


@pytest.mark.parametrize(
    "words, error",
    [
        (["demmo"], "unknown command demmo (netuit --help lists the commands); did you mean demo?"),
        (["superwise", "-n", "2"], "unknown command superwise (netuit --help lists the commands); did you mean supervise?"),
        (["xyzzy"], "unknown command xyzzy (netuit --help lists the commands)"),
        (["--versoin"], "unknown option --versoin (netuit --help lists the commands); did you mean --version?"),
        (["run", "--sceonds", "1"], "unrecognized arguments: --sceonds; did you mean --seconds?"),
        (["demo", "--wokers=2x1"], "unrecognized arguments: --wokers=2x1; did you mean --workers?"),
        (["evolve", "--xyzzy"], "unrecognized arguments: --xyzzy"),
        (["experiment", "paper", "--replicate", "1"], "unrecognized arguments: --replicate 1; did you mean --replicates?"),
        (["experiment"], "expected the name of a sweep; netuit experiment list shows them"),
        (["supervise", "-n", "0", "true"], "-n 0: expected at least one process"),
        (["schema", "xyzzy"], "unknown table xyzzy"),
    ],
)
def test_what_makes_no_sense_is_one_line_with_the_nearest_known_name(words, error, tmp_path):
    ended = run(words, tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"conduit: error: {error}") and ended.stderr.count("\n") == 1
    assert ("did you mean" in error) == ("did you mean" in ended.stderr)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def build(tmp_path, monkeypatch):
    return fake_build.make(tmp_path, monkeypatch)


def test_run_prints_a_table_and_writes_rows(build, tmp_path, capsys):
    (tmp_path / "ring.edgelist").write_text("0 1\n1 2\n2 0\n")
    output = tmp_path / "rows.csv"
    words = [tmp_path / "ring.edgelist", "--workers", "2x1", "--modes", "0,no_barrier", "--build", build, "--seed", "5", "--output", output]
    assert cli.main(["run", *map(str, words)]) == 0
    told = capsys.readouterr().out
    assert "2x1      0 every_update" in told and "3 no_barrier" in told and told.endswith(f"rows: {output}\n")
    with open(output, newline="", encoding="utf-8") as file:
        assert [(row["mode"], row["process"]) for row in csv.DictReader(file)] == [("0", "0"), ("0", "1"), ("3", "0"), ("3", "1")]
    assert fake_build.starts(tmp_path) == ["2x1 seed 5"]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_run_shows_what_runs_on_a_terminal_only(is_terminal, build, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setenv("COLUMNS", "100")
    assert cli.main(["run", "--workers", "1x2", "--modes", "0,3", "--build", str(build)]) == 0
    told = capsys.readouterr().err
    assert told.endswith("\r\033[K") if is_terminal else not told
    for mode in (0, 3) if is_terminal else ():
        assert f"[ 0/2] torus, 1x2: mode {mode} x: 0.1 s, 5 updates/s" in told


def test_run_without_output_leaves_no_file(build, tmp_path, monkeypatch, capsys):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert cli.main(["run", "--workers", "1x1", "--modes", "3", "--build", str(build), "--", "--work", "10"]) == 0
    assert "3 no_barrier" in capsys.readouterr().out and not list((tmp_path / "empty").iterdir())


@pytest.mark.parametrize("fault, code, reason", [("refuse", 2, "graph:3: label with a blank"), ("crash", 1, "something bad")])
def test_run_ends_as_the_program_does(fault, code, reason, build, monkeypatch, capsys):
    monkeypatch.setenv("STUB_FAULT", fault)
    assert cli.main(["run", "--workers", "1x1", "--build", str(build)]) == code
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1


def test_run_takes_the_options_of_the_program():
    options = coloring.parse(["--workers", "1x2", "--", "--work", "100", "--watch", "--colors=4"])
    assert options.program_options == {"work": "100", "watch": True, "colors": "4"}


@pytest.mark.parametrize(
    "words, error, reason",
    [
        (["none.edgelist"], InputError, "none.edgelist: No such file"),
        (["--workers", "1x1,1x2"], InputError, "expected one layout"),
        (["--workers", "many"], InputError, "--workers many"),
        (["--modes", "9"], InputError, "unknown mode"),
        (["--seconds", "0"], InputError, "--seconds 0"),
        (["--seconds", "nan"], InputError, "--seconds nan"),
        (["--replicates", "0"], InputError, "--replicates 0"),
        (["--seed", "-1"], InputError, "--seed"),
        (["--directed"], InputError, "requires a graph file"),
        (["--", "work"], InputError, "work behind --"),
        (["--output", "/proc/none/rows.csv"], OutputError, "/proc/none"),
    ],
)
def test_run_refuses_what_makes_no_sense(words, error, reason):
    with pytest.raises(error, match=reason):
        coloring.parse(words)
