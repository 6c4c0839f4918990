"""The package as it is installed, away from the checkout; and what Binder installs it with."""

import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from netuit import sweep_files

ROOT = pathlib.Path(__file__).parents[3]
BINDER = ROOT / "binder"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that the package is in, with all that its build puts there. As pip does it, but for the wheel on the way,
    which not every set-up can pack without a network."""
    if importlib.util.find_spec("setuptools") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("NOT TESTED: setuptools is missing")
    folder = tmp_path_factory.mktemp("installed")
    copy = folder / "checkout" / "tools"  # building writes into its sources
    copy.mkdir(parents=True)
    (folder / "checkout" / "CMakeLists.txt").touch()
    for name in ("python", "sweeps"):
        shutil.copytree(ROOT / "tools" / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info"))
    words = ["build", "--build-base", folder / "base", "--build-lib", folder / "packages"]
    build = subprocess.run([sys.executable, "setup.py", *words], cwd=copy / "python",
                           capture_output=True, text=True, check=False, timeout=120)  # fmt: skip
    assert build.returncode == 0, build.stderr
    shutil.rmtree(folder / "checkout")
    return folder / "packages"


def run(installed, words, folder):
    variables = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([sys.executable, *words], cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_ready_made_sweeps_are_installed_with_it(installed, tmp_path):
    text = "import json; from netuit import sweep_files; print(json.dumps([str(path) for path in sweep_files.ready_made()]))"
    found = [pathlib.Path(path) for path in json.loads(run(installed, ["-c", text], tmp_path))]
    assert [path.name for path in found] == [path.name for path in sweep_files.ready_made()] != []
    assert all(path.is_relative_to(installed) for path in found)
    assert [path.read_bytes() for path in found] == [path.read_bytes() for path in sorted((ROOT / "tools" / "sweeps").glob("*.toml"))]
    listed = run(installed, ["-m", "netuit.experiment", "list"], tmp_path)
    assert all(path.stem in listed for path in found)


FIRST_RUN = """
import sys, networkx
from netuit import program, run
try:
    run(networkx.path_graph(4), workers="1x1", modes=[3], seconds=0.1)
except Exception as error:
    print(type(error).__name__, error)
print(program.find_build())
"""


@pytest.mark.parametrize("works", [True, False])
def test_the_first_run_builds_the_program_in_the_checkout(works, installed, tmp_path):
    """With stand-ins for set-up and building. In a folder elsewhere, as after `pip install` into an environment of its own."""
    checkout = installed.parent / "checkout"
    assert (installed / "netuit" / "checkout.txt").read_text() == f"{checkout}\n"
    made = {
        "tools/setup": "#!/bin/sh\necho setup $1; mkdir -p $(dirname $0)/../.deps; echo 'export MADE=yes' > $(dirname $0)/../.deps/env.sh\n",
        "tools/build_program.sh": 'build_program() { echo "build $* $MADE" >> "$root/log"; mkdir -p "$root/build/demo/demos"; '
        + (
            "printf '#!/bin/sh\\nexit 7\\n' > $root/build/demo/demos/$3; chmod +x $root/build/demo/demos/$3; }\n" if works else "exit 1; }\n"
        ),
    }
    try:
        for name, text in made.items():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
            (checkout / name).chmod(0o755)
        variables = {key: value for key, value in os.environ.items() if key != "UIT_BUILD"}
        variables |= {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run([sys.executable, "-c", FIRST_RUN], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=120)
        assert (checkout / "log").read_text() == "build netuit release channel_selection yes\n"
        assert "netuit: channel_selection is not built yet" in ended.stderr
        if works:
            assert "channel_selection ended with code 7" in ended.stdout and f"{checkout}/build/demo" in ended.stdout
        else:
            assert "channel_selection: could not be built" in ended.stdout
    finally:
        shutil.rmtree(checkout)


def test_help_and_pages_are_installed_with_it(installed):
    ours = ROOT / "tools" / "python" / "netuit"
    wanted = [path.relative_to(ours) for path in ours.rglob("*") if path.is_file() and path.suffix not in (".pyc", "")]
    assert [path for path in wanted if not (installed / "netuit" / path).exists()] == []


def test_a_checkout_has_its_sweeps_once():
    assert sweep_files.FOLDER == ROOT / "tools" / "sweeps"


def names_of(path):
    """Packages of a file of requirements, with their markers."""
    lines = [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return {re.match(r"[\w.-]+", line)[0].lower(): line for line in lines if line}


def test_binder_installs_what_the_package_wants():
    text = (ROOT / "tools" / "python" / "pyproject.toml").read_text(encoding="utf-8")
    wanted = ast.literal_eval(re.search(r"^dependencies = (\[.*?^\])", text, re.MULTILINE | re.DOTALL)[1])
    given = names_of(BINDER / "requirements.txt")
    came_along = {"scipy"}  # with statsmodels
    for each in wanted:
        name = re.match(r"[\w.-]+", each)[0]
        assert name in given or name in came_along, f"{name} is missing in binder/requirements.txt"
        assert (";" in each) == (";" in given.get(name, each))


def test_what_binder_runs_after_it_is_there():
    text = (BINDER / "postBuild").read_text(encoding="utf-8")
    assert os.access(BINDER / "postBuild", os.X_OK)
    assert subprocess.run(["sh", "-n", BINDER / "postBuild"], check=False).returncode == 0
    source = re.search(r"pip install .*--editable (\S+)", text)[1]
    assert (ROOT / source / "pyproject.toml").is_file()
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    for command, kind in (("cmake --preset", "configurePresets"), ("cmake --build --preset", "buildPresets")):
        for name in re.findall(rf"^{command} (\S+)", text, re.MULTILINE) or pytest.fail(command):
            assert name in [preset["name"] for preset in presets[kind]]
    made = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "CMakeLists.txt", *(ROOT / "demos").rglob("CMakeLists.txt")])
    for target in re.findall(r"--target (\S+)", text) or pytest.fail("no target"):
        assert re.search(rf"\({target}\b", made), f"no target {target}"
    for option in re.findall(r"-D(\w+)=", text):
        assert option in made, f"no option {option}"


def test_the_package_has_the_version_of_the_library_and_shows_only_its_interface(installed, tmp_path):
    project = re.search(r"^project\(\w+ VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
    words = "import netuit as c; print(c.__version__, sorted(set(dir(c)) - set(c.__all__) - {n for n in dir(c) if n[:2] == '__'}))"
    assert run(installed, ["-c", words], tmp_path) == f"{project} []\n"
