#!/usr/bin/env python3
"""test_summary.py RESULTS [all|nightly]: what a run of tools/test has shown of the goals, which of its tests failed, and which
were skipped or excused, and why. Of a run of all stages, also which goals nothing has shown, and which tests of PROMISES.md
passed in no stage. Exit code 1 if a sanitizer has reported anything, and for a goal or a promise that a run of all stages has
not shown.

The goals are sorted by number, each with the stage that showed it: what tests printed (tests/support/goal.hpp) in
RESULTS/<stage>.tests, ctest's log of a stage, and RESULTS/<stage>.log. The tests that failed are those of RESULTS/<stage>.xml,
what ninja could not build, the seeded bugs that were not caught, the fuzz targets that crashed, with the input where it is
short, and the figures of tools/bench that are slower than what is committed. A test that has passed although something
outside the library is known to fail has said "EXCUSED: …". Exit code 1 also if in a stage more than two tests and one in fifty
were excused.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS / "support"))
from reports import SANITIZER_REPORT  # noqa: E402

GOAL = re.compile(r"goal R(\d+): (.*\S)")
TEST = re.compile(r"^\d+/\d+ Test(?:ing)?: (.*)")
REPORT = re.compile(SANITIZER_REPORT + r"|^==\d+== (?:Invalid|Conditional|Use of|Uninitialised|Syscall)")
SANITIZED = re.compile(r"^(asan|tsan|valgrind)\b")
PROVOKED = "harness"  # tests that must see a report
EXCUSED = re.compile(r"\bEXCUSED: (.*\S)")
SKIPPED = re.compile(r"^SKIPPED: (.*\S)", re.MULTILINE)
UNBUILT_BY_NINJA = "FAILED: "
NOT_BUILT = "Unable to find executable"
OF_A_CRASH = re.compile(r"^tools/fuzz: \w+ crashed|^(?:Base64: |broken promise|SUMMARY: |==\d+== ERROR: )|: runtime error: ")
SUPPRESSIONS = TESTS / "support/lsan.supp"


def lines_by_test(path):
    test = ""
    with open(path, errors="replace") as file:
        for line in file:
            if begin := TEST.match(line):
                test = begin[1].strip()
            yield test, line


def goals_of(results):
    """Rows of (number, stage, figure), each once, in the order in which they were printed."""
    rows = {}
    for path in sorted(results.glob("*.tests")) + sorted(results.glob("*.log")):
        if path.name in ("repeat.tests", "repeat-mpich.tests"):  # say ten times what other stages say
            continue
        for test, line in lines_by_test(path):
            if found := GOAL.search(line):
                figure = f"{found[2]} ({test})" if test else found[2]
                rows[int(found[1]), path.stem, figure] = None
    return list(rows)


def sanitizer_goals(results):
    """R2: of each sanitizer's stage, whether any test made it report."""
    for path in sorted(results.glob("*.tests")):
        if not SANITIZED.match(path.stem):
            continue
        tests, reports = set(), defaultdict(int)
        for test, line in lines_by_test(path):
            if PROVOKED in test:
                continue
            if test:
                tests.add(test)
            if REPORT.search(line):
                reports[test] += 1
        where = f": {', '.join(sorted(reports))}" if reports else ""
        yield 2, path.stem, f"{sum(reports.values())} reports in {len(tests)} tests{where}"


