"""tools/evolve against a program that is a stand-in, and against the real one where it is built."""

import csv
import pathlib
import subprocess

import built
import fake_evolution
import matplotlib.image
import numpy
import pandas
import pytest
from netuit import InputError, ToolError, evolution_records, evolve
from PIL import Image

EVOLVE = pathlib.Path(__file__).parents[2] / "evolve"


@pytest.fixture
def build(tmp_path, monkeypatch):
    return fake_evolution.make(tmp_path, monkeypatch)


def is_drawn(path):
    """Whether there is more to a picture than one colour and a few lines."""
    pixels = (255 * matplotlib.image.imread(path)[..., :3]).astype(numpy.uint32) @ numpy.array([65536, 256, 1])
    return len(numpy.unique(pixels)) > 50 and (pixels == pixels[0, 0]).mean() < 0.97


def check_pictures(folder):
    assert is_drawn(folder / "world.png") and is_drawn(folder / "history.png")
    with Image.open(folder / "world.gif") as film:
        assert film.n_frames > 1 and len(film.convert("RGB").getcolors(100000)) > 5
    assert (folder / "world.gif").stat().st_size <= 5_000_000


def test_pictures_and_a_table_come_of_a_run(build, tmp_path, capsys):
    out = tmp_path / "out"
    words = ["--build", str(build), "--output", str(out), "--seconds", "1", "--processes", "2", "--seed", "4"]
    assert evolve.main([*words, "--", "--cells-per-worker", "72"]) == 0
    said = capsys.readouterr().out
    check_pictures(out)
    assert "births per 1000 updates and cell" in said and "99 updates/s and worker" in said
    # (30 * 30 + 10 * 10) / 40 and (30 * 24 + 10 * 11) / 40
    assert "2, the largest of 30 cells; a cell's own has 25.0 in the mean, by the cells' estimates 20.8" in said
    assert "Executed most: send 75 %, nop 25 %\n" in said
    for name in ("dominant.genome", "lineage.csv", "phylogeny.csv", "kin_groups.csv", "instructions.csv"):
        assert str(out / "mode3-replicate0" / name) in said
    line = (tmp_path / "log").read_text()
    assert "--mode 3 --duration 1.0" in line and "--seed 4" in line and line.endswith("--cells-per-worker 72\n")


def test_the_report_has_the_quality_of_service_of_each_layer(build, tmp_path):
    words = ["--build", str(build), "--output", str(tmp_path / "out"), "--seconds", "20"]
    assert evolve.main([*words, "--", "--cells-per-worker", "72"]) == 0
    line = (tmp_path / "log").read_text()
    assert f"--quality {tmp_path}/out/quality.csv --snapshot-interval 2.0" in line and "--snapshot-length 2.0" in line
    lines = [line.split() for line in (tmp_path / "out" / "report.txt").read_text().splitlines()]
    assert [line for line in lines if line and line[0] in evolution_records.LAYERS] == [
        ["Spawn", "2.50%", "11", "2", "ms", "0.10"],
        ["Transfer", "2.50%", ">", "12", ">", "3", "ms", "0.10"],  # no round trip ended in most snapshots
        ["Talk", "-", "-", "-", "-"],  # sent nothing
        ["Environment", "12.50%", "14", "5", "ms", "0.10"],  # (1300 + 100 + 100) / 12000
        ["Kinship", "2.50%", "15", "6", "ms", "0.10"],
    ]


def test_a_world_that_goes_on_has_its_own_seed(build, tmp_path):
    words = ["--build", str(build), "--output", str(tmp_path / "out"), "--seconds", "1", "--", "--resume", "world"]
    assert evolve.main(words) == 0
    assert "--seed" not in (tmp_path / "log").read_text()
    assert "workers, resumed: " in (tmp_path / "out" / "report.txt").read_text()


def test_snapshots_may_be_chosen(build, tmp_path):
    words = ["--build", str(build), "--output", str(tmp_path / "out"), "--", "--snapshot-interval=5s"]
    assert "--snapshot-length" not in evolve.command_words(evolve.parse(words))


