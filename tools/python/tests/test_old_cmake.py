"""Ubuntu 22.04's CMake, 3.22, configures the project as the pages and binder/postBuild do."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
CMAKE = ROOT / "build" / "cmake-3.22"
WITHOUT_TESTS = ["-DUIT_TESTS=OFF", "-DUIT_DEMOS=OFF"]


@pytest.fixture(scope="module")
def cmake():
    """Runs CMake 3.22, of PyPI, in the checkout."""
    if not (CMAKE / "bin" / "cmake").exists():
        words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(CMAKE), "cmake==3.22.6"]
        got = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=300)
        if got.returncode:
            words = f"CMake 3.22 cannot be had: {got.stderr.strip().splitlines()[-1]}"
            pytest.fail(words) if os.environ.get("CI") == "true" else pytest.skip(f"NOT TESTED: {words}")
    environment = {**os.environ, "PYTHONPATH": str(CMAKE)}

    def run(*words):
        command = [str(CMAKE / "bin" / "cmake"), *words]
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    assert run("--version").startswith("cmake version 3.22")
    return run


def test_binder_s_build_is_configured(cmake, tmp_path):
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in script if line.startswith("cmake --preset ")]
    cmake(*line.split()[1:], "-B", str(tmp_path))
    assert (tmp_path / "build.ninja").is_file() or (tmp_path / "Makefile").is_file()


def test_the_presets_are_read(cmake):
    assert '"demo"' in cmake("--list-presets") and '"release"' in cmake("--list-presets")


def test_the_library_is_installed(cmake, tmp_path):
    cmake("-S", str(ROOT), "-B", str(tmp_path / "build"), *WITHOUT_TESTS)
    cmake("--install", str(tmp_path / "build"), "--prefix", str(tmp_path / "installed"))
    assert (tmp_path / "installed" / "include" / "uit" / "uit.hpp").is_file()
    assert list((tmp_path / "installed").rglob("netuitConfig.cmake"))
