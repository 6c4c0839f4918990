import pathlib

import fake
import pandas
import pytest
from netuit import analysis, headline, load, sweep_files, sweeps

SEED = {  # the headline figures that are to be reproduced or beaten, as the papers give them
    "colouring, processes": [
        ("mode 3 at 64, of one process' rate", "63 %"), ("mode 3 / mode 0, rate, at 64", "7.8x"),
        *((f"mode 3 against mode 0 at {count}", "rate and conflicts better, disjoint") for count in (4, 16, 64)),
        *((f"modes 1 and 2 at {count}", "highly inconsistent") for count in (16, 64)),
    ],
    "evolution, processes": [
        ("mode 3 at 64, of one process' rate", "92 %"), ("mode 3 / mode 0, rate, at 64", "2.1x"),
        *((f"mode 3 against mode 0 at {count}", "rate better, disjoint") for count in (16, 64)),
    ],
    "evolution, threads": [("modes 1-3 at 64, of one thread's rate", "43 %, mode 4 61 %"), ("mode 3 / mode 0, rate, at 64", "2.1x")],
    "colouring, threads": [("rate, 1 to 4 threads", "-61 %, in mode 4 too"), ("rate, 4 to 64 threads", "-75 %, in mode 4 too")],
    "quality, 2 processes": [
        ("simstep period", "9.06 us"), ("wall latency", "7.70/6.94 us"), ("simstep latency", "1.00/0.75"),
        ("clumpiness", "0.014/0.002"), ("failure rate", "0.33/0.30"),
    ],
    "quality, 2 hosts": [
        ("simstep period", "14.5 us"), ("wall latency", "600/551 us"), ("simstep latency", "41.6/37.4"), ("clumpiness", "0.96"),
        ("failure rate", "0"),
    ],
    "quality, 2 threads": [("simstep period", "4.60 us"), ("wall latency", "-/5 us"), ("clumpiness", "-/0.54"), ("failure rate", "0")],
    "quality, processes": [("256, of 16 processes'", "medians stable"), ("one faulty node of 64, of none", "means worse, no medians")],
}  # fmt: skip
DATA = pathlib.Path(__file__).parents[3] / "binder" / "data"
SWEEPS = sorted(path.parent for path in DATA.glob("*/rows.csv.gz") if (path.parent / "manifest.json").exists())  # not the film's runs


def make_rows(rates, *, layout=(64, 1), case="processes", conflicts=None, cpus=2, launcher="local"):
    """Rows of one layout: rates[mode] is a list, a rate a replicate, of every worker."""
    rows = []
    for mode, values in rates.items():
        for replicate, rate in enumerate(values):
            rows.append({**fake.make_row(processes=layout[0], threads=layout[1], mode=mode, mode_name=fake.MODES[mode], replicate=replicate,
                                         updates_per_second=float(rate), conflicts=(conflicts or {}).get(mode, [40] * 9)[replicate]),
                         "case": case, "cpus": cpus, "launcher": launcher})  # fmt: skip
    return rows


def ours(rows, figure, quality=None):
    lines = {f"{line[0]}: {line[1]}": line[3] for line in headline.table((pandas.DataFrame(rows), quality))}
    return next(text for name, text in lines.items() if figure in name)


def not_run(text):
    return text.startswith("not run here: tools/experiment ")


def measured_by(sweep):
    """Rows and quality that a sweep would leave: of each layout's first worker alone."""
    rows, quality = [], []
    for launch in sweeps.launches(sweep):
        here = {"case": launch.case.name, "cpus": 2, "launcher": launch.case.launcher}
        for mode in launch.modes:
            row = fake.make_row(processes=launch.workers.processes, threads=launch.workers.threads, mode=mode,
                                mode_name=fake.MODES[mode], replicate=launch.replicate, conflicts=40 + launch.replicate)  # fmt: skip
            row |= {"mean_generation": 3.0} if sweep.program == "digital_evolution" else {}
            rows.append({name: row[name] for name in row if sweep.program == "channel_selection" or "conflict" not in name} | here)
            if launch.case.snapshot:
                metrics = dict.fromkeys(analysis.QUALITY_METRICS, 0.5)
                quality.append({"processes": row["processes"], "threads": row["threads"], "mode": mode, "scope": "worker"} | here | metrics)
    return pandas.DataFrame(rows), pandas.DataFrame(quality) if quality else None


