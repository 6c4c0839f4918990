"""What stands in each file of results: column or member, kind, unit, meaning.

`python -m conduit_tools.schema [TABLE…]` prints it as tables.
"""

from __future__ import annotations

import dataclasses
import sys


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a CSV file, or one member of a manifest."""

    name: str  #: of a member within another, `outer.inner`; where outer is a list, of each of its objects
    kind: str  #: count, id, real, text, flag, list, object; an id or a real may be empty (in JSON null), a count may not
    unit: str
    meaning: str


@dataclasses.dataclass(frozen=True)
class Table:
    """One kind of file. A file is told by `marks`: columns that no other kind has."""

    name: str
    file: str
    about: str
    marks: tuple[str, ...]
    columns: tuple[Column, ...]
    required: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        """The column of that name, if the table has it."""
        return next((column for column in self.columns if column.name == name), None)


def _columns(text: str) -> tuple[Column, ...]:
    """Columns from lines `name | kind | unit | meaning`."""
    rows = (line.split("|") for line in text.splitlines() if line.strip())
    return tuple(Column(*(cell.strip() for cell in row)) for row in rows)


SWEEP_COLUMNS = _columns("""
sweep     | text | - | name of the sweep that made the row; added by tools/experiment, as the next six
case      | text | - | name of the case in the sweep
build     | text | - | commit, if known, and a digest of program, MPI, launcher and machine; rows of two builds are never in one file
launcher  | text | - | what started the processes: local, hosts, slurm, simulated
key       | text | - | folder of the launch under runs/
cpus      | count | - | CPUs that the workers of the launch shared, over all its hosts
others_cpus | real | - | CPUs that other work of this machine took meanwhile, on average; empty where it cannot be told
""")

_OF_WORKERS = """
graph      | text  | - | file of the graph, or torus
nodes      | count | - | nodes of the graph
edges      | count | - | directed edges of the graph; an undirected one is two
processes  | count | - | processes of the run
threads    | count | - | worker threads of each process
mode       | count | - | asynchronicity mode, 0 to 4
mode_name  | text  | - | every_update, rolling, fixed, no_barrier, no_communication
replicate  | count | - | number of the replicate, from 0
seed       | count | - | seed of the replicate
placement  | text  | - | how nodes were placed: metis, contiguous, round_robin, random, or a file
addressing | text  | - | multicast (a value per node) or edge (a conduit per edge)
period_s   | real  | s | period of the mode's barriers; 0 where it has none
process    | count | - | process of this worker
thread     | count | - | thread of this worker in its process
num_nodes  | count | - | nodes of this worker
updates    | count | - | updates of all its nodes that this worker made
elapsed_s  | real  | s | from the worker's first update to its last
updates_per_second | real | 1/s | updates / elapsed_s
barriers   | count | - | barriers that this worker passed
attempted  | count | messages | puts tried; attempted = accepted + dropped
accepted   | count | messages | puts taken
dropped    | count | messages | puts refused, for want of room
muted      | count | messages | puts not tried, for the mode allows none
stepped    | count | messages | messages read one after the other; accepted = stepped + skipped + preempted + folded + unread
skipped    | count | messages | messages jumped over for a newer one
preempted  | count | messages | messages replaced by a newer one on the way
folded     | count | messages | messages added up with others
unread     | count | messages | messages not read when the run ended
in_flight  | count | messages | messages not accounted for, over the whole run; 0 after a drain, and of no meaning where a process was lost
balanced   | flag  | - | whether both equations hold, over the whole run
"""
_OF_PROGRAMS = """
oversubscribed | flag | - | whether some host had more workers than CPUs: rates compare modes, and are no measure of speed-up
stopped_by | text  | - | clock, count, signal, thrown or peer_lost; whole runs are those of clock and count
mpi_library | text | - | the MPI library's own name and version
compiler   | text  | - | compiler and version
version    | text  | - | version of Conduit
"""

ROWS = Table(
    "rows",
    "rows.csv",
    "One row a mode, replicate and worker. Counts of messages are those of channels that leave their thread.",
    ("updates_per_second", "conflict_edges_total"),
    _columns(
        f"""{_OF_WORKERS}
conflicts  | count | pairs | adjacent nodes of one colour at the end, each pair once, over the whole graph
conflict_edges_total | count | pairs | adjacent nodes, each pair once
nodes_in_conflict | count | nodes | nodes with a neighbour of their colour
{_OF_PROGRAMS}"""
    )
    + SWEEP_COLUMNS,
)

EVOLUTION_ROWS = Table(
    "evolution_rows",
    "rows.csv",
    "Rows of digital_evolution: one a mode, replicate and worker. What is of the whole world stands in each.",
    ("updates_per_second", "cells_of_rival"),
    _columns(
        f"""{_OF_WORKERS}
