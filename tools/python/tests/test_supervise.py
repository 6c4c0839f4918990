"""tools/run: the command that survives, and how it judges."""

from __future__ import annotations

import pathlib
import stat
import subprocess

import pytest
from netuit import InputError, launch, supervise

TOOL = pathlib.Path(__file__).parents[2] / "run"


def test_open_mpi_is_told_to_leave_the_others_alone() -> None:
    for major, words in ((4, ["--enable-recovery"]), (5, ["--with-ft", "ulfm"])):
        launcher = launch.Launcher("mpirun", "Open MPI", major)
        command = supervise.surviving_command(launcher, 3, "program", ["--a"])
        assert command[: 1 + len(words)] == ["mpirun", *words] and command[-2:] == ["program", "--a"]
    assert supervise.surviving_command(launch.Launcher("mpirun", "MPICH", 4), 2, "p", []) == ["mpirun", "-n", "2", "p"]


@pytest.mark.parametrize(
    ("codes", "launcher_code", "expected"),
    [
        ({0: 0, 1: 0}, 0, 0),
        ({0: 0, 1: 4}, 0, 4),
        ({0: 3, 1: 3}, 0, 3),
        ({0: 0}, 0, 3),  # one has died, and the launcher says nothing of it
        ({}, 1, 1),
        ({}, 0, 3),
    ],
)
def test_what_processes_say_decides(
    tmp_path: pathlib.Path, codes: dict[int, int], launcher_code: int, expected: int
) -> None:
    for rank, code in codes.items():
        (tmp_path / f"rank{rank}").write_text(f"{code}\n", encoding="ascii")
    verdicts = supervise.Verdicts(tmp_path, 2)
    assert verdicts.exit_code(launcher_code) == expected
    assert verdicts.missing() == [rank for rank in (0, 1) if rank not in codes]


def fake_mpirun(folder: pathlib.Path, body: str) -> pathlib.Path:
    """A launcher that does as told instead."""
    path = folder / "mpirun"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def run_tool(folder: pathlib.Path, body: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(TOOL), "-n", "2", "--mpiexec", str(fake_mpirun(folder, body)), *words, "true"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_dead_are_named(tmp_path: pathlib.Path) -> None:
    done = run_tool(tmp_path, '[ "$1" = --version ] || echo 0 > "$UIT_VERDICT/rank0"')
    assert done.returncode == 3
    assert done.stderr == "conduit: error: no word from rank 1 at the end\n"


def test_a_job_of_which_nothing_is_known_is_told_of(tmp_path: pathlib.Path) -> None:
    for code, expected in ((0, 3), (15, 15)):
        done = run_tool(tmp_path, f'[ "$1" = --version ] || exit {code}')
        assert done.returncode == expected
        assert done.stderr == f"conduit: error: no word from any rank at the end; the launcher's exit code is {code}\n"


def test_who_lingers_is_ended(tmp_path: pathlib.Path) -> None:
    done = run_tool(tmp_path, '[ "$1" = --version ] && exit; echo 0 > "$UIT_VERDICT/rank0"; exec sleep 60', "--grace", "0.2")
    assert done.returncode == 3
    assert "some processes have not ended 0.2 s after the first" in done.stderr


STARTS = """
[ "$1" = --version ] && exit
start() { OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_LOCAL_SIZE=2 sleep $2 & }
"""


def test_who_waits_for_one_that_died_before_all_had_met_is_ended(tmp_path: pathlib.Path) -> None:
    done = run_tool(tmp_path, STARTS + "start 0 60; start 1 0.2; wait", "--grace", "0.3")
    assert done.returncode == 3
    assert done.stderr == "conduit: error: rank 1 ended before all had met, so the others cannot begin\n"


def test_who_has_met_the_others_goes_on_to_its_end_when_one_dies(tmp_path: pathlib.Path) -> None:
    begun = 'for rank in 0 1; do : > "$UIT_VERDICT/rank$rank.begun"; done; '
    done = run_tool(tmp_path, STARTS + begun + 'start 0 4; start 1 1.5; wait; echo 3 > "$UIT_VERDICT/rank0"', "--grace", "0.3")
    assert done.returncode == 3
    assert done.stderr == "conduit: error: no word from rank 1 at the end\n"


@pytest.mark.parametrize("words", [["-n", "0", "true"], ["true"], ["-n", "2"], ["-n", "2", "no_such_program_anywhere"]])
def test_what_makes_no_sense_is_refused_in_one_line(words: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        supervise.main(words)
    assert "\n" not in str(refusal.value)
    done = subprocess.run([str(TOOL), *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.startswith("conduit: error: ") and done.stderr.count("\n") == 1
