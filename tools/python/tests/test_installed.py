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
from netuit import launch, program, sweep_files

ROOT = pathlib.Path(__file__).parents[3]
BINDER = ROOT / "binder"


def make_wheel(folder, **settings):
    """Builds the wheel as `pip wheel` does, and returns its file and pip's output. The build folder is kept, so that a second
    build is short."""
    if importlib.util.find_spec("scikit_build_core") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("NOT TESTED: scikit-build-core is missing")
    command = [sys.executable, "-m", "pip", "wheel", "--verbose", "--no-build-isolation", "--no-deps", "--wheel-dir", folder]
    built = subprocess.run([*command, ROOT / "tools" / "python"], cwd=folder, env={**os.environ, **settings},
                           capture_output=True, text=True, check=False, timeout=1800)  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel, built.stdout + built.stderr


def make_environment(folder, *words):
    """A virtual environment in which pip installs something. It finds the packages of this one, too."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text("\n".join(each for each in sys.path if each.endswith("-packages")) + "\n")
    command = [folder / "bin" / "python", "-m", "pip", "install", "--no-deps", "--no-index", "--no-build-isolation", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return packages


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The site-packages of a virtual environment that has the wheel. Nightly it has all programs, otherwise one."""
    folder = tmp_path_factory.mktemp("wheel")
    is_nightly = os.environ.get("UIT_NIGHTLY", "0") not in ("", "0")
    programs = {} if is_nightly else {"SKBUILD_CMAKE_DEFINE": "UIT_WHEEL_PROGRAMS=channel_selection"}
    build = ROOT / "build" / f"wheel-{'all' if is_nightly else 'one'}" / sys.implementation.cache_tag
    wheel, told = make_wheel(folder, SKBUILD_BUILD_DIR=str(build), **programs)
    assert "py3-none-any" not in wheel.name, told
    return make_environment(folder / "environment", wheel)


def run(installed, words, folder):
    variables = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([sys.executable, *words], cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=240)
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


def without_programs(installed, folder, source):
    """A copy of the package as pip installs it from a folder where its programs cannot be built."""
    shutil.copytree(installed / "netuit", folder / "netuit", ignore=shutil.ignore_patterns("programs"))
    info = folder / "netuit-0.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: netuit\nVersion: 0.0.0\n")
    (info / "direct_url.json").write_text(json.dumps({"dir_info": {}, "url": source.as_uri()}))
    return folder