def failures_of(results):
    """A line for each test that failed, stage by stage."""
    for path in sorted(results.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except ElementTree.ParseError:
            yield f"{path.stem}: {path.name} is not whole"
            continue
        for case in cases:
            unbuilt = any(NOT_BUILT in skip.get("message", "") for skip in case.iter("skipped"))
            if unbuilt or case.find("failure") is not None or case.find("error") is not None:
                name = "::".join(filter(None, dict.fromkeys((case.get("classname"), case.get("name")))))
                yield f"{path.stem}: {name}{' (was not built)' if unbuilt else ''}"
    for path in sorted(results.glob("*.log")):
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith(("NOT CAUGHT", "SLOWER: ", "MISSING: ")) or OF_A_CRASH.search(line):
                yield f"{path.stem}: {line.strip()}"
            elif line.startswith(UNBUILT_BY_NINJA):
                yield f"{path.stem}: {line.removeprefix(UNBUILT_BY_NINJA).strip()} (does not build)"


def skips_of(results):
    """A line for each test that told nothing, with its own words for why."""
    for path in sorted(results.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except ElementTree.ParseError:
            continue
        for case in cases:
            skip = case.find("skipped")
            if skip is None or NOT_BUILT in skip.get("message", ""):
                continue
            said = SKIPPED.search(case.findtext("system-out", ""))
            yield f"{path.stem}: {case.get('name')}: {said[1] if said else skip.get('message', '')}"


def excuses_of(results):
    """A line for each time that a test has passed with an exception, in its own words."""
    for path in sorted(results.glob("*.tests")):
        for test, line in lines_by_test(path):
            if found := EXCUSED.search(line):
                yield f"{path.stem}: {test}: {found[1]}"


def stages_of_too_many_excuses(results):
    """A line for each stage in which what is excused is no longer an exception."""
    for path in sorted(results.glob("*.tests")):
        tests, excused = set(), set()
        for test, line in lines_by_test(path):
            tests.add(test)
            if EXCUSED.search(line):
                excused.add(test)
        if len(excused) > 2 + len(tests) // 50:
            yield f"{path.stem}: {len(excused)} of {len(tests)} tests"


def promises_not_shown(results):
    """The tests that PROMISES.md names and that passed in no stage. RESULTS/promises.tsv says which tests run each of them."""
    path = results / "promises.tsv"
    if not path.is_file():
        yield "tests/documentation/check_promises.py has not run"
        return
    passed = set()
    for name in sorted(results.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(name).iter("testcase"))
        except ElementTree.ParseError:
            continue
        passed.update(case.get("name").partition("[")[0] for case in cases
                      if not any(case.find(bad) is not None for bad in ("failure", "error", "skipped")))
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *tests = line.split("\t")
        if not passed.intersection(tests):
            yield name


#: Goals that a run of all stages shows, and those that take a night, each with the stage that shows it in full.
EACH_TIME, BY_NIGHT = dict.fromkeys(range(1, 17)), {16: "soak", 17: "coverage", 18: "repeat"}


def print_goals(results, of_sanitizers, what):
    rows = goals_of(results) + of_sanitizers
    wanted = {"all": EACH_TIME, "nightly": EACH_TIME | BY_NIGHT}.get(what, {})
    shown = {(number, where) for number, stage, _ in rows for where in (stage, None)}
    missing = [goal[0] for goal in wanted.items() if goal not in shown]
    rows += [(number, "-", "NOT SHOWN: its test was left out, skipped, or failed before it could tell") for number in missing]
    if not rows:
        return []
    print(f"{'goal':<6}{'stage':<12}figure")
    for number, stage, figure in sorted(rows, key=lambda row: row[0]):
        print(f"{f'R{number}':<6}{stage:<12}{figure}")
    if any(number == 2 for number, _, _ in rows):
        leaks = [line.split(":", 1)[1].strip() for line in SUPPRESSIONS.read_text().splitlines() if line.startswith("leak:")]
        print(f"{'':<18}leaks are suppressed of {', '.join(leaks)}; what is not instrumented is not watched for races")
    print()
    return missing


def main():
    results, what = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    of_sanitizers = list(sanitizer_goals(results))
    missing = print_goals(results, of_sanitizers, what)
    for line in failures_of(results):
        print(f"FAILED {line}")
    for line in skips_of(results):
        print(f"SKIPPED {line}")
    for line in excuses_of(results):
        print(f"EXCUSED {line}")
    too_many = list(stages_of_too_many_excuses(results))
    for line in too_many:
        print(f"EXCUSED TOO OFTEN {line}")
    unshown = list(promises_not_shown(results)) if what in ("all", "nightly") else []
    for line in unshown:
        print(f"NOT SHOWN of PROMISES.md: {line}")
    reports = [f"{stage}: {figure}" for _, stage, figure in of_sanitizers if not figure.startswith("0 reports")]
    for line in reports:
        print(f"REPORTED {line}")
    return 1 if reports or missing or unshown or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
