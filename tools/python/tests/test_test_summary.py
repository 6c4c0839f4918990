import importlib.util
import pathlib
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "test_summary.py"
ALL_GOALS = range(1, 17)


def summarise(results, *words):
    done = subprocess.run([sys.executable, TOOL, results, *words], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def show_goals(results, numbers):
    """Writes logs of two stages in which tests have shown these goals, and one promise; R2 comes of a stage with sanitizers."""
    (results / "promises.tsv").write_text("A promise is kept\tfirst test\n")
    (results / "no-mpi.xml").write_text(case("first test"))
    lines = ["1/9 Test: first test"]
    lines += [f"goal R{number}: {number} things, none wrong" for number in numbers if number != 2]
    (results / "release.tests").write_text("\n".join(lines) + "\n")
    if 2 in numbers:
        (results / "asan.tests").write_text("1/9 Test: first test\n")


def case(name, inside=""):
    return f'<testsuite><testcase name="{name}" classname="{name}">{inside}</testcase></testsuite>'


def test_goals_are_listed_with_the_stage_and_the_test_that_showed_them(tmp_path):
    show_goals(tmp_path, [12, 4])
    code, lines = summarise(tmp_path, "one")
    assert code == 0
    rows = [line.split(maxsplit=2) for line in lines if line.startswith("R")]
    assert rows == [[f"R{number}", "release", f"{number} things, none wrong (first test)"] for number in (4, 12)]


def test_a_run_of_all_stages_that_shows_every_goal_passes(tmp_path):
    show_goals(tmp_path, ALL_GOALS)
    assert summarise(tmp_path, "all")[0] == 0


@pytest.mark.parametrize("missing", ALL_GOALS)
def test_a_goal_that_is_not_shown_fails_a_run_of_all_stages(tmp_path, missing):
    show_goals(tmp_path, set(ALL_GOALS) - {missing})
    code, lines = summarise(tmp_path, "all")
    assert code == 1
    assert [line.split()[0] for line in lines if "NOT SHOWN" in line] == [f"R{missing}"]


@pytest.mark.parametrize("inside", ["<failure/>", "<error/>", "<skipped/>", None])
def test_a_promise_whose_tests_pass_in_no_stage_fails_a_run_of_all_stages(tmp_path, inside):
    show_goals(tmp_path, ALL_GOALS)
    (tmp_path / "promises.tsv").write_text("A promise is kept\tfirst test\nAnother\ttest_other\tsecond x2\n")
    if inside is not None:
        (tmp_path / "mpich.xml").write_text(case("second x2", inside))
    code, lines = summarise(tmp_path, "all")
    assert code == 1
    assert "NOT SHOWN of PROMISES.md: Another" in lines
    assert "NOT SHOWN of PROMISES.md: A promise is kept" not in lines
    (tmp_path / "python.xml").write_text(case("test_other[words0]"))
    assert summarise(tmp_path, "all")[0] == 0


def test_a_run_of_all_stages_wants_the_list_of_promises(tmp_path):
    show_goals(tmp_path, ALL_GOALS)
    (tmp_path / "promises.tsv").unlink()
    assert summarise(tmp_path, "all")[0] == 1


def test_a_run_of_some_stages_need_not_show_every_goal(tmp_path):
    show_goals(tmp_path, [4])
    for words in ((), ("one",), ("quick",)):
        assert summarise(tmp_path, *words)[0] == 0


def test_a_night_also_wants_the_goals_that_take_one(tmp_path):
    show_goals(tmp_path, ALL_GOALS)
    code, lines = summarise(tmp_path, "nightly")
    assert code == 1
    assert [line.split()[0] for line in lines if "NOT SHOWN" in line] == ["R16", "R17", "R18"]
    for stage, number in (("soak", 16), ("coverage", 17), ("repeat", 18)):
        (tmp_path / f"{stage}.log").write_text(f"goal R{number}: shown\n")
    assert summarise(tmp_path, "nightly")[0] == 0


def test_what_a_sanitizer_reports_fails_any_run(tmp_path):
    (tmp_path / "tsan.tests").write_text("1/9 Test: first test\nWARNING: ThreadSanitizer: data race\n2/9 Test: second test\n")
    code, lines = summarise(tmp_path, "one")
    assert code == 1
    assert "REPORTED tsan: 1 reports in 2 tests: first test" in lines


def test_tests_that_failed_were_skipped_or_excused_are_listed(tmp_path):
    (tmp_path / "release.xml").write_text(case("broken", "<failure/>"))
    (tmp_path / "mpich.xml").write_text(case("left out", "<skipped/><system-out>SKIPPED: no root\n</system-out>"))
    (tmp_path / "tree.xml").write_text(case("unbuilt", '<skipped message="Unable to find executable"/>'))
    (tmp_path / "tree.log").write_text("[1/2] Building CXX object readme.o\nFAILED: readme.o \n")
    (tmp_path / "mpich.tests").write_text("3/9 Test: over TCP\nEXCUSED: MPI_Finalize has not ended\n")
    _, lines = summarise(tmp_path, "one")
    assert "FAILED release: broken" in lines
    assert "FAILED tree: unbuilt (was not built)" in lines
    assert "FAILED tree: readme.o (does not build)" in lines
    assert "SKIPPED mpich: left out: no root" in lines
    assert "EXCUSED mpich: over TCP: MPI_Finalize has not ended" in lines


@pytest.mark.parametrize(("num_excused", "num_tests", "code"), [(2, 9, 0), (3, 9, 1), (4, 150, 0), (6, 150, 1)])
def test_a_stage_in_which_many_tests_are_excused_fails(tmp_path, num_excused, num_tests, code):
    lines = [f"{k}/9 Test: test {k}\n{'EXCUSED: it hung' if k <= num_excused else ''}\n" for k in range(1, num_tests + 1)]
    (tmp_path / "mpich.tests").write_text("".join(lines))
    done, lines = summarise(tmp_path, "one")
    assert done == code
    assert (f"EXCUSED TOO OFTEN mpich: {num_excused} of {num_tests} tests" in lines) == (code == 1)


def test_no_goal_is_wanted_that_no_test_of_the_repository_can_show():
    spec = importlib.util.spec_from_file_location("test_summary", TOOL)
    summary = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(summary)
    root = TOOL.parents[1]
    files = [path for folder in ("tests", "tools") for path in (root / folder).rglob("*") if path.is_file()]
    sources = [path for path in files if path.suffix in {".cpp", ".hpp", ".py", ".sh", ""} and "python" not in path.parts]
    text = "".join(path.read_text(errors="replace") for path in sources)
    shown = {number for number in ALL_GOALS if f"goal R{number}:" in text or f'"R{number}"' in text}
    assert set(summary.EACH_TIME) == {*shown, 2}  # 2 is of all tests under sanitizers
