import json
import os
import pathlib
import re
import socket
import subprocess

import pandas
import pytest

import fake_results
from conduit_tools import InputError, ToolError, analysis, evolution, notebooks

ROOT = pathlib.Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "binder").glob("*.ipynb"))


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def write_notebook(folder, *sources):
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(sources)
    ]
    path = folder / "one.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_small_and_without_what_they_put_out(path):
    assert path.stat().st_size < 20_000
    for cell in cells_of(path):
        assert not cell.get("outputs") and not cell.get("execution_count")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_draw_what_they_say(path, tmp_path):
    notebooks.run_notebook(path, tmp_path, seconds=120)
    drawn = {picture.stem for picture in tmp_path.glob("*.png")}
    named = set(notebooks.notebooks()[path.stem])
    assert drawn <= named
    for name in named - drawn:  # only what has no data
        assert not (notebooks.BINDER / "figures" / f"{name}.png").exists(), f"{name} is kept, but was not drawn"
    for picture in tmp_path.glob("*.png"):
        assert picture.stat().st_size < 150_000


def test_every_figure_that_is_kept_has_a_notebook_and_is_small():
    named = {figure for figures in notebooks.notebooks().values() for figure in figures}
    for path in (notebooks.BINDER / "figures").iterdir():
        assert path.stem in named and path.stat().st_size < 150_000


def test_every_figure_names_what_measured_it():
    for path in NOTEBOOKS:
        source = "\n".join("".join(cell["source"]) for cell in cells_of(path))
        for call in re.findall(r"plots\.keep\(.*\)", source):
            assert re.search(r'"tools/(evidence|evolve|experiment|simulate)', call), call


def test_a_notebook_that_fails_says_where_in_one_line(tmp_path):
    with pytest.raises(ToolError, match="one.ipynb: ZeroDivisionError: division by zero$"):
        notebooks.run_notebook(write_notebook(tmp_path, "1 / 0"), tmp_path)


def test_a_notebook_writes_where_it_is_told_and_leaves_the_environment_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("CONDUIT_FIGURES", "elsewhere")
    source = "import matplotlib.pyplot as plt\nfrom conduit_tools import plots\nplots.keep(plt.figure(), 'empty')"
    notebooks.run_notebook(write_notebook(tmp_path, source), tmp_path / "here")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["empty.png"]
    assert os.environ["CONDUIT_FIGURES"] == "elsewhere"


def test_results_are_taken_without_what_no_notebook_reads(tmp_path):
    fake_results.write_results(tmp_path / "results", num_frames=2)
    (tmp_path / "results" / "manifest.json").write_text('{"sweep": "little"}')
    folder = notebooks.take(tmp_path / "results", tmp_path / "data")
    assert folder == tmp_path / "data" / "little"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "quality.csv", "rows.csv"]
    header = (folder / "rows.csv").read_text().splitlines()[0].split(",")
    assert set(header) < set(notebooks.KEPT["rows.csv"]) and "compiler" not in header
    assert "88000," in (folder / "rows.csv").read_text()
    quality = analysis.data("little", "quality.csv", str(tmp_path / "data"))
    assert set(quality["scope"]) == {"worker"} and len(quality) == 16


def test_layers_and_other_work_are_taken_with_the_results(tmp_path):
    results = fake_results.write_results(tmp_path / "results", num_frames=2)
    for name in ("rows.csv", "quality.csv"):
        rows = pandas.read_csv(results / name, dtype=str, keep_default_na=False)
        rows.assign(others_cpus="0.12345678").to_csv(results / name, index=False)
    (results / "manifest.json").write_text('{"sweep": "little"}')
    notebooks.take(results, tmp_path / "data")
    rows, quality = (analysis.data("little", name, str(tmp_path / "data")) for name in ("rows.csv", "quality.csv"))
    assert set(quality["layer"]) == {0}
    assert set(rows["others_cpus"]) == set(quality["others_cpus"]) == {0.12346}


