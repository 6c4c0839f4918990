"""The moving picture of README: drawn from a run's files, small, and of two modes that differ."""

import gzip
import json
import pathlib

import fake_results
import numpy
import pytest
from netuit import InputError, moving_picture

PIL_IMAGE = pytest.importorskip("PIL.Image")
ROOT = pathlib.Path(__file__).parents[3]
KEPT = ROOT / "binder" / "figures" / "film.gif"


@pytest.fixture
def results(tmp_path):
    folder = fake_results.write_results(tmp_path / "results", num_frames=5)
    run = {"command_line": ["channel_selection", "--slow-in-turn", "10ms", "--slowness", "4"], "nodes": 256, "processes": 1, "threads": 2}
    (folder / "rows.json").write_text(json.dumps(run))
    return folder


def test_conflicts_are_marked_as_the_program_counts_them(results):
    for mode in (0, 3):
        take = moving_picture.read_take(results, mode)
        for colors, percent in zip(take.colors, take.conflicts):
            below, right = (colors == numpy.roll(colors, -1, axis) for axis in (0, 1))
            assert 100 * (below.sum() + right.sum()) / (2 * colors.size) == pytest.approx(percent)
            marked = below | right | numpy.roll(below, 1, 0) | numpy.roll(right, 1, 1)
            assert (moving_picture.in_conflict(colors) == marked).all()
            assert ((moving_picture.painted(colors) == (0xC4, 0, 0x18)).all(axis=2) == marked).all()


def test_the_film_has_a_picture_for_each_frame_and_says_what_it_shows(results, tmp_path):
    assert moving_picture.main([str(results), str(tmp_path / "film.gif")]) == 0
    with PIL_IMAGE.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 5 and film.info["loop"] == 0
    for name in ("rows.csv", "frames.csv"):
        (results / f"{name}.gz").write_bytes(gzip.compress((results / name).read_bytes()))
        (results / name).unlink()
    assert moving_picture.main([str(results), str(tmp_path / "again.gif")]) == 0
    assert (tmp_path / "again.gif").read_bytes() == (tmp_path / "film.gif").read_bytes()
    said = moving_picture.describe(results, 1.0)
    assert said.startswith("256 nodes on 2 workers, each in turn 4 times slower for 10ms. One run of each mode.\n")
    assert said.endswith("Shown 100 times slower than it was.")


def test_a_take_ends_where_the_colours_of_another_mode_begin(results):
    slow, fast = (moving_picture.read_take(results, mode) for mode in (0, 3))
    assert (slow.colors[0] == fast.colors[0]).all() and (slow.colors[-1] != fast.colors[-1]).any()


@pytest.mark.parametrize("file, change, reason", [
    ("rows.csv", lambda text: text.replace("torus", "my.edgelist"), "expected a torus in three colours"),
    ("frames.csv", lambda text: text.splitlines()[0] + "\n", "no frames of mode 0, run 0"),
    ("rows.json", lambda text: "", "rows.json:1: "),
])  # fmt: skip
def test_other_results_are_refused_in_one_line(file, change, reason, results, tmp_path, capsys):
    (results / file).write_text(change((results / file).read_text()))
    assert moving_picture.main([str(results), str(tmp_path / "film.gif")]) == InputError.exit_code
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("conduit: error: ") and err.count("\n") == 1 and reason in err
    assert not (tmp_path / "film.gif").exists()


def test_the_film_of_readme_is_small_and_moves():
    assert KEPT.stat().st_size <= 300_000
    assert "](binder/figures/film.gif)" in (ROOT / "README.md").read_text(encoding="utf-8")
    with PIL_IMAGE.open(KEPT) as film:
        assert film.n_frames >= 20
        first = numpy.asarray(film.convert("RGB"))
        film.seek(film.n_frames - 1)
        last = numpy.asarray(film.convert("RGB"))
    red = [((picture[..., 0] > 170) & (picture[..., 1:] < 60).all(axis=2)) for picture in (first, last)]
    half = first.shape[1] // 2
    before, after = ([int(each[:, part].sum()) for part in (slice(half), slice(half, None))] for each in red)
    assert min(before) > 3 * max(after) > 0, "conflicts must vanish in both modes"
    assert after[0] > after[1], "the modes must differ"
