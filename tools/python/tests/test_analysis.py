import math

import netuit
import fake
import fake_results
import numpy
import pandas
import pytest
from netuit import analysis, files, notebooks
from fake_sweep import make_quality, make_rows


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_rates_are_per_worker_and_per_cpu():
    rows = pandas.DataFrame([fake.make_row(threads=4, thread=t, updates_per_second=100.0 * (t + 1)) for t in range(4)])
    assert analysis.by_run(rows)["rate"].tolist() == [250] and analysis.by_run(rows)["rate_per_cpu"].tolist() == [250]
    assert analysis.by_run(rows.assign(cpus=2))["rate_per_cpu"].tolist() == [500]
    assert analysis.by_run(rows.assign(cpus=64))["rate_per_cpu"].tolist() == [250]  # more CPUs than workers do not count


def test_rates_are_relative_to_one_worker_in_the_same_mode(tmp_path):
    runs = analysis.relative_rates(make_rows(tmp_path, rate=lambda workers, mode: (1000.0 + mode) / workers))
    for workers, part in runs.groupby("num_workers"):
        assert part["relative"].mean() == pytest.approx(1 / workers)


def test_mode_3_is_set_against_mode_0_with_intervals(tmp_path):
    rows = make_rows(
        tmp_path,
        rate=lambda workers, mode: 800.0 if mode == 3 else 100.0,
        conflicts=lambda workers, mode: 10 if mode == 3 else 41,
    )
    table = analysis.against_mode_0(rows).set_index("workers")
    assert table.loc["4x1", "rate ratio"] == pytest.approx(8)
    assert table.loc["4x1", "low"] < 8 < table.loc["4x1", "high"]
    assert table.loc["4x1", "conflicts ratio"] == pytest.approx(11 / 42)


def make_runs(spreads, replicates):
    """Runs of a layout, whose conflicts spread by mode."""
    random = numpy.random.default_rng(1)
    values = [(mode, replicate, random.normal(1000, spread)) for mode, spread in spreads.items() for replicate in range(replicates)]
    return pandas.DataFrame(values, columns=["mode", "replicate", "conflicts"])


def test_the_spread_of_conflicts_in_modes_1_and_2_is_set_against_that_in_mode_3():
    table = analysis.conflicts_spread(make_runs({0: 500, 1: 20, 2: 60, 3: 20}, replicates=40))
    assert list(table.index) == [1, 2] and set(table["replicates"]) == {40}
    assert table.loc[2, "deviation"] == pytest.approx(60, rel=0.3)
    assert table.loc[1, "low"] < 1 < table.loc[1, "high"] < 2
    assert 1.5 < table.loc[2, "low"] < table.loc[2, "to mode 3"] < table.loc[2, "high"] < 5


def test_a_spread_of_three_replicates_has_an_interval_without_an_upper_end():
    table = analysis.conflicts_spread(make_runs({1: 20, 3: 20}, replicates=3))
    assert list(table.index) == [1] and 0 <= table.loc[1, "low"] < table.loc[1, "high"] == math.inf
    assert len(analysis.conflicts_spread(make_runs({1: 20, 2: 20, 3: 20}, replicates=1))) == 0


def make_faulty(quality):
    """The same with other noise, where one worker of eight in each replicate is ten times as late."""
    is_struck = (quality["threads"] == 8) & (quality["snapshot"] == 0)
    late = quality["wall_latency_s"].where(~is_struck, 10 * quality["wall_latency_s"])
    return quality.assign(wall_latency_s=late, case="faulty")


def test_a_faulty_host_is_set_against_healthy_ones_replicate_by_replicate(tmp_path):
    healthy = make_quality(tmp_path)
    healthy["wall_latency_s"] *= 1 + healthy["replicate"]  # which outweighs what the fault does, but for pairs
    healthy = healthy[healthy["threads"] == 8]
    table = analysis.paired_differences(make_faulty(healthy), healthy, {"wall_latency_s": "latency", "skip_rate": "skips"})
    assert list(table.columns) == ["healthy", "difference", "low", "high", "replicates"]
    mean, median = (table.loc[("latency", statistic)] for statistic in ("mean", "median"))
    assert mean["healthy"] == pytest.approx(2.5e-5, rel=0.05)
    assert mean["difference"] == pytest.approx(3 * 2.5e-5, rel=0.1) and mean["low"] > 0 and mean["replicates"] == 4
    assert abs(median["difference"]) < 0.05 * median["healthy"]
    assert table.loc[("skips", "mean"), "difference"] == 0