@pytest.mark.parametrize("works", [True, False])
def test_without_programs_the_first_run_builds_the_program_in_the_checkout(works, installed, tmp_path):
    """With stand-ins for set-up and building. In a folder elsewhere, as after `pip install` into an environment of its own."""
    checkout = tmp_path / "a checkout"
    packages = without_programs(installed, tmp_path / "packages", checkout / "tools" / "python")
    made = {
        "tools/setup": '#!/bin/sh\ncd "$(dirname "$0")/.." && mkdir -p .deps && echo "export MADE=yes" > .deps/env.sh\n',
        "tools/build_program.sh": 'build_program() { cd "$root"; echo "build $* $MADE" >> log; '
        + (
            "mkdir -p build/demo/demos; printf '#!/bin/sh\\nexit 7\\n' > build/demo/demos/$3; chmod +x build/demo/demos/$3; }\n"
            if works
            else "exit 1; }\n"
        ),
    }
    for name, text in made.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
        (checkout / name).chmod(0o755)
    variables = {key: value for key, value in os.environ.items() if key != "UIT_BUILD"}
    variables |= {"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([sys.executable, "-c", FIRST_RUN], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=240)
    assert (checkout / "log").read_text() == "build netuit release channel_selection yes\n"
    assert "netuit: channel_selection is not built yet" in ended.stderr
    if works:
        assert "channel_selection ended with code 7" in ended.stdout and f"{checkout}/build/demo" in ended.stdout
    else:
        assert "channel_selection: could not be built" in ended.stdout


def command(installed, words, folder):
    """Runs `netuit` of the environment where PATH has no compiler, launcher or program."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "UIT_"))}
    variables |= {"PATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    program = installed.parents[2] / "bin" / "netuit"
    return subprocess.run([program, *words], cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=240)


def test_the_command_colours_a_graph_with_the_wheel_alone(installed, tmp_path):
    assert command(installed, ["--help"], tmp_path).stdout.startswith("usage: netuit COMMAND")
    (tmp_path / "ring.edgelist").write_text("0 1\n1 2\n2 3\n3 0\n")
    has_mpi = "UIT_WITH_MPI:BOOL=ON" in (installed / "netuit" / "programs" / "CMakeCache.txt").read_text()
    for workers in ["1x1", *(["2x1"] if has_mpi else ["1x2"])]:
        ended = command(installed, ["run", "ring.edgelist", "--workers", workers, "--modes", "0,3", "--seconds", "0.1",
                                    "--output", f"{workers}.csv"], tmp_path)  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        assert f"ring.edgelist  {workers}      0 every_update" in ended.stdout and "3 no_barrier" in ended.stdout
        rows = (tmp_path / f"{workers}.csv").read_text().splitlines()
        assert len(rows) == 1 + 2 * (2 if workers != "1x1" else 1)


def test_the_demo_draws_its_page_with_the_wheel_alone(installed, tmp_path):
    ended = command(installed, ["demo", "--workers", "1x2", "--modes", "0,3", "--seconds", "0.05", "--replicates", "1"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "3 no_barrier" in ended.stdout
    assert "<svg" in (tmp_path / "demo-results" / "report.html").read_text(encoding="utf-8")


def test_a_mesh_runs_with_the_wheel_alone(installed, tmp_path):
    (tmp_path / "model.py").write_text(
        "import netuit\n"
        "for layout in ({}, {'processes': 2}):\n"
        "    with netuit.Mesh(netuit.Torus(4, 4), **layout) as mesh:\n"
        "        x = mesh.field(1.0, published=True)\n"
        "        report = mesh.run(netuit.EveryUpdate(updates=2), lambda part: part.__setitem__(x, part.sum_in(x)))\n"
        "        print(len(report.workers), mesh.gather(x)[0])\n",
        encoding="utf-8",
    )
    assert run(installed, [str(tmp_path / "model.py")], tmp_path) == "1 16.0\n2 16.0\n"


def test_the_programs_of_the_wheel_are_optimised_and_stripped(installed, tmp_path):
    programs = installed / "netuit" / "programs" / "demos"
    assert [path.name for path in sorted(programs.iterdir())][0] == "channel_selection"
    for path in programs.iterdir():
        assert os.access(path, os.X_OK) and b".symtab" not in path.read_bytes()
    assert command(installed, ["run", "--workers", "1x1", "--modes", "3", "--seconds", "0.1", "--output", "rows.csv"], tmp_path).returncode == 0
    told = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert told["build_type"] == "Release" and "-O3" in told["compile_flags"]


def test_without_mpi_the_programs_of_the_wheel_are_built_for_threads(tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("NOT TESTED: cmake is missing")
    words = ["-S", ROOT, "-B", tmp_path, "-DSKBUILD=2", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"]
    subprocess.run(["cmake", *words], check=True, capture_output=True, timeout=300)
    entries = (tmp_path / "wheel" / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    assert entries[1:] == ["UIT_WITH_MPI:BOOL=OFF"]
    assert not launch.find_launcher(tmp_path / "wheel").has_mpi


def test_the_wheel_has_all_programs_that_the_tools_run():
    text = (ROOT / "tools" / "cmake" / "UitWheel.cmake").read_text(encoding="utf-8")
    assert set(re.search(r'set\(UIT_WHEEL_PROGRAMS "(.*?)" CACHE', text)[1].split(";")) == set(program.SIZE_OPTIONS)


def test_where_the_programs_cannot_be_built_the_package_is_without_them(tmp_path):
    wheel, told = make_wheel(tmp_path, SKBUILD_CMAKE_DEFINE="CMAKE_DISABLE_FIND_PACKAGE_METIS=ON")
    assert wheel.name.endswith("-py3-none-any.whl") and "netuit: the programs could not be built" in told
    packages = make_environment(tmp_path / "environment", wheel)
    assert not (packages / "netuit" / "programs").exists() and (packages / "netuit" / "ready_made" / "paper.toml").is_file()
    for words in (["run"], ["demo"], ["evolve"], ["experiment", "paper"]):
        ended = command(packages, words, tmp_path)
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
        assert re.match("conduit: error: (channel_selection|digital_evolution): not installed with this package", ended.stderr)


def test_an_editable_package_is_the_checkouts_own(tmp_path):
    """As binder/postBuild installs it."""
    if importlib.util.find_spec("scikit_build_core") is None:
        pytest.skip("NOT TESTED: scikit-build-core is missing")
    packages = make_environment(tmp_path / "environment", "--editable", ROOT / "tools" / "python")
    assert not (packages / "netuit").exists()
    text = "import netuit, netuit.program as p; print(netuit.__file__, p.find_checkout())"
    python = packages.parents[2] / "bin" / "python"
    told = subprocess.run([python, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120).stdout
    assert told.split() == [str(ROOT / "tools" / "python" / "netuit" / "__init__.py"), str(ROOT)]
    assert command(packages, ["experiment", "list"], tmp_path).returncode == 0


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
    came_along = {"numpy", "scipy"}  # with pandas, with statsmodels
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
