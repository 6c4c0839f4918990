"""Where the package finds its extension module, and when it builds it."""

import importlib.machinery
import os
import pathlib
import subprocess

import pytest

from netuit import ToolError, native

FILE = "_native" + importlib.machinery.EXTENSION_SUFFIXES[0]


def write(path: pathlib.Path, age: float) -> pathlib.Path:
    """Writes an empty file that is so many seconds old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    then = path.stat().st_mtime - age
    os.utime(path, (then, then))
    return path


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with sources that are a minute old; no wheel and no UIT_BUILD."""
    write(tmp_path / "include/uit/inlet.hpp", 60)
    write(tmp_path / "tools/python/native/module.cpp", 60)
    monkeypatch.setattr(native, "find_checkout", lambda: tmp_path)
    monkeypatch.setattr(native, "__file__", str(tmp_path / "package/native.py"))
    monkeypatch.delenv("UIT_BUILD", raising=False)
    return tmp_path


def test_a_module_that_is_newer_than_its_sources_is_used(checkout):
    assert native.find() is None
    release = write(checkout / "build/release/python" / FILE, 50)
    assert native.find() == release
    newer = write(checkout / "build/python/python" / FILE, 40)
    assert native.find() == newer


@pytest.mark.parametrize("source", ["include/uit/inlet.hpp", "include/netuit/mesh/part.ipp", "tools/python/native/module.cpp"])
def test_a_module_that_is_older_than_a_source_is_built_again(checkout, source, monkeypatch, capsys):
    module = write(checkout / "build/python/python" / FILE, 50)
    write(checkout / source, 10)
    assert native.find() is None

    def build(command, **_):
        write(module, 0)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", build)
    assert native._build() == module
    assert "older than its sources" in capsys.readouterr().err
    assert native.find() == module


def test_a_module_that_cannot_be_built_is_an_error_also_if_there_is_an_old_one(checkout, monkeypatch):
    write(checkout / "build/python/python" / FILE, 100)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1))
    with pytest.raises(ToolError, match="could not be built"):
        native._build()


def test_a_build_that_is_named_or_in_the_wheel_is_used_whatever_its_age(checkout, monkeypatch):
    named = write(checkout / "elsewhere/python" / FILE, 1000)
    write(checkout / "build/python/python" / FILE, 0)
    monkeypatch.setenv("UIT_BUILD", str(checkout / "elsewhere"))
    assert native.find() == named
    in_wheel = write(checkout / "package" / FILE, 2000)
    assert native.find() == in_wheel


def test_a_named_build_without_the_module_is_an_error(checkout, monkeypatch):
    monkeypatch.setenv("UIT_BUILD", str(checkout / "elsewhere"))
    with pytest.raises(ToolError, match="elsewhere has no extension module"):
        native._build()


def test_where_nothing_can_be_written_an_old_module_is_used_with_a_warning(checkout, monkeypatch, capsys):
    (checkout / "build").write_text("no folder")
    with pytest.raises(ToolError, match="cannot be built"):
        native._build()
    (checkout / "build").unlink()
    module = write(checkout / "build/python/python" / FILE, 100)
    (checkout / "build/python.lock").mkdir()  # so that it cannot be opened, also by root
    assert native._build() == module
    assert "older than its sources" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_is_no_source(checkout):
    module = write(checkout / "build/python/python" / FILE, 50)
    (checkout / "include/uit/.#inlet.hpp").symlink_to("user@host.123")
    assert native.find() == module