def test_replicates_without_a_partner_are_left_out_of_differences(tmp_path):
    healthy = make_quality(tmp_path)
    table = analysis.paired_differences(make_faulty(healthy[healthy["replicate"] < 3]), healthy[healthy["replicate"] > 0])
    assert set(table["replicates"]) == {2 * 4}  # of four layouts
    with pytest.raises(netuit.InputError, match="no replicate"):
        analysis.paired_differences(healthy[healthy["replicate"] == 0], healthy[healthy["replicate"] == 1])


def test_regressions_find_a_slope_and_say_where_there_is_none(tmp_path):
    fits = analysis.regress(make_quality(tmp_path, factor=lambda workers: 1 + math.log2(workers)), "log2_threads")
    fits = fits.set_index(["metric", "statistic"])
    for statistic in ("mean", "median"):
        latency = fits.loc[("wall-time latency, s", statistic)]
        assert latency["slope"] == pytest.approx(1e-5, rel=0.1)
        assert latency["low"] < latency["slope"] < latency["high"] and latency["p"] < 0.001
        failure = fits.loc[("delivery failure rate", statistic)]
        assert failure["slope"] == 0 and math.isnan(failure["p"])
        assert fits.loc[("simstep period, s", statistic)]["p"] > 0.001
        assert latency["n"] == 16


def test_outliers_move_means_and_no_medians(tmp_path):
    quality = make_quality(tmp_path)
    is_struck = (quality["threads"] == 8) & (quality["snapshot"] == 0)
    quality.loc[is_struck, "wall_latency_s"] *= 100
    fits = analysis.regress(quality, "log2_threads", {"wall_latency_s": "latency"}).set_index("statistic")
    assert fits.loc["mean", "slope"] > 20 * abs(fits.loc["median", "slope"])
    latency = analysis.means_and_medians(quality)["wall-time latency, s"].loc[(1, 3)]
    assert latency["mean"] > 5 * latency["median"]


def make_pairs():
    """Of two processes of two threads, each pair of workers in two snapshots; the workers of a process within it too."""
    workers = [(process, thread) for process in range(2) for thread in range(2)]
    lines = []
    for snapshot in range(2):
        for (process, thread) in workers:
            lines += [{"mode": 3, "replicate": 0, "snapshot": snapshot, "scope": "pair", "layer": 0, "process": process, "thread": thread,
                       "transport": "thread" if peer[0] == process else "mpi", "peer_process": peer[0], "peer_thread": peer[1],
                       "begin_s": 1.0 + snapshot, "end_s": 1.5 + snapshot, "updates": 100 + 50 * thread, "channels_out": 1, "channels_in": 1,
                       "attempted": 10, "accepted": 9, "dropped": 1, "preempted": 1, "received": 8, "stepped": 6, "skipped": 2, "folded": 0,
                       "pulls": 20, "laden": 4, "touches": 40 - 20 * peer[1]} for peer in workers if peer != (process, thread)]  # fmt: skip
            lines.append(lines[-1] | {"scope": "worker", "peer_process": None, "peer_thread": None})
    return pandas.DataFrame(lines)


def test_pairs_of_workers_add_up_to_pairs_of_processes():
    table = analysis.by_process_pair(make_pairs())
    assert list(zip(table["snapshot"], table["process"], table["peer_process"])) == [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)]
    assert set(table["transport"]) == {"mpi"}
    for _, line in table.iterrows():
        assert (line["num_pairs"], line["attempted"], line["received"], line["updates"], line["touches"]) == (4, 40, 32, 500, 120)
        assert line["simstep_period_s"] == pytest.approx(4 * 0.5 / 500)
        assert line["simstep_latency_updates"] == pytest.approx(500 / 120)
        assert line["wall_latency_s"] == pytest.approx(2 / 120)
        assert line["failure_rate"] == pytest.approx(0.1) and line["clumpiness"] == pytest.approx(0.5)
        assert line["skip_rate"] == pytest.approx((8 + 4) / (32 + 4))


def test_a_pair_of_processes_of_which_one_is_silent_has_no_latency():
    pairs = make_pairs()
    table = analysis.by_process_pair(pairs.assign(attempted=pairs["attempted"].where(pairs["process"] == 0, 0), received=0, laden=0, preempted=0))
    assert table["simstep_latency_updates"].isna().tolist() == [False, True] * 2
    assert table["failure_rate"].isna().tolist() == [False, True] * 2 and table["clumpiness"].isna().all()