def test_the_ratio_to_a_barrier_comes_with_its_interval():
    text = ours(make_rows({0: [10, 11, 9], 3: [78, 80, 76]}), "mode 3 / mode 0, rate, at 64")
    ratio, low, _, high = text.replace("x (", " ").replace(")", "").split()
    assert float(ratio) == 7.8 and 7 < float(low) < 7.8 < float(high) < 9


def test_what_is_kept_is_per_cpu():
    rows = make_rows({3: [100.0]}, layout=(1, 1), case="threads") + make_rows({3: [2.0]}, layout=(64, 1))
    for row in rows[1:]:
        row["updates_per_second"] = 2.0
    rows += [{**row, "process": process} for row in rows[1:] for process in range(1, 64)]
    assert ours(rows, "of one process' rate") == "64 % (64 to 64 %) per CPU, 2 CPUs"  # 64 workers x 2 / 2 CPUs, of 100


@pytest.mark.parametrize(
    "free, barred, text",
    [([20, 21, 22], [10, 11, 12], "rate better, disjoint"), ([10, 30, 50], [20, 25, 28], "rate better, overlapping"),
     ([10, 11, 12], [20, 21, 22], "rate not better, disjoint")],
)  # fmt: skip
def test_modes_are_compared_by_intervals(free, barred, text):
    assert text in ours(make_rows({0: barred, 3: free}, layout=(4, 1)), "mode 3 against mode 0 at 4")


def test_fewer_conflicts_are_better():
    rows = make_rows({0: [1, 1], 3: [1, 1]}, layout=(16, 1), conflicts={0: [90, 91], 3: [50, 51]})
    assert "conflicts better, disjoint" in ours(rows, "mode 3 against mode 0 at 16")
    assert "two replicates" in ours(make_rows({0: [1], 3: [1]}, layout=(16, 1)), "mode 3 against mode 0 at 16")


def test_the_spread_of_conflicts_is_that_over_replicates():
    rows = make_rows({mode: [1, 1] for mode in (1, 2, 3)}, conflicts={1: [10, 12], 2: [20, 20], 3: [5, 7]})
    assert ours(rows, "modes 1 and 2 at 64") == (
        "conflicts mode 1: 11 +- 1, mode 2: 20 +- 0, mode 3: 6 +- 1; 2 replicates, too few to compare spreads"
    )


def test_spreads_are_compared_where_replicates_suffice_and_of_the_case_that_has_most():
    few = make_rows({mode: [1, 1] for mode in (1, 2, 3)}, case="paper", conflicts={mode: [800, 900] for mode in (1, 2, 3)})
    left = [40, 41, 42, 43, 44, 45, 46, 47, 48, 49]
    many = make_rows({mode: [1] * 10 for mode in (1, 2, 3)}, case="paper_spread",
                     conflicts={1: [10 * each for each in left], 2: left, 3: left})  # fmt: skip
    text = ours(few + many, "modes 1 and 2 at 64")
    assert text.startswith("conflicts mode 1: 445 +- 30, mode 2: 44 +- 3, mode 3: 44 +- 3; spread to mode 3's 10.0x (")
    low, high = map(float, text.split("10.0x (")[1].split(")")[0].split(" to "))
    assert 3 < low < 10 < high < 30 and " and 1.0x (0." in text and text.endswith(", 10 replicates")
    assert ours(few + many[:-1], "modes 1 and 2 at 64").endswith("; 9 replicates, too few to compare spreads")


def test_of_a_layout_that_several_cases_have_the_first_counts():
    rows = make_rows({0: [10, 10], 3: [20, 20]}, case="paper") + make_rows({0: [10, 10], 3: [90, 90]}, case="fast")
    assert ours(rows, "mode 3 / mode 0").startswith("2.00x")


def test_quality_is_of_mode_3_between_workers_with_hardly_any_work():
    quality = pandas.DataFrame(
        [dict(processes=2, threads=1, mode=mode, scope="worker", case=case, launcher=launcher, failure_rate=rate)
         for mode, case, launcher, rate in ((3, "follow_up", "local", 0.25), (3, "follow_up", "local", 0.75), (0, "follow_up", "local", 9),
                                            (3, "processes", "local", 7), (3, "two_hosts", "hosts", 0.5))]
    )  # fmt: skip
    rows = make_rows({3: [1]})
    assert ours(rows, "2 processes: failure", quality) == "0.5/0.5"
    assert ours(rows, "2 hosts: failure", quality) == "0.5/0.5"
    assert not_run(ours(rows, "2 threads: failure", quality))


