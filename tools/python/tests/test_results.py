import fake
import pytest
from netuit import InputError, OutputError, results


def test_rows_survive_writing_and_reading(tmp_path):
    rows = [{**row, "graph": 'a "quoted", name'} for row in fake.make_rows()]
    results.write_rows(tmp_path / "rows.csv", rows)
    assert results.read_rows(tmp_path / "rows.csv") == rows
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_rows_that_cannot_be_written_are_an_error_of_output(tmp_path):
    with pytest.raises(OutputError):
        results.write_rows(tmp_path / "no" / "folder" / "rows.csv", fake.make_rows())


def test_rate_is_that_of_nodes_summed_over_workers():
    rows = [fake.make_row(thread=t, replicate=r, threads=2, num_nodes=10 + t, updates_per_second=1000 * (t + 2 * r)) for t in (0, 1) for r in (0, 1)]
    (summary,) = results.summarize(rows)
    assert summary.rates == [11_000, 20_000 + 33_000] and summary.rate == 32_000
    assert summary.workers == "1x2"
    assert summary.ratio is None


def test_ratio_is_to_mode_0_on_the_same_graph_and_layout():
    rows = [
        fake.make_row(mode=0, updates_per_second=100.0),
        fake.make_row(mode=3, updates_per_second=250.0),
        fake.make_row(mode=3, updates_per_second=70.0, threads=2),
        fake.make_row(mode=3, updates_per_second=70.0, graph="other"),
    ]
    assert [summary.ratio for summary in results.summarize(rows)] == [1.0, 2.5, None, None]


def test_failure_and_skip_rates_are_of_sums_not_means_of_rates():
    rows = [
        fake.make_row(process=0, attempted=1000, accepted=1000, dropped=0, stepped=0, skipped=0, preempted=0, unread=0),
        fake.make_row(process=1, attempted=1000, accepted=500, dropped=500, stepped=900, skipped=400, preempted=200, unread=0),
    ]
    (summary,) = results.summarize(rows)
    assert summary.failure == 0.25
    assert summary.skip == 0.4
    assert summary.is_accounted


def test_without_attempts_there_is_no_failure_rate():
    quiet = dict(attempted=0, accepted=0, dropped=0, stepped=0, skipped=0, preempted=0, unread=0)
    (summary,) = results.summarize([fake.make_row(**quiet)])
    assert summary.failure is None and summary.skip is None and summary.is_accounted


def test_conflicts_are_counted_once_per_run_not_per_worker():
    rows = [fake.make_row(replicate=r, thread=t, conflicts=10 + 20 * r) for r in (0, 1) for t in (0, 1)]
    (summary,) = results.summarize(rows)
    assert summary.conflicts == 20


@pytest.mark.parametrize(
    "fault",
    [{"dropped": 11}, {"stepped": 61}, {"preempted": 7}, {"folded": 1}, {"balanced": 0}, {"in_flight": 2}, {"unread": 1}],
)
def test_any_message_unaccounted_for_is_seen(fault):
    assert results.is_accounted([fake.make_row(), fake.make_row(process=1)])
    assert not results.is_accounted([fake.make_row(), fake.make_row(process=1, **fault)])


def test_a_run_that_is_wrong_marks_its_summary_among_others_that_are_not():
    rows = [fake.make_row(replicate=0), fake.make_row(replicate=1, stepped=59)]
    (summary,) = results.summarize(rows)
    assert not summary.is_accounted


def test_the_least_worker_tells_how_many_updates_of_a_run_are_effective():
    rows = [
        fake.make_row(process=0, updates=1000, effective_updates=900.0, staleness_max=3.0),
        fake.make_row(process=1, updates=1000, effective_updates=800.0, staleness_max=40.0),
        fake.make_row(process=2, num_nodes=0, updates=9000, effective_updates=1.0, staleness_max=None),
        fake.make_row(process=0, replicate=1, updates=500, effective_updates=500.0, staleness_max=None),
    ]
    (summary,) = results.summarize(rows)
    assert summary.effective == pytest.approx(0.9)
    assert summary.oldest == 40
    assert "90.0 %" in results.format_table([summary])[-1]


def test_where_messages_carry_no_count_nothing_is_said_of_effective_updates(tmp_path):
    rows = [fake.make_row(process=0), fake.make_row(process=1, effective_updates="", staleness_p50="", staleness_p99="", staleness_max="")]
    results.write_rows(tmp_path / "rows.csv", rows)
    (summary,) = results.summarize(results.read_rows(tmp_path / "rows.csv"))
    assert summary.effective is None and summary.oldest == 3


def test_files_of_older_versions_have_no_columns_of_effective_updates(tmp_path):
    row = {key: value for key, value in fake.make_row().items() if not key.startswith(("effective", "staleness"))}
    results.write_rows(tmp_path / "rows.csv", [row])
    (summary,) = results.summarize(results.read_rows(tmp_path / "rows.csv"))
    assert summary.effective is None and summary.oldest is None


def test_the_table_has_a_line_for_each_run_and_marks_oversubscription():
    summaries = results.summarize(fake.make_rows())
    lines = [line for line in results.format_table(summaries)[2:] if line]
    assert len(lines) == len(summaries) == 48
    assert sum("2x2 *" in line for line in lines) == 12
    assert all(line.endswith("exact") for line in lines)


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_bad_files_are_refused_with_file_and_line(tmp_path):
    good = tmp_path / "good.csv"
    results.write_rows(good, [fake.make_row()])
    header, row = good.read_text().splitlines()
    num_columns = len(header.split(","))
    bad = tmp_path / "bad.csv"
    for lines, message in (
        (["a,b", "1,2"], "bad.csv:1: no column"),
        ([], "bad.csv:1: no column|bad.csv:0: no column"),
        ([header, row.replace("8192", "many")], "bad.csv:2: conflict_edges_total 'many'"),
        ([header, row.replace("990.0", "most")], "bad.csv:2: effective_updates 'most'"),
        ([header, row, row.rsplit(",", 1)[0]], f"bad.csv:3: expected {num_columns} fields"),
        ([header, row + ",more"], f"bad.csv:2: expected {num_columns} fields"),
        ([header, row, '"open'], "bad.csv:2: unexpected end"),
    ):
        with pytest.raises(InputError, match=message):
            results.read_rows(write(bad, *lines))
    with pytest.raises(InputError, match="missing.csv: No such file"):
        results.read_rows(tmp_path / "missing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01" * 10)
    with pytest.raises(InputError, match="binary.csv"):
        results.read_rows(tmp_path / "binary.csv")
