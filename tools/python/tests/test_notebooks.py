import dataclasses
import json
import os
import pathlib
import re
import socket
import subprocess

import pandas
import pytest

import fake_results
from netuit import InputError, ToolError, analysis, evolution_records, files, intervals, notebooks, sweep_files

ROOT = pathlib.Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "binder").glob("*.ipynb"))
NOT_DRAWN: dict[str, str] = {}

#: Where sets of data are not as the short or long form of their sweep would leave them now, and why.
DIFFERS = {
    "simulated, case paper_spread, snapshot": "measured with snapshots, which nothing reads, and which are not kept",
    "evolution_simulated, case generations": "measured with --cases paper: the others take as long again",
    "evolution_simulated, case fast": "likewise",
    "evidence": "of tools/evidence, which has no sweep file",
    "world": "of tools/evolve, likewise",
    "film": "of the program itself, likewise",
}


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
    drawn = {picture.stem for picture in tmp_path.glob("*.svg")}
    named = set(notebooks.notebooks()[path.stem])
    assert named - drawn == named & set(NOT_DRAWN), "NOT_DRAWN lists what the kept data do not suffice for, and no more"
    kept = {picture.stem for picture in (notebooks.BINDER / "figures").glob("*.svg")}
    assert drawn <= named and drawn == named & kept, "tools/figures draws what is to be kept"
    for picture in tmp_path.glob("*.svg"):
        assert picture.stat().st_size < 250_000


def test_every_figure_that_is_kept_has_a_notebook_and_is_small():
    named = {figure for figures in notebooks.notebooks().values() for figure in figures}
    for path in (notebooks.BINDER / "figures").glob("*.svg"):
        assert path.stem in named and path.stat().st_size < 250_000


def test_every_figure_names_what_measured_it():
    for path in NOTEBOOKS:
        source = "\n".join("".join(cell["source"]) for cell in cells_of(path))
        for call in re.findall(r"experiment_plots\.keep\(.*\)", source):
            assert re.search(r'"tools/(evidence|evolve|experiment|simulate)', call), call


def test_a_notebook_that_fails_says_where_in_one_line(tmp_path):
    with pytest.raises(ToolError, match="one.ipynb: ZeroDivisionError: division by zero$"):
        notebooks.run_notebook(write_notebook(tmp_path, "1 / 0"), tmp_path)


def test_a_notebook_writes_where_it_is_told_and_leaves_the_environment_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("UIT_FIGURES", "elsewhere")
    source = "import matplotlib.pyplot as plt\nfrom netuit import experiment_plots\nexperiment_plots.keep(plt.figure(), 'empty')"
    notebooks.run_notebook(write_notebook(tmp_path, source), tmp_path / "here")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["empty.svg"]
    assert os.environ["UIT_FIGURES"] == "elsewhere"


def test_results_are_taken_without_what_no_notebook_reads(tmp_path):
    fake_results.write_results(tmp_path / "results", num_frames=2)
    (tmp_path / "results" / "manifest.json").write_text('{"sweep": "little"}')
    folder = notebooks.take(tmp_path / "results", tmp_path / "data")
    assert folder == tmp_path / "data" / "little"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "quality.csv.gz", "rows.csv.gz"]
    rows = files.open_text(folder / "rows.csv.gz").read()
    header = rows.splitlines()[0].split(",")
    assert set(header) < set(notebooks.KEPT["rows.csv"]) and "compiler" not in header
    assert "88000," in rows
    quality = analysis.data("little", "quality.csv", str(tmp_path / "data"))
    assert set(quality["scope"]) == {"worker"} and len(quality) == 16


def test_compressed_results_are_taken_like_plain_ones_and_replace_plain_data(tmp_path):
    plain, packed = (fake_results.write_results(tmp_path / name, num_frames=2) for name in ("plain", "packed"))
    for folder in (plain, packed):
        (folder / "manifest.json").write_text('{"sweep": "little"}')
    for name in ("rows.csv", "quality.csv"):
        files.write_compressed(packed / f"{name}.gz", (packed / name).read_text())
        (packed / name).unlink()
    first = notebooks.take(plain, tmp_path / "first")
    (tmp_path / "second" / "little").mkdir(parents=True)
    (tmp_path / "second" / "little" / "rows.csv").write_text("of an earlier version")
    second = notebooks.take(packed, tmp_path / "second")
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {path.name: path.read_bytes() for path in second.iterdir()}


