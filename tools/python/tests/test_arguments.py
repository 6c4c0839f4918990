import pathlib
import re
import subprocess
import sys

import fake
import pytest
from netuit import InputError, OutputError, arguments
from netuit.arguments import Workers

ROOT = pathlib.Path(__file__).parents[3]


def test_defaults_are_the_demo_of_the_readme():
    options = arguments.parse_demo([])
    assert options.workers == [Workers(1, 1), Workers(1, 2), Workers(2, 1), Workers(2, 2)]
    assert options.modes == [0, 1, 2, 3, 4, 5]
    assert options.graphs == []
    assert (options.seconds, options.replicates) == (0.2, 5)


def test_modes_go_by_number_and_by_name():
    assert arguments.parse_modes("3,every_update, rolling,3") == [0, 1, 3]
    every_mode = list(range(len(arguments.MODE_NAMES)))
    assert arguments.parse_modes(",".join(map(str, every_mode))) == every_mode


def test_modes_are_those_of_the_library():
    source = (ROOT / "include/netuit/run/modes.hpp").read_text(encoding="utf-8")
    names = tuple(re.findall(r'\{AsyncMode[^,]*, "(\w+)"', source))
    assert names == arguments.MODE_NAMES == fake.MODES
    assert f"| {', '.join(names)}\n" in (ROOT / "tools/python/netuit/schema_tables.py").read_text(encoding="utf-8")


def test_layouts_are_kept_in_order_and_once():
    assert arguments.parse_workers("2X2,1x1,2x2") == [Workers(2, 2), Workers(1, 1)]


@pytest.mark.parametrize(
    "words",
    [
        ["--graph", "no/such/file"],
        ["--graph", "."],
        ["--workers", "0x1"],
        ["--workers", "2x"],
        ["--workers", "-1x2"],
        ["--workers", "1x99999"],
        ["--workers", ""],
        ["--modes", "6"],
        ["--modes", "-1"],
        ["--modes", ""],
        ["--seconds", "0"],
        ["--seconds", "-1"],
        ["--seconds", "nan"],
        ["--seconds", "soon"],
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--mpi", "telepathy"],
        ["--directed"],
        ["--gra", "x"],
        ["stray"],
    ],
)
def test_nonsense_is_refused_in_one_line(words):
    with pytest.raises(InputError) as refusal:
        arguments.parse_demo(words)
    assert str(refusal.value) and "\n" not in str(refusal.value)


def test_an_empty_graph_file_is_refused(tmp_path):
    empty = tmp_path / "empty.edgelist"
    empty.touch()
    with pytest.raises(InputError, match="empty"):
        arguments.parse_demo(["--graph", str(empty)])


def test_an_output_that_is_a_file_is_refused(tmp_path):
    file = tmp_path / "taken"
    file.touch()
    with pytest.raises(OutputError, match="not a folder"):
        arguments.parse_demo(["--output", str(file / "below")])


def test_checking_an_output_folder_makes_nothing(tmp_path):
    arguments.parse_demo(["--output", str(tmp_path / "a" / "b")])
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_option():
    text = arguments.read_help()
    for option in ("--graph", "--directed", "--workers", "--modes", "--seconds", "--output", "--seed", "--mpi"):
        assert option in text
    for mode, name in enumerate(arguments.MODE_NAMES):
        assert f"{mode} {name}" in text


def test_the_check_ends_with_one_line_and_the_exit_code():
    ended = subprocess.run(
        [sys.executable, "-m", "netuit.arguments", "--modes", "7"],
        cwd=pathlib.Path(arguments.__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("conduit: error: ") and ended.stderr.count("\n") == 1
