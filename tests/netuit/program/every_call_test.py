"""Makes every MPI function that the library and the demos call fail once, on one of two processes.

Each job must end soon, with an exit code other than 0, one line `conduit: error: <what>` of the process where the call
failed, no report of a sanitizer, and no process left. If the failure does no harm, the run must have the same result.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import sys

from jobs import FAR, NEAR, crude_faults, errors_in, launcher_troubles, run

# Functions that only processes with shared memory call.
SHARED = {f"MPI_{name}" for name in ("Allgather", "Comm_dup", "Iallreduce", "Info_create", "Info_set", "Info_free", "Win_allocate_shared",
          "Win_lock_all", "Win_set_errhandler", "Win_shared_query", "Win_unlock_all", "Win_free")}
# Only a simulated build calls these; the program can call them, too.
SIMULATED = {"MPI_Alltoall", "MPI_Wait"}
# Only the MPI baselines of demos call these, and the program on request.
BASELINES = {"MPI_Get", "MPI_Ialltoall", "MPI_Ialltoallv", "MPI_Put", "MPI_Win_allocate", "MPI_Win_flush_all", "MPI_Win_sync"}
# What the program does on request, to call a function.
WHAT = {**dict.fromkeys(SIMULATED, "simulated"), **dict.fromkeys(BASELINES, "baselines")}
# Processes that go on without others call these, too, and the program on request.
SURVIVORS = ("MPI_Get_count", "MPI_Iprobe", "MPI_Irecv", "MPI_Isend")
# If one process cannot have a window, all use MPI instead.
HARMLESS = {f"MPI_{name}" for name in ("Info_create", "Info_set", "Info_free", "Win_lock_all", "Win_set_errhandler",
            "Win_shared_query")}
# After a failure of these, nothing may be left at the end.
STRICT = HARMLESS - {"MPI_Info_free"}
# These are called only after another failure.
AFTER = {"MPI_Error_class": "MPI_Isend", "MPI_Error_string": "MPI_Get_library_version", "MPI_Abort": "MPI_Get_library_version"}
# Later calls of frequent functions, in other parts of the program.
LATER = {"MPI_Test": (20, 200, 600), "MPI_Isend": (5, 40), "MPI_Irecv": (30, 80), "MPI_Ialltoall": (4,), "MPI_Ialltoallv": (3,),
         "MPI_Iallgather": (2,), "MPI_Iallgatherv": (2,), "MPI_Ibcast": (2, 4), "MPI_Issend": (2, 4), "MPI_Iprobe": (4,),
         "MPI_Comm_dup": (2,), "MPI_Comm_idup": (2,), "MPI_Ibarrier": (2, 4), "MPI_Comm_free": (2, 4), "MPI_Comm_get_attr": (2,), "MPI_Cancel": (30,)}

Case = collections.namedtuple("Case", "call n what rank")


def calls_in_sources(source):
    calls = set()
    for folder in ("include", "demos"):
        for file in (source / folder).rglob("*.[hc]pp"):
            calls |= set(re.findall(r"\bMPI_[A-Z]\w+(?=\()", file.read_text()))
    return calls


def calls_of_shim(source):
    table = (source / "tests/support/pmpi/calls.def").read_text()
    return {f"MPI_{name}" for name in re.findall(r"^UIT_PMPI_(?:WAITING_)?CALL\((\w+)\)", table, re.MULTILINE)}


def judge(case, hashes, outcome):
    """Returns what is wrong with the end of a job, in words."""
    yield from crude_faults(outcome)
    for each in filter(None, (outcome, outcome.before)):
        yield from judge_words(case, hashes, each)
    if case.call in HARMLESS:
        if outcome.code != 0:
            yield f"was not harmless: code {outcome.code}"
    elif outcome.code == 0:
        yield "ended with code 0"


def judge_words(case, hashes, outcome):
    """Returns what is wrong with the messages of its processes, whatever its launcher did."""
    said = errors_in(outcome)
    named = AFTER.get(case.call, case.call)
    if f"pmpi: {case.call} fails on purpose" not in outcome.err:
        yield "was not called so often"
    if case.call in HARMLESS:
        if said or re.findall(r"hash \w+", outcome.out) != hashes:
            yield f"was not harmless: {said}, {outcome.out}"
        return
    lines = [line for line in said if f"{named} failed" in line]
    agreed = len(lines) == 2 and lines[0] == lines[1] and f"rank {case.rank} cannot open its links" in lines[0]
    if len(lines) != 1 and not agreed:  # if one process cannot open a link, all throw
        yield f"was not said once: {said}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", help="the functions that match this")
    options = parser.parse_args()

    calls = calls_in_sources(options.source)
    shim = calls_of_shim(options.source)
    if calls != shim:
        sys.exit(f"not in calls.def: {sorted(calls - shim)}; in it and not called: {sorted(shim - calls)}")
    failures = [(call, 1, WHAT.get(call)) for call in sorted(calls)]
    failures += [(call, n, WHAT.get(call)) for call, ns in LATER.items() for n in ns]
    failures += [(call, n, "survivors") for call in SURVIVORS for n in (1, 2)]
    cases = [Case(*failure, index % 2) for index, failure in enumerate(failures)]
    if os.environ.get("UIT_NIGHTLY", "0") not in ("", "0"):
        cases += [case._replace(rank=1 - case.rank) for case in cases]
    if options.only:
        cases = [case for case in cases if re.search(options.only, case.call)]

    sound = run(options.mpiexec, NEAR, [options.program])
    hashes = re.findall(r"hash \w+", sound.out)
    if sound.code != 0 or len(hashes) != 1:
        sys.exit(f"without faults: {sound}")

    def try_case(case):
        failure = f"{case.call}:{case.n}:{case.rank}"
        if case.call in AFTER:
            failure += f",{AFTER[case.call]}:1:{case.rank}"
        environment = {**(NEAR if case.call in SHARED else FAR), "UIT_PMPI_FAIL": failure}
        if case.call in STRICT:
            environment["UIT_PMPI_STRICT"] = "1"
        return run(options.mpiexec, environment, [options.program, *filter(None, [case.what])], most_troubles=len(cases) // 10)

    failed = set()
    longest = num_strict = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for case, outcome in zip(cases, pool.map(try_case, cases)):
            faults = list(judge(case, hashes, outcome))
            longest = max(longest, outcome.seconds)
            num_strict += case.call in STRICT and not faults
            print(f"{'FAILED' if faults else 'ok    '} {case.call} {case.n} on rank {case.rank}: code {outcome.code}, "
                  f"{outcome.seconds:.1f} s: {'; '.join(faults)}", flush=True)
            if faults:
                failed.add(case.call)
                print(outcome.out, outcome.err, sep="\n", flush=True)
    again = f"; {len(launcher_troubles)} of {len(cases)} jobs again for their exit code, since the launcher had failed" if launcher_troubles else ""
    print(f"{len(cases)} failures, the longest job took {longest:.1f} s{again}")
    if not options.only:
        print(f"goal R14: {len(calls - failed)} of {len(calls)} MPI functions failed once: clear error, no hang; nothing of MPI's "
              f"left in the {num_strict} jobs that go on{again}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