cells      | count | cells | places that are not empty at the end, in the whole world
cells_of_rival | count | cells | those that descend from the rival of --rival
births     | count | - | births in the whole world
mean_generation | real | births | births since the founder, mean over cells
mean_genome_length | real | instructions | length of genomes, mean over cells
resource_exact | flag | - | whether all resource is accounted for, to the last unit
state_hash | text | - | hash of the whole world, hexadecimal: the same for the same world on any workers
{_OF_PROGRAMS}"""
    )
    + SWEEP_COLUMNS,
)

EVIDENCE = Table(
    "evidence",
    "evidence.csv",
    "What tools/evidence measured: one row an experiment, case, seed and measure.",
    ("experiment", "measure"),
    _columns("""
experiment | text  | - | evolution, competition, knock-out, filling (of an empty world), modes (of two processes), modes alone (of one)
case       | text  | - | harvest, what evolved, class of instructions, or mode
seed       | count | - | seed of the world in which cells evolved
measure    | text  | - | share: of the rival's cells at the end; advantage: growth of ln of the odds per 1000 updates; doubling_time in updates; kin_cells: of a cell's kin group at the end; others as evolution_records.outcomes has them, rates for each 1000 updates and cell
value      | real  | - | the measure; empty where it could not be had
"""),
)

QUALITY = Table(
    "quality",
    "quality.csv",
    "Quality of service: one row a snapshot and worker, or pair of workers; and one a channel, over each whole run, where that was asked for. Counts are differences over the "
    "snapshot, as seen by the worker (process, thread).",
    ("simstep_period_s", "clumpiness"),
    _columns("""
mode       | count | - | asynchronicity mode, 0 to 4
mode_name  | text  | - | its name
replicate  | count | - | number of the replicate
seed       | count | - | its seed
snapshot   | id    | - | number of the snapshot, from 0; empty (in the file: run) for scope channel, which is over a whole run
scope      | text  | - | worker (with all its peers of a transport), pair (with one other worker), channel (that the worker reads)
layer      | count | - | layer of the graph that the channels belong to, from 0
transport  | text  | - | thread, shared_memory or mpi
process    | count | - | process of the worker
thread     | count | - | its thread
peer_process | id  | - | process of the other worker; empty for scope worker
peer_thread  | id  | - | its thread
source     | id    | - | node where a channel begins; scope channel only
target     | id    | - | node where it ends; empty where all nodes of a worker hear one channel
begin_s    | real  | s | beginning of the snapshot, since the run began
end_s      | real  | s | its end
updates    | count | - | updates in the snapshot
channels_out | count | - | channels that the worker sends on
channels_in  | count | - | channels that it receives on
attempted  | count | messages | puts tried
accepted   | count | messages | puts taken
dropped    | count | messages | puts refused
preempted  | count | messages | messages of this worker that a newer one replaced on the way
received   | count | messages | stepped + skipped + folded
stepped    | count | messages | messages read
skipped    | count | messages | messages jumped over
folded     | count | messages | messages added up with others, in layers of sums
unread     | count | messages | messages that had arrived and were not read when a run ended; in rows of scope channel, as snapshots end before
pulls      | count | - | times the worker looked for messages
laden      | count | - | those that found any
touches    | count | - | growth of the touch counters: a round trip adds 2
simstep_period_s | real | s | wall time / updates
simstep_latency_updates | real | updates | updates x peers / touches, one way; the snapshot's own length where no round trip ended in it
wall_latency_s | real | s | simstep latency x simstep period
failure_rate | real | - | dropped / attempted
clumpiness | real  | - | 1 - laden / min(received, pulls)
skip_rate  | real  | - | (skipped + preempted) / (received + preempted); preempted are the worker's own messages, and count where a layer of latest values has conduits of edges
touch_count | count | messages | answers whose touch was stamped: what wall_latency_s means, each by itself
touch_mean_s | real | s | from when the other read what this worker had sent to when this worker read the answer, mean
touch_p50_s | real  | s | its median
touch_p90_s | real  | s | its 90 % quantile
touch_p99_s | real  | s | its 99 % quantile
touch_max_s | real  | s | the greatest
age_count  | count | messages | messages whose age was known, by stamps; 0 between hosts
age_mean_s | real  | s | mean age: from the beginning of the update that sent to the beginning of the one that reads
age_p50_s  | real  | s | its median
age_p90_s  | real  | s | its 90 % quantile
age_p99_s  | real  | s | its 99 % quantile
age_max_s  | real  | s | the greatest
transit_p50_s | real | s | median time from departure to the beginning of the update that reads
transit_p99_s | real | s | its 99 % quantile
""")
    + SWEEP_COLUMNS
    + _columns("""
