"""tools/experiment against a launcher and a program that are stand-ins."""

import csv
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import fake_build
import fake_evolution
import pytest
from documented import members_of, names_in

import netuit
from netuit import InputError, OutputError, ToolError, busy, experiment, experiment_report, load, progress, report, run_sweep, schema, store, sweep_files

SWEEP = """
name = "small"
title = "a few runs"
seconds = 0.1
replicates = 2
modes = [0, 3]
report = ["rates", "headline", "factors"]
[[case]]
name = "one"
workers = ["1x1", "2x1"]
[[case]]
name = "two"
workers = ["1x4"]
options = { work = 5 }
"""


class Place:
    """A sweep, a build, and a folder for results."""

    def __init__(self, folder, monkeypatch, make=fake_build.make):
        self.folder, self._monkeypatch = folder, monkeypatch
        self.build = make(folder, monkeypatch)
        self.sweep = folder / "small.toml"
        self.sweep.write_text(SWEEP)
        self.output = folder / "out"

    def words(self, *more):
        return [os.fspath(self.sweep), "--build", str(self.build), "--output", str(self.output), *more]

    def run(self, *more, fault=""):
        self._monkeypatch.setenv("STUB_FAULT", fault)
        out, err = io.StringIO(), io.StringIO()
        code = experiment.run_experiment(experiment.parse(self.words(*more)), out, err)
        return code, out.getvalue(), err.getvalue()

    def rows(self, name="rows.csv"):
        with open(self.output / name, newline="") as file:
            return list(csv.DictReader(file))

    def manifest(self):
        return json.loads((self.output / "manifest.json").read_text())

    def starts(self):
        return fake_build.starts(self.folder)

    def rebuild(self):
        """The same program with one byte more."""
        with open(self.build / "demos" / "channel_selection", "a") as file:
            file.write("#")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Without figures, which take most of the time."""
    monkeypatch.setattr(experiment_report, "draw", lambda *given: [])
    return Place(tmp_path, monkeypatch)


@pytest.fixture
def place_with_figures(tmp_path, monkeypatch):
    return Place(tmp_path, monkeypatch)


ALL = ["1x1 seed 1", "2x1 seed 1", "1x4 seed 1", "1x1 seed 2", "2x1 seed 2", "1x4 seed 2"]


def test_a_case_without_shared_memory_is_run_without_it_and_the_manifest_says_so(place):
    place.sweep.write_text(SWEEP + "shared_memory = false\n")  # of its last case
    assert place.run()[0] == 0
    assert place.starts() == [start + (" without shared memory" if "1x4" in start else "") for start in ALL]
    assert [case["shared_memory"] for case in place.manifest()["cases"]] == [True, False]


def test_a_sweep_gives_rows_manifest_report_and_figures(place_with_figures):
    place = place_with_figures
    code, out, err = place.run()
    assert code == 0 and place.starts() == ALL
    rows = place.rows()
    assert len(rows) == 2 * 2 * (1 + 2 + 4)
    assert {row["sweep"] for row in rows} == {"small"} and len({row["build"] for row in rows}) == 1
    assert {(row["case"], row["replicate"], row["seed"]) for row in rows} == {
        (case, str(replicate), str(replicate + 1)) for case in ("one", "two") for replicate in (0, 1)
    }
    assert {row["oversubscribed"] for row in rows if row["case"] == "two"} == {"1"}
    for name in ("rows.csv", "manifest.json", "report.txt", "headline.md", "rates.png", "conflicts.png"):
        assert (place.output / name).exists() and str(place.output / name) in out
    assert out.splitlines()[-2] == str(place.output / "report.html")  # the last of the files
    assert "<h3>Rate: torus 64x64, one</h3>" in (place.output / "report.html").read_text()
    manifest = place.manifest()
    assert manifest["complete"] and manifest["num_done"] == 6 and manifest["compile_flags"] == "-O3"
    assert {row["build"] for row in rows} == {manifest["build"]}
    assert "one   1x1      0 every_update" in out and "two   1x4 *" in out
    assert [line.split("]")[0] for line in err.splitlines()] == [f"[{done}/6" for done in range(1, 7)]
    assert load(place.output)["cpus"].dtype == "int64" and load(place.output)["others_cpus"].dtype == "float64"


def test_other_work_on_the_machine_is_told(place, monkeypatch):
    _, out, _ = place.run("--cases", "one", "--seconds", "0.2")
    monkeypatch.setattr(busy, "others_cpus", lambda before, after: 0.75)
    _, out, _ = place.run("--cases", "one", "--seconds", "0.3")
    assert "DISTURBED: other work took 0.75 CPUs meanwhile" in out
    monkeypatch.setattr(busy, "others_cpus", lambda before, after: None)
    _, out, _ = place.run("--cases", "one", "--seconds", "0.4")
    assert "DISTURBED" not in out and {row["others_cpus"] for row in place.rows()} == {""}


def test_each_launch_leaves_its_own_files_and_what_it_was(place):
    place.run()
    folders = sorted(path.name for path in (place.output / "runs").iterdir())
    assert len(folders) == 6 and not any(name.endswith(".unfinished") for name in folders)
    record = json.loads((place.output / "runs" / folders[0] / "run.json").read_text())
    assert record["workers"] == "1x1" and record["took_s"] > 0 and record["compile_flags"] == "-O3"
    assert set(record["files"]) == {"rows.csv", "rows.json", "rows.hosts.csv", "log.txt"}
    of_simulated = {name for name in names_in(schema.RUN) if name.split(".")[0] in ("cluster", "cost")}
    of_build = {"build_type"}  # of which the stand-in tells nothing
    assert members_of(record, schema.RUN) == names_in(schema.RUN) - of_simulated - of_build
    assert members_of(place.manifest(), schema.SWEEP_MANIFEST) == names_in(schema.SWEEP_MANIFEST) - of_build


def test_the_hosts_of_all_launches_stand_in_one_table(place):
    place.run()
    hosts = load(place.output / "hosts.csv")  # a replicate has a seed, and here a host, of its own; two processes have another
    assert hosts["host"].tolist() == [0, 1, 2] and hosts["hostname"].tolist() == ["node-1", "other", "node-2"]
    assert hosts["launches"].tolist() == [3, 2, 3] and set(hosts["memory_bytes"]) == {1 << 33}
    assert set(hosts.columns) <= {column.name for column in schema.HOSTS.columns}
    assert not {"first_process", "num_processes"} & set(hosts.columns)


def test_launches_that_tell_of_no_hosts_leave_no_table_of_them(place, monkeypatch):
    monkeypatch.setattr(store, "HOSTS_OF_LAUNCH", "absent.csv")
    assert place.run()[0] == 0 and not (place.output / "hosts.csv").exists()


def test_quality_is_asked_for_where_the_program_knows_it(place_with_figures, monkeypatch):
    place = place_with_figures
    monkeypatch.setenv("STUB_QUALITY", "1")
    place.run()
    quality = place.rows("quality.csv")
    assert len(quality) == 2 * 2 * (1 + 2 + 4)
    assert {(row["processes"], row["threads"]) for row in quality} == {("1", "1"), ("2", "1"), ("1", "4")}
    assert {row["replicate"] for row in quality} == {"0", "1"}
    assert (place.output / "quality.png").exists()
    assert "0.25/0.25" in (place.output / "headline.md").read_text()


def test_what_is_done_is_not_done_again(place):
    place.run()
    before = (place.output / "rows.csv").read_bytes()
    code, _, err = place.run()
    assert code == 0 and place.starts() == ALL
    assert (place.output / "rows.csv").read_bytes() == before


def test_more_replicates_add_to_those_that_are_done(place):
    place.run()
    _, _, err = place.run("--replicates", "3")
    assert place.starts() == [*ALL, "1x1 seed 3", "2x1 seed 3", "1x4 seed 3"]
    assert "6 of 9 launches were done before; continuing" in err
    assert len(place.rows()) == 42


def test_other_seconds_are_other_runs(place):
    place.run()
    place.run("--seconds", "0.2", "--cases", "two")
    assert place.starts()[6:] == ["1x4 seed 1", "1x4 seed 2"]
    assert {row["case"] for row in place.rows()} == {"two"}


def test_a_launch_whose_files_are_damaged_is_done_again(place):
    place.run()
    for path in (place.output / "runs").glob("one-2x1-r1-*/rows.csv"):
        path.write_text(path.read_text()[:-10])
    place.run()
    assert place.starts()[6:] == ["2x1 seed 2"] and len(place.rows()) == 28


@pytest.mark.parametrize("fact", ["took_s", "cpus", "others_cpus", "oversubscribed"])
def test_results_of_an_earlier_version_are_left_alone_and_it_says_so_in_a_line(fact, place, capsys):
    place.run()
    before = (place.output / "rows.csv").read_bytes()
    [path] = place.output.glob("runs/one-2x1-r1-*/run.json")
    record = json.loads(path.read_text())
    del record[fact]
    path.write_text(json.dumps(record))
    assert experiment.main(place.words()) == 2
    err = capsys.readouterr().err
    assert err == f"conduit: error: {path}: no {fact}: of an earlier version; use another --output\n"
    assert (place.output / "rows.csv").read_bytes() == before and place.starts() == ALL


def test_rows_of_an_earlier_version_are_told_in_a_line(place, capsys):
    place.run()
    [path] = place.output.glob("runs/one-2x1-r1-*/rows.csv")
    lines = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    record = json.loads(path.with_name("run.json").read_text())
    record["files"]["rows.csv"] = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name("run.json").write_text(json.dumps(record))
    assert experiment.main(place.words()) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err == f"conduit: error: {path}:1: other columns than those of the launches before it"


def test_rows_of_two_builds_are_never_mixed_and_the_earlier_are_kept_aside(place):
    place.run()
    first = place.manifest()["build"]
    place.rebuild()
    code, _, err = place.run()
    second = place.manifest()["build"]
    assert code == 0 and first != second and place.starts() == ALL + ALL
    assert {row["build"] for row in place.rows()} == {second}
    assert f"results of another build ({first}) are kept aside in {place.output / 'aside' / first}" in err
    assert {row["build"] for row in place.rows(f"aside/{first}/rows.csv")} == {first}
    assert (place.output / "aside" / first / "manifest.json").exists()


def test_a_build_is_called_after_the_commit_that_its_sources_are_of(place):
    place.run()
    manifest = place.manifest()
    assert manifest["commit"] == "0123456789ab"
    assert re.fullmatch("0123456789ab-[0-9a-f]{12}", manifest["build"])
    assert {row["build"] for row in place.rows()} == {manifest["build"]}


def test_a_program_that_is_built_anew_meanwhile_ends_the_sweep(place, monkeypatch):
    finish = store.Store.finish
    monkeypatch.setattr(store.Store, "finish", lambda *given: (finish(*given), place.rebuild()))
    with pytest.raises(ToolError, match="was built anew while the sweep ran"):
        place.run()
    assert place.starts() == ALL[:1] and len(place.rows()) == 2


def test_an_interrupted_sweep_keeps_what_it_had_says_so_and_goes_on(place, tmp_path):
    environment = {**os.environ, "STUB_FAULT": "hang", "PYTHONPATH": str(pathlib.Path(experiment.__file__).parents[1])}
    started = subprocess.Popen(
        [sys.executable, "-m", "netuit.experiment", *place.words()], env=environment, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "hanging").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert err.splitlines()[-1] == (
        f"conduit: error: interrupted; 3 of 6 launches are done; their rows are in {place.output / 'rows.csv'}, "
        "and the same command continues"
    )
    assert "Traceback" not in err
    assert len(place.rows()) == 14 and place.manifest()["complete"] is False
    assert place.starts() == ALL[:4]
    code, _, err = place.run()
    assert code == 0 and place.starts() == [*ALL[:4], *ALL[3:]] and len(place.rows()) == 28
    assert place.manifest()["complete"] is True


def test_an_interruption_while_figures_are_drawn_says_where_the_rows_are(place, monkeypatch, capsys):
    monkeypatch.setattr(experiment_report, "draw", lambda *given: os.kill(os.getpid(), signal.SIGTERM))
    assert experiment.main(place.words()) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"conduit: error: interrupted; all launches are over; their rows are in {place.output / 'rows.csv'}, "
        "and the same command draws them"
    )
    assert place.manifest()["complete"] is True and len(place.rows()) == 28


def test_a_launch_that_fails_is_named_and_the_others_are_run(place):
    code, out, err = place.run(fault="crash on 2x1")
    assert code == 1
    assert "failed: one 2x1, replicate 0: channel_selection ended with code" in err and "something bad" in err
    assert err.splitlines()[-1].startswith("conduit: error: 2 of 6 launches failed; first, one 2x1, replicate 0")
    assert len(place.rows()) == 2 * 2 * (1 + 4) and place.manifest()["complete"] is False
    assert place.run()[0] == 0 and len(place.rows()) == 28


def test_when_all_fail_it_gives_up(place):
    code, out, err = place.run(fault="crash")
    assert code == 1 and len(place.starts()) == 3
    assert not (place.output / "report.txt").exists()


@pytest.mark.parametrize(
    "fault, reason",
    [("lose one", "mode 3: messages are not accounted for"), ("cut short", "cut short by signal"), ("other MPI", "another MPI"),
     ("short file", "rows, expected one for each")],
)  # fmt: skip
def test_rows_that_are_not_whole_are_not_taken(fault, reason, place):
    code, _, err = place.run("--cases", "one", fault=fault)
    assert code == 1 and reason in err
    assert not any(row["processes"] == "2" for row in place.rows())


def test_what_the_program_refuses_is_bad_input(place):
    with pytest.raises(InputError, match="^graph:3: label with a blank$"):
        place.run(fault="refuse")


def test_options_that_the_program_does_not_know_leave_a_case_out_and_it_says_so(place):
    place.sweep.write_text(SWEEP.replace("work = 5", "padded = true"))
    code, _, err = place.run()
    assert code == 0 and "left out: case two: channel_selection does not know --padded" in err
    assert {row["case"] for row in place.rows()} == {"one"}
    assert place.manifest()["left_out"] == {"case two": "channel_selection does not know --padded"}
    with pytest.raises(ToolError, match="nothing of sweep small can be run here"):
        place.run("--cases", "two")


def test_slurm_outside_a_job_is_left_out_with_what_makes_one(place):
    place.sweep.write_text(SWEEP + 'launcher = "slurm"\n')
    _, _, err = place.run()
    assert "left out: case two: launcher slurm: this is not a Slurm job; sbatch tools/slurm/experiment.sbatch" in err


def test_two_at_once_in_one_folder_are_refused(place):
    place.output.mkdir()
    with store.locked(place.output), pytest.raises(OutputError, match="another tools/experiment is writing there"):
        place.run()


def test_the_folder_is_made_and_a_dry_run_makes_nothing(place, capsys):
    assert experiment.main(place.words("--dry-run")) == 0
    out = capsys.readouterr().out
    assert "6 launches, about" in out and "case two (local)" in out
    assert not place.output.exists() and place.starts() == []


def test_a_folder_that_cannot_be_written_is_an_error_of_output(place):
    place.output.write_text("a file")
    with pytest.raises(OutputError, match="is not a folder"):
        place.run()


def test_a_program_that_is_not_built_is_named(place, capsys):
    (place.build / "demos" / "channel_selection").unlink()
    assert experiment.main(place.words()) == 1
    assert "channel_selection: not built in" in capsys.readouterr().err
    assert not place.output.exists()


@pytest.mark.parametrize(
    "words, code, reason",
    [
        ([], 2, "expected the name of a sweep"),
        (["papr"], 2, "unknown sweep papr"),
        (["paper", "more"], 2, "unrecognized arguments: more"),
        (["paper", "--what"], 2, "unrecognized arguments: --what"),
        (["paper", "--seconds", "many"], 2, "--seconds many: not a number"),
        (["paper", "--seconds", "-1"], 2, "seconds -1.0: expected more than 0"),
        (["paper", "--replicates", "0"], 2, "replicates 0"),
        (["paper", "--cases", "x"], 2, "--cases x: no case x (threads, processes, follow_up, many_threads, many_processes)"),
        (["paper", "--mpi", "x"], 2, "--mpi x"),
        (["paper", "--launcher", "ssh"], 2, "unknown launcher ssh"),
        (["paper", "--output", "/proc/none"], 5, "/proc/none"),
        (["none.toml"], 2, "none.toml: No such file"),
    ],
)
def test_nonsense_ends_in_one_line_with_its_code_and_leaves_nothing(words, code, reason, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert experiment.main(words) == code
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("conduit: error: ") and reason in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_package_that_is_missing_is_named_in_one_line(place, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "netuit.experiment_report")  # what is drawn at the end wants packages
    monkeypatch.delattr(netuit, "experiment_report")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert experiment.main(place.words()) == 1
    assert capsys.readouterr().err.splitlines()[-1:] == [
        "conduit: error: Python's pandas is missing; tools/setup demo installs it"
    ]


def test_the_list_has_a_line_a_sweep(capsys):
    assert experiment.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("paper ") for line in lines) and any(line.startswith("thread_cost ") for line in lines)


def test_time_left_is_learnt_from_what_launches_took(place):
    estimate = progress.Estimate()
    launch = next(experiment.sweeps.launches(experiment.sweep_files.load(place.sweep)))
    before = estimate.of(launch)
    assert before > launch.declared_s
    estimate.learn(launch, launch.declared_s + 9)
    assert estimate.of(launch) == launch.declared_s + 9


@pytest.mark.parametrize("seconds, text", [(0, "0 s"), (59.4, "59 s"), (59.6, "1:00 min"), (3725, "1:02 h")])
def test_spans_of_time_are_readable(seconds, text):
    assert progress.span(seconds) == text


TOOL = pathlib.Path(__file__).parents[2] / "experiment"


@pytest.mark.parametrize("words, code", [(["--help"], 0), (["list"], 0), (["paper", "--dry-run"], 0), (["nonsense"], 2), (["paper", "--what"], 2)])
def test_the_command_answers_before_anything_is_set_up(words, code, tmp_path):
    ended = subprocess.run([TOOL, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == code
    assert (ended.stdout == "") == (code != 0)
    assert ended.stderr.count("\n") == (1 if code else 0)
    assert list(tmp_path.iterdir()) == []


def test_the_command_runs_a_sweep_with_a_build_of_the_callers(place):
    ended = subprocess.run([TOOL, *place.words()], capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, ended.stderr
    assert len(place.rows()) == 28


def test_python_runs_a_sweep_and_has_its_rows(place):
    rows = run_sweep(place.sweep, output=place.output, build=place.build, cases=["one"])
    assert len(rows) == 12 and set(rows["case"]) == {"one"} and rows["replicate"].dtype == "int64"
    assert place.starts() == ["1x1 seed 1", "2x1 seed 1", "1x1 seed 2", "2x1 seed 2"]
    with pytest.raises(InputError, match="unknown sweep papr"):
        run_sweep("papr")


def test_python_is_told_of_launches_that_fail(place, monkeypatch):
    monkeypatch.setenv("STUB_FAULT", "crash on 2x1")
    with pytest.raises(ToolError, match="sweep small: some launches failed"):
        run_sweep(place.sweep, output=place.output, build=place.build)


EVOLVED = """
name = "evolved"
program = "digital_evolution"
seconds = 0.1
modes = [0, 3]
report = ["headline"]
[[case]]
name = "two"
workers = ["1x64"]
[[case]]
name = "three"
workers = ["16x1"]
"""


class Pair(Place):
    """Two ready-made sweeps, each of a program of its own, the first of which names the other."""

    def __init__(self, folder, monkeypatch):
        super().__init__(folder, monkeypatch, fake_evolution.make)
        monkeypatch.setattr(sweep_files, "FOLDER", folder)
        self.sweep.write_text('also = ["evolved"]\n' + SWEEP)
        (folder / "evolved.toml").write_text(EVOLVED)

    def starts(self):
        return [line for line in super().starts() if not line.startswith("--")]

    def evolved(self):
        """Starts of the other program, but for looks at it."""
        return [line for line in super().starts() if line.startswith("--threads")]


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment_report, "draw", lambda *given: [])
    return Pair(tmp_path, monkeypatch)


def test_the_paper_ends_with_figures_of_both_benchmarks_and_one_table(tmp_path, monkeypatch):
    place = Place(tmp_path, monkeypatch, fake_evolution.make)
    place.sweep = "paper"
    code, out, _ = place.run("--replicates", "1", "--seconds", "0.01")
    assert code == 0
    for name in ("rows.csv", "manifest.json", "report.txt", "headline.md", "rates.png", "conflicts.png", "evolution/rows.csv",
                 "evolution/manifest.json", "evolution/rates.png", "evolution/generations.png"):  # fmt: skip
        assert (place.output / name).exists() and f"{place.output / name}\n" in out
    table, page = (place.output / "report.txt").read_text(), (place.output / "headline.md").read_text()
    assert table in out and table.count("experiment  ") == 1 and page.count("| experiment |") == 1
    for text in (table, page):
        assert "colouring, processes" in text and "evolution, processes" in text
    assert "conflicts" in table and "generations/1000 updates" in table
    assert out.splitlines()[-2] == str(place.output / "report.html") and not (place.output / "evolution" / "report.html").exists()
    html = (place.output / "report.html").read_text()
    assert "<h3>Conflicts left" in html.split("<article>")[0] and "<h3>Generations" in html.split("<article>")[1]


def test_results_that_no_page_can_be_drawn_of_are_kept_and_it_says_so(place, monkeypatch):
    assert place.run()[0] == 0 and (place.output / "report.html").exists()
    monkeypatch.setattr(report, "write_report", refuse)
    code, out, _ = place.run()
    assert code == 0 and "no report.html: rows.csv:2: no number" in out
    assert (place.output / "rows.csv").exists() and not (place.output / "report.html").exists()


def refuse(*given):
    raise InputError("rows.csv:2: no number")


def test_what_a_sweep_names_is_run_after_it_and_continues_as_it_does(pair):
    code, out, err = pair.run()
    assert code == 0 and pair.starts() == ALL and len(pair.evolved()) == 2
    assert len(pair.rows()) == 28 and {row["sweep"] for row in pair.rows("evolved/rows.csv")} == {"evolved"}
    assert pair.manifest()["complete"] and json.loads((pair.output / "evolved/manifest.json").read_text())["complete"]
    assert "\n8 launches, " in out
    assert [line.split("]")[0] for line in err.splitlines()] == [*(f"[{done}/6" for done in range(1, 7)), "[1/2", "[2/2"]
    pair.run()
    assert pair.starts() == ALL and len(pair.evolved()) == 2
    pair.run("--replicates", "3", "--seconds", "0.1")
    assert len(pair.starts()) == 9 and len(pair.evolved()) == 6


def test_an_interruption_in_the_other_sweep_keeps_both_and_the_same_command_goes_on(pair, monkeypatch):
    finish = store.Store.finish

    def interrupted(self, launch, *given):
        finish(self, launch, *given)
        if launch.case.name == "three":
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(store.Store, "finish", interrupted)
    with pytest.raises(experiment.Interrupted, match=r"1 of 2 launches are done; their rows are in \S+/out/evolved/rows.csv, and"):
        pair.run()
    assert pair.manifest()["complete"] and len(pair.rows()) == 28 and len(pair.rows("evolved/rows.csv")) == 128
    monkeypatch.setattr(store.Store, "finish", finish)
    assert pair.run()[0] == 0 and pair.starts() == ALL and len(pair.evolved()) == 2
    assert len(pair.rows("evolved/rows.csv")) == 160


def test_the_time_left_is_that_of_all(pair):
    _, _, err = pair.run()
    left = [int(line.split("] ")[1].split(" s left")[0]) for line in err.splitlines()]
    assert left[5] >= 2 and left[7] == 0  # the other's two launches


def test_launches_that_fail_keep_the_others_sweep_from_nothing(pair):
    code, out, err = pair.run(fault="crash")
    assert code == 1 and len(pair.evolved()) == 2 and not pair.rows()
    assert err.splitlines()[-1].startswith("conduit: error: 3 of 8 launches failed; first, one 1x1, replicate 0")
    assert "evolution, threads" in out and (pair.output / "evolved" / "report.txt").exists()


@pytest.mark.parametrize("cases, num_starts, num_evolved", [("one", 4, 0), ("two", 2, 1), ("three", 0, 1), ("one, three", 4, 1)])
def test_cases_are_those_of_either_sweep(cases, num_starts, num_evolved, pair):
    assert pair.run("--cases", cases)[0] == 0
    assert (len(pair.starts()), len(pair.evolved())) == (num_starts, num_evolved)
    assert (pair.output / "rows.csv").exists() == (num_starts > 0)


@pytest.mark.parametrize("program, tool", [("channel_selection", "tools/demo"), ("digital_evolution", "tools/evolve")])
def test_without_one_of_the_programs_nothing_is_run(program, tool, pair, capsys):
    (pair.build / "demos" / program).unlink()
    assert experiment.main(pair.words()) == 1
    assert re.search(f"error: {program}: not built in .*; {tool} builds it", capsys.readouterr().err)
    assert not (pair.folder / "log").exists() and not pair.output.exists()


def test_what_is_bad_in_the_other_sweep_is_told_before_anything_is_run(pair, capsys):
    (pair.folder / "evolved.toml").write_text(EVOLVED.replace("seconds = 0.1", "seconds = 0"))
    assert experiment.main(pair.words()) == 2
    assert capsys.readouterr().err == f"conduit: error: {pair.folder / 'evolved.toml'}: case two: seconds 0: expected more than 0, and at most a day\n"
    (pair.folder / "evolved.toml").write_text(EVOLVED)
    pair.output.mkdir()
    (pair.output / "evolved").write_text("a file")
    assert experiment.main(pair.words()) == 5
    assert "evolved is not a folder" in capsys.readouterr().err and not (pair.folder / "log").exists()


def test_the_plan_of_the_paper_shows_both_benchmarks_and_is_short_when_quick(capsys):
    assert experiment.main(["paper", "--quick", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "\n  channel_selection --" in out and "\n  digital_evolution --" in out
    assert "into experiment-results/paper-quick\n" in out and "into experiment-results/paper-quick/evolution\n" in out
    total = re.search(r"^about (\d+):(\d\d) min in all$", out, re.MULTILINE)
    assert 60 * int(total[1]) + int(total[2]) <= 540  # of ten minutes; the rest is for what no estimate knows
    experiment.main(["list"])
    assert re.search(rf"^paper +[\d:]+ min +{total[1]}:{total[2]} min  ", capsys.readouterr().out, re.MULTILINE)


def test_the_programs_of_all_sweeps_are_built(capsys):
    for words in (["paper"], ["paper", "--cases", "many_threads"], ["paper", "--mpi", "mpich", "--cases", "follow_up"], ["evolution_simulated"]):
        assert experiment.main([*words, "--preset"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "release channel_selection digital_evolution", "release digital_evolution", "mpich channel_selection",
        "simgrid digital_evolution",
    ]  # fmt: skip
