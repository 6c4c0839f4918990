"""A build folder whose digital_evolution is a stand-in, which writes what the program would."""

import sys

import fake_build
from netuit.arguments import MODE_NAMES

PROGRAM = f"""#!{sys.executable}
import csv, itertools, os, pathlib, random, sys
sys.path.insert(0, {str(fake_build.HERE)!r})
import fake
MODES = {MODE_NAMES!r}
words = sys.argv[1:]
given = {{word: words[i + 1] if i + 1 < len(words) else "" for i, word in enumerate(words) if word.startswith("--")}}
with open(os.environ["STUB_LOG"], "a") as log:
    log.write(" ".join(words) + "\\n")
what = os.environ.get("STUB_FAULT", "")
if "--instructions" in given:
    print("instruction,class,has_tag,meaning\\nnop,arithmetic,0,none\\nsend,messaging,1,some\\nshare_half,sharing,0,some\\n"
          "die,apoptosis,0,some\\npromote,regulation,1,some\\nsense_self,sensing,0,some")
    sys.exit()
if "--help" in given:
    print("  --updates N\\n  --duration S\\n  --cells-per-worker N\\n")
    sys.exit()
if what == "refuse":
    print("conduit: error: --founders: more than there are places", file=sys.stderr)
    sys.exit(2)
modes = [int(mode) for mode in given.get("--modes", given.get("--mode", "3")).split(",")]
draw = random.Random(int(given.get("--seed", "1")))
side, num_rows = 12, 30
cells = side * side
record = pathlib.Path(given["--record"]) if "--record" in given else None
updates = int(given.get("--updates", "3000"))
if record:
    run = record / f"mode{{modes[0]}}-replicate0"
    run.mkdir(parents=True, exist_ok=True)
    means = dict(mean_kin_size=9, mean_genome_length=80, mean_generation=7)
    classes = "arithmetic control regulation sensing kinship sharing messaging reproduction apoptosis".split()
    counts = ("births_kin births_new births_mutated births_crowded_out births_sent births_dropped deaths_displaced_by_kin "
              "deaths_displaced_by_stranger deaths_old_age deaths_apoptosis transfers_kin transfers_strangers transferred_kin "
              "transferred_strangers packets_sent packets_dropped packets_received packets_heeded waves_begun waves_harvested "
              "resource_harvested").split() + ["use_" + name for name in classes]
    columns = ["mode", "mode_name", "replicate", "seed", "process", "thread", "elapsed_s", "updates", "places", "cells",
               "cells_of_rival", "kin_groups", "genomes", *means, "max_generation", *counts]
    lines = [",".join(columns)]
    for row in range(num_rows + 1):
        alive = cells
        if "--founders" in given:
            alive = min(cells, int(given["--founders"]) * 2 ** (row / (2 if "--ancestor" in given else 3)))
        for mode, process in ((mode, process) for mode in modes for process in range(int(os.environ["STUB_PROCESSES"]))):
            lines.append(",".join(map(str, [
                mode, "some", 0, given.get("--seed", "1"), process, 0, row / 10, updates * row // num_rows, cells, int(alive), 0,
                50 - row, 60, *(value * (1 + row / 30) for value in means.values()), 20,
                *(row * (number + 1) for number in range(len(counts)))])))
    (record / "evolution.csv").write_text("\\n".join(lines) + "\\n")
    lines = ["elapsed_s,width,property,cells"]
    for frame in range(4):
        for name in ("kin", "genome", "stockpile"):
            values = [0 if place == 5 else (place // 24 + frame) * 2654435761 % 2**32 | 1 for place in range(cells)]
            if name == "stockpile":
                values = [draw.randrange(3 << 20) if value else 0 for value in values]
            lines.append(f"{{frame}},{{side}},{{name}}," + "".join(f"{{value:08x}}" for value in values))
    (run / "frames.csv").write_text("\\n".join(lines) + "\\n")
    (run / "dominant.genome").write_text("# some\\nmodule @born   # begins\\n  set r1 2048\\n  send r0 a5e313df # sends\\n  promote r1 00\\n  nop\\n")
    for mode in modes:
        (record / f"mode{{mode}}-replicate0").mkdir(exist_ok=True)
        (record / f"mode{{mode}}-replicate0" / "kin_groups.csv").write_text("kin_group,cells,mean_estimate\\n0a,30,24\\n0b,10,11\\n")
    (run / "instructions.csv").write_text("instruction,class,executed\\nnop,computing,25\\nsend,messaging,75\\n")
    (run / "lineage.csv").write_text("depth,id\\n0,0\\n")
    (run / "phylogeny.csv").write_text("id,ancestor_list,origin_time,destruction_time,taxon_label\\n0,[none],0,inf,a\\n")
def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
if "--quality" in given:
    import fake_results, numpy
    rows = []
    for layer, snapshot, scope, process in itertools.product(range(5), range(3), ("worker", "pair"), range(2)):
        row = fake_results.quality_row(numpy.random.default_rng(1), modes[0], snapshot, scope, process, 1 - process, "shared_memory")
        row |= {{"layer": layer, "simstep_latency_updates": 10 + layer + snapshot, "wall_latency_s": 1e-3 * (1 + layer + snapshot)}}
        if layer == 1 and snapshot > 0:
            row |= {{"touches": 0}}
        if layer == 2:
            row |= {{"attempted": 0, "accepted": 0, "dropped": 0}}
        if layer == 3 and snapshot == 0:
            row |= {{"dropped": 1300}}
        rows.append(row)
    write(given["--quality"], rows)
rival = cells / 2 if "--ignore-genomes" in given else cells * 0.85 + draw.random() * 4 - 2
rows = []
processes, threads = int(os.environ["STUB_PROCESSES"]), int(given.get("--threads", "1"))
for one in modes:
    for worker in range(processes * threads):
        row = fake.make_row(processes=processes, threads=threads, mode=one, mode_name=MODES[one], process=worker // threads,
                            thread=worker % threads, updates=updates, updates_per_second=1000.0 + 100 * one,
                            oversubscribed=int(processes * threads > 2))
        row = {{name: value for name, value in row.items() if "conflict" not in name}}
        rows.append(row | dict(cells=cells, cells_of_rival=int(rival), births=99, resource_exact=1, mean_generation=3.0))
write(given["--output"], rows)
print(f"mode {{modes[0]}} some, run 1 of 1: 99 updates/s and worker, {{cells}} cells, resource exact", file=sys.stderr)
"""


def make(folder, monkeypatch):
    """Makes the build in a folder, and gives it; the program's command lines are noted in folder/log."""
    build = fake_build.make(folder, monkeypatch)
    program = build / "demos" / "digital_evolution"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return build
