"""Files of results that are tables, as CSV. See netuit.schema."""

from netuit.schema_types import Table, columns

SWEEP_COLUMNS = columns("""
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
mode       | count | - | asynchronicity mode, 0 to 5
mode_name  | text  | - | every_update, rolling, fixed, no_barrier, no_communication, dataflow
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
effective_updates | real | - | updates that count whatever was late or lost: 1 + the least count of all values that an update read; empty where messages carry no count
staleness_p50 | real | updates | age of values read from other workers, median: 1 where they are of the previous update; empty where none are read
staleness_p99 | real | updates | the same, 99 % quantile
staleness_max | real | updates | the same, the oldest
slack | real | updates | how far ahead of others this worker might be, so that values are at most slack + 1 updates old; empty where there was no bound
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
    columns(
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
    columns(
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
    columns("""
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
    columns("""
mode       | count | - | asynchronicity mode, 0 to 5
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
    + columns("""
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
    columns("""
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
    columns("""
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
    columns("""
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
