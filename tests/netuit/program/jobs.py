"""Runs jobs of two processes that may hang, and leaves no process behind."""
import collections
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import uuid

from processes import marked
from reports import SANITIZER_REPORT

LIMIT = 30  # seconds; a job may take fifteen, and more on a busy machine
NEAR = {"UIT_SHARED_MEMORY": "1"}
FAR = {"UIT_SHARED_MEMORY": "0"}

# Lines that the shim always prints.
HANDLES_LEFT = (
    r"at the end: 0 requests pending \(at most \d+\), 0 sends and 0 receives modified, 0 sends cancelled, 0 calls overlapped, "
    r"0 from another thread, 0 waited where none may \(first none\), \d+ handles not given back"
)

# Descriptions of launcher failures, after which the job was run again. Launchers sometimes fail by themselves, but not often.
launcher_troubles = []
MOST_TROUBLES = 3

# `code` is None if the job did not end in time; `running` are its processes at that time. `left` are processes that it left
# behind. `own` is the stderr of the processes, and `err` also has that of the launcher. `before` is the outcome of the same
# job when its launcher failed.
Outcome = collections.namedtuple("Outcome", "code out err seconds running left own before", defaults=(None,))


def run(mpiexec, environment, *programs, most_troubles=MOST_TROUBLES):
    """Runs a program on both of two processes, or one program on each.

    A program is a list with its arguments; so may mpiexec be. If the launcher fails, according to its messages or because it
    does not end after its processes, runs the job once more for its exit code. The first outcome stays in `before`, and is
    judged as well. Raises RuntimeError if launchers have failed more than `most_troubles` times.
    """
    outcome = run_once(mpiexec, environment, *programs)
    if trouble := trouble_of_launcher(outcome):
        launcher_troubles.append(trouble)
        print(f"EXCUSED: once more for the exit code, since the launcher {trouble}", outcome.err.strip(), sep="\n", flush=True)
        if len(launcher_troubles) > most_troubles:
            raise RuntimeError(f"the launcher failed again and again: {launcher_troubles}")
        outcome = run_once(mpiexec, environment, *programs)._replace(before=outcome)
    return outcome


def trouble_of_launcher(outcome):
    """Returns how the launcher failed, in words, or nothing."""
    if "PMIx_server_finalize" in outcome.err and "PMIx_server_finalize" not in outcome.own:
        return "crashed at the end"
    if outcome.code is None and not outcome.running:
        return f"did not end in {LIMIT} s, though its processes had"
    return None


def run_once(mpiexec, environment, *programs):
    with tempfile.TemporaryDirectory(prefix="conduit-job-") as folder:
        # Launchers lose the last output of a process, so each process writes to its own file.
        own_errors = ["sh", "-c", 'exec "$@" 2>"$0.$$"', f"{folder}/stderr"]
        mark = f"UIT_PMPI_RUN={uuid.uuid4()}"
        command = [mpiexec] if isinstance(mpiexec, str) else list(mpiexec)
        for number, program in enumerate(programs):
            command += [":"] if number else []
            variables = (f"{name}={value}" for name, value in environment.items())
            # The variables are set inside a shell, so that the preloaded library is in the program alone.
            command += ["-n", str(2 // len(programs)), *own_errors, "env", mark, *variables, *program]
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True)
        running = []
        try:
            out, err = process.communicate(timeout=LIMIT)
            code = process.returncode
        except subprocess.TimeoutExpired:
            code = None
            running = marked(mark.encode())
            kill([*running, process.pid])
            out, err = process.communicate()
        seconds = time.monotonic() - begin
        for _ in range(100):
            left = marked(mark.encode())
            if not left:
                break
            time.sleep(0.05)
        kill(left)
        own = "".join(path.read_text(errors="replace") for path in sorted(pathlib.Path(folder).glob("stderr.*")))
    return Outcome(code, out, err + own, seconds, running, left, own)


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def errors_in(outcome):
    """Returns the lines that report an error."""
    return re.findall(r"conduit: error: (.*)", outcome.err)


def crude_faults(outcome):
    """Returns what must not happen, however a job ends, and what MPI must not print if a job ends well; in words."""
    if outcome.code is None:
        yield f"did not end in {LIMIT} s; of its processes these still ran: {outcome.running}"
    if outcome.left:
        yield f"left processes: {outcome.left}"
    trouble = SANITIZER_REPORT + r"|Segmentation|terminate called|at the end: "
    for err in (outcome.err, outcome.before.own if outcome.before else ""):
        if outcome.code != 0:  # a process that throws does not free handles, because that would wait for the others
            err = re.sub(HANDLES_LEFT, "", err)
        if re.search(trouble, err):
            yield "something else went wrong"
    if outcome.code == 0 and re.search(r"UCX +WARN", outcome.out + outcome.err):
        yield "left something under way, says MPI"
    if outcome.before and outcome.before.left:
        yield f"left processes when the launcher failed: {outcome.before.left}"
