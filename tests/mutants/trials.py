"""Runs the tests of the build that contains the mutants: without a mutant, and with one active. For tools/mutants."""

import concurrent.futures
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import Any, Iterable, Optional

import operators
import schemata
from building import first_words

BASELINE = schemata.WORK / "baseline.json"
RESULTS = schemata.WORK / "results.json"
# Tests that are not run: those that compile, measure time, need other hosts, or test the harness or this tool.
LEFT_OUT = {"refusal", "timing", "hosts", "soak", "tree", "survival"}
KINDS = {"unit", "mpi", "corpus"}
NOT_OF_HEADERS = re.compile(r"harness|^shim_|seeded bugs|refusals_full_disk")
SLACK = 4.0  # a test hangs if it takes this many times its own time and SECONDS more
SECONDS = 5.0
BASELINE_SECONDS = 300.0
SPLIT_SECONDS = 20.0  # a program that takes longer starts its ranks anew for each test case


@dataclasses.dataclass
class Test:
    """A test of CTest, or one test case of it, and its result without a mutant."""

    program: str
    name: str
    command: list[str]
    properties: dict[str, Any]
    seconds: float = 0.0
    reached: frozenset[int] = frozenset()

    @property
    def labels(self) -> set[str]:
        return set(self.properties.get("LABELS", []))

    @property
    def has_launcher(self) -> bool:
        """Returns whether the test starts ranks, which takes a second."""
        return any(label.startswith("ranks=") for label in self.labels)

    @property
    def num_ranks(self) -> int:
        return next((int(label[6:]) for label in self.labels if label.startswith("ranks=")), 1)


@dataclasses.dataclass(frozen=True)
class Ended:
    """The end of one run of a test."""

    how: str  # passed, skipped, failed or hang
    words: str
    seconds: float


def tests_to_run(max_ranks: int, pattern: str) -> list[Test]:
    chosen = []
    for row in schemata.listed_tests():
        properties = {item["name"]: item["value"] for item in row.get("properties", [])}
        test = Test(row["name"], row["name"], row.get("command", []), properties)
        is_meant = bool(test.labels & KINDS) and not test.labels & LEFT_OUT and not NOT_OF_HEADERS.search(test.name)
        if not is_meant or test.num_ranks > max_ranks or not re.search(pattern, test.name):
            continue
        words = (word.removeprefix("-DPROGRAM=") for word in test.command)
        programs = [word for word in words if word.startswith(str(schemata.BUILD))]
        if programs and all(os.access(word, os.X_OK) for word in programs):
            chosen += cases_of(test) if can_split(test) and not test.has_launcher else [test]
    return chosen


def can_split(test: Test) -> bool:
    return "--order" in test.command and test.name == test.program


def cases_of(test: Test) -> list[Test]:
    """Splits a Catch2 program into its test cases: a mutant need not wait for cases that do not reach it."""
    program = next(word for word in test.command if word.startswith(str(schemata.BUILD)))
    listed = subprocess.run([program, "--list-test-names-only"], capture_output=True, text=True, check=False, timeout=60)
    names = [name.strip() for name in listed.stdout.splitlines() if name.strip()]
    # One rank alone must not stop at its first failure, because the others would wait for it.
    options = [] if test.has_launcher else ["--abort"]
    commands = ([*test.command, *options, re.sub(r"([,\[*])", r"\\\1", name)] for name in names)
    return [dataclasses.replace(test, name=f"{test.name}: {name}", command=command) for name, command in zip(names, commands)]