def test_the_cpus_are_those_of_the_layout():
    alone = make_rows({3: [100]}, layout=(1, 1), cpus=1)
    rows = alone + make_rows({3: [74]}, cpus=64) + make_rows({3: [70]}, layout=(256, 1), cpus=256)
    assert "64 CPUs" in ours(rows, "of one process' rate")
    assert "64 CPUs" in ours([{name: row[name] for name in row if name != "cpus"} for row in rows], "of one process' rate")


def test_all_figures_are_listed_whether_they_were_run_or_not():
    listed = {(line[0], name): line[2] for line in headline.table((pandas.DataFrame(make_rows({3: [1]})), None)) for name in [line[1]]}
    for experiment, figures in SEED.items():
        for figure, paper in figures:
            name = f"{figure}, mean/median" if experiment in ("quality, 2 processes", "quality, 2 hosts", "quality, 2 threads") else figure
            assert listed.pop((experiment, name)) == paper
    assert list(listed) == [("quality, 2 threads", "simstep latency, mean/median")]  # of which the study tells nothing


def test_figures_that_were_not_run_say_what_measures_them():
    lines = headline.table((pandas.DataFrame(make_rows({0: [10, 10], 3: [20, 20]})), None))
    absent = {f"{line[0]}: {line[1]}": line[3] for line in lines if not line[4]}
    assert all(map(not_run, absent.values())) and len(absent) == len(lines) - 2
    assert absent["colouring, processes: mode 3 against mode 0 at 4"] == "not run here: tools/experiment paper"
    assert absent["quality, 2 hosts: clumpiness, mean/median"] == "not run here: tools/experiment two_hosts (as root)"
    assert absent["quality, processes: 256, of 16 processes'"] == "not run here: tools/experiment simulated"
    text, page = headline.as_text(lines), headline.as_markdown(lines)
    assert text.count("not run here") == page.count("not run here") == len(absent)
    assert "\n2  The paper's barrier" in text and "\n0  " not in text and "\n7  " not in text


def test_simulated_figures_have_their_own_reason():
    rows = make_rows({0: [10, 10], 3: [20, 20]}, cpus=64, launcher="simulated")
    lines = headline.table((pandas.DataFrame(rows), None))
    assert {line[4] for line in lines} == {0, 7}
    text, page = headline.as_text(lines), headline.as_markdown(lines)
    assert "\n7  Hosts are simulated" in text and "\n1  " not in text
    assert "| 7.8x | 2.00x" in page
    assert "not run here: tools/experiment evolution_simulated\n" in text
    assert "not run here: tools/experiment paper (a simulated process has one thread)\n" in text


def absent_of(names, quick=False):
    parts = [measured_by(sweep) for name in names for sweep in sweep_files.load_all(sweep_files.find(name), quick=quick)]
    return [line for line in headline.table(*parts) if not line[4]]


def test_of_cases_with_hardly_any_work_quality_alone_is_told():
    sweep = sweep_files.load(sweep_files.find("paper"), quick=True)
    rows, quality = measured_by(sweep)
    lines = headline.table((rows[rows["case"] == "follow_up"], quality))
    assert {line[0] for line in lines if line[4]} == {"quality, 2 processes", "quality, 2 threads"}


def test_what_is_said_to_measure_a_figure_does():
    of = {name: {line[:2] for line in absent_of([name])} for name in ("paper", "evolution", "simulated", "evolution_simulated", "two_hosts")}
    for each in (*headline.HEADLINES, *headline.HEADLINES_OF_EVOLUTION):
        for sweep in filter(None, (each.sweep, each.simulated)):
            assert (each.experiment, each.figure) not in of[sweep], f"tools/experiment {sweep}"


def test_the_quick_form_of_the_paper_leaves_out_two_hosts_and_what_wants_simulated_ones():
    absent = absent_of(["paper"], quick=True)
    assert {line[0] for line in absent} == {"quality, 2 hosts", "quality, processes"} and len(absent) == 7


def test_every_headline_has_a_reason():
    whys = {each.why for each in (*headline.HEADLINES, *headline.HEADLINES_OF_EVOLUTION)}
    assert whys <= set(headline.REASONS)


