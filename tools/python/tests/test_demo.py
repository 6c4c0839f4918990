"""The demo against a launcher and a program that are stand-ins, and say what they are told to."""

import csv
import html
import io
import json
import os
import pathlib
import re
import shlex
import signal
import sys
import threading

import fake_build
import pandas
import pytest
from netuit import InputError, ToolError, arguments, demo, report, results
from netuit.race import Race, race_of

HERE = pathlib.Path(__file__).parent

PROGRAM = f"""#!{sys.executable}
import csv, os, sys, time
sys.path.insert(0, {str(HERE)!r})
import fake
given = dict(zip(sys.argv[1::1], sys.argv[2::1]))
what = os.environ.get("STUB_FAULT", "")
if what == "refuse":
    print("conduit: error: graph:3: label with a blank", file=sys.stderr)
    sys.exit(2)
if what == "crash":
    print("something bad", file=sys.stderr)
    os.abort()
processes = 1 if what == "other MPI" else int(os.environ["STUB_PROCESSES"])
rows, colors, frames = [], [], []
if "--frames" in given:
    with open(os.environ["STUB_LOG"], "w") as log:
        log.write(given["--modes"])
for mode in map(int, given["--modes"].split(",")):
    print(f"progress: mode {{mode}} x, run 1 of 1, 0.1 s, 5 updates/s", file=sys.stderr)
    for process in range(processes):
        for thread in range(int(given["--threads"])):
            rows.append(fake.make_row(graph=given["--graph"], processes=processes, threads=int(given["--threads"]),
                                      mode=mode, mode_name=fake.MODES[mode], process=process, thread=thread,
                                      **({{"stepped": 59}} if what == "lose one" and mode == 3 else {{}})))
    for row in range(4):
        for column in range(4):
            colors.append([mode, 0, 4 * row + column, f"({{row}}, {{column}})", (row + column) % 3, 0, column // 2, 0])
    if "--watch" in sys.argv:
        for words in ("mode 3 x, run 1 of 1", "worker  updates", *(f"{{process}}.{{thread}}  some" for process in range(processes)
                                                                   for thread in range(int(given["--threads"])))):
            print(words, file=sys.stderr)
    if "--frames" in given:
        frames += [[mode, 0, time, "0120120120120120", 3 - time] for time in range(4)]
        with open(given["--frames"], "w", newline="") as file:
            csv.writer(file).writerows([["mode", "replicate", "elapsed_s", "colors", "conflicts"]] + frames)
    if what == "hang" and mode == 2:  # as a program that is interrupted does
        rows = [{{**row, "stopped_by": "signal"}} if row["mode"] == 2 else row for row in rows]
    with open(given["--output"], "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with open(given["--colors-output"], "w", newline="") as file:
        csv.writer(file).writerows([["mode", "replicate", "node", "label", "color", "process", "thread", "in_conflict"]] + colors)
    print(f"mode {{mode}} x, run 1 of 1: 5 updates/s and worker", file=sys.stderr, flush=True)
    if what == "hang" and mode == 2:
        time.sleep(60)
"""


@pytest.fixture
def options(tmp_path, monkeypatch):
    build = tmp_path / "build"
    program = build / "demos" / "channel_selection"
    program.parent.mkdir(parents=True)
    for path, text in ((build / "mpirun", fake_build.LAUNCHER), (program, PROGRAM)):
        path.write_text(text)
        path.chmod(0o755)
    (build / "CMakeCache.txt").write_text(f"MPIEXEC_EXECUTABLE:FILEPATH={build / 'mpirun'}\n")
    monkeypatch.delenv("STUB_FAULT", raising=False)
    monkeypatch.setenv("STUB_LOG", str(tmp_path / "log"))
    graph = tmp_path / "some.edgelist"
    cells = [(row, column) for row in range(4) for column in range(4)]  # as the program's stand-in colours
    graph.write_text("".join(f"{cell} {(cell[0], (cell[1] + 1) % 4)} {{}}\n" for cell in cells))
    return arguments.parse_demo(
        ["--build", str(build), "--output", str(tmp_path / "out"), "--graph", str(graph), "--workers", "1x1,2x2"]
    )


def run(options):
    out, err = io.StringIO(), io.StringIO()
    return demo.run_demo(options, out, err), out.getvalue(), err.getvalue()


def test_all_results_are_written_and_named(options):
    code, out, err = run(options)
    assert code == 0
    assert "accounting: exact in all 12 runs" in out
    assert "mode 2: its period is shortened to 100 ms" in out
    for name in ("rows.csv", "chart.png", "torus.png", "report.html"):
        assert (options.output / name).exists() and str(options.output / name) in out
    assert (options.output / "chart.svg").exists() and (options.output / "torus.svg").exists()
    rows = results.read_rows(options.output / "rows.csv")
    assert len(rows) == 6 * (1 + 4) and {row["graph"] for row in rows} == {"some.edgelist"}
    assert err.count("updates/s and worker") == 12  # a plain line a run, since this is not a terminal