def end(session: int) -> None:
    """Ends what a run has left: the launcher, which ends its processes, then every process group of the run's session."""
    def groups() -> set[int]:
        found = set()
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                _, group, of = path.read_text().rsplit(")", 1)[1].split()[1:4]
            except (OSError, ValueError):
                continue
            if int(of) == session:
                found.add(int(group))
        return found

    for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        for group in groups():
            try:
                os.killpg(group, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + patience
        while groups() and time.monotonic() < until:
            time.sleep(0.05)
        if not groups():
            return


RUNNING: set[int] = set()  # sessions of tests that have not ended
IS_ENDING = threading.Event()


def end_all(*_: Any) -> None:
    """Signal handler: leaves no test running. The results of each finished mutant are already in the file."""
    IS_ENDING.set()
    for session in list(RUNNING):
        end(session)
    os._exit(130)


def run(test: Test, folder: Path, limit: float, variables: dict[str, str]) -> Ended:
    """Runs a test once, in a folder that is empty at the beginning."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, **dict(item.split("=", 1) for item in test.properties.get("ENVIRONMENT", [])))
    environment |= {"UIT_NIGHTLY": "0", "UIT_TEST_TIMEOUT": str(max(2, int(limit) - 3))} | variables
    begin = time.monotonic()
    with open(folder / "output", "w+", errors="replace") as output:
        process = subprocess.Popen(test.command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.add(process.pid)
        code: Optional[int] = None
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            pass
        end(process.pid)
        process.wait()
        while IS_ENDING.is_set():  # the test did not fail: it was ended
            time.sleep(1)
        RUNNING.discard(process.pid)
        seconds = time.monotonic() - begin
        output.seek(0)
        said = output.read(4_000_000)
    return judge(test, code, said, seconds, limit)


def judge(test: Test, code: Optional[int], said: str, seconds: float, limit: float) -> Ended:
    """Judges the run as ctest would."""
    if code is None:
        return Ended("hang", f"no end within {limit:.0f} s", seconds)
    if re.search(r"^\[rank \d+\].*timed out in: ", said, re.MULTILINE) and code != 0:
        return Ended("hang", first_words(said), seconds)
    if str(code) == str(test.properties.get("SKIP_RETURN_CODE", "none")):
        return Ended("skipped", first_words(said), seconds)
    wanted, unwanted = (test.properties.get(f"{kind}_REGULAR_EXPRESSION", []) for kind in ("PASS", "FAIL"))
    has_passed = code == 0
    if wanted:
        has_passed = any(re.search(pattern, said, re.DOTALL) for pattern in wanted)  # to CTest, '.' is any character
    if any(re.search(pattern, said, re.DOTALL) for pattern in unwanted):
        has_passed = False
    if test.properties.get("WILL_FAIL", False):
        has_passed = not has_passed
    if has_passed and not ("--abort" in test.command and re.search("No test cases matched|No tests ran", said)):
        return Ended("passed", "", seconds)
    words = first_words(said)
    if "FAILED:" not in said:
        return Ended("failed", f"ends with code {code}: {words}", seconds)
    case = re.search(r"^-{60,}\n(.+)\n", said, re.MULTILINE)  # in Catch2's report
    name = case[1].strip() if case else ""
    return Ended("failed", words if test.name.endswith(name) else f"{name}: {words}", seconds)


def store(path: Path, content: dict[str, Any]) -> None:
    """Writes the file as a whole, so that an interrupted call leaves it unchanged."""
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(content))
    draft.replace(path)


class Locks:
    """Locks tests and files. A test runs once at a time, because its runs may share files."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.of: dict[str, threading.Lock] = {}

    def __getitem__(self, name: str) -> threading.Lock:
        with self.guard:
            return self.of.setdefault(name, threading.Lock())


def baseline(drawn: schemata.Draw, tests: list[Test], jobs: int, repeats: int) -> tuple[list[Test], dict[str, str]]:
    """Runs each test without a mutant, which shows the mutants that it reaches.

    Returns the tests that pass, and why others are left out.
    """
    known: dict[str, Any] = {}
    if BASELINE.exists():
        noted = json.loads(BASELINE.read_text())
        if noted["key"] == drawn.key:
            known = noted["tests"]
    locks = Locks()

    def note(test: Test) -> None:
        name = f"{zlib.crc32(test.name.encode()):08x}"
        folder = schemata.WORK / "run" / name
        reached = schemata.WORK / "reached" / name
        reached.parent.mkdir(parents=True, exist_ok=True)
        reached.write_bytes(bytes(len(drawn.drawn) + 1))
        all_ended = []
        for _ in range(repeats):
            all_ended.append(run(test, folder, BASELINE_SECONDS, {"UIT_MUTANT_REACHED": str(reached)}))
            if all_ended[-1].how != "passed":
                break
        shutil.rmtree(folder, ignore_errors=True)
        numbers = [number for number, byte in enumerate(reached.read_bytes()) if byte]
        bad = next((f"{ended.how}: {ended.words}" for ended in all_ended if ended.how != "passed"), "")
        with locks[""]:
            known[test.name] = {"seconds": max(ended.seconds for ended in all_ended), "bad": bad, "reached": numbers}
            store(BASELINE, {"key": drawn.key, "tests": known})
            print(f"mutants: without: {test.name}: {bad or 'passed'} ({known[test.name]['seconds']:.1f} s, reaches {len(numbers)})",
                  file=sys.stderr, flush=True)

    def note_all(of: list[Test]) -> None:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(note, [test for test in of if test.name not in known]))

    note_all(tests)
    slow = [test for test in tests if test.has_launcher and can_split(test) and known[test.name]["seconds"] > SPLIT_SECONDS]
    tests = [test for test in tests if test not in slow] + [case for test in slow for case in cases_of(test)]
    note_all(tests)
    for test in tests:
        test.seconds = known[test.name]["seconds"]
        test.reached = frozenset(known[test.name]["reached"])
    good = [test for test in tests if not known[test.name]["bad"]]
    return good, {test.name: known[test.name]["bad"] for test in tests if known[test.name]["bad"]}