def test_latencies_by_touches_and_by_stamps_are_set_beside_each_other(tmp_path):
    quality = make_quality(tmp_path).assign(simstep_latency_updates=1.5)
    quality["age_mean_s"] = 1.1 * 1.5 * quality["simstep_period_s"]
    quality.loc[quality["replicate"] == 0, "age_mean_s"] *= 100  # which moves means, and no medians
    table = analysis.latency_agreement(quality)
    assert list(table.columns) == ["by touches, updates", "by stamps, updates", "ratio"]
    assert len(table) == 4 and table["ratio"].to_numpy() == pytest.approx(1.1)


@pytest.mark.parametrize("drop", [True, False])
def test_without_stamps_there_is_nothing_to_set_beside_touches(drop, tmp_path, capsys):
    quality = make_quality(tmp_path).drop(columns="age_mean_s", errors="ignore")
    table = analysis.latency_agreement(quality if drop else quality.assign(age_mean_s=float("nan")))
    assert len(table) == 0 and "ratio" in table
    out = capsys.readouterr().out
    assert out.startswith("No stamps: ") and out.count("\n") == 1


@pytest.mark.parametrize(
    ("folder", "cases"),
    [
        ("compute_work", {"work_0", "work_10", "work_100", "work_1000"}),  # bound by work, at last
        ("two_hosts", {"one_host", "one_host_intensive"}),  # bound by communication; the other cases cross a network
    ],
)
def test_latencies_by_touches_and_by_stamps_agree_within_a_tenth(folder, cases):
    quality = netuit.load(notebooks.BINDER / "data" / folder / "quality.csv")
    table = analysis.latency_agreement(quality[~quality["oversubscribed"]]).reset_index()
    table = table[~table["case"].str.startswith("two_hosts")]
    assert set(table["case"]) == cases
    assert table["ratio"].between(0.9, 1.1).all(), table


def test_data_that_are_not_there_are_said_to_be_absent(capsys):
    assert analysis.data("missing") is None
    assert "tools/experiment missing" in capsys.readouterr().out
    assert analysis.simulated() == {} and "tools/experiment simulated" in capsys.readouterr().out


def test_simulated_results_are_named_by_their_file_folder_or_case(tmp_path):
    for path in ("fast.csv", "slow/4/rows.csv", "slow/16/rows.csv"):
        (tmp_path / "data/simulated" / path).parent.mkdir(parents=True, exist_ok=True)
        fake_results.write_csv(tmp_path / "data/simulated" / path, [fake.make_row()])
    cases = [fake.make_row() | {"case": case} for case in ("whole", "faulty")]
    fake_results.write_csv(tmp_path / "data/simulated/cases.csv", cases)
    parts = analysis.simulated()
    assert {name: len(rows) for name, rows in parts.items()} == {"whole": 1, "faulty": 1, "fast": 1, "slow": 2}
    assert analysis.simulated(kind="quality") == {}


def test_compressed_simulated_results_are_read_once(tmp_path):
    (tmp_path / "data/simulated/slow").mkdir(parents=True)
    for path in ("fast.csv", "slow/rows.csv"):
        fake_results.write_csv(tmp_path / "data/simulated" / path, [fake.make_row()])
        files.write_compressed(tmp_path / "data/simulated" / f"{path}.gz", (tmp_path / "data/simulated" / path).read_text())
    (tmp_path / "data/simulated/fast.csv").unlink()
    assert {name: len(rows) for name, rows in analysis.simulated().items()} == {"fast": 1, "slow": 1}


def test_simulated_hosts_are_processes_and_a_faulty_one_makes_a_cluster_of_its_own(tmp_path):
    kept = ("mode", "mode_name", "replicate", "process", "updates_per_second", "conflicts", "conflict_edges_total")
    rows = [
        {"network": "paper", "hosts": hosts, "faulty_host": faulty} | {key: fake.make_row()[key] for key in kept}
        for hosts, faulty in ((1, ""), (64, ""), (64, 27))
    ]
    (tmp_path / "data/simulated").mkdir(parents=True)
    fake_results.write_csv(tmp_path / "data/simulated/rows.csv", rows)
    parts = analysis.simulated()
    assert {name: sorted(part["processes"]) for name, part in parts.items()} == {
        "paper": [1, 64],
        "paper, faulty host": [64],
    }
    assert list(analysis.relative_rates(parts["paper"])["relative"]) == [1, 1]
