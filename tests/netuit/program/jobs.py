"""Runs jobs of two processes that may hang, and leaves none of their processes behind."""
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

LIMIT = 30  # seconds; more than the fifteen that a job may take, for a machine that does much else
NEAR = {"UIT_SHARED_MEMORY": "1"}
FAR = {"UIT_SHARED_MEMORY": "0"}

# What the shim says when nothing else is amiss.
HANDLES_LEFT = (
    r"at the end: 0 requests pending \(at most \d+\), 0 sends and 0 receives modified, 0 sends cancelled, 0 calls overlapped, "
    r"0 from another thread, 0 waited where none may \(first none\), \d+ handles not given back"
)

# How the launcher failed in jobs that were therefore run again.
launcher_troubles = []

# `code` is None if it did not end in time, with the processes `running` then; `left` are those that it left. `own` is what the
# processes have said on stderr, which `err` has as well. `before` is the outcome of the same job whose launcher failed.
Outcome = collections.namedtuple("Outcome", "code out err seconds running left own before", defaults=(None,))


def run(mpiexec, environment, *programs):
    """Runs a program on both of two processes, or one on each; a program is a list with its arguments, and so may mpiexec be.

    If the launcher fails, by its own words or by not ending after its processes have, runs the job once more for its exit code.
    What the processes did the first time stays in `before`, and is judged as well."""
    outcome = run_once(mpiexec, environment, *programs)
    if trouble := trouble_of_launcher(outcome):
        launcher_troubles.append(trouble)
        print(f"once more for the exit code, since the launcher {trouble}: {outcome.err.strip()}", flush=True)
        outcome = run_once(mpiexec, environment, *programs)._replace(before=outcome)
    return outcome


def trouble_of_launcher(outcome):
    """How the launcher failed, if it did, in words."""
    if "PMIx_server_finalize" in outcome.err and "PMIx_server_finalize" not in outcome.own:
        return "crashed at the end"
    if outcome.code is None and not outcome.running:
        return f"did not end in {LIMIT} s, though its processes had"
    return None


def run_once(mpiexec, environment, *programs):
    with tempfile.TemporaryDirectory(prefix="conduit-job-") as folder:
        # Launchers lose what is said just before the end, so each process has a file of its own.
        own_errors = ["sh", "-c", 'exec "$@" 2>"$0.$$"', f"{folder}/stderr"]
        mark = f"UIT_PMPI_RUN={uuid.uuid4()}"
        command = [mpiexec] if isinstance(mpiexec, str) else list(mpiexec)
        for number, program in enumerate(programs):
            command += [":"] if number else []
            variables = (f"{name}={value}" for name, value in environment.items())
            # The shell goes first: a library that the variables preload is for the program alone.
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
    """The lines that say what is wrong."""
    return re.findall(r"conduit: error: (.*)", outcome.err)


def crude_faults(outcome):
    """What may not be, however a job ends, and what MPI must not say of one that ends well; in words."""
    if outcome.code is None:
        yield f"did not end in {LIMIT} s; of its processes these still ran: {outcome.running}"
    if outcome.left:
        yield f"left processes: {outcome.left}"
    trouble = SANITIZER_REPORT + r"|Segmentation|terminate called|at the end: "
    for err in (outcome.err, outcome.before.own if outcome.before else ""):
        if outcome.code != 0:  # who throws keeps handles, since to give them back would wait for the others
            err = re.sub(HANDLES_LEFT, "", err)
        if re.search(trouble, err):
            yield "something else went wrong"
    if outcome.code == 0 and re.search(r"UCX +WARN", outcome.out + outcome.err):
        yield "left something under way, says MPI"
    if outcome.before and outcome.before.left:
        yield f"left processes when the launcher failed: {outcome.before.left}"
