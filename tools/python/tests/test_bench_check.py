import io
import json
import subprocess

import pytest

from netuit import InputError, bench_check

COMMIT = "0123456789ab"
MACHINE = {"cpu": "A CPU", "num_cpus": 2, "compiler": "GNU 12", "flags": "-O3"}


def make_row(figure="rate: to a ring", ratio=1.0, spread=0.02, **changes):
    return {"figure": figure, "class": "NEAR", "verdict": "ok", "ratio": ratio, "low": ratio - spread, "high": ratio + spread,
            "rounds": 20, "better": "low"} | changes


def make_noisy(figure):
    return {"figure": figure, "class": "-", "verdict": "noisy"}


def make_record(*rows, **changes):
    return MACHINE | {"program": "a_benchmark", "mpi": "none", "commit": COMMIT, "date": "2026-01-02T03:04:05Z", "quick": False,
                      "filter": "", "rows": list(rows)} | changes


class Bench:
    """Results and a reference in folders, and what the tool says of them."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.reference = folder, folder / "reference"
        monkeypatch.setattr(bench_check, "commit_of", lambda run, real=bench_check.commit_of: real(run, is_known=True))

    def save(self, *records):
        paths = []
        for number, record in enumerate(records):
            paths.append(self.folder / f"{number}.json")
            paths[-1].write_text(json.dumps(record), encoding="utf-8")
        return paths

    def accept(self, *records):
        out = io.StringIO()
        assert bench_check.accept_results(self.save(*records), self.reference, out) == 0
        return out.getvalue()

    def check(self, *records):
        out = io.StringIO()
        code = bench_check.check(self.save(*records), self.reference, out)
        return code, out.getvalue()

    def rows(self, proximity="near"):
        value = json.loads((self.reference / f"{proximity}.json").read_text(encoding="utf-8"))
        return {row["figure"]: row for row in value["rows"]}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)


def test_a_slower_figure_is_named_with_both_ratios_and_fails(bench):
    bench.accept(make_record(make_row(ratio=1.0), make_row("other", ratio=2.0)))
    code, text = bench.check(make_record(make_row(ratio=1.1), make_row("other", ratio=2.0)))
    assert code == 1
    assert "SLOWER: rate: to a ring, NEAR: committed 1 [0.98, 1.02] at 0123456789ab, measured 1.1 [1.08, 1.12]; low is better" in text
    assert text.count("SLOWER") == 1
    assert "compared 2: 1 slower, 0 faster, 1 alike" in text


def test_a_rate_is_slower_when_its_ratio_falls(bench):
    bench.accept(make_record(make_row(ratio=2.0, better="high")))
    assert bench.check(make_record(make_row(ratio=1.8, better="high")))[0] == 1
    assert bench.check(make_record(make_row(ratio=2.2, better="high")))[0] == 0


def test_a_faster_figure_is_counted_and_passes(bench):
    bench.accept(make_record(make_row(ratio=1.0)))
    code, text = bench.check(make_record(make_row(ratio=0.5)))
    assert code == 0
    assert "compared 1: 0 slower, 1 faster, 0 alike" in text


@pytest.mark.parametrize("ratio, code", [(1.06, 0), (1.08, 1)])
def test_spreads_that_are_less_than_three_percent_apart_are_alike(bench, ratio, code):
    bench.accept(make_record(make_row(ratio=1.0, spread=0.02)))  # up to 1.02, and 3 % are 1.0506
    assert bench.check(make_record(make_row(ratio=ratio, spread=0.02)))[0] == code


def test_a_wide_spread_excuses_on_either_side(bench):
    bench.accept(make_record(make_row(ratio=1.0, spread=0.2)))
    assert bench.check(make_record(make_row(ratio=1.2)))[0] == 0
    bench.accept(make_record(make_row(ratio=1.0), commit="aaaaaaaaaaaa"))
    assert bench.check(make_record(make_row(ratio=1.2, spread=0.2)))[0] == 0


def test_another_class_is_not_compared(bench):
    bench.accept(make_record(make_row(), make_row("other"), make_row("third")))
    code, text = bench.check(make_record(make_row(ratio=9, **{"class": "FAR"}), make_row("other"), make_row("third")))
    assert code == 0
    assert "OTHER CLASS: rate: to a ring: measured in FAR, committed in NEAR" in text
    assert "compared 2: 0 slower, 0 faster, 2 alike; not compared: 0 noisy, 1 in another class, 0 missing, 0 new" in text


def test_a_figure_in_two_classes_is_slower_if_it_is_in_one(bench):
    bench.accept(make_record(make_row(), make_row(**{"class": "FAR"})))
    code, text = bench.check(make_record(make_row(), make_row(ratio=9, **{"class": "FAR"})))
    assert code == 1
    assert "SLOWER: rate: to a ring, FAR:" in text and "compared 1: 1 slower" in text


def test_another_mpi_is_not_compared(bench):
    bench.accept(make_record(make_row(), mpi="Open MPI v4.1.4"))
    bench.accept(make_record(make_row(ratio=3), mpi="MPICH 4.0.2"))
    assert bench.check(make_record(make_row(ratio=3), mpi="MPICH 4.1"))[0] == 0
    code, text = bench.check(make_record(make_row(ratio=3), mpi="Open MPI v4.1.6"))
    assert code == 1 and "SLOWER: rate: to a ring (Open MPI), NEAR" in text


def test_noisy_figures_are_named_and_counted_and_half_of_them_are_borne(bench):
    bench.accept(make_record(make_row(), make_row("other")))
    code, text = bench.check(make_record(make_row(), make_noisy("other")))
    assert code == 0
    assert "NOISY: other: too few clean samples" in text and "1 noisy" in text


def test_a_verdict_of_a_busy_machine_counts_as_noisy(bench):
    bench.accept(make_record(make_row(), make_row("other")))
    busy = {"figure": "other", "class": "busy", "verdict": "short?", "value": "9.00"}
    code, text = bench.check(make_record(make_row(), busy))
    assert code == 0 and "1 noisy" in text


def test_it_cannot_tell_when_more_than_half_are_noisy(bench):
    bench.accept(make_record(make_row(), make_row("other"), make_row("third")))
    code, text = bench.check(make_record(make_row(), make_noisy("other"), make_noisy("third")))
    assert code == 3 and "could not tell" in text


def test_a_slower_figure_fails_even_when_most_are_noisy(bench):
    bench.accept(make_record(make_row(), make_row("other"), make_row("third")))
    assert bench.check(make_record(make_row(ratio=2), make_noisy("other"), make_noisy("third")))[0] == 1


def test_it_cannot_tell_when_nothing_is_committed(bench):
    assert bench.check(make_record(make_row()))[0] == 3


def test_a_committed_figure_that_is_not_measured_any_more_is_told_and_fails(bench):
    bench.accept(make_record(make_row(), make_row("other")))
    code, text = bench.check(make_record(make_row()))
    assert code == 1 and "MISSING: other: committed, and not measured any more" in text


def test_a_filter_leaves_out_what_it_does_not_want(bench):
    bench.accept(make_record(make_row(), make_row("other")))
    code, text = bench.check(make_record(make_row(), filter="RATE"))
    assert code == 0 and "0 missing" in text


def test_what_is_not_committed_is_new(bench):
    bench.accept(make_record(make_row()))
    code, text = bench.check(make_record(make_row(), make_row("other", ratio=9)))
    assert code == 0 and "1 new" in text


@pytest.mark.parametrize("least, code", [(4.9, 0), (5.1, 0), (5.2, 1)])
def test_a_compile_time_is_over_budget_if_its_shortest_round_is(bench, least, code):
    row = {"figure": "compile: <a.hpp>", "class": "-", "verdict": "short", "least": least, "at_most": 5.0}
    found, text = bench.check(make_record(row, program="compile"))
    assert found == code
    assert ("OVER BUDGET: compile: <a.hpp>: 5.20 at the least, budget 5.00" in text) == bool(code)
    assert f"{code} of 1 compile times over budget" in text
    assert "0 of 0 compile times over budget" in bench.check(make_record(row, program="compile", quick=True))[1]


def test_another_processor_is_told(bench):
    bench.accept(make_record(make_row()))
    assert "NOTE: NEAR: measured with B CPU (committed: A CPU)" in bench.check(make_record(make_row(), cpu="B CPU"))[1]


def test_what_is_accepted_has_ratios_spreads_rounds_and_the_commit(bench):
    text = bench.accept(make_record(make_row(), {"figure": "ns", "verdict": "ok", "class": "-"}, make_noisy("other")))
    assert "1 ratios of 0123456789ab accepted, 1 figures were noisy" in text
    (row,) = bench.rows().values()
    assert row == {"figure": "rate: to a ring", "program": "a_benchmark", "mpi": "none", "better": "low", "ratio": 1.0, "low": 0.98,
                   "high": 1.02, "rounds": 20, "commit": COMMIT, "date": "2026-01-02T03:04:05Z", "runs": 1}


def test_a_second_run_at_the_same_commit_widens_the_spread(bench):
    bench.accept(make_record(make_row(ratio=1.0)))
    second = make_record(make_row(ratio=1.2), date="2026-01-02T04:00:00Z")
    bench.accept(second)
    bench.accept(second)  # adds nothing
    row = bench.rows()["rate: to a ring"]
    assert (row["low"], row["high"], row["rounds"], row["runs"]) == (0.98, 1.22, 40, 2)
    assert row["ratio"] == pytest.approx(1.1)


def test_a_run_at_another_commit_replaces_its_rows_and_keeps_noisy_ones(bench):
    bench.accept(make_record(make_row(), make_row("other")))
    bench.accept(make_record(make_row(ratio=5), make_noisy("other"), commit="aaaaaaaaaaaa"))
    rows = bench.rows()
    assert (rows["rate: to a ring"]["ratio"], rows["rate: to a ring"]["commit"]) == (5, "aaaaaaaaaaaa")
    assert rows["other"]["commit"] == COMMIT


def test_a_whole_run_forgets_what_is_measured_no_more_and_a_filtered_one_does_not(bench):
    bench.accept(make_record(make_row(), make_row("other"), make_row("of MPI", better="high")))
    bench.accept(make_record(make_row("of MPI"), mpi="MPICH 4.0.2"))
    bench.accept(make_record(make_row(), filter="rate"))
    assert set(bench.rows()) == {"rate: to a ring", "other", "of MPI"}
    text = bench.accept(make_record(make_row()))
    assert "forgotten: other, NEAR" in text
    assert set(bench.rows()) == {"rate: to a ring", "of MPI"}  # the latter carried by MPICH, which this run did not use


def test_a_run_by_another_compiler_replaces_all_rows_of_its_class(bench):
    bench.accept(make_record(make_row(), make_row("other"), make_row("other", **{"class": "FAR"})))
    bench.accept(make_record(make_row(), make_noisy("other"), compiler="Clang 19"))
    assert set(bench.rows()) == {"rate: to a ring"}
    assert set(bench.rows("far")) == {"other"}
    assert json.loads((bench.reference / "near.json").read_text())["compiler"] == "Clang 19"


@pytest.mark.parametrize("changes, why", [
    ({"commit": COMMIT + "-dirty"}, "measured at no commit"),
    ({"commit": ""}, "unknown"),
    ({"quick": True}, "--quick"),
])  # fmt: skip
def test_what_cannot_be_a_reference_is_refused(bench, changes, why):
    with pytest.raises(InputError, match=why):
        bench.accept(make_record(make_row(), **changes))
    assert not bench.reference.exists()


def test_results_of_several_commits_are_refused(bench):
    with pytest.raises(InputError, match="several commits"):
        bench.accept(make_record(make_row()), make_record(make_row("other"), commit="aaaaaaaaaaaa"))


def test_a_commit_that_the_repository_does_not_have_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(make_record(make_row(), commit="f" * 12)), encoding="utf-8")
    with pytest.raises(InputError, match="not a commit of this repository"):
        bench_check.accept_results([path], tmp_path / "reference", io.StringIO())


def test_what_is_committed_is_of_commits_of_this_repository():
    words = ["git", "-C", str(bench_check.ROOT), "rev-parse", "--is-shallow-repository"]
    if subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() != "false":
        pytest.skip("not a checkout with the commits before")
    for reference in bench_check.read_references(bench_check.REFERENCE):
        for commit in {row.commit for row in reference.rows}:
            run = bench_check.Run([], set(), {}, set(), "", False, {commit}, {})
            assert bench_check.commit_of(run) == commit


def test_the_command_ends_with_the_code_and_explains_the_rule(bench, capsys):
    bench.accept(make_record(make_row()))
    path = str(bench.save(make_record(make_row(ratio=2)))[0])
    assert bench_check.main(["check", path, "--reference", str(bench.reference)]) == 1
    assert "SLOWER" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        bench_check.main(["--help"])
    assert "more than 3%" in " ".join(capsys.readouterr().out.split())