def test_counts_of_workers_are_added_and_means_are_over_cells(tmp_path):
    columns = "mode mode_name replicate seed process thread elapsed_s updates places cells mean_kin_size mean_genome_length"
    columns = [*columns.split(), "mean_generation", "max_generation", "births_kin"]
    rows = []
    for row in range(5):
        rows.append([3, "no_barrier", 0, 1, 0, 0, row, 100 * row, 40, 10, 2, 80, row, row, 7 * row])
        rows.append([3, "no_barrier", 0, 1, 1, 0, row + 0.2, 300 * row, 40, 30, 6, 40, row, 2 * row, row])
    with open(tmp_path / "evolution.csv", "w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    history = evolution_records.read_history(tmp_path)
    last = history.iloc[-1]
    assert len(history) == 5 and last["updates"] == 800 and last["cells"] == 40 and last["births_kin"] == 32
    assert last["mean_kin_size"] == 5 and last["mean_genome_length"] == 50 and last["max_generation"] == 8


def test_frames_are_read_row_by_row(tmp_path):
    path = tmp_path / "frames.csv"
    cells = "".join(f"{value:08x}" for value in (0, 3, 5, 7, 9, 2**20))
    path.write_text("elapsed_s,width,property,cells\n" + "".join(f"1.5,3,{name},{cells}\n" for name in ("kin", "genome", "stockpile")))
    (frame,) = evolution_records.read_frames(path)
    assert frame.kin.tolist() == [[0, 3, 5], [7, 9, 2**20]] and frame.stockpile[1, 2] == 1.0
    path.write_text(path.read_text().replace("1.5,3,", "1.5,4,"))
    with pytest.raises(InputError, match="frames.csv: cells: "):
        list(evolution_records.read_frames(path))


def test_what_the_program_refuses_is_bad_input(build, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STUB_FAULT", "refuse")
    assert evolve.main(["--build", str(build), "--output", str(tmp_path / "out"), "--", "--founders", "99999"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "conduit: error: --founders: more than there are places"


def test_a_program_that_is_not_built_is_an_error(build, tmp_path):
    (build / "demos" / "digital_evolution").unlink()
    options = evolve.parse(["--build", str(build), "--output", str(tmp_path / "out")])
    with pytest.raises(ToolError, match="digital_evolution: not built"):
        evolve.run(options, open("/dev/null", "w"))


NONSENSE = [["--seconds", "x"], ["--seconds", "0"], ["--mode", "7"], ["--mode", "0,3"], ["--processes", "0"], ["--seed", "-1"],
            ["--what"], ["--processes", "64", "--threads", "64"], ["--", "--record", "x"], ["--", "--quality=x"],
            ["--seed", "1", "--", "--resume=x"]]  # fmt: skip


@pytest.mark.parametrize("words", NONSENSE)
def test_nonsense_ends_before_anything_is_set_up(words, tmp_path):
    ended = subprocess.run([EVOLVE, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr.startswith("conduit: error: ") and ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_works_anywhere(tmp_path):
    ended = subprocess.run([EVOLVE, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 0 and "--seconds S" in ended.stdout


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """What two seconds of the real program leave."""
    build = built.folder_of("digital_evolution")
    out = tmp_path_factory.mktemp("evolved")
    words = ["--build", str(build), "--output", str(out), "--seconds", "2", "--processes", "2", "--mode", "0"]
    assert evolve.main([*words, "--", "--cells-per-worker", "200"]) == 0
    return out


def test_the_real_program_leaves_pictures(real):
    check_pictures(real)
    report = (real / "report.txt").read_text()
    assert "mean genome length" in report and all(f"\n{layer} " in report for layer in evolution_records.LAYERS)


def test_kin_groups_and_instructions_are_those_of_the_censuses(real):
    last = pandas.read_csv(real / "evolution.csv").groupby(["process", "thread"]).last()
    folder = evolution_records.run_folder(real, 0)
    groups = pandas.read_csv(folder / "kin_groups.csv", dtype={"kin_group": str})
    assert groups["cells"].sum() == last["cells"].sum() > 0
    assert groups["cells"].is_monotonic_decreasing and groups["kin_group"].is_unique
    estimates = (groups["cells"] * groups["mean_estimate"]).sum()
    assert estimates == pytest.approx((last["cells"] * last["mean_kin_size"]).sum())
    executed = pandas.read_csv(folder / "instructions.csv").groupby("class")["executed"].sum()
    for name, count in executed.items():
        assert count == last[f"use_{name}"].sum()
    assert executed.sum() > 0


def test_the_phylogeny_is_of_one_root_in_the_standard_s_columns(real):
    with open(real / "mode0-replicate0" / "phylogeny.csv", newline="") as file:
        taxa = list(csv.DictReader(file))
    assert list(taxa[0])[:5] == ["id", "ancestor_list", "origin_time", "destruction_time", "taxon_label"]
    parent = {taxon["id"]: taxon["ancestor_list"].strip("[]") for taxon in taxa}
    origin = {taxon["id"]: int(taxon["origin_time"]) for taxon in taxa}
    assert len(parent) == len(taxa) > 1
    assert [taxon for taxon in parent if parent[taxon] == "none"] == [taxa[0]["id"]]
    for taxon in taxa:
        if parent[taxon["id"]] != "none":
            assert origin[parent[taxon["id"]]] <= origin[taxon["id"]]
        end = taxon["destruction_time"]
        assert end == "inf" or float(end) >= origin[taxon["id"]]


def test_the_lineage_is_one_chain_of_the_phylogeny_from_its_root(real):
    with open(real / "mode0-replicate0" / "lineage.csv", newline="") as file:
        line = list(csv.DictReader(file))
    assert line[0]["ancestor_list"] == "[none]"
    for above, below in zip(line, line[1:]):
        assert below["ancestor_list"] == f"[{above['id']}]" and int(below["depth"]) == int(above["depth"]) + 1