def test_results_are_taken_without_what_tells_where_they_were_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "node-7")
    fake_results.write_results(tmp_path / "results", num_frames=2)
    (tmp_path / "results" / "rows.csv").write_text((tmp_path / "results" / "rows.csv").read_text().replace(",every", ",/home/me/every"))
    given = {
        "sweep": "little",
        "title": "node-7",
        "launcher": "SimGrid at /usr/lib/simgrid/smpimain; clusters 7/8",
        "command_line": ["/home/me/tools/experiment.py", "--build=/home/me/my build/demo", "--output", "/tmp/out/", "see https://x.org/a/b"],
        "cases": [{"name": "one", "options": {"graph": "/home/me/big.edgelist", "work": 5}}],
        "failed": ["one 2x1: /home/me/x.part:3: no worker", "node-7 did not answer node-70"],
        "left_out": {"case /srv/two": "(/srv/hosts is missing)"},
        "complete": True,
    }
    (tmp_path / "results" / "manifest.json").write_text(json.dumps(given))
    folder = notebooks.take(tmp_path / "results", tmp_path / "data")
    assert json.loads((folder / "manifest.json").read_text()) == {
        "sweep": "little",
        "title": "node-7",
        "launcher": "SimGrid at smpimain; clusters 7/8",
        "command_line": ["experiment.py", "--build=demo", "--output", "out", "see https://x.org/a/b"],
        "cases": [{"name": "one", "options": {"graph": "big.edgelist", "work": 5}}],
        "failed": ["one 2x1: x.part:3: no worker", "host did not answer node-70"],
        "left_out": {"case two": "(hosts is missing)"},
        "complete": True,
    }
    assert "/home" not in (folder / "rows.csv").read_text() and ",every_update," in (folder / "rows.csv").read_text()


def test_no_data_beside_the_notebooks_tell_where_they_were_measured():
    for path in (notebooks.BINDER / "data").rglob("manifest.json"):
        assert not re.search(r"[\s\"=(]~?/\w", path.read_text(encoding="utf-8")), path


def test_of_a_film_of_the_world_the_last_picture_is_taken(tmp_path):
    film = tmp_path / "results" / "mode3-replicate0" / "frames.csv"
    film.parent.mkdir(parents=True)
    pictures = [f"{second},1,{name},{second:08x}" for second in (1, 2, 10) for name in ("kin", "genome", "stockpile")]
    film.write_text("\n".join(["elapsed_s,width,property,cells", *pictures]) + "\n")
    (tmp_path / "results" / "rows.json").write_text('{"command_line": ["/home/me/digital_evolution"]}')
    folder = notebooks.take(tmp_path / "results", tmp_path / "data")
    assert folder == tmp_path / "data" / "world" and "/home" not in (folder / "manifest.json").read_text()
    assert (folder / "frames.csv").read_text().splitlines() == ["elapsed_s,width,property,cells", *pictures[-3:]]
    (frame,) = evolution.read_frames(folder / "frames.csv")
    assert frame.kin.tolist() == [[10]]


def test_quality_without_snapshots_is_refused(tmp_path):
    (tmp_path / "manifest.json").write_text('{"sweep": "little"}')
    (tmp_path / "quality.csv").write_text("scope,mode\nworker,3\n")
    with pytest.raises(InputError, match="quality.csv:1: no column snapshot$"):
        notebooks.take(tmp_path, tmp_path / "data")


def test_results_that_are_no_sweep_are_refused(tmp_path):
    with pytest.raises(InputError):
        notebooks.take(tmp_path, tmp_path / "data")


@pytest.mark.parametrize("words", [["nonsense"], ["--what"], ["--take"], ["--take", "missing"]])
def test_nonsense_ends_with_one_line_and_code_2(words, capsys):
    assert notebooks.main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("conduit: error: ") and err.count("\n") == 1


def test_figures_are_listed_by_notebook(capsys):
    assert notebooks.main(["--list"]) == 0
    assert "rates: rates compute_work thread_cost\n" in capsys.readouterr().out


def test_the_command_prints_its_help():
    ended = subprocess.run(
        [ROOT / "tools" / "figures", "--help"], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0 and "--take RESULTS" in ended.stdout


def test_binder_gets_what_the_tools_want():
    def wanted(path):
        lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
        return {line for line in lines if line}

    binder = wanted(ROOT / "binder" / "requirements.txt")
    tools = wanted(ROOT / "tools" / "requirements.txt")
    assert binder <= tools
    assert all(re.match("pytest|mypy|tomli", line) for line in tools - binder)
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)
