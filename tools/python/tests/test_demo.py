"""The demo against a launcher and a program that are stand-ins, and say what they are told to."""

import csv
import io
import os
import pathlib
import signal
import sys
import threading

import fake_build
import pytest
from conduit_tools import InputError, ToolError, arguments, demo, results

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
rows, colors = [], []
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
    graph = tmp_path / "some.edgelist"
    graph.write_text("(0, 0) (0, 1) {}\n")
    return arguments.parse_demo(
        ["--build", str(build), "--output", str(tmp_path / "out"), "--graph", str(graph), "--workers", "1x1,2x2"]
    )


def run(options):
    out, err = io.StringIO(), io.StringIO()
    return demo.run_demo(options, out, err), out.getvalue(), err.getvalue()


def test_all_results_are_written_and_named(options):
    code, out, err = run(options)
    assert code == 0
    assert "accounting: exact in all 10 runs" in out
    assert "mode 2: its period is shortened to 100 ms" in out
    for name in ("rows.csv", "chart.png", "torus.png"):
        assert (options.output / name).exists() and str(options.output / name) in out
    rows = results.read_rows(options.output / "rows.csv")
    assert len(rows) == 5 * (1 + 4) and {row["graph"] for row in rows} == {"some.edgelist"}
    assert err.count("updates/s and worker") == 10  # a plain line a run, since this is no terminal


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
