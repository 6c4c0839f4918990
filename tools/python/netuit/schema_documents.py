"""Files of results that are objects, as JSON. See netuit.schema."""

from netuit import results
from netuit.schema_types import Table, columns

MANIFEST = Table(
    "manifest",
    "rows.json",
    "What was run, where and how: one object a launch.",
    ("command_line", "program"),
    columns("""
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

DEMO = Table(
    "demo",
    results.DEMO,
    "How tools/demo was called: one object, beside its rows.csv.",
    ("command_line",),
    columns("""
command_line | list | - | what makes all of its results again, in the folder that it was given in
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
    columns("""
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
    columns("""
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
    columns(_OF_CLUSTER + """
program    | list  | - | the program's name, and what options it was given behind --
"""),
)