def test_evolution_has_headlines_of_its_own():
    rows = make_rows({0: [40, 41], 1: [90, 90], 2: [90, 90], 3: [92, 92], 4: [99, 99]}, cpus=64)
    rows += make_rows({mode: [100, 100] for mode in range(5)}, layout=(1, 1), case="one")
    rows += [{**row, "processes": 1, "threads": 64, "case": "threads"} for row in rows if row["processes"] == 64]
    rows = [{name: value for name, value in row.items() if "conflict" not in name} | {"mean_generation": 3.0} for row in rows]
    assert ours(rows, "evolution, processes: mode 3 / mode 0, rate, at 64").startswith("2.27x")
    assert ours(rows, "evolution, processes: mode 3 against mode 0 at 64") == "rate better, disjoint; 2 replicates"
    assert ours(rows, "evolution, threads: mode 3 / mode 0, rate, at 64").startswith("2.27x")
    assert ours(rows, "modes 1-3 at 64").startswith("mode 1 1.4 %, mode 2 1.4 %, mode 3 1.4 %, mode 4 1.5 % per CPU, 64 CPUs")
    lines = headline.table((pandas.DataFrame(rows), None))
    assert {line[0] for line in lines if line[4]} == {"evolution, processes", "evolution, threads"}
    two = [row for row in rows if row["mode"] in (0, 3)]
    assert ours(two, "modes 1-3 at 64") == "mode 3 1.4 % per CPU, 64 CPUs; of modes 1, 2, 4 none"


def test_both_benchmarks_are_in_one_table():
    colouring = pandas.DataFrame(make_rows({0: [10, 10], 3: [20, 20]}))
    evolution = pandas.DataFrame(make_rows({0: [10, 10], 3: [30, 30]})).drop(columns="conflicts").assign(mean_generation=1.0)
    told = {line[0]: line[3] for line in headline.table((colouring, None), (evolution, None)) if line[1] == "mode 3 / mode 0, rate, at 64"}
    assert told["colouring, processes"].startswith("2.00x") and told["evolution, processes"].startswith("3.00x")


def test_what_a_faulty_node_and_more_processes_change_is_told_by_medians():
    service = {"paper": (16, [1, 1, 4]), "paper_256": (256, [2, 2, 2]), "paper_faulty": (64, [1, 1, 16]), "fast": (16, [9, 9, 9])}
    quality = pandas.DataFrame(
        [dict(processes=processes, threads=1, mode=3, scope="worker", case=case, launcher="simulated", simstep_period_s=value,
              simstep_latency_updates=1, wall_latency_s=2 * value)
         for case, (processes, values) in service.items() for value in values]
        + [dict(processes=64, threads=1, mode=3, scope="worker", case="paper", launcher="simulated", simstep_period_s=value,
                simstep_latency_updates=1, wall_latency_s=2 * value) for value in (1, 1, 4)]
    )  # fmt: skip
    rows = make_rows({3: [1]}, launcher="simulated")
    assert ours(rows, "256, of 16", quality) == "median period 2.00x, simstep latency 1.00x, wall latency 2.00x"
    assert ours(rows, "one faulty node", quality) == (
        "mean period 3.00x, simstep latency 1.00x, wall latency 3.00x; median period 1.00x, simstep latency 1.00x, wall latency 1.00x"
    )
    assert not_run(ours(rows, "256, of 16", quality[quality["case"] != "paper_256"]))


def test_what_names_no_launcher_is_local():
    quality = pandas.DataFrame([dict(processes=2, threads=1, mode=3, scope="worker", case="processes", failure_rate=0.25)])
    rows = [{name: value for name, value in row.items() if name != "launcher"} for row in make_rows({0: [10], 3: [20]})]
    assert ours(rows, "2 processes: failure", quality) == "0.25/0.25" and not_run(ours(rows, "2 hosts: failure", quality))
    assert {line[4] for line in headline.table((pandas.DataFrame(rows), quality)) if line[0] == "colouring, processes"} == {0, 2}


@pytest.mark.parametrize("folder", SWEEPS, ids=lambda folder: folder.name)
def test_data_that_are_kept_can_be_told_as_headlines(folder):
    quality = load(folder / "quality.csv") if (folder / "quality.csv.gz").exists() else None
    lines = headline.table((load(folder), quality))
    assert all(line[4] in headline.REASONS or (not line[4] and not_run(line[3])) for line in lines)
    assert any(line[4] for line in lines) or folder.name in ("thread_cost", "evolution_cost")  # of layouts that no figure is of
