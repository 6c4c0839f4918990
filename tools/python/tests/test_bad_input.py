"""What makes no sense is refused by every tool in one line, with code 2 (5 for an output), before anything is written."""

import os
import pathlib
import shutil
import subprocess
import sys

import fake_results
import pytest

ROOT = pathlib.Path(__file__).parents[3]
TOOLS = ROOT / "tools"


def run(command, folder):
    variables = os.environ | {"PYTHONPATH": str(ROOT / "tools" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=120)


def check(command, folder, code, reason):
    before = sorted(folder.rglob("*"))
    ended = run(command, folder)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == "" and ended.stderr.count("\n") == 1 and ": error: " in ended.stderr, ended.stderr
    assert reason in ended.stderr
    assert sorted(folder.rglob("*")) == before


def write_results(folder):
    """Results to spoil."""
    fake_results.write_results(folder, num_frames=2)
    (folder / "manifest.json").write_text('{"sweep": "little"}')


OF_TOOLS = [
    ("bench", ["--what"], 2, "unrecognized arguments: --what"),
    ("bench", ["--build"], 2, "--build: expected one argument"),
    ("bench", ["--mpi", "lam"], 2, "invalid choice: 'lam'"),
    ("bench", ["--accept", "colouring"], 2, "--accept goes by itself"),
    ("bench", ["--build", "/proc/none/x"], 5, "/proc/none"),
    ("demo", ["--seconds"], 2, "--seconds: expected one argument"),
    ("demo", ["--seconds", "many"], 2, "--seconds many: not a number"),
    ("demo", ["--graph", "none.edgelist"], 2, "none.edgelist: No such file"),
    ("demo", ["--output", "/proc/none"], 5, "/proc/none"),
    ("evidence", ["--what"], 2, "--what"),
    ("evidence", ["--output"], 2, "--output"),
    ("evidence", ["--output", "/proc/none"], 5, "/proc/none"),
    ("evolve", ["--what"], 2, "--what"),
    ("evolve", ["--output"], 2, "--output"),
    ("evolve", ["--seconds", "many"], 2, "many"),
    ("evolve", ["--output", "/proc/none"], 5, "/proc/none"),
    ("evolve", ["--mode", "7"], 2, "error: --mode 7: unknown mode '7' (0 every_update, "),
    ("evolve", ["--mode", "0,3"], 2, "error: --mode 0,3: expected one mode"),
    ("demo", ["--modes", "7"], 2, "error: --modes 7: unknown mode '7' (0 every_update, "),
    ("experiment", ["paper", "--what"], 2, "unrecognized arguments: --what"),
    ("experiment", ["paper", "--seconds"], 2, "--seconds: expected one argument"),
    ("experiment", ["paper", "--seconds", "nan"], 2, "seconds nan"),
    ("experiment", ["calibration", "--launcher", "simulated"], 2, "shared_memory false: of launcher local only"),
    ("experiment", ["paper", "--build", "none"], 2, "not built in none"),
    ("experiment", ["a" * 300], 2, "unknown sweep"),
    ("experiment", ["none.toml"], 2, "none.toml: No such file"),
    ("experiment", ["paper", "--output", "/proc/none"], 5, "/proc/none"),
    ("experiment", ["paper", "--output", "a" * 300], 5, "too long"),
    ("figures", ["--what"], 2, "unrecognized arguments: --what"),
    ("figures", ["--output"], 2, "expected one argument"),
    ("figures", ["none"], 2, "no notebook or figure none"),
    ("figures", ["--output", "new", "none"], 2, "no notebook or figure none"),
    ("figures", ["--take", "none"], 2, "none/manifest.json: No such file"),
    ("figures", ["--output", "/proc/none", "rates"], 5, "/proc/none"),
    ("fuzz", ["--what"], 2, "no such option: --what"),
    ("fuzz", ["--seconds"], 2, "--seconds: requires a number"),
    ("fuzz", ["--seconds", "many"], 2, "--seconds many: expected a whole number"),
    ("fuzz", ["--seconds", "0"], 2, "--seconds 0: expected more than 0"),
    ("fuzz", ["nothing"], 2, "no target nothing"),
    ("report", ["--what"], 2, "unrecognized arguments: --what"),
    ("report", [".", "--output"], 2, "expected one argument"),
    ("report", ["."], 2, "no results"),
    ("report", ["none.csv"], 2, "none.csv: No such file"),
    ("run", ["-n", "many", "true"], 2, "invalid int value: 'many'"),
    ("run", ["-n", "2", "--grace", "nan", "true"], 2, "--grace nan"),
    ("run", ["-n", "2", "--mpiexec", "none", "true"], 2, "--mpiexec none: no such program"),
    ("run", ["-n", "2", "--what", "true"], 2, "--what"),
    ("simulate", ["--what"], 2, "unrecognized arguments: --what"),
    ("simulate", ["--hosts"], 2, "--hosts: expected one argument"),
    ("simulate", ["--hosts", "many"], 2, "--hosts many: expected a whole number"),
    ("simulate", ["--program", "soap"], 2, "--program soap: expected one of"),
    ("simulate", ["--", "--threads", "2"], 2, "--threads: tools/simulate sets it"),
    ("simulate", ["--output", "/proc/none"], 5, "/proc/none"),
    ("site", ["--what"], 2, "unknown option --what"),
    ("soak", ["--what"], 2, "unknown option --what"),
    ("soak", ["--minutes"], 2, "--minutes: requires a value"),
    ("soak", ["--minutes", "many"], 2, "--minutes many: expected a number"),
    ("soak", ["--minutes", "0.0"], 2, "--minutes 0.0: expected more than 0"),
    ("soak", ["--minutes", "-1"], 2, "--minutes -1: expected more than 0"),
    ("soak", ["--minutes", "-0.5"], 2, "--minutes -0.5: expected more than 0"),
    ("soak", ["--minutes", "1234567"], 2, "--minutes 1234567: expected a number of at most six characters"),
    ("soak", ["--output", "/proc/none/x.csv"], 5, "/proc/none/x.csv: cannot be written"),
]


#: Misspelt words, and the words that are meant.
MISSPELT = [
    ("bench", ["--quik"], "--quick"), ("bench", ["--cuonts"], "--counts"), ("experiment", ["papr"], "paper"),
    ("experiment", ["paper", "--quik"], "--quick"), ("setup", ["tst"], "test"), ("setup", ["demo", "nihgtly"], "nightly"),
    ("test", ["--quik"], "--quick"), ("test", ["--nihgtly"], "--nightly"), ("test", ["--quick", "--prset"], "--preset"),
]  # fmt: skip


@pytest.mark.parametrize("tool, words, meant", MISSPELT)
def test_a_tool_suggests_the_word_that_a_misspelt_one_resembles(tool, words, meant, tmp_path):
    check([TOOLS / tool, *words], tmp_path, 2, f"; did you mean {meant}?")


@pytest.mark.parametrize("tool, words", [("bench", ["--xyzzy"]), ("experiment", ["xyzzy"]), ("setup", ["xyzzy"]), ("test", ["--xyzzy"])])
def test_a_tool_suggests_nothing_for_a_word_that_resembles_none(tool, words, tmp_path):
    assert "did you mean" not in run([TOOLS / tool, *words], tmp_path).stderr


@pytest.mark.parametrize("tool, words, code, reason", OF_TOOLS)
def test_a_tool_refuses_it(tool, words, code, reason, tmp_path):
    check([TOOLS / tool, *words], tmp_path, code, reason)


#: What has to set up or build something first, and where to look for a mistake before it does.
OF_BARE_TOOLS = [
    ("bench", ["--what"]), ("demo", ["--what"]), ("demo", ["--graph", "some.graphml"]), ("evidence", ["--what"]),
    ("evolve", ["--what"]), ("experiment", ["paper", "--what"]), ("figures", ["--what"]), ("figures", ["none"]), ("fuzz", ["--what"]),
    ("mutants", ["--what"]), ("report", ["--what"]), ("report", []), ("run", ["-n", "2", "--what", "true"]), ("seeded_bugs", ["--what"]),
    ("setup", ["--what"]), ("simulate", ["--what"]), ("slurm/here", ["--what"]), ("slurm/here", ["--nodes", "many", "true"]),
    ("site", ["--what"]), ("soak", ["--what"]), ("test", ["--what"]), ("test", ["what"]), ("test", ["--preset"]), ("test", ["--preset", "what"]),
    ("test", ["-R"]), ("test", ["--quick", "--what"]),
]  # fmt: skip


@pytest.fixture
def bench_that_cannot_build(tmp_path):
    """tools/bench in a folder whose tools/setup says so and fails; what tells the names of figures is there."""
    for name in ("tools/python", "tools/guide", "demos", "README.md", "microbenchmarks/compile_budgets.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(ROOT / name)
    shutil.copy(TOOLS / "bench", tmp_path / "tools")
    (tmp_path / "tools/setup").write_text("#!/bin/sh\necho set-up begins >&2\nexit 1\n")
    (tmp_path / "tools/setup").chmod(0o755)
    return tmp_path / "tools/bench"


SET_UP = ["set-up begins", "bench: error: tools/setup bench failed"]


@pytest.mark.parametrize("wanted, near", [("nosuchfilter", ""), ("conveyer", "conveyor"), ("All-reduse", "all-reduce")])
def test_bench_says_before_it_builds_that_no_known_figure_has_a_filter(wanted, near, bench_that_cannot_build, tmp_path):
    ended = run([bench_that_cannot_build, wanted], tmp_path)
    told = f"; did you mean {near}? Building" if near else "; building"
    assert ended.stderr.splitlines() == [f"bench: no known figure has {wanted} in its name{told}, to look for new ones", *SET_UP]


@pytest.mark.parametrize("words", [["all-reduce"], ["ALL-REDUCE"], ["compile"], ["numpy"], [], ["--list"]])
def test_bench_says_nothing_about_a_filter_that_a_known_figure_has(words, bench_that_cannot_build, tmp_path):
    assert run([bench_that_cannot_build, *words], tmp_path).stderr.splitlines() == SET_UP


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A checkout in which nothing has been set up, and nothing can be: tools/setup writes .deps, and ends."""
    folder = tmp_path_factory.mktemp("bare")
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "corpus")
    for name in ("tools", "tests/mutants", "tests/seeded_bugs", "tests/fuzz", "binder"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=left_out)
    shutil.copy(ROOT / "CMakePresets.json", folder)
    return folder


def run_bare(bare, words, folder):
    variables = {"PATH": f"/usr/bin:/bin:{os.environ['PATH']}", "UIT_SETUP": "check", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)}
    before = sorted(bare.rglob("*"))
    (folder / "some.graphml").write_text("<graphml/>")
    ended = subprocess.run([bare / "tools" / words[0], *words[1:]], cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert sorted(bare.rglob("*")) == before, "something was set up or built"
    return ended


@pytest.mark.parametrize("tool, words", OF_BARE_TOOLS)
def test_a_tool_refuses_it_before_anything_is_set_up(tool, words, bare, tmp_path):
    ended = run_bare(bare, [tool, *words], tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == "" and ended.stderr.count("\n") == 1 and ": error: " in ended.stderr, ended.stderr


def all_tools():
    """The commands of tools/; what other commands call ends in .py or .sh."""
    found = [path for path in [*TOOLS.iterdir(), *(TOOLS / "slurm").iterdir()] if path.is_file() and not path.suffix]
    return sorted(str(path.relative_to(TOOLS)) for path in found)


@pytest.mark.parametrize("tool", all_tools())
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_a_tool_tells_at_once_what_it_does(tool, option, bare, tmp_path):
    ended = run_bare(bare, [tool, option], tmp_path)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    assert pathlib.Path(tool).name in ended.stdout.splitlines()[0], ended.stdout


OF_MODULES = [
    ("arguments", ["--modes"], 2, "--modes: expected one argument"),
    ("bench_charts", [], 2, "required: results"),
    ("bench_charts", ["--what", "x.json"], 2, "--what"),
    ("bench_charts", ["none.json"], 2, "none.json: No such file"),
    ("bench_charts", ["broken.json"], 2, "broken.json:1: "),
    ("bench_charts", ["other.json"], 2, "other.json: no result of tools/bench"),
    ("bench_check", [], 2, "required: what, results"),
    ("bench_check", ["draw", "x.json"], 2, "invalid choice: 'draw'"),
    ("bench_check", ["check", "none.json"], 2, "none.json: No such file"),
    ("bench_check", ["check", "broken.json"], 2, "broken.json:1: "),
    ("bench_check", ["accept", "other.json"], 2, "other.json: no result of tools/bench"),
    ("demo", ["--seed", "many"], 2, "--seed many"),
    ("paired", [], 2, "required: folder"),
    ("paired", ["--what", "."], 2, "unrecognized arguments: --what"),
    ("paired", ["."], 2, "rows.csv: No such file"),
    ("paired", ["broken.json"], 2, "broken.json:1: "),
    ("paired", ["other.csv"], 2, "other.csv:1: these are no columns of"),
    ("paired", ["half.csv"], 2, "half.csv:1: no column "),
    ("schema", ["what"], 2, "unknown table what"),
    ("simulate", ["--what"], 2, "unrecognized arguments: --what"),
    ("simulate", ["--hosts"], 2, "--hosts: expected one argument"),
    ("simulate", ["--output", "/proc/none"], 5, "/proc/none"),
]


@pytest.mark.parametrize("module, words, code, reason", OF_MODULES)
def test_a_module_with_a_command_line_refuses_it(module, words, code, reason, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text('{"points": [{"chart": 3}]}')
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    fake_results.write_csv(tmp_path / "half.csv", [{"case": "x", "updates_per_second": 1, "conflict_edges_total": 1}])
    check([sys.executable, "-m", f"netuit.{module}", *words], tmp_path, code, reason)


SPOILT = [
    ("manifest.json", '{"sweep": "../elsewhere"}', "sweep '../elsewhere': expected a name"),
    ("manifest.json", '{"sweep": ', "manifest.json:1: "),
    ("rows.csv", "", "rows.csv: No columns"),
    ("rows.csv", "a,b\n1,2\n", "rows.csv:1: no column mode"),
    ("quality.csv", 'mode,scope\n"', "quality.csv: "),
    ("quality.csv", "mode,scope\n1,worker\n", "quality.csv:1: no column snapshot"),
]


@pytest.mark.parametrize("file, text, reason", SPOILT)
def test_spoilt_results_are_not_taken_and_the_old_ones_stay(file, text, reason, tmp_path, monkeypatch, capsys):
    from netuit import notebooks

    monkeypatch.setattr(notebooks, "BINDER", tmp_path)
    write_results(tmp_path / "good")
    assert notebooks.main(["--take", str(tmp_path / "good")]) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    assert len(before) == 3
    write_results(tmp_path / "bad")
    (tmp_path / "bad" / file).write_text(text)
    capsys.readouterr()
    assert notebooks.main(["--take", str(tmp_path / "bad")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("conduit: error: ") and err.count("\n") == 1 and reason in err
    assert {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()} == before


def test_a_folder_without_results_is_not_taken(tmp_path, capsys):
    from netuit import notebooks

    (tmp_path / "manifest.json").write_text('{"sweep": "little"}')
    assert notebooks.main(["--take", str(tmp_path)]) == 2
    assert "no results: expected rows.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, reason",
    [
        ("name = ", "x.toml:1: "),
        ('name = "x"\ncolour = 1\n[[case]]\nname = "one"\n', "unknown key colour"),
        (f'name = "x"\nseed = {"9" * 5000}\n[[case]]\nname = "one"\n', "x.toml: "),
        ('name = "x"\nstraggler = 2\noptions = { nodes-per-worker = "many" }\n[[case]]\nname = "one"\n', "as a whole number"),
        ('name = "x"\noptions = 3\nstraggler = 2\n[[case]]\nname = "one"\n', "options 3: expected a table"),
    ],
)
def test_a_bad_sweep_is_refused_by_the_tool(text, reason, tmp_path):
    (tmp_path / "x.toml").write_text(text)
    check([TOOLS / "experiment", "x.toml"], tmp_path, 2, reason)


def test_a_launcher_that_cannot_be_started_is_one_line(tmp_path):
    launcher = tmp_path / "mpirun"
    launcher.write_bytes(b"\x7fELF no program")
    launcher.chmod(0o755)
    check([TOOLS / "run", "-n", "2", "--mpiexec", launcher, "true"], tmp_path, 1, "mpirun: ")
