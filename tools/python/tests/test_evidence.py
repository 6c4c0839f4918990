"""tools/evidence against a program that is a stand-in, and a small version of it against the real one."""

import pathlib
import subprocess

import fake_evolution
import matplotlib.image
import numpy
import pandas
import pytest
from conduit_tools import ToolError, evidence, evidence_plan, evidence_plots, evidence_report, program

EVIDENCE = pathlib.Path(__file__).parents[2] / "evidence"


@pytest.fixture
def build(tmp_path, monkeypatch):
    return fake_evolution.make(tmp_path, monkeypatch)


def run(build, output, *words):
    return evidence.main(["--quick", "--seeds", "2", "--build", str(build), "--output", str(output), *words])


def starts(folder):
    return [line for line in (folder / "log").read_text().splitlines() if "--record" in line]


def test_table_figure_and_words_come_of_all_experiments(build, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(build, out) == 0
    said = capsys.readouterr().out
    table = pandas.read_csv(out / "evidence.csv")
    assert list(table.columns) == list(evidence_plots.COLUMNS)
    assert set(table["experiment"]) == {"evolution", "competition", "knock-out", "filling", "modes"}
    assert table.groupby(["experiment", "case", "measure"])["seed"].nunique().eq(2).all()
    assert set(table.loc[table["experiment"] == "knock-out", "case"]) == set(evidence_plan.KNOCKED_OUT)
    assert "The evolved beat their ancestor: 8" in said and "contains one half" in said
    picture = matplotlib.image.imread(out / "evidence.png")[..., :3]
    assert (picture < 0.9).mean() > 0.01
    assert (out / "report.txt").read_text() in said


def test_what_was_done_is_not_done_again(build, tmp_path):
    out = tmp_path / "out"
    assert run(build, out) == 0
    before = starts(tmp_path)
    assert len(before) == 2 * len(evidence_plan.tasks(1, evidence_plan.QUICK))
    next((out / "runs").glob("knock-out-messaging-s2-*/run.json")).unlink()
    assert run(build, out) == 0
    again = starts(tmp_path)[len(before) :]
    assert len(again) == 1 and "knock-out-messaging-s2-" in again[0]


def test_only_the_world_s_modes_are_run_on_several_processes_and_only_the_control_ignores_genomes():
    for task in evidence_plan.tasks(3, evidence_plan.FULL):
        assert (task.processes == 2) == (task.experiment == "modes")
        assert ("--ignore-genomes" in task.words) == (task.case == "genomes ignored")
        assert ("--mutation-rate" in task.words) == (task.experiment in ("competition", "knock-out", "filling"))


def test_a_failure_is_told_with_the_run_s_name(build, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STUB_FAULT", "refuse")
    assert run(build, tmp_path / "out") == 2
    assert "founders: more than there are places" in capsys.readouterr().err.splitlines()[-1]


def test_a_knock_out_replaces_the_instructions_of_one_class_alone():
    class_of = evidence_plan.classes("instruction,class,has_tag,meaning\nnop,arithmetic,0,x\nsend,messaging,1,x\ndie,apoptosis,0,x\n")
    genome = "# send\nmodule @born # send\n  send r0 ff # die\n  die\n\n"
    changed, count = evidence_plan.knock_out(genome, "messaging", class_of)
    assert count == 1 and changed == "# send\nmodule @born # send\n  nop\n  die\n\n"


def test_the_doubling_time_is_that_of_the_growth_between_few_and_half():
    updates = numpy.arange(0, 2000, 7)
    cells = numpy.minimum(900, 9 * 2 ** (updates / 150))
    assert evidence_plan.doubling_time(updates, cells, 900) == pytest.approx(150, rel=0.01)
    assert numpy.isnan(evidence_plan.doubling_time(updates, numpy.full(len(updates), 9), 900))


def test_the_advantage_is_the_growth_of_the_odds():
    updates = numpy.arange(0, 3000, 10)
    odds = numpy.exp(0.004 * updates)
    cells = pandas.Series(1000.0, index=range(len(updates)))
    history = pandas.DataFrame({"replicate": 0, "updates": updates, "cells": cells, "cells_of_rival": 1000 * odds / (1 + odds)})
    assert evidence_plan.advantage(history) == pytest.approx(4, rel=1e-6)


def made_up(shares, neutral):
    rows = [dict(experiment="competition", case=case, seed=seed, measure="share", value=share)
            for case, values in (("evolved", shares), ("genomes ignored", neutral)) for seed, share in enumerate(values)]  # fmt: skip
    return pandas.DataFrame(rows)


@pytest.mark.parametrize(
    "shares, neutral, beat, contains",
    [([0.8, 0.9, 0.7], [0.4, 0.6, 0.5], "beat their", "contains"), ([0.4, 0.9, 0.3], [0.6, 0.61], "not told apart", "DOES NOT contain"),
     ([0.1, 0.2], [0.5, 0.5], "are beaten by", "contains")],
)  # fmt: skip
def test_what_is_said_follows_from_the_intervals(shares, neutral, beat, contains):
    first, second = evidence_report.sentences(made_up(shares, neutral)).splitlines()
    assert beat in first and contains in second


def test_populations_that_never_fill_a_world_are_counted():
    rows = [dict(experiment="filling", case="evolved", seed=seed, measure="doubling_time", value=value) for seed, value in enumerate((200, 220, None))]
    assert evidence_report.sentences(pandas.DataFrame(rows)).endswith(
        "the evolved doubles in 210 updates, 95 % interval 200 to 220; 1 of 3 never fill half of it.\n"
    )


@pytest.mark.parametrize("words", [["--seeds", "0"], ["--seeds", "x"], ["--what"], ["extra"]])
def test_nonsense_ends_before_anything_is_set_up(words, tmp_path):
    ended = subprocess.run([EVIDENCE, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr.startswith("conduit: error: ") and ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_evolved_cells_beat_their_ancestor_and_those_whose_genomes_do_nothing_do_not(tmp_path):
    try:
        program.find_build(program="digital_evolution")
    except ToolError:
        pytest.skip("digital_evolution is not built")
    scale = evidence_plan.Scale(cells=900, arena=900, updates=20_000, competition=1_000, filling=1, mode_updates=1, mode_period_s=1)
    wanted = {"evolved": evidence_plan.WAVE, "genomes ignored": evidence_plan.NEUTRAL}
    tasks = [task for seed in (1, 2, 3) for task in evidence_plan.tasks(seed, scale)
             if (task.experiment == "competition" and task.case in wanted) or (task.experiment, task.case) in wanted.values()]  # fmt: skip
    runner = evidence.open_runner(evidence.Options(True, 3, tmp_path, None))
    evidence.run_all(runner, tasks, open("/dev/null", "w"))
    table = pandas.DataFrame([row for task in tasks for row in evidence_plan.measure(task, runner.place(task))])
    evolved = evidence_plots.values(table, "competition", "evolved", "share")
    neutral = evidence_plots.values(table, "competition", "genomes ignored", "share")
    assert len(evolved) == 3 and (evolved > 0.5).all() and evolved.mean() > 0.7, evolved
    assert 0.3 < neutral.mean() < 0.7, neutral
