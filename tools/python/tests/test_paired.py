import pathlib

import fake
import numpy
import pandas
import pytest
from netuit import InputError, load, paired, results


def make_rows(rates, *, layout=(1, 1), nodes=3600, case="cells"):
    """Rows of a case and layout: rates[mode] lists one rate per replicate; all workers have the same."""
    return [
        {**fake.make_row(processes=layout[0], threads=layout[1], mode=mode, mode_name=fake.MODES[mode], replicate=replicate,
                         process=process, num_nodes=nodes, updates_per_second=float(rate)), "case": case, "cpus": 2}
        for mode, values in rates.items()
        for replicate, rate in enumerate(values)
        for process in range(layout[0])
    ]  # fmt: skip


def lines_of(table):
    return [" ".join(line).split() for line in table]


def test_ratios_are_taken_within_replicates_so_that_a_drift_does_not_show():
    drift = numpy.array([1.0, 0.5, 2.0, 0.7, 1.3])
    table = paired.modes(pandas.DataFrame(make_rows({0: 500 * drift, 3: 950 * drift, 4: 1000 * drift}, layout=(2, 1))))
    words = lines_of(table)[1]
    assert words[:4] == ["cells", "2x1", "5", "950"]
    assert words[7:11] == ["0.950", "0.950", "to", "0.950"]  # of mode 4
    assert words[11:15] == ["1.900", "1.900", "to", "1.900"]  # of mode 0
    assert words[15:] == ["5.0", "%"]


def test_intervals_hold_the_median_and_are_the_same_each_time():
    values = [0.9, 0.95, 0.97, 0.93, 1.2]
    median, low, high = paired.median_interval(values)
    assert median == 0.95 and 0.9 <= low < median < high <= 1.2
    assert paired.median_interval(values) == (median, low, high)
    assert numpy.isnan(paired.median_interval([])).all()


def test_only_replicates_that_have_both_modes_count():
    rows = make_rows({3: [90, 80, 70], 4: [100, 100]})
    words = lines_of(paired.modes(pandas.DataFrame(rows)))[1]
    assert words[2] == "2" and words[7] == "0.850"
    assert words[11:13] == ["-", "-"]  # mode 0 was not run


def test_the_lone_worker_is_beside_the_others():
    rows = make_rows({3: [99], 4: [100]}) + make_rows({3: [94], 4: [100]}, layout=(2, 1))
    words = lines_of(paired.modes(pandas.DataFrame(rows)))[1:]
    assert [(line[1], line[5]) for line in words] == [("1x1", "0.990"), ("2x1", "0.940")]


@pytest.mark.parametrize(
    "costs, exponents",
    [([250, 250, 250], ["1.000", "1.000"]),  # linear
     ([250, 500, 2000], ["1.500", "2.000"]),  # quadratic at the end
     ([400, 200, 200], ["0.500", "1.000"])],
)  # fmt: skip
def test_how_the_time_of_an_update_grows_is_an_exponent(costs, exponents):
    rows = []
    for nodes, cost in zip((900, 3600, 14400), costs):
        rows += make_rows({3: [drift * 1e9 / cost / nodes for drift in (1, 0.5, 2)]}, nodes=nodes, case=f"cells_{nodes}")
    lines = lines_of(paired.sizes(pandas.DataFrame(rows)))[1:]
    assert [line[:3] for line in lines] == [
        ["900", "3", str(costs[0])], ["3,600", "3", str(costs[1])], ["14,400", "3", str(costs[2])]
    ]  # fmt: skip
    assert lines[0][6] == "-"
    # The drift of a replicate cancels, so that the interval is a point.
    assert [line[6:] for line in lines[1:]] == [[exponent, exponent, "to", exponent] for exponent in exponents]


def test_a_single_size_tells_nothing_of_growth():
    assert paired.sizes(pandas.DataFrame(make_rows({3: [1, 2]}))) == []


def test_the_command_reads_the_folder_of_a_sweep(tmp_path, capsys):
    rows = make_rows({3: [1000], 4: [1000]}) + make_rows({3: [4000]}, nodes=900, case="few")
    results.write_rows(tmp_path / "rows.csv", rows)
    assert paired.main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "cells  1x1" in out and "exponent" in out and "few" not in out


def test_in_markdown_intervals_stand_behind_their_medians():
    rows = make_rows({3: [950, 940, 960], 4: [1000, 1000, 1000]}) + make_rows({3: [4000]}, nodes=900, case="few")
    assert paired.report(pandas.DataFrame(rows), markdown=True) == (
        "| case | workers | replicates | updates/s/worker | mode 3 / mode 4 | mode 3 / mode 0 | messages take |\n"
        "|---|---|---|---|---|---|---|\n"
        "| cells | 1x1 | 3 | 950 [940, 960] | 0.950 [0.940, 0.960] | - | 5.0 % |\n"
        "\n"
        "| nodes | replicates | ns per node and update | exponent from the size before |\n"
        "|---|---|---|---|\n"
        "| 900 | 1 | 278 | - |\n"
        "| 3,600 | 3 | 292 [289, 296] | 1.037 |\n"
    )


def test_the_page_of_digital_evolution_has_the_tables_of_its_data():
    root = pathlib.Path(__file__).parents[3]
    tables = paired.report(load(root / "binder" / "data" / "evolution_cost"), markdown=True)
    assert tables.count("\n\n") == 1
    page = (root / "demos" / "digital_evolution" / "README.md").read_text(encoding="utf-8")
    assert all(table.strip() in page for table in tables.split("\n\n"))


@pytest.mark.parametrize(
    "rows, reason",
    [([fake.make_row()], "expected the rows of a sweep"), (make_rows({3: [1]}), "expected mode 3 beside mode 4 or 0")],
)
def test_rows_that_have_nothing_to_compare_are_one_line(tmp_path, capsys, rows, reason):
    results.write_rows(tmp_path / "rows.csv", rows)
    assert paired.main([str(tmp_path)]) == InputError.exit_code
    err = capsys.readouterr().err
    assert err.startswith("conduit: error: ") and reason in err and err.count("\n") == 1


def test_a_folder_without_rows_is_one_line(tmp_path, capsys):
    assert paired.main([str(tmp_path)]) == InputError.exit_code
    assert "rows.csv: No such file" in capsys.readouterr().err
