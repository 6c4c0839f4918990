"""A build folder whose launcher and program are stand-ins that say what STUB_FAULT tells them to."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent

LAUNCHER = """#!/bin/sh
if [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1.4"; exit; fi
shift; export STUB_PROCESSES="$1"; shift
while [ "${1#/}" = "$1" ]; do shift; done
exec "$@"
"""

PROGRAM = f"""#!{sys.executable}
import csv, json, os, pathlib, sys, time
sys.path.insert(0, {str(HERE)!r})
import fake
words = sys.argv[1:]
options = ["threads", "modes", "duration", "replicates", "seed", "output", "progress", "work", "updates", "graph",
           "nodes-per-worker"]
if "--help" in words:
    known = options + (["quality", "snapshot-interval", "snapshot-length"] if os.environ.get("STUB_QUALITY") else [])
    print("\\n".join(f"  --{{name}} TEXT" for name in known))
    sys.exit()
given = {{word: words[i + 1] if i + 1 < len(words) else "" for i, word in enumerate(words) if word.startswith("--")}}
assert os.environ.get("STUB_QUALITY") or "--quality" not in given
what = os.environ.get("STUB_FAULT", "")
is_probe = "--updates" in given
processes = 1 if what == "other MPI" else int(os.environ["STUB_PROCESSES"])
threads = int(given.get("--threads", "1"))
apart = " without shared memory" if os.environ.get("UIT_SHARED_MEMORY") == "0" else ""
with open(os.environ["STUB_LOG"], "a") as log:
    log.write(("probe" if is_probe else f"{{processes}}x{{threads}} seed {{given['--seed']}}" + apart) + "\\n")
if not is_probe:
    if what == "refuse":
        print("conduit: error: graph:3: label with a blank", file=sys.stderr)
        sys.exit(2)
    if what == "crash" or (what == "crash on 2x1" and processes == 2):
        print("something bad", file=sys.stderr)
        os.abort()
rows, quality = [], []
output = pathlib.Path(given["--output"])
for mode in map(int, given["--modes"].split(",")):
    print(f"progress: mode {{mode}} x, run 1 of 1, 0.1 s, 5 updates/s", file=sys.stderr)
    for process in range(processes):
        for thread in range(threads):
            rows.append(fake.make_row(
                processes=processes, threads=threads, mode=mode, mode_name=fake.MODES[mode], process=process, thread=thread,
                seed=int(given.get("--seed", "1")), oversubscribed=int(processes * threads > 2),
                updates_per_second=1000.0 * (1 + (mode == 3)) + int(given.get("--seed", "1")),
                stopped_by="signal" if what == "cut short" and not is_probe else "clock",
                **({{"stepped": 59}} if what == "lose one" and mode == 3 else {{}})))
            quality.append(dict(mode=mode, mode_name=fake.MODES[mode], replicate=0, seed=1, snapshot=0, scope="worker",
                                process=process, thread=thread, simstep_period_s=1e-5, clumpiness=0.5,
                                failure_rate=0.25, wall_latency_s=""))
    if what == "hang" and int(given.get("--seed", "1")) == 2:
        rows = [{{**row, "stopped_by": "signal"}} for row in rows]


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if what == "short file":
    rows = rows[:-1] or rows
write(output, rows)
if "--quality" in given:
    write(given["--quality"], quality)
host = dict(host=0, hostname="node-" + given.get("--seed", "1"), processor="some", cores=4, cpus_allowed=2, memory_bytes=1 << 33,
            interconnect="none", first_process=0, num_processes=processes)
if not is_probe:
    write(output.with_suffix(".hosts.csv"), [host] + ([dict(host, host=1, hostname="other", first_process=1)] if processes > 1 else []))
output.with_suffix(".json").write_text(json.dumps(dict(program="channel_selection", commit="0123456789ab", compile_flags="-O3", command_line=words)))
if what == "hang" and not is_probe and given["--seed"] == "2":
    print("hanging", file=sys.stderr, flush=True)
    pathlib.Path(os.environ["STUB_LOG"]).with_name("hanging").touch()
    time.sleep(60)
"""


def make(folder, monkeypatch):
    """Makes the build in a folder, and gives it; what it does is noted in folder/log, a line a start."""
    build = folder / "build"
    program = build / "demos" / "channel_selection"
    program.parent.mkdir(parents=True)
    for path, text in ((build / "mpirun", LAUNCHER), (program, PROGRAM)):
        path.write_text(text)
        path.chmod(0o755)
    (build / "CMakeCache.txt").write_text(f"MPIEXEC_EXECUTABLE:FILEPATH={build / 'mpirun'}\n")
    for name in ("STUB_FAULT", "STUB_QUALITY", "UIT_BUILD", "SLURM_JOB_ID", "UIT_SHARED_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STUB_LOG", str(folder / "log"))
    return build


def starts(folder):
    """What the program was started as, but for looks at it."""
    log = folder / "log"
    return [line for line in log.read_text().splitlines() if line != "probe"] if log.exists() else []
