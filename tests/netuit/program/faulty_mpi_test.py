"""Runs whole programs while MPI is late, has few tags, grants a low thread level, or truncates a message."""
import argparse
import re
import sys
import tempfile

from jobs import FAR, NEAR, crude_faults, errors_in, run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--demo")
    parser.add_argument("--shim")
    options = parser.parse_args()

    sound = run(options.mpiexec, FAR, [options.program])
    hashes = re.findall(r"hash \w+", sound.out)
    failed = sound.code != 0 or len(hashes) != 1
    print(f"without faults: {sound}" if failed else f"without faults: {hashes[0]}", flush=True)

    def judge(name, outcome, faults):
        nonlocal failed
        faults = [*crude_faults(outcome), *faults]
        print(f"{'FAILED' if faults else 'ok    '} {name}: code {outcome.code}, {outcome.seconds:.1f} s: {'; '.join(faults)}", flush=True)
        if faults:
            failed = True
            print(outcome.out, outcome.err, sep="\n", flush=True)

    def succeeds(name, environment):
        outcome = run(options.mpiexec, {**FAR, **environment}, [options.program])
        same = outcome.code == 0 and re.findall(r"hash \w+", outcome.out) == hashes
        judge(name, outcome, [] if same else ["another result"])

    def fails(name, environment, words, *num_lines):
        outcome = run(options.mpiexec, {**FAR, **environment}, [options.program])
        said = [line for line in errors_in(outcome) if re.search(words, line)]
        judge(name, outcome, [] if outcome.code not in (0, None) and len(said) in num_lines else [f"said {errors_in(outcome)}"])

    succeeds("late", {"UIT_PMPI_DELAY": 20})
    succeeds("in another order", {"UIT_PMPI_REORDER": 5})
    succeeds("few tags", {"UIT_PMPI_TAG_UB": 32767})
    fails("no tags", {"UIT_PMPI_TAG_UB": 0}, "this MPI has no tag for stream 1", 2)
    fails("low thread level", {"UIT_PMPI_THREAD_LEVEL": 1}, "MPI_THREAD_SERIALIZED is needed", 1, 2)  # the first to end may end the other
    fails("a message cut short", {"UIT_PMPI_TRUNCATE": "20:1"}, "MPI_Test failed: .*", 1)
    capped = run(options.mpiexec, {**FAR, "UIT_PMPI_MAX_REQUESTS": 40}, [options.program])
    if capped.code in (0, None) or "at the end: 0 requests pending (at most " not in capped.err:
        failed = True
        print(f"FAILED more requests than allowed: {capped}")

    if options.demo:
        with tempfile.TemporaryDirectory() as folder:
            demo = [options.demo, "--nodes-per-worker", "64", "--modes", "0,3", "--updates", "50", "--replicates", "1",
                    "--output", f"{folder}/rows.csv"]
            shim = {"LD_PRELOAD": options.shim, "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=1", "UIT_PMPI_REPORT": 1}
            for name, faults in (("late", {"UIT_PMPI_DELAY": 10}), ("in another order", {"UIT_PMPI_REORDER": 3})):
                for transport in (NEAR, FAR):
                    outcome = run(options.mpiexec, {**shim, **transport, **faults}, demo)
                    watched = len(re.findall(r"pmpi: at most \d+ requests at once", outcome.err)) == 2
                    judge(f"channel_selection, {name}", outcome, [] if outcome.code == 0 and watched else ["did not succeed"])
            outcome = run(options.mpiexec, {**shim, **FAR, "UIT_PMPI_FAIL": "MPI_Isend:20:1"}, demo)
            said = [line for line in errors_in(outcome) if "MPI_Isend failed" in line]
            judge("channel_selection, a send fails", outcome, [] if outcome.code not in (0, None) and len(said) == 1 else ["not said"])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
