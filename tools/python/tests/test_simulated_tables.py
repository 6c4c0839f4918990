import pathlib

import pandas
import pytest
from netuit import InputError, simulated_tables

DATA = pathlib.Path(__file__).parents[3] / "binder" / "data"


def rows(case, rates, conflicts=None):
    """Rows of runs of one worker a process: rates, and shares of 1000 pairs, by (hosts, mode), a value a replicate."""
    lines = []
    for (hosts, mode), values in rates.items():
        for replicate, rate in enumerate(values):
            line = {"case": case, "processes": hosts, "threads": 1, "mode": mode, "mode_name": "some", "replicate": replicate,
                    "updates_per_second": rate, "oversubscribed": False}  # fmt: skip
            if conflicts:
                line |= {"conflicts": conflicts[hosts, mode][replicate], "conflict_edges_total": 1000}
            lines.append(line)
    return pandas.DataFrame(lines)


def test_networks_are_told_by_what_mode_3_keeps_and_gains_and_leaves():
    rates = {(1, 0): [50_000, 50_000], (1, 3): [50_000, 50_000], (4, 0): [10_000, 10_000], (4, 3): [40_000, 40_000]}
    left = {(1, 0): [12, 12], (1, 3): [6, 6], (4, 0): [40, 40], (4, 3): [8, 8]}
    text = simulated_tables.networks({"paper": rows("paper", rates, left), "fast": rows("fast", rates, left)})
    # One process is beside the others, as modes come to different results there too.
    assert "\n| 1, `paper` | 50,000 | 1.00 [1.00, 1.00] | 1.0 [1.0, 1.0] | 0.60 [0.60, 0.60] % | 1.2 [1.2, 1.2] % |\n" in text
    assert "\n| 4, `paper` |  | 0.80 [0.80, 0.80] | 4.0 [4.0, 4.0] | 0.80 [0.80, 0.80] % | 4.0 [4.0, 4.0] % |\n" in text
    assert text.count("\n| 4, ") == 2 and len({line.count("|") for line in text.splitlines()}) == 1


def test_of_evolution_no_conflicts_are_told():
    text = simulated_tables.networks({"paper": rows("paper", {(1, 3): [450, 450], (16, 0): [300, 300], (16, 3): [405, 405]})})
    assert text.splitlines()[-1] == "| 16, `paper` | 450 | 0.90 [0.90, 0.90] | 1.35 [1.35, 1.35] |"
    assert len({line.count("|") for line in text.splitlines()}) == 1


def test_a_network_without_a_single_process_or_without_mode_0_is_left_out():
    whole = rows("paper", {(1, 3): [2], (4, 0): [1], (4, 3): [2]})
    alone = {"paper": whole, "paper_8us": rows("paper_8us", {(4, 0): [1], (4, 3): [2]}), "fast": rows("fast", {(1, 3): [2], (4, 3): [2]})}
    assert simulated_tables.networks(alone) == simulated_tables.networks({"paper": whole})
    with pytest.raises(InputError):
        simulated_tables.networks({"fast": alone["fast"]})


def test_modes_are_relative_to_one_process_in_the_same_mode():
    rates = {(hosts, mode): [rate, rate] for hosts, rate in ((1, 10), (64, 5)) for mode in range(5)} | {(1, 1): [20, 20]}
    left = {key: [10, 10] for key in rates}
    text = simulated_tables.modes({"paper": rows("paper", rates, left)})
    assert "\n| rate relative to one process | 0.25 [0.25, 0.25] | 0.50 [0.50, 0.50] | 0.50" in text
    assert "\n| conflicts left, % | 1.000 [1.000, 1.000] |" in text


def test_the_spread_is_told_beside_mode_3_s():
    rates = {(64, mode): [1, 1, 1] for mode in (1, 2, 3)}
    left = {(64, 1): [80, 100, 120], (64, 2): [90, 100, 110], (64, 3): [90, 100, 110]}
    line = simulated_tables.spread({"paper_spread": rows("paper_spread", rates, left)}).splitlines()[-1]
    assert line.startswith("| 64 hosts, 3 replicates | 10.0 % of the mean | 20.0 %; 2.00 [") and "| 10.0 %; 1.00 [" in line


def quality(case, values, period=2e-6):
    lines = [{"case": case, "processes": 64, "threads": 1, "mode": 3, "replicate": 0, "snapshot": 0, "scope": "worker", "process": process,
              "simstep_period_s": period, "simstep_latency_updates": 2.0, "wall_latency_s": value, "failure_rate": 0.0,
              "clumpiness": 0.5, "skip_rate": 0.25} for process, value in enumerate(values)]  # fmt: skip
    return pandas.DataFrame(lines)


def test_a_faulty_host_is_told_by_means_and_by_medians():
    text = simulated_tables.faulty({"paper": quality("paper", [1e-6, 1e-6, 1e-6]), "paper_faulty": quality("paper_faulty", [1e-6, 1e-6, 4e-6])})
    assert "| wall-time latency, s | 1e-06 | +100.0 % [+100.0, +100.0] | 1e-06 | +0.0 % [+0.0, +0.0] |" in text
    assert "| delivery failure rate | 0 | 0 | 0 | 0 |" in text


def test_real_processes_stand_beside_simulated_ones():
    real = rows("machine", {(1, 0): [20_000], (1, 3): [25_000], (2, 0): [10_000], (2, 3): [20_000]},
                {(1, 0): [1], (1, 3): [1], (2, 0): [62], (2, 3): [36]})  # fmt: skip
    times = quality("machine", [1e-6]).assign(processes=2, age_p50_s=3e-6, transit_p50_s=float("nan"))
    text = simulated_tables.calibration((real, times), (real.assign(updates_per_second=30_000), times.assign(age_p50_s=6e-6)))
    assert "\n| updates/s, real | 10,000 | 20,000 |\n| updates/s, simulated | 30,000 | 30,000 |\n" in text
    assert "\n| of one process' rate: real / simulated | 0.50 / 1.00 | 0.80 / 1.00 |\n" in text
    assert "\n| conflicts left: real / simulated | 62 / 62 | 36 / 36 |\n" in text
    assert "\n| age of what is read, us: real / simulated |  | 3.0 / 6.0 |\n" in text and "transit time, us: real / simulated |  |  |" in text


def test_the_readme_of_binder_has_the_tables_of_its_data():
    readme = (DATA.parent / "README.md").read_text(encoding="utf-8")
    for table in simulated_tables.tables(DATA):
        assert table in readme


@pytest.mark.parametrize("words", [[], ["a", "b"], ["empty"]])
def test_nonsense_is_one_line(words, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert simulated_tables.main([str(tmp_path / word) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("conduit: error: ") and err.count("\n") == 1
