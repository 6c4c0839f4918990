"""tools/setup where cmake is too old, with stand-ins for what it calls; and what else says which packages are wanted."""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[3]


def write_tool(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose virtual environment is there, with a pip that logs, and that can get a cmake of 3.30."""
    folder = tmp_path / "a checkout"
    (folder / "tools").mkdir(parents=True)
    for name in ("setup", "requirements.txt"):
        shutil.copy(ROOT / "tools" / name, folder / "tools" / name)
    venv = folder / ".deps/venv"
    newer = f"printf '#!/bin/sh\\necho cmake version 3.30.1\\n' > '{venv}/bin/cmake'; chmod +x '{venv}/bin/cmake'"
    write_tool(venv / "bin/pip", f'echo "pip $*" >> "{tmp_path}/log"; {newer}')
    write_tool(venv / "bin/python", "exit 0")
    shutil.copy(folder / "tools/requirements.txt", venv / "requirements.txt")
    for name in ("apt-get", "apt-cache"):
        write_tool(tmp_path / "bin" / name, f'echo "{name} $*" >> "{tmp_path}/log"')
    write_tool(tmp_path / "bin/id", "echo 0")
    return folder


def set_up(checkout, how, cmake):
    write_tool(checkout.parent / "bin/cmake", f"echo cmake version {cmake}")
    variables = {**os.environ, "PATH": f"{checkout.parent / 'bin'}:{os.environ['PATH']}", "UIT_SETUP": how}
    ended = subprocess.run([checkout / "tools/setup", "demo"], env=variables, capture_output=True, text=True, check=False, timeout=60)
    log = checkout.parent / "log"
    return ended, log.read_text() if log.exists() else ""


def test_cmake_that_is_too_old_is_named_with_both_versions(checkout):
    ended, log = set_up(checkout, "check", "3.21.4")
    assert ended.returncode == 1 and "cmake (>= 3.22, found 3.21.4)" in ended.stdout
    assert log == ""


def test_root_gets_cmake_from_pypi_if_that_of_apt_is_too_old(checkout):
    ended, log = set_up(checkout, "apt", "3.18.4")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"apt-get install .*\bcmake\b", log) and "pip install" in log and "cmake>=3.22" in log
    assert "pip install cmake (>= 3.22, found 3.18.4)" in ended.stdout and "setup: ready" in ended.stdout
    assert f'PATH="{checkout}/.deps/venv/bin:' in (checkout / ".deps/env.sh").read_text()


def test_a_user_who_is_not_root_gets_cmake_from_pypi(checkout):
    ended, log = set_up(checkout, "user", "3.18.4")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "pip install" in log and "apt-get install" not in log


def test_cmake_of_ubuntu_22_is_enough(checkout):
    ended, log = set_up(checkout, "check", "3.22.1")
    assert "cmake" not in ended.stdout
    assert log == ""


def test_presets_and_project_want_the_version_of_cmake_that_setup_looks_for():
    wanted = re.search(r"^cmake_version=(\S+)", (ROOT / "tools/setup").read_text(), re.MULTILINE)[1]
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    least = presets["cmakeMinimumRequired"]
    assert f"{least['major']}.{least['minor']}" == wanted
    assert presets["version"] <= 3, "CMake 3.22 reads presets up to version 3"
    files = [ROOT / "CMakeLists.txt"]
    for folder, pattern in itertools.product(("demos", "microbenchmarks", "tests", "tools"), ("*.cmake", "CMakeLists.txt")):
        files += (ROOT / folder).rglob(pattern)
    texts = [path.read_text() for path in files]
    assert {version for text in texts for version in re.findall(r"^cmake_minimum_required\(VERSION ([\d.]+)", text, re.MULTILINE)} == {wanted}


CONTAINER = ROOT / "tools/container"


def packages(sets):
    listed = subprocess.run([ROOT / "tools/setup", "--packages", *sets], capture_output=True, text=True, check=True)
    return sorted(listed.stdout.split())


def installed_by(text):
    """What a recipe gives to apt-get install."""
    words = re.search(r"apt-get install ([^\n]*)", text.replace("\\\n", " "))[1].split()
    return sorted(word for word in words[: words.index("&&") if "&&" in words else None] if not word.startswith("-"))


@pytest.mark.parametrize("name", ["Dockerfile", "conduit.def"])
def test_a_container_has_the_packages_that_setup_wants(name):
    assert installed_by((CONTAINER / name).read_text()) == packages(["demo"])


def test_binder_has_the_packages_that_setup_wants():
    assert sorted((ROOT / "binder/apt.txt").read_text().split()) == [each for each in packages(["demo"]) if each not in ("ccache", "python3-venv")]


@pytest.mark.parametrize("name", ["Dockerfile", "conduit.def"])
def test_a_container_builds_what_there_is_with_what_it_copies(name):
    text = (CONTAINER / name).read_text()
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    assert re.search(r"cmake --preset (\S+)", text)[1] in [preset["name"] for preset in presets]
    for path in re.findall(r"^ {4}(\S+) /conduit/\1$", text, re.MULTILINE):
        assert (ROOT / path).exists()
    made = "".join(path.read_text() for path in (ROOT / "demos").rglob("CMakeLists.txt"))
    for program in re.findall(r"build/demo/demos/(\w+)", text):
        assert re.search(rf"\({program}\b", made)


def test_the_development_container_builds_from_the_recipe():
    folder = ROOT / ".devcontainer"  # where editors look
    settings = json.loads((folder / "devcontainer.json").read_text())
    assert (folder / settings["build"]["dockerfile"]).is_file()
    assert (folder / settings["build"]["context"]).resolve() == ROOT
    assert settings["postCreateCommand"].split()[0] == "tools/setup"