def takes_of(options):
    page = (options.output / "report.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="takes">(.*?)</script>', page, re.DOTALL)[1])["takes"]


def test_the_page_plays_two_modes_side_by_side(options):
    run(options)
    assert [(take["mode"], take["case"], len(take["frames"])) for take in takes_of(options)] == [(0, "2x2", 4), (3, "2x2", 4)]
    rates = [row["processes"] for row in results.read_rows(options.output / "rows.csv")]
    assert rates.count(2) == 6 * 4  # runs that were filmed are not among them


@pytest.mark.parametrize("modes, filmed", [([2], "2"), ([1, 3, 4], "1,3"), ([0, 1, 3], "0,3")])
def test_of_other_modes_the_first_two_are_played(modes, filmed, options, tmp_path):
    options.modes = modes
    assert run(options)[0] == 0
    assert (tmp_path / "log").read_text() == filmed and len(takes_of(options)) == len(filmed.split(","))


def test_of_a_graph_too_large_for_a_page_there_are_charts_alone(options, tmp_path, monkeypatch):
    run(options)
    monkeypatch.setattr(demo, "MOST_FILMED_NODES", 4095)
    (tmp_path / "log").unlink()
    assert run(options)[0] == 0
    assert not (tmp_path / "log").exists() and takes_of(options) == []


def test_workers_with_a_cpu_each_are_slow_in_turn_in_a_case_of_their_own(options, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    options.workers = arguments.parse_workers("1x1,1x2,2x2")
    assert demo.choose_film(options) == (arguments.Workers(1, 2), True)
    code, out, _ = run(options)
    assert code == 0 and "some.edgelist, 1x2, workers slow in turn (each three times slower for 10 ms): mode 3 makes 1.00 x" in out
    assert (options.output / "slow_in_turn.png").exists() and "slow_in_turn.png" in out
    with open(options.output / "runs/film/rows.csv", newline="") as file:
        assert {row["case"] for row in csv.DictReader(file)} == {"workers slow in turn"}
    assert {take["case"] for take in takes_of(options)} == {"workers slow in turn, 1x2"}


@pytest.mark.parametrize("modes, cpus", [([3], 2), ([0, 3], 1)])
def test_workers_are_not_slow_in_turn_where_that_would_show_nothing(modes, cpus, options, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cpus)))
    options.workers = arguments.parse_workers("1x2")
    options.modes = modes
    assert demo.choose_film(options) == (arguments.Workers(1, 2), False)
    assert run(options)[0] == 0 and not (options.output / "slow_in_turn.png").exists()


def race(rates, times):
    return Race("torus, 1x2", dict(zip((0, 3), rates)), dict(zip((0, 3), times)))


def test_a_race_says_what_it_shows_and_no_more():
    assert race(([1, 1], [2, 2]), ([0.2, 0.2, 0.3], [0.1, 0.1, 0.15])).verdict() == (
        "mode 3 makes 2.00 x the node updates of mode 0, and needs 0.50 x its time to a solution (0.50 x by its rate, 1.00 x by the "
        "number of updates that it needs); every run of mode 3 was faster"
    )
    few = race(([1, 1], [2, 2]), ([0.2, 0.3], [0.1, 0.15])).verdict()
    assert few.endswith("; single runs overlap, or are few, so this is no clear win")
    assert race(([1], [0.5]), ([0.2, 0.25, 0.3], [0.25, 0.3, 0.35])).verdict() == (
        "mode 3 makes 0.50 x the node updates of mode 0, and needs 1.20 x its time to a solution (2.00 x by its rate, 0.60 x by the "
        "number of updates that it needs); single runs overlap, or are few, so this is no clear win"
    )
    fewer = race(([1, 1], [1, 1]), ([0.2] * 3, [0.1] * 3)).verdict()
    assert "0.50 x by the number of updates that it needs, as when a node reads newer values of its own worker's nodes); every run" in fewer
    more = race(([1, 1], [2, 2]), ([0.2] * 3, [0.15] * 3)).verdict()
    assert "1.50 x by the number of updates that it needs); every run" in more and "newer values" not in more
    assert race(([1], [1]), ([0.3] * 3, [0.2] * 3)).verdict().endswith("every run of mode 3 was faster, so this is no clear win")
    assert race(([1], [2]), ([0.2, None], [0.1, 0.1])).verdict().endswith("; not every run came to a solution")
    assert race(([1], [0]), ([0.2], [None])).verdict() == "mode 3 made no update"


