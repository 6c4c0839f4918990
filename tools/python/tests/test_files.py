import gzip
import itertools
import os
import pathlib
import stat
import subprocess
import sys

import pytest
from netuit import OutputError, files


class Writer:
    """One of two writers of one name, which takes its three steps when it is told to."""

    def __init__(self, text):
        self.text = text
        self._steps = [self._open, self._write, self._end]

    def step(self, path, commits):
        """Opens, writes, then commits or gives up. Gives whether that was the step with which the file is written."""
        return self._steps.pop(0)(path, commits)

    def _open(self, path, _commits):
        self._block = files.replacing(path)
        self._file = self._block.__enter__()

    def _write(self, _path, _commits):
        self._file.write(self.text)
        self._file.flush()

    def _end(self, _path, commits):
        if not commits:
            assert not self._block.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
            return False
        self._block.__exit__(None, None, None)
        return True


@pytest.mark.parametrize("commits", list(itertools.product((True, False), repeat=2)))
def test_two_writers_of_one_name_may_take_turns_in_any_order(tmp_path, commits):
    orders = sorted(set(itertools.permutations([0, 0, 0, 1, 1, 1])))
    assert len(orders) == 20
    for number, turns in enumerate(orders):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "rows.csv"
        writers = [Writer("a" * 50_000), Writer("short")]
        expected = None
        for turn in turns:
            if writers[turn].step(path, commits[turn]):
                expected = writers[turn].text
            assert (path.read_text() if path.exists() else None) == expected, turns
        assert os.listdir(folder) == (["rows.csv"] if any(commits) else [])


def test_two_processes_that_write_one_name_both_succeed_and_the_name_always_shows_a_whole_file(tmp_path):
    path = tmp_path / "rows.csv"
    program = (
        "import pathlib, sys\n"
        "from netuit import files\n"
        "for _ in range(200):\n"
        "    files.write_text(pathlib.Path(sys.argv[1]), sys.argv[2] * int(sys.argv[3]))\n"
    )
    sizes = {"a": 40_000, "b": 90_000}
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(files.__file__).parents[1])}
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), letter, str(size)], env=environment)
        for letter, size in sizes.items()
    ]
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            text = path.read_text()
            assert text == text[0] * sizes[text[0]]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_a_link_or_a_file_where_a_draft_might_go_is_neither_followed_nor_touched(tmp_path):
    path, victim = tmp_path / "rows.csv", tmp_path / "victim"
    victim.write_text("precious")
    for number in ("1", "2"):
        (tmp_path / f"rows.csv.{number}.tmp").symlink_to(victim if number == "1" else tmp_path / "nowhere")
    (tmp_path / "rows.csv.3.tmp").write_text("of another writer")
    numbers = iter("1234" + "1" * 100)
    draft, descriptor = files.create_draft(path, lambda: next(numbers))
    os.close(descriptor)
    assert draft == tmp_path / "rows.csv.4.tmp"
    with pytest.raises(FileExistsError):
        files.create_draft(path, lambda: next(numbers))
    files.write_text(path, "new")
    assert (path.read_text(), victim.read_text()) == ("new", "precious")
    assert not (tmp_path / "nowhere").exists()
    assert (tmp_path / "rows.csv.3.tmp").read_text() == "of another writer"


def test_no_two_drafts_have_one_name_and_a_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        path = tmp_path / ("x" * 240)  # for which the draft's name is shortened
        with files.replacing(path), files.replacing(path):
            assert len(os.listdir(tmp_path)) == 2
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == [path.name]


def test_a_link_and_a_device_stay_what_they_are(tmp_path):
    target, link, dangling = tmp_path / "target", tmp_path / "link", tmp_path / "dangling"
    target.write_text("old")
    link.symlink_to(target)
    files.write_text(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    dangling.symlink_to(tmp_path / "nowhere")
    files.write_bytes(dangling, b"new")
    assert not dangling.is_symlink() and dangling.read_bytes() == b"new" and not (tmp_path / "nowhere").exists()
    files.write_text(pathlib.Path("/dev/null"), "new")
    assert pathlib.Path("/dev/null").is_char_device()
    with pytest.raises(OutputError, match="/dev/full: No space left on device"):
        files.write_text(pathlib.Path("/dev/full"), "new")
    with pytest.raises(OutputError, match="directory"):
        files.write_text(tmp_path, "new")


class Figure:
    """Draws one half of itself, then fails."""

    def savefig(self, file, format):
        file.write(b"half of a " + format.encode())
        raise RuntimeError("a font is missing")


def test_a_figure_that_cannot_be_drawn_leaves_the_one_before(tmp_path):
    path = tmp_path / "rates.png"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        files.write_figure(path, Figure())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["rates.png"]


def test_a_new_folder_takes_the_place_of_one_and_goes_through_no_link(tmp_path):
    folder, elsewhere = tmp_path / "runs" / "1.unfinished", tmp_path / "elsewhere"
    files.make_new_folder(folder)
    (folder / "half").write_text("a row")
    files.make_new_folder(folder)
    assert os.listdir(folder) == []
    elsewhere.mkdir()
    folder.rmdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(OutputError, match="exists"):
        files.make_new_folder(folder)
    assert os.listdir(elsewhere) == []


def test_a_compressed_text_has_the_same_bytes_at_any_time_and_is_read_back(tmp_path, monkeypatch):
    text = "a,b\r\n1,ü\n" * 100
    files.write_compressed(tmp_path / "one.csv.gz", text)
    monkeypatch.setattr("time.time", lambda: 0.0)
    files.write_compressed(tmp_path / "two.csv.gz", text)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert files.open_text(tmp_path / "one.csv.gz").read() == text == gzip.decompress((tmp_path / "one.csv.gz").read_bytes()).decode()
    assert files.present(tmp_path / "one.csv") == tmp_path / "one.csv.gz" and files.present(tmp_path / "three.csv") == tmp_path / "three.csv"
