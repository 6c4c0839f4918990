"""What the guide and the notebooks show of meshes in Python runs, and the notebooks keep what they have put out."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import built
import netuit
from netuit import launch, native, notebooks

ROOT = pathlib.Path(__file__).parents[3]
PACKAGE = pathlib.Path(netuit.__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "demos" / "python").glob("*.ipynb"))


@pytest.fixture(scope="module", autouse=True)
def _module():
    built.need_module()


def test_the_guide_s_programs_run_in_the_order_of_the_page(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "tools/guide/python.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    over_mpi = [block for block in blocks if block.startswith("# run: mpirun -n 2")]
    blocks = [block for block in blocks if block not in over_mpi]
    assert len(blocks) >= 3 and over_mpi
    launcher = launch.find_launcher(native.folder())
    for block in over_mpi:
        (tmp_path / "program.py").write_text(block, encoding="utf-8")
        command = launcher.command(2, sys.executable, [str(tmp_path / "program.py")])
        ended = subprocess.run(command, env={**launcher.environment(), "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, check=False, timeout=60)
        assert ended.returncode == 0, ended.stderr
    program = "\n".join(blocks).replace("seconds=2", "seconds=0.2").replace("seconds=86400", "seconds=0.2").replace("100_000", "5_000")
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
    report, accounts, *_, last = ended.stdout.splitlines()
    assert report.startswith("2 workers, 0.2") and accounts.startswith("every message accounted for")
    assert last.endswith("True")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_keep_their_picture(path, tmp_path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    kept = [output for cell in cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in kept)
    assert not any(output["output_type"] == "error" for output in kept)
    notebooks.run_notebook(path, tmp_path, seconds=120)


def test_the_page_s_picture_is_drawn_of_the_notebook_as_a_small_svg_file(tmp_path):
    page = ROOT / "demos/python"
    ended = subprocess.run([sys.executable, str(page / "draw.py"), str(tmp_path)], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PACKAGE)},
                           capture_output=True, text=True, check=False, timeout=120)  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "](heat.svg)" in (page / "README.md").read_text(encoding="utf-8")
    for path in (tmp_path / "heat.svg", page / "heat.svg"):
        drawn = path.read_text(encoding="utf-8")
        assert len(drawn) < 300_000 and all(f">{words}</text>" in drawn for words in ("in lockstep", "best effort", "temperature"))
        assert drawn.count("<image ") >= 2


def test_every_notebook_is_on_its_page():
    page = (ROOT / "demos/python/README.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if f"]({path.name})" not in page] == []
    assert len(NOTEBOOKS) == 3