def test_a_race_is_told_from_rows_and_colours_over_time():
    rows = pandas.DataFrame(
        [dict(mode=mode, replicate=replicate, threads=2, num_nodes=10, updates_per_second=speed, conflict_edges_total=40)
         for mode, replicate, speed in ((0, 0, 1), (0, 0, 2), (0, 1, 4), (3, 0, 5), (1, 0, 9))]
    )  # fmt: skip
    frames = pandas.DataFrame(
        [dict(mode=mode, replicate=replicate, elapsed_s=time, conflicts=conflicts)
         for mode, replicate, time, conflicts in ((0, 0, 0.1, 9), (0, 0, 0.2, 2), (0, 0, 0.3, 1), (0, 1, 0.1, 3), (3, 0, 0.1, 0))]
    )  # fmt: skip
    assert race_of("x", rows, frames) == Race("x", {0: [30, 40], 3: [50]}, {0: [0.2, None], 3: [0.1]})
    assert race_of("x", rows, frames[frames["mode"] == 0]) is None
    assert race_of("x", pandas.concat([rows, rows.assign(threads=1)]), frames) is None


def test_the_page_shows_the_demo_s_own_command_with_its_options(options, tmp_path, monkeypatch):
    monkeypatch.delenv(demo.STARTED_AS, raising=False)
    run(options)
    page = (options.output / "report.html").read_text(encoding="utf-8")
    shown = re.search(r"Command of the demo</th><td>(.*?)</td>", page)[1]
    given = ["--build", str(tmp_path / "build"), "--output", str(tmp_path / "out"), "--graph", str(tmp_path / "some.edgelist"), "--workers", "1x1,2x2"]
    assert shlex.split(html.unescape(shown)) == ["netuit", "demo", *given]
    monkeypatch.setenv(demo.STARTED_AS, "a folder/tools/demo")  # which sets --build itself
    assert demo.command_again(options) == ["a folder/tools/demo", *given[2:]]
    (options.output / "demo.json").write_text("{}")
    with pytest.raises(InputError, match="demo.json:1: no list command_line"):
        report.write_report([options.output], tmp_path / "page.html")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_watch_shows_the_table_of_workers(options):
    _, _, err = run(options)
    assert "worker  updates" not in err
    options.watch = True
    _, _, err = run(options)
    assert err.count("worker  updates\n0.0  some\n") == 12  # and not where colours over time are taken
    terminal = Terminal()
    assert demo.run_demo(options, io.StringIO(), terminal) == 0
    assert "\033[3A\033[Jmode 3 x, run 1 of 1\nworker  updates\n0.0  some\n" in terminal.getvalue()
    assert "\033[6A\033[Jmode 3 x, run 1 of 1\nworker  updates\n0.0  some\n0.1  some\n" in terminal.getvalue()


def test_a_lost_message_fails_the_demo_and_names_the_run(options, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", "lose one")
    code, out, err = run(options)
    assert code == 1
    assert "accounting WRONG: some.edgelist, 2x2, mode 3" in out
    assert "conduit: error: messages are not accounted for" in err


def test_what_the_program_refuses_is_bad_input(options, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", "refuse")
    with pytest.raises(InputError, match="^graph:3: label with a blank$"):
        run(options)


def test_a_crash_is_told_with_the_last_words(options, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", "crash")
    with pytest.raises(ToolError, match="(?s)on 1x1 ended with code.*something bad"):
        run(options)


def test_a_program_of_another_mpi_is_found_out(options, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", "other MPI")
    with pytest.raises(ToolError, match="another MPI"):
        run(options)


def test_a_program_that_is_not_built_is_an_error(options):
    (options.build / "demos" / "channel_selection").unlink()
    with pytest.raises(ToolError, match="not built"):
        run(options)


def test_an_interruption_keeps_finished_rows_in_one_line(options, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", "hang")
    begun = threading.Event()
    finish = demo.Status.finish

    def finish_and_tell(self, text):
        finish(self, text)
        if text.startswith("mode 2"):
            begun.set()

    monkeypatch.setattr(demo.Status, "finish", finish_and_tell)
    killer = threading.Thread(target=lambda: begun.wait(30) and os.kill(os.getpid(), signal.SIGINT))
    killer.start()
    code, out, err = run(options)
    killer.join()
    assert code == 130
    assert [line for line in err.splitlines() if "error" in line] == [
        f"conduit: error: interrupted; finished rows are in {options.output / 'rows.csv'}"
    ]
    with open(options.output / "rows.csv", newline="") as file:
        assert [row["mode"] for row in csv.DictReader(file)] == ["0", "1"]
