import os
import pathlib
import signal
import sys
import time

import pytest
from conduit_tools import ToolError, launch


def run_python(text, on_line=lambda line: None, time_limit=20):
    return launch.run([sys.executable, "-c", text], dict(os.environ), on_line, time_limit)


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def are_gone(processes):
    """Soon: one that was killed lives a moment longer than its memory, by which it is known."""
    deadline = time.monotonic() + 2
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(is_alive, processes))


@pytest.mark.parametrize(
    "text, vendor, major",
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to", "Open MPI", 4),
        ("mpirun.openmpi (OpenRTE) 4.1.4\n", "Open MPI", 4),
        ("mpirun (Open MPI) 5.0.7\n", "Open MPI", 5),
        ("HYDRA build details:\n    Version:                                 4.0.2\n", "MPICH", 4),
        ("something else", "unknown", 0),
    ],
)
def test_launchers_are_told_apart(text, vendor, major):
    launcher = launch.identify("/bin/mpirun", text)
    assert (launcher.vendor, launcher.major) == (vendor, major)


def test_open_mpi_may_run_as_root_and_oversubscribe():
    launcher = launch.Launcher("mpirun", "Open MPI", 4)
    assert launcher.command(2, "prog", ["-x"]) == [
        "mpirun", "-n", "2", "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE", "prog", "-x",
    ]  # fmt: skip
    environment = launcher.environment()
    assert environment["OMPI_ALLOW_RUN_AS_ROOT"] == environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"


def test_mpich_is_given_nothing_that_it_does_not_know():
    assert launch.Launcher("mpirun", "MPICH", 4).command(2, "prog", []) == ["mpirun", "-n", "2", "prog"]


def test_the_launcher_is_that_of_the_build(tmp_path):
    launcher = tmp_path / "mpirun.own"
    launcher.write_text("#!/bin/sh\n[ $OMPI_ALLOW_RUN_AS_ROOT$OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 11 ] && echo 'mpirun (Open MPI) 4.9'\n")
    launcher.chmod(0o755)
    (tmp_path / "CMakeCache.txt").write_text(f"A:STRING=1\nMPIEXEC_EXECUTABLE:FILEPATH={launcher}\n")
    assert launch.find_launcher(tmp_path) == launch.Launcher(str(launcher), "Open MPI", 4)


def test_lines_of_stderr_arrive_and_the_exit_code_is_given():
    lines = []
    code = run_python("import sys; print('one\\ntwo\\nthree', end='', file=sys.stderr); sys.exit(7)", lines.append)
    assert (lines, code) == (["one", "two", "three"], 7)


def test_a_program_that_is_not_there_is_an_error():
    with pytest.raises(ToolError, match="No such file"):
        launch.run(["/no/such/program"], {}, print, 1)


def test_a_program_that_does_not_end_is_ended():
    processes = []
    with pytest.raises(ToolError, match="not done in time"):
        run_python(
            "import os, sys, time; print(os.getpid(), file=sys.stderr, flush=True); time.sleep(60)",
            lambda line: processes.append(int(line)),
            time_limit=1,
        )
    assert processes and are_gone(processes)


def test_an_interruption_leaves_no_process_behind_even_one_that_left_the_group_and_ignores_signals():
    stubborn = (
        "import os, signal, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    print(os.getpid(), file=sys.stderr, flush=True)\n"
        "time.sleep(60)\n"
    )
    processes = []

    def on_line(line):
        processes.append(int(line))
        raise KeyboardInterrupt

    handler = signal.getsignal(signal.SIGINT)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_python(stubborn, on_line)
    assert processes and are_gone(processes)
    assert time.monotonic() - started < 10
    assert signal.getsignal(signal.SIGINT) is handler


def test_shared_memory_that_killed_jobs_left_is_removed_and_no_other(tmp_path):
    shm, proc = tmp_path / "shm", tmp_path / "proc"
    (proc / "7").mkdir(parents=True)
    shm.mkdir()
    left, mapped, young, other = (
        shm / name for name in ("vader_segment.h.0.1.0", "osc_sm.h.2", "sm_segment.h.3", "somebody_elses")
    )
    for path in (left, mapped, young, other):
        path.write_bytes(b"x")
        if path != young:
            os.utime(path, (1, 1))
    (proc / "7" / "maps").write_text(f"7f00-7f01 rw-s 00000000 00:18 7   {mapped}\n7f02-7f03 r-xp 0 00:01 8\n")
    assert launch.remove_leftovers(shm, proc) == 1
    assert sorted(path.name for path in shm.iterdir()) == sorted(path.name for path in (mapped, young, other))
    assert launch.remove_leftovers(shm, tmp_path / "none") == 1  # nobody maps it any more
    assert launch.remove_leftovers(tmp_path / "none", proc) == 0
