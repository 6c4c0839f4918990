"""tools/evidence against a program that is a stand-in, and a small version of it against the real one."""

import dataclasses
import pathlib
import subprocess

import built
import fake_evolution
import matplotlib.image
import numpy
import pandas
import pytest
from netuit import InputError, evidence, evidence_plan, evidence_plots, evidence_report, evidence_tables, load, notebooks
from netuit.arguments import MODE_NAMES
from netuit.style import SINGLE

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
    assert set(table["experiment"]) == {"evolution", "competition", "knock-out", "filling", "modes", "modes alone"}
    assert table.groupby(["experiment", "case", "measure"])["seed"].nunique().eq(2).all()
    assert set(table.loc[table["experiment"] == "knock-out", "case"]) == set(evidence_plan.KNOCKED_OUT)
    assert "The evolved beat their ancestor: 8" in said and "contains one half" in said
    picture = matplotlib.image.imread(out / "evidence.png")[..., :3]
    assert (picture < 0.9).mean() > 0.01
    assert (out / "report.txt").read_text() in said
    assert (out / "evidence.md").read_text() == evidence_tables.as_markdown(table)
    assert sorted(path.name for path in (out / "genomes").iterdir()) == ["seed1.genome", "seed2.genome"]
    notebooks.take(out, tmp_path / "data")
    assert (tmp_path / "data" / "evidence" / "genomes" / "seed2.genome").read_text() == (out / "genomes" / "seed2.genome").read_text()


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


def by_mode(**measures):
    """Rows of modes 0 to 3, three seeds each; a measure's mode k has in seed s the measure's first number + k times the s-th
    of the others."""
    rows = []
    for measure, (first, *steps) in measures.items():
        for mode, name in enumerate(("every_update", "rolling", "fixed", "no_barrier")):
            for seed, step in enumerate(steps, start=1):
                value = first + 100 * seed + mode * step
                rows.append(dict(experiment="modes", case=f"{mode} {name}", seed=seed, measure=measure, value=value))
    return pandas.DataFrame(rows)