processes  | count | - | processes of the run; added by tools/experiment, as the next two
threads    | count | - | worker threads of each process
oversubscribed | flag | - | as in rows.csv
"""),
)

FRAMES = Table(
    "frames",
    "frames.csv",
    "Colours over time, each worker by its own clock.",
    ("colors", "elapsed_s"),
    _columns("""
mode       | count | - | asynchronicity mode
replicate  | count | - | number of the replicate
elapsed_s  | real  | s | since the run began
colors     | text  | - | a character for each node, in order of the graph: 0-9a-zA-Z
conflicts  | count | pairs | adjacent nodes of one colour
"""),
)

COLORS = Table(
    "colors",
    "colors.csv",
    "Each node at the end of a run.",
    ("in_conflict", "label"),
    _columns("""
mode       | count | - | asynchronicity mode
replicate  | count | - | number of the replicate
node       | count | - | number of the node, from 0, in order of the graph's file
label      | text  | - | its name in that file
color      | count | - | its colour, from 0
process    | count | - | process of its worker
thread     | count | - | thread of its worker
in_conflict | flag | - | whether a neighbour is of its colour
"""),
)

HOSTS = Table(
    "hosts",
    "hosts.csv, rows.hosts.csv",
    "One row a host: hosts.csv in a sweep's folder has each host that one of its launches was on, rows.hosts.csv those of one launch.",
    ("hostname", "cpus_allowed"),
    _columns("""
host       | count | - | number of the host, from 0
hostname   | text  | - | its name
processor  | text  | - | model of its processor
cores      | count | - | its cores
cpus_allowed | count | - | CPUs that the program may use
memory_bytes | count | B | its memory
interconnect | text | - | what joins it to others
first_process | count | - | first process on it; of one launch
num_processes | count | - | how many are on it; of one launch
launches   | count | - | launches that were on it; of a sweep
"""),
)

MANIFEST = Table(
    "manifest",
    "rows.json",
    "What was run, where and how: one object a launch.",
    ("command_line", "program"),
    _columns("""
program    | text  | - | name of the program
version    | text  | - | version of Conduit
commit     | text  | - | newest commit that changed a source of the program, 12 digits; ends in -dirty if there were changes that were not committed; empty if not known
command_line | list | - | its command line
seed       | count | - | seed of the first replicate
compiler   | text  | - | compiler and version
build_type | text  | - | CMake's build type
compile_flags | text | - | compiler's flags
mpi_library | text | - | MPI library and version
processes  | count | - | processes
threads    | count | - | worker threads of each
nodes      | count | - | nodes of the graph
edges      | count | - | its directed edges
graph      | text  | - | its file, or torus
placement  | text  | - | how nodes were placed
addressing | text  | - | multicast or edge
modes      | list  | - | asynchronicity modes
replicates | count | - | replicates of each
oversubscribed | flag | - | whether some host had more workers than CPUs
simulated  | flag  | - | whether time was that of a simulated cluster
started    | text  | - | when, UTC, ISO 8601
complete   | flag  | - | false while it runs, and if it was cut short
stopped_by | text  | - | what ended it
lost_processes | list | - | processes that ended or fell silent on the way; then each of the others writes X.rankN.csv and X.rankN.json, and its quality of service likewise
"""),
)

_OF_BUILD = """
build      | text  | - | commit, if known, and a digest of program, MPI, launcher and machine; results of two builds are never put together
sha256     | text  | - | digest of the program
version    | text  | - | version of Conduit
commit     | text  | - | newest commit that changed a source of the program, 12 digits; ends in -dirty if there were changes that were not committed; empty if not known
compiler   | text  | - | compiler and version
build_type | text  | - | CMake's build type
compile_flags | text | - | compiler's flags
mpi_library | text | - | MPI library and version
"""

SWEEP_MANIFEST = Table(
    "sweep_manifest",
    "manifest.json",
    "What tools/experiment ran: one object a sweep. What a build does not tell of itself is absent.",
    ("num_launches", "cases"),
    _columns("""
