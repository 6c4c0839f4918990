import pathlib
import shutil
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parents[1]


def test_the_package_is_typed_strictly(tmp_path):
    if shutil.which("mypy", path=str(pathlib.Path(sys.executable).parent)) is None:
        pytest.skip("mypy is missing")
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)], cwd=PACKAGE, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_what_tells_that_it_is_typed_is_installed():
    assert (PACKAGE / "netuit" / "py.typed").exists()
    assert "py.typed" in (PACKAGE / "pyproject.toml").read_text()