def load_results(drawn: schemata.Draw) -> dict[int, dict[str, Any]]:
    if RESULTS.exists():
        noted = json.loads(RESULTS.read_text())
        if noted["key"] == drawn.key:
            return {int(number): row for number, row in noted["mutants"].items()}
    return {}


def try_all(drawn: schemata.Draw, numbers: Iterable[int], tests: list[Test], jobs: int, budget: float,
            until: float = float("inf")) -> dict[int, dict[str, Any]]:
    """Tries each mutant with the tests that reach it and have not tried it yet, fastest first, until one fails.

    Starts no further trial once time.monotonic() is `until`.
    """
    results = load_results(drawn)
    locks = Locks()

    def limit(test: Test) -> float:
        return max(SECONDS, SLACK * test.seconds)

    def try_one(number: int) -> None:
        if time.monotonic() >= until:
            return
        row = results.get(number, {"status": "not reached", "passed": [], "seconds": 0.0})
        reaching = sorted((test for test in tests if number in test.reached), key=lambda test: test.seconds)
        if row["status"] == "detected" or all(test.name in row["passed"] for test in reaching):
            if reaching or number in results:
                return
        folder = schemata.WORK / "run" / f"mutant_{number}"
        for test in reaching:
            if test.name in row["passed"]:
                continue
            row["status"] = "survived"
            if budget and row["seconds"] + test.seconds > budget:
                continue
            with locks[test.program]:
                ended = run(test, folder, limit(test), {"UIT_MUTANT": str(number)})
                if ended.how == "hang":  # perhaps the machine was busy
                    ended = run(test, folder, 2 * limit(test), {"UIT_MUTANT": str(number)})
            row["seconds"] += ended.seconds
            if ended.how in ("failed", "hang"):
                row |= {"status": "detected", "test": test.name, "how": ended.how, "words": ended.words[:200]}
                break
            row["passed"].append(test.name)
        row["left"] = sum(test.name not in row["passed"] for test in reaching)  # tests for which the budget was too small
        shutil.rmtree(folder, ignore_errors=True)
        with locks["results"]:
            results[number] = row
            store(RESULTS, {"key": drawn.key, "mutants": results})
            print(f"mutants: {describe(drawn, number, row)}", file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(try_one, numbers))
    return results


def confirm(drawn: schemata.Draw, tests: list[Test], times: int) -> list[str]:
    """Runs each test that has detected a mutant again without one.

    If it fails, its detections do not count, and those mutants are tried without it.
    """
    results = load_results(drawn)
    blamed = {row["test"] for row in results.values() if row["status"] == "detected"}
    flaky = []
    for test in tests:
        if test.name not in blamed:
            continue
        folder = schemata.WORK / "run" / "confirmed"
        ended = [run(test, folder, 2 * max(SECONDS, SLACK * test.seconds), {}) for _ in range(times)]
        if any(one.how != "passed" for one in ended):
            flaky.append(test.name)
    if flaky:
        kept = {number: row for number, row in results.items() if row.get("test") not in flaky}
        store(RESULTS, {"key": drawn.key, "mutants": kept})
        noted = json.loads(BASELINE.read_text())
        for name in flaky:
            noted["tests"][name]["bad"] = "failed without a mutant later"
        store(BASELINE, noted)
    return flaky


def describe(drawn: schemata.Draw, number: int, row: dict[str, Any]) -> str:
    candidate = drawn.drawn[number - 1]
    place = f"{number:4} {candidate.file}:{candidate.line}  {candidate.operator}: {candidate.what}"
    if row["status"] == "detected":
        return f"{place}\n       detected by {row['test']} ({row['how']}): {operators.shortened(row['words'], 110)}"
    if row["status"] == "not reached":
        return f"{place}\n       NOT REACHED"
    left = f", {row['left']} not tried" if row.get("left") else ""
    return f"{place}\n       SURVIVED {len(row['passed'])} tests that reach it{left}"


def forget(drawn: schemata.Draw, numbers: Iterable[int]) -> None:
    kept = {number: row for number, row in load_results(drawn).items() if number not in set(numbers)}
    store(RESULTS, {"key": drawn.key, "mutants": kept})