def test_modes_are_held_against_mode_0_seed_by_seed():
    table = by_mode(rate=(1000, 10, 20, 30), kin_cells=(50, -4, -5, -6), generations=(7, -1, 0, 1))
    assert evidence_plots.differences(table, "modes", "2 fixed", "0 every_update", "rate").tolist() == [20, 40, 60]
    told = evidence_report.sentences(table)
    assert "Against mode 0, updates per second and worker: more in 1, 2, 3." in told
    assert "Against mode 0, kin group of a cell at the end, cells: less in 1, 2, 3." in told
    assert "Against mode 0, generations per 1000 updates: not told apart in 1, 2, 3." in told
    row = next(line for line in evidence_tables.as_markdown(table).splitlines() if line.startswith("| updates per second"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1].startswith("1,200 [1,100, 1,300]") and cells[3] == "+3 [+2, +5] %"  # 40 of 1200, 20 to 60


def test_a_seed_that_one_mode_lacks_is_not_held_against_others():
    table = by_mode(rate=(1000, 10, 20, 30))
    table = table[~((table["case"] == "0 every_update") & (table["seed"] == 2))]
    assert evidence_plots.differences(table, "modes", "1 rolling", "0 every_update", "rate").tolist() == [10, 30]


def test_outcomes_by_mode_are_drawn_on_one_scale_with_no_difference_in_its_middle():
    table = by_mode(rate=(1000, 500, 600, 700), kin_cells=(50, -4, -5, -6), generations=(7, 1, 2, 3), harvested=(8, 0, 0, 0))
    figure = evidence_plots.draw(table)
    scales = [panel.get_ylim() for panel in below_zero(figure)]
    assert len(scales) == 5 and all(low == -high for low, high in scales)
    assert scales[0][1] > 175 and len(set(scales[1:])) == 1  # the rate has its own
    assert 0.5 * scales[1][1] < 100 * 3 * 6 / 250 < scales[1][1]
    evidence_plots.plt.close(figure)


@pytest.mark.parametrize("num_seeds, has_intervals", [(4, False), (5, True)])
def test_fewer_than_five_seeds_are_shown_without_an_interval(num_seeds, has_intervals):
    figure = evidence_plots.draw(by_mode(generations=(7, *range(1, num_seeds + 1))))
    lines = [line for panel in figure.axes for line in panel.lines]
    assert any(line.get_linewidth() == 2.2 for line in lines) == any(line.get_linewidth() == 5 for line in lines) == has_intervals
    small = [line.get_ydata() for line in lines if line.get_markersize() == SINGLE["markersize"]]
    assert [len(values) for values in small] == ([] if has_intervals else [num_seeds] * 3)  # differences of three modes from mode 0
    evidence_plots.plt.close(figure)


def below_zero(figure):
    return [panel for panel in figure.axes if panel.get_title(loc="left") == "difference from mode 0, %"]


def test_the_tables_are_printed_of_a_file(tmp_path, capsys):
    by_mode(rate=(1000, 10, 20, 30)).to_csv(tmp_path / "evidence.csv", index=False)
    assert evidence_tables.main([str(tmp_path / "evidence.csv")]) == 0
    assert "| updates per second and worker | 1,200 [1,100, 1,300] |" in capsys.readouterr().out
    (tmp_path / "hosts.csv").write_text("hostname,cpus_allowed\na,2\n")
    for words in ([], [str(tmp_path / "missing.csv")], [str(tmp_path / "hosts.csv")]):
        assert evidence_tables.main(words) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("conduit: error: ") and err.count("\n") == 1


def test_the_readme_of_binder_has_the_tables_of_its_data():
    binder = pathlib.Path(__file__).parents[3] / "binder"
    tables = evidence_tables.as_markdown(load(binder / "data" / "evidence" / "evidence.csv"))
    assert tables in (binder / "README.md").read_text(encoding="utf-8")


def spawns(path, module):
    """Whether a genome has spawn_kin in a module that answers to a name."""
    inside = False
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words and words[0] == "module":
            inside = module in line
        elif inside and words and words[0] == "spawn_kin":
            return True
    return False


def test_the_readme_of_binder_says_what_evolved():
    data = EVIDENCE.parents[1] / "binder" / "data" / "evidence"
    text = " ".join((data.parents[1] / "README.md").read_text(encoding="utf-8").split())
    table = load(data / "evidence.csv")
    genomes = {int(path.stem.removeprefix("seed")): path for path in (data / "genomes").glob("*.genome")}
    assert set(genomes) == set(table["seed"])
    invading = {seed for seed, path in genomes.items() if spawns(path, "@beside_stranger")}
    lost = {seed for seed in invading if not spawns(genomes[seed], "@can_afford")}
    filling = table[(table["experiment"] == "filling") & (table["case"] == "evolved")]
    assert f"In {len(invading)} of {len(genomes)} seeds, offspring is borne where a stranger is" in text
    assert f"{len(lost)} of these have lost `spawn_kin` from `@can_afford`" in text
    assert lost == set(filling.loc[filling["value"].isna(), "seed"])
    keen = evidence_plots.values(table, "competition", "keen ancestor", "share")
    assert f"(the \"keen\" one) takes {100 * keen.mean():.0f} % of the cells from it" in text
    assert evidence_plots.bootstrap_interval(evidence_plots.differences(table, "evolution", "wave", "even", "kin_cells"))[0] > 0


def test_genomes_without_an_instruction_of_the_class_are_counted():
    rows = [dict(experiment="knock-out", case="sharing", seed=seed, measure=measure, value=value)
            for measure, values in (("share", (0.4, 0.5, 0.6)), ("num_replaced", (0, 2, 0))) for seed, value in enumerate(values)]  # fmt: skip
    table = pandas.DataFrame(rows)
    text = evidence_tables.as_markdown(table)
    assert "| evolved without sharing, against whole | 0.500 of one genome; 2 of 3 genomes have none |" in text
    assert "| whole against itself (genomes that had none of a class) | 0.500 [0.400, 0.600]; 2 of them |" in text
    assert evidence_report.sentences(table).endswith("; 2 of 3 genomes have none.\n")


def test_a_class_that_no_genome_has_shows_nothing():
    rows = [dict(experiment="knock-out", case="sharing", seed=seed, measure=measure, value=value)
            for measure, value in (("share", 0.4), ("num_replaced", 0)) for seed in range(3)]  # fmt: skip
    table = pandas.DataFrame(rows)
    assert "| evolved without sharing, against whole | not to be had; 3 of 3 genomes have none |" in evidence_tables.as_markdown(table)
    assert "Without sharing, nothing is to be seen; 3 of 3 genomes have none." in evidence_report.sentences(table)


def test_a_keen_ancestor_is_the_ancestor_but_for_what_it_saves():
    ancestor = EVIDENCE.parents[1] / "demos" / "digital_evolution" / "world" / "ancestor.hpp"
    text = ancestor.read_text().split('R"(')[1].split(')"')[0]
    keen = evidence_plan.make_keen(text)
    changed = [pair for pair in zip(text.splitlines(), keen.splitlines()) if pair[0] != pair[1]]
    assert changed == [("  set r1 2048", "  set r1 1024")]
    with pytest.raises(InputError):
        evidence_plan.make_keen("module @born\n")


def test_who_is_keen_has_the_ancestor_s_genome(build, tmp_path):
    assert run(build, tmp_path / "out") == 0
    lines = {line.split("/runs/")[1].split("-s1-")[0]: line.split() for line in starts(tmp_path) if "-s1-" in line}
    for name, keen in (("competition-keen_ancestor", "rival"), ("competition-against_keen_ancestor", "ancestor")):
        place = next((tmp_path / "out" / "runs").glob(f"{name}-s1-*"))
        assert {f"--{who}" for who in ("ancestor", "rival")} <= set(lines[name])
        for who in ("ancestor", "rival"):
            assert ("set r1 1024" in (place / f"{who}.genome").read_text()) == (who == keen)


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


def genes(path, name, class_of):
    """How many instructions of a class a genome's file has."""
    words = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    return sum(class_of.get(each[0]) == name for each in words if each)


def run_small(folder, wanted, scale, *more_of_evolution):
    """Runs some of the plan's experiments for three seeds: what was measured, who ran them, and what."""
    built.folder_of("digital_evolution")
    tasks = [task for seed in (1, 2, 3) for task in evidence_plan.tasks(seed, scale) if (task.experiment, task.case) in wanted]
    tasks = [dataclasses.replace(task, words=(*task.words, *more_of_evolution)) if task.is_evolution else task for task in tasks]
    runner = evidence.open_runner(evidence.Options(True, 3, folder, None))
    with open("/dev/null", "w") as err:
        evidence.run_all(runner, tasks, err)
    return pandas.DataFrame([row for task in tasks for row in evidence_plan.measure(task, runner.place(task))]), runner, tasks


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small version of the evidence."""
    scale = evidence_plan.Scale(cells=900, arena=900, updates=20_000, competition=1_000, filling=1, mode_updates=1, mode_period_s=1)
    wanted = [evidence_plan.WAVE, evidence_plan.NEUTRAL, ("competition", "evolved"), ("competition", "genomes ignored"),
              ("knock-out", "reproduction")]  # fmt: skip
    return run_small(tmp_path_factory.mktemp("evidence"), wanted, scale)


#: Bears whenever it can, and tells its kin to die: who does not talk does better.
DEADLY = """
module @can_afford
  turn
  sense_self r0 is_expired
  jump_if r0 @found
  spawn_kin
  stop
  label @found
  spawn_new
module @heartbeat
  broadcast @hush
module @hush
  die
"""


@pytest.fixture(scope="module")
def talking(tmp_path_factory):
    """The knock-out of messaging, of a genome that has it: in so short a run nothing evolves, and few do that talk."""
    folder = tmp_path_factory.mktemp("talking")
    (folder / "deadly.genome").write_text(DEADLY)
    scale = evidence_plan.Scale(cells=900, arena=900, updates=16, competition=500, filling=1, mode_updates=1, mode_period_s=1)
    return run_small(folder, [evidence_plan.WAVE, ("knock-out", "messaging")], scale, "--ancestor", str(folder / "deadly.genome"))


@pytest.fixture(scope="module")
def young(tmp_path_factory):
    """What needs no evolved genome: growth into an empty world, waves beside an even harvest, and every mode.

    A run of a mode is long enough for several samples, also on a fast machine.
    """
    scale = evidence_plan.Scale(cells=400, arena=400, updates=500, competition=1, filling=2_500, mode_updates=2_000, mode_period_s=0.02)
    wanted = [evidence_plan.WAVE, ("evolution", "even"), ("filling", "ancestor"), ("filling", "evolved"), ("modes", "all"), ("modes alone", "all")]
    return run_small(tmp_path_factory.mktemp("young"), wanted, scale)[0]


def test_evolved_cells_beat_their_ancestor_and_those_whose_genomes_do_nothing_do_not(small):
    table, _, _ = small
    evolved = evidence_plots.values(table, "competition", "evolved", "share")
    neutral = evidence_plots.values(table, "competition", "genomes ignored", "share")
    assert len(evolved) == 3 and (evolved > 0.5).all() and evolved.mean() > 0.7, evolved
    assert 0.3 < neutral.mean() < 0.7, neutral


def test_what_competes_without_a_class_of_instructions_has_none_and_is_else_the_same(small, talking):
    for name, kept, (table, runner, tasks) in (("reproduction", "sensing", small), ("messaging", "reproduction", talking)):
        counts = evidence_plots.values(table, "knock-out", name, "num_replaced")
        assert len(counts) == 3 and counts.min() > 0, f"{name}: nothing to knock out, so nothing is shown"
        for task, count in zip((task for task in tasks if task.knocked_out == name), counts):
            whole, knocked = runner.place(task) / "ancestor.genome", runner.place(task) / evidence_plan.KNOCKED
            assert genes(whole, name, runner.class_of) == count and genes(knocked, name, runner.class_of) == 0
            assert genes(knocked, kept, runner.class_of) == genes(whole, kept, runner.class_of) > 0


def test_knock_outs_are_told_with_intervals_that_show_a_loss_and_a_gain(small, talking):
    told = evidence_plots.summary(pandas.concat([small[0], talking[0]]))
    told = told[(told["experiment"] == "knock-out") & (told["measure"] == "share")].set_index("case")
    assert set(told.index) == {"reproduction", "messaging"} and (told["seeds"] == 3).all()
    assert ((told["low"] <= told["mean"]) & (told["mean"] <= told["high"])).all()
    assert told.loc["reproduction", "high"] < 0.05  # a cell that cannot reproduce loses
    assert told.loc["messaging", "low"] > 0.6  # a cell that does not tell its kin to die wins


def test_founders_double_in_an_empty_world_until_they_fill_half_of_it(young):
    for case in ("ancestor", "evolved"):
        times = evidence_plots.values(young, "filling", case, "doubling_time")
        assert len(times) == 3 and ((50 < times) & (times < 600)).all(), (case, times)
    assert "the ancestor doubles in " in evidence_report.sentences(young)
    assert "never" not in evidence_report.sentences(young)


def test_an_even_harvest_is_the_same_for_all_and_waves_are_not(young):
    even, wave = (evidence_plots.values(young, "evolution", case, "harvested") for case in ("even", "wave"))
    assert even == pytest.approx([8, 8, 8], rel=0.01)  # 0.008 in each of 1000 updates
    assert len(wave) == 3 and (wave > 0).all() and len(set(wave)) == 3
    for measure in ("births", "births_within_kin", "generation", "genome_length", "kin_size", "kin_cells", "cells"):
        found = evidence_plots.differences(young, "evolution", "wave", "even", measure)
        assert len(found) == 3 and numpy.isfinite(found).all(), (measure, found)
        assert (evidence_plots.values(young, "evolution", "wave", measure) > 0).all()


@pytest.mark.parametrize("experiment", ["modes", "modes alone"])
def test_a_world_comes_to_something_in_each_mode(young, experiment):
    modes = young[young["experiment"] == experiment]
    assert sorted(set(modes["case"])) == [f"{mode} {name}" for mode, name in enumerate(MODE_NAMES)]
    for measure in ("rate", "births", "births_within_kin", "harvested", "generations", "genome_length", "kin_size", "kin_cells", "cells"):
        found = modes[modes["measure"] == measure].pivot(index="seed", columns="case", values="value")
        assert found.shape == (3, len(MODE_NAMES)) and numpy.isfinite(found).all(axis=None) and (found > 0).all(axis=None), (measure, found)
    told = evidence_tables.as_markdown(young)
    assert all(name in told for name in ("updates per second", "generations per 1000 updates", "kin group of a cell", "| 2 processes |", "| 1 process |"))
    assert evidence_report.sentences(young).count("Against mode 0, ") >= 3