sweep      | text  | - | name of the sweep
title      | text  | - | what it shows, in a line
program    | text  | - | name of the program
launcher   | text  | - | what started it and its version, as far as results depend on them
machine    | text  | - | processor, and CPUs that may be used
""" + _OF_BUILD + """
cases      | list  | - | the cases as they were to be run, an object each
cases.name | text  | - | its name, which is in column case of rows.csv
cases.about | text | - | what it shows, in a line
cases.launcher | text | - | what started the processes: local, hosts, slurm, simulated
cases.seconds | real | s | length of each run
cases.replicates | count | - | runs of each layout and mode
cases.snapshot | real | s | from the beginning of one snapshot of the quality of service to the next; 0: none
cases.straggler | real | - | so many times the nodes of others has the last worker
cases.shared_memory | flag | - | false: processes of this machine talk through MPI, as those of two do
cases.workers | list | - | layouts, processes x threads
cases.modes | list | - | asynchronicity modes
cases.options | object | - | options of the program
cases.cluster | object | - | settings of the simulated cluster, by options of tools/simulate; what is not set is as there
quick      | flag  | - | whether it was the sweep's own short form
command_line | list | - | of tools/experiment
started    | text  | - | when it was started last, UTC, ISO 8601
ended      | text  | - | when this was written
complete   | flag  | - | false while it runs, and if it was cut short or launches failed
num_launches | count | - | launches that are possible here
num_done   | count | - | of them, those whose results are there
failed     | list  | - | launches that failed, and why
left_out   | object | - | what could not be run here, and why
"""),
)

_OF_CLUSTER = """
cluster    | object | - | the simulated cluster
cluster.hosts | count | - | hosts, each with one core and one process
cluster.network | object | - | what joins hosts, and how fast they are
cluster.network.name | text | - | its name
cluster.network.latency | real | s | one way from host to host
cluster.network.bandwidth | real | bytes/s | of a host's link, each way
cluster.network.send | real | s | what the sender's processor spends on a frame
cluster.network.receive | real | s | likewise the receiver's
cluster.network.test | real | s | of asking MPI whether a request is done
cluster.network.speed | real | - | of a host, relative to the one that costs were measured on
cluster.network.about | text | - | what it stands for, and what is assumed
cluster.noise | object | - | what makes hosts unequal, and a host now and then slow
cluster.noise.name | text | - | its name
cluster.noise.spread | real | - | standard deviation of hosts' speeds, as a share of the mean
cluster.noise.interval | real | s | mean time from one slow spell of a host to the next; 0: there are none
cluster.noise.length | real | s | median length of a spell
cluster.noise.sigma | real | - | of the logarithm of its length
cluster.noise.speed | real | - | what is left of the host's speed meanwhile
cluster.faulty_host | id | - | the host that is slow and badly linked; null: none
cluster.seed | count | - | of hosts' speeds and spells
cost       | object | - | what computing takes on a host of speed 1
cost.node  | real  | s | a node's update
cost.update | real | s | an update of all nodes of a process, beside its nodes and frames
cost.step  | real  | s | a step of --work of channel_selection
cost.cell  | real  | s | a cell's update beside its node's, of digital_evolution
"""

RUN = Table(
    "run",
    "run.json",
    "One launch of a sweep, in its folder under runs/. The launch is done if this is there and its files are as it says. Of "
    "launches that are not simulated cluster and cost are absent.",
    ("took_s", "files"),
    _columns("""
key        | text  | - | name of its folder: case, layout, replicate, and a digest of all that decides its result
case       | text  | - | name of the case in the sweep
workers    | text  | - | processes x threads
replicate  | count | - | number of the replicate
seed       | count | - | of the program
""" + _OF_BUILD + """
command    | list  | - | the command line that was run; its outputs were moved afterwards
started    | text  | - | when, UTC, ISO 8601
took_s     | real  | s | from its start to its end
cpus       | count | - | CPUs that its workers shared, over all its hosts
others_cpus | real | - | CPUs that other work of this machine took meanwhile, on average; null where it cannot be told
oversubscribed | flag | - | whether some host had more workers than CPUs
""" + _OF_CLUSTER + """
files      | object | - | its files by name, each with its SHA-256
"""),
)

CLUSTER = Table(
    "cluster",
    "cluster.json",
    "What tools/simulate simulated: one object a run.",
    ("cluster", "cost"),
    _columns(_OF_CLUSTER + """
program    | list  | - | the program's name, and what options it was given behind --
"""),
)

DOCUMENTS = (MANIFEST, SWEEP_MANIFEST, RUN, CLUSTER)  #: objects, as JSON
TABLES = (ROWS, EVOLUTION_ROWS, EVIDENCE, QUALITY, FRAMES, COLORS, HOSTS, *DOCUMENTS)


def as_markdown(table: Table) -> str:
    """The table's columns as a table in Markdown."""
    what = "member" if table in DOCUMENTS else "column"
    lines = [f"### {table.file}", "", table.about, "", f"| {what} | kind | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{column.name}` | {column.kind} | {column.unit} | {column.meaning} |" for column in table.columns]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> int:
    """Prints the tables named, or all. Gives the exit code."""
    known = {table.name: table for table in TABLES}
    for name in names:
        if name not in known:
            print(f"conduit: error: unknown table {name} ({', '.join(known)})", file=sys.stderr)
            return 2
    sys.stdout.write("\n".join(as_markdown(known[name]) for name in names or known))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