def test_tables_beside_the_notebooks_are_compressed_and_without_a_time():
    assert not list((notebooks.BINDER / "data").rglob("*.csv"))
    tables = list((notebooks.BINDER / "data").rglob("*.csv.gz"))
    assert tables and sum(path.stat().st_size for path in tables) < 1_500_000
    for path in tables:
        content = path.read_bytes()
        assert content[3] == 0 and content[4:8] == bytes(4), path  # neither name nor time
        assert files.open_text(path).readline().count(",") > 2


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
    rows = files.open_text(folder / "rows.csv.gz").read()
    assert "/home" not in rows and ",every_update," in rows


def test_no_data_beside_the_notebooks_tell_where_they_were_measured():
    for path in (notebooks.BINDER / "data").rglob("manifest.json"):
        assert not re.search(r"[\s\"=(]~?/\w", path.read_text(encoding="utf-8")), path


def differences(manifest):
    """Between what a manifest tells of its cases and what its sweep would run now."""
    sweep = sweep_files.load(sweep_files.find(manifest["sweep"]), quick=manifest["quick"])
    had, has = ({case["name"]: case for case in cases} for cases in (manifest["cases"], map(as_in_a_manifest, sweep.cases)))
    found = {f"{sweep.name}, case {name}" for name in had.keys() ^ has.keys()}
    for name in had.keys() & has.keys():
        keys = (had[name].keys() & has[name].keys()) - {"about"}
        found |= {f"{sweep.name}, case {name}, {key}" for key in keys if had[name][key] != has[name][key]}
    return found


def as_in_a_manifest(case):
    return json.loads(json.dumps(dataclasses.asdict(case) | {"workers": [str(each) for each in case.workers]}))


def test_data_are_what_their_sweeps_leave():
    found = set()
    for folder in (notebooks.BINDER / "data").iterdir():
        manifest = json.loads((folder / "manifest.json").read_text()) if (folder / "manifest.json").exists() else {}
        found |= differences(manifest) if "sweep" in manifest else {folder.name}
    assert found == set(DIFFERS), "DIFFERS lists what differs and why, and no more"


def test_data_of_another_case_layout_or_length_are_told(tmp_path):
    sweep = sweep_files.load(sweep_files.find("two_hosts"), quick=True)
    cases = [as_in_a_manifest(case) for case in sweep.cases]
    manifest = {"sweep": "two_hosts", "quick": True, "cases": cases}
    assert differences(manifest) == set()
    cases[0] |= {"workers": ["2x1"], "seconds": 9.0}
    cases[1]["name"] = "other"
    assert differences(manifest) == {
        "two_hosts, case one_host, workers", "two_hosts, case one_host, seconds", "two_hosts, case two_hosts", "two_hosts, case other",
    }  # fmt: skip


