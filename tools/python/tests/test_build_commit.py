import pathlib
import re
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "cmake" / "WriteBuildCommit.cmake"


class Checkout:
    """A repository with a source and a document."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q")
        self.write("include/a.hpp", "one")
        self.write("README.md", "one")
        self.commit()

    def git(self, *words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        done = subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True, parents=True)
        (self.folder / name).write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")
        return self.git("rev-parse", "HEAD")[:12]


def look_up(root, file):
    subprocess.run(["cmake", f"-DROOT={root}", f"-DFILE={file}", "-P", SCRIPT], check=True)
    return re.search(r'uit_build::commit = "(.*)";', file.read_text())[1]


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "checkout")


def test_it_is_the_newest_commit_that_changed_a_source(checkout, tmp_path):
    checkout.write("include/a.hpp", "two")
    commit = checkout.commit()
    checkout.write("README.md", "two")
    assert checkout.commit() != commit
    assert look_up(checkout.folder, tmp_path / "commit.cpp") == commit


def test_sources_that_are_changed_or_new_make_it_dirty_and_documents_do_not(checkout, tmp_path):
    clean = look_up(checkout.folder, tmp_path / "commit.cpp")
    checkout.write("README.md", "two")
    checkout.write("microbenchmarks/results/reference/near.json", "{}")
    assert look_up(checkout.folder, tmp_path / "commit.cpp") == clean
    checkout.write("include/b.hpp", "new")
    assert look_up(checkout.folder, tmp_path / "commit.cpp") == clean + "-dirty"
    (checkout.folder / "include" / "b.hpp").unlink()
    checkout.write("include/a.hpp", "two")
    assert look_up(checkout.folder, tmp_path / "commit.cpp") == clean + "-dirty"


def test_it_is_empty_outside_a_checkout_and_for_a_copy_within_another_repository(checkout, tmp_path):
    assert look_up(tmp_path, tmp_path / "commit.cpp") == ""
    checkout.write("vendored/include/a.hpp", "one")
    checkout.commit()
    assert look_up(checkout.folder / "vendored", tmp_path / "commit.cpp") == ""


def test_the_file_is_left_alone_while_the_commit_is_the_same(checkout, tmp_path):
    file = tmp_path / "commit.cpp"
    look_up(checkout.folder, file)
    before = file.stat().st_mtime_ns
    look_up(checkout.folder, file)
    assert file.stat().st_mtime_ns == before
