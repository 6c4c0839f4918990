import pathlib

import fake
import pandas
import pytest
from conduit_tools import headline, load

DATA = pathlib.Path(__file__).parents[3] / "binder" / "data"


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
    lines = {f"{line[0]}: {line[1]}": line[3] for line in headline.table(pandas.DataFrame(rows), quality)}
    return next((text for name, text in lines.items() if figure in name), None)


def test_the_ratio_to_a_barrier_comes_with_its_interval():
    text = ours(make_rows({0: [10, 11, 9], 3: [78, 80, 76]}), "mode 3 / mode 0, rate, at 64")
    ratio, low, _, high = text.replace("x (", " ").replace(")", "").split()
    assert float(ratio) == 7.8 and 7 < float(low) < 7.8 < float(high) < 9


def test_what_is_kept_is_per_cpu():
    rows = make_rows({3: [100.0]}, layout=(1, 1), case="threads") + make_rows({3: [2.0]}, layout=(64, 1))
    for row in rows[1:]:
        row["updates_per_second"] = 2.0
    rows += [{**row, "process": process} for row in rows[1:] for process in range(1, 64)]
    assert ours(rows, "of one process' rate") == "64 % per CPU, 2 CPUs"  # 64 workers x 2 / 2 CPUs, of 100


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
    assert ours(rows, "modes 1 and 2 at 64") == "conflicts mode 1: 11 +- 1, mode 2: 20 +- 0, mode 3: 6 +- 1"


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
    assert ours(rows, "2 threads: failure", quality) is None


def test_the_cpus_are_those_of_the_layout():
    alone = make_rows({3: [100]}, layout=(1, 1), cpus=1)
    rows = alone + make_rows({3: [74]}, cpus=64) + make_rows({3: [70]}, layout=(256, 1), cpus=256)
    assert "64 CPUs" in ours(rows, "of one process' rate")
    assert "64 CPUs" in ours([{name: row[name] for name in row if name != "cpus"} for row in rows], "of one process' rate")


def test_figures_that_were_not_run_are_left_out_and_simulated_ones_have_their_own_reason():
    rows = make_rows({0: [10, 10], 3: [20, 20]}, cpus=64, launcher="simulated")
    lines = headline.table(pandas.DataFrame(rows), None)
    assert all(line[3] != headline.ABSENT for line in lines)
    assert {line[4] for line in lines if line[0] == "colouring, processes"} == {7}
    assert 5 not in {line[4] for line in lines}
    text, page = headline.as_text(lines), headline.as_markdown(lines)
    assert "\n7  Hosts are simulated" in text and "\n1  " not in text
    assert "| 7.8x | 2.00x" in page


def test_every_headline_has_a_reason():
    whys = {each.why for each in (*headline.HEADLINES, *headline.HEADLINES_OF_EVOLUTION)}
    assert whys <= set(headline.REASONS)


def test_evolution_has_headlines_of_its_own():
    rows = make_rows({0: [40, 41], 1: [90, 90], 2: [90, 90], 3: [92, 92], 4: [99, 99]}, cpus=64)
    rows += make_rows({mode: [100, 100] for mode in range(5)}, layout=(1, 1), case="one")
    rows += [{**row, "processes": 1, "threads": 64, "case": "threads"} for row in rows if row["processes"] == 64]
    rows = [{name: value for name, value in row.items() if "conflict" not in name} | {"mean_generation": 3.0} for row in rows]
    assert ours(rows, "processes: mode 3 / mode 0, rate, at 64").startswith("2.27x")
    assert ours(rows, "mode 3 against mode 0 at 64") == "rate better, disjoint"
    assert ours(rows, "threads: mode 3 / mode 0, rate, at 64").startswith("2.27x")
    assert ours(rows, "modes 1-3 at 64").startswith("mode 1 1.4 %, mode 2 1.4 %, mode 3 1.4 %, mode 4 1.5 % per CPU, 64 CPUs")
    lines = headline.table(pandas.DataFrame(rows), None)
    assert {line[0] for line in lines} == {"evolution, processes", "evolution, threads"}


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
    assert ours(rows, "256, of 16", quality[quality["case"] != "paper_256"]) is None


def test_what_names_no_launcher_is_local():
    quality = pandas.DataFrame([dict(processes=2, threads=1, mode=3, scope="worker", case="processes", failure_rate=0.25)])
    rows = [{name: value for name, value in row.items() if name != "launcher"} for row in make_rows({0: [10], 3: [20]})]
    assert ours(rows, "2 processes: failure", quality) == "0.25/0.25" and ours(rows, "2 hosts: failure", quality) is None
    assert {line[4] for line in headline.table(pandas.DataFrame(rows), quality) if line[0] == "colouring, processes"} == {2}


@pytest.mark.parametrize("folder", sorted(path.parent for path in DATA.glob("*/rows.csv")), ids=lambda folder: folder.name)
def test_data_that_are_kept_can_be_told_as_headlines(folder):
    quality = load(folder / "quality.csv") if (folder / "quality.csv").exists() else None
    lines = headline.table(load(folder), quality)
    assert all(line[3] != headline.ABSENT and line[4] in headline.REASONS for line in lines)
    assert lines or folder.name == "thread_cost"  # of layouts that no figure is of