def test_the_readme_of_binder_has_the_costs_of_threads():
    text = " ".join((notebooks.BINDER / "README.md").read_text(encoding="utf-8").split())

    def rates(sweep, case=None):
        runs = analysis.by_run(analysis.data(sweep, folder=str(notebooks.BINDER / "data")))
        runs = runs[(runs["mode"] == 4) & ((runs["case"] == case) | (case is None))]
        return {layout: part["rate_per_cpu"] for layout, part in runs.groupby("workers")}

    def lost(several, alone, digits=0):
        kept, low, high = (100 * share for share in intervals.ratio_interval(several, alone))
        return f"{100 - kept:.{digits}f} % [{100 - high:.{digits}f}, {100 - low:.{digits}f}]".replace("[-0,", "[0,")

    def gained(case, base="as_it_is", unit=""):
        pairs = [(of["1x4"], of["1x1"]) for of in (rates("thread_cost", case), rates("thread_cost", base))]
        gain, low, high = (100 * each for each in intervals.gain_interval(*pairs))
        return f"{gain:.0f}{unit} [{low:.0f}, {high:.0f}]"

    base, beyond = (rates("thread_cost", case) for case in ("as_it_is", "out_of_cache"))
    work, paper = rates("compute_work", "work_0"), rates("paper")
    assert f"two threads lose {lost(base['1x2'], base['1x1'])} of the rate per CPU and four {lost(base['1x4'], base['1x1'])}" in text
    assert f"gives four threads {gained('clock_64', unit=' points')} of these 15 back, a cache line for each node {gained('padded')}, and both 1" in text
    assert f"both {gained('clock_64_padded')}, so that neither" in text
    assert f"four threads lose {lost(beyond['1x4'], beyond['1x1'])}, which is {gained('as_it_is', 'out_of_cache', ' points')} more" in text
    threads, processes = (lost(work[layout], work["1x1"]) for layout in ("1x2", "2x1"))
    assert f"two threads lose {threads} against one, two processes of one thread {processes}." in text
    threads, processes = (lost(paper[layout], paper["1x1"], 1) for layout in ("1x4", "4x1"))
    assert f"four threads lose {threads}, and four processes {processes}:" in text


def test_the_readme_of_binder_has_the_conflicts_of_64_processes():
    text = " ".join((notebooks.BINDER / "README.md").read_text(encoding="utf-8").split())
    runs = analysis.by_run(analysis.data("paper", folder=str(notebooks.BINDER / "data")))
    left = runs[(runs["workers"] == "64x1") & runs["mode"].isin([1, 2, 3])].groupby("mode")["conflicts"]
    said = ["{:.0f}, {:.0f} and {:.0f}".format(*each) for each in (left.mean(), left.std())]
    assert f"left {said[0]} conflicts in modes 1, 2 and 3, with standard deviations over three replicates of {said[1]}" in text
    assert set(left.size()) == {3} and set(runs["cpus"]) == {2}


def test_the_readme_of_binder_has_the_spread_of_conflicts_over_replicates():
    text = " ".join((notebooks.BINDER / "README.md").read_text(encoding="utf-8").split())
    clusters = analysis.simulated(str(notebooks.BINDER / "data" / "simulated"))
    runs = analysis.by_run(clusters.get("paper_spread", clusters["paper"]))
    spread = analysis.conflicts_spread(runs[runs["workers"] == "64x1"])
    (count,) = {*spread["replicates"], *spread["of mode 3"]}
    one, two = ("{:.1f} [{:.1f}, {:.1f}]".format(*line) for line in spread[["to mode 3", "low", "high"]].to_numpy())
    assert f"of {count} replicates each, conflicts left spread {one} times as much in mode 1 as in mode 3, and {two} times in mode 2" in text


def test_of_a_film_of_the_world_the_last_picture_is_taken(tmp_path):
    film = tmp_path / "results" / "mode3-replicate0" / "frames.csv"
    film.parent.mkdir(parents=True)
    pictures = [f"{second},1,{name},{second:08x}" for second in (1, 2, 10) for name in ("kin", "genome", "stockpile")]
    film.write_text("\n".join(["elapsed_s,width,property,cells", *pictures]) + "\n")
    (tmp_path / "results" / "rows.json").write_text('{"command_line": ["/home/me/digital_evolution"]}')
    folder = notebooks.take(tmp_path / "results", tmp_path / "data")
    assert folder == tmp_path / "data" / "world" and "/home" not in (folder / "manifest.json").read_text()
    assert files.open_text(folder / "frames.csv.gz").read().splitlines() == ["elapsed_s,width,property,cells", *pictures[-3:]]
    (frame,) = evolution_records.read_frames(folder / "frames.csv")
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
    assert all(re.match("pytest|scikit-build-core|nanobind|meshio|mypy|tomli|tree-sitter", line) for line in tools - binder)
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)
