"""Puts the mutants of a sample into a copy of the sources and compiles it, for tools/mutants."""

import dataclasses
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "seeded_bugs"))
from building import ROOT, Trouble, run  # noqa: E402

import operators  # noqa: E402

WORK = ROOT / "build" / "mutants"
SOURCE = WORK / "source"
BUILD = WORK / "build"
COPIED = ("CMakeLists.txt", "README.md", "PROMISES.md", "include", "demos", "tests", "microbenchmarks", "tools")
# Additional places that are compiled beyond --count: they replace mutants that do not compile.
SPARE = 0.35


def headers() -> dict[str, bytes]:
    """Returns the headers of include/, by their path below it."""
    folder = ROOT / "include"
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.[hi]pp"))}


@dataclasses.dataclass
class Draw:
    """A sample of all candidates, numbered from 1 in their random order. The first `count` that compile are the mutants."""

    seed: int
    count: int
    num_candidates: int
    num_in_the_way: int
    drawn: list[operators.Candidate]
    refused: dict[int, str]  # numbers of those that do not compile, with the compiler's message
    key: str  # identifies the headers, seed and count

    @property
    def active(self) -> list[tuple[int, operators.Candidate]]:
        """Returns the identity of the copied headers."""
        return [(number, candidate) for number, candidate in enumerate(self.drawn, 1) if number not in self.refused]

    @property
    def mutants(self) -> dict[int, operators.Candidate]:
        return dict(self.active[: self.count])

    @property
    def num_refused(self) -> int:
        """Returns the refused mutants that came before the last mutant of the sample."""
        last = max(self.mutants, default=0)
        return sum(number < last for number in self.refused)


def draw(seed: int, count: int) -> Draw:
    texts = headers()
    candidates = [candidate for file, text in texts.items() for candidate in operators.find(file, text)]
    sample = operators.Sample()
    for candidate in operators.shuffled(candidates, seed):
        if len(sample.chosen) >= count * (1 + SPARE):
            break
        sample.take(candidate)
    digest = hashlib.sha256(f"{seed} {count}".encode())
    for file, text in texts.items():
        digest.update(file.encode() + text)
    for candidate in sample.chosen:
        digest.update(repr(candidate).encode())
    drawn = Draw(seed, count, len(candidates), sample.num_in_the_way, sample.chosen, {}, digest.hexdigest())
    refusals = WORK / "refused.json"
    if refusals.exists():
        noted = json.loads(refusals.read_text())
        if noted["key"] == drawn.key:
            drawn.refused = {int(number): words for number, words in noted["refused"].items()}
    return drawn


def copied_files() -> Iterator[Path]:
    for name in COPIED:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            short = file.relative_to(ROOT)
            is_wanted = "python" not in short.parts or short.parts[:3] == ("tools", "python", "netuit")  # tests import the package
            if file.is_file() and "__pycache__" not in file.parts and is_wanted:
                yield short


def write(path: Path, content: bytes, is_new: bool = True) -> None:
    """Writes a file unless it has this content.

    Unless `is_new`, keeps its time, so that what was compiled from it is not compiled again.
    """
    if path.exists():
        if path.read_bytes() == content:
            return
        before = path.stat()
        path.write_bytes(content)
        if not is_new:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def write_sources(drawn: Draw, is_new: bool = True) -> None:
    by_file = {
        file: list(mutants)
        for file, mutants in itertools.groupby(sorted(drawn.active, key=lambda item: item[1].file), lambda item: item[1].file)
    }
    for file in copied_files():
        content = (ROOT / file).read_bytes()
        if file.parts[0] == "include":
            content = operators.apply(content, by_file.get(str(file.relative_to("include")), []))
        write(SOURCE / file, content, is_new)
        if os.access(ROOT / file, os.X_OK):
            (SOURCE / file).chmod(0o755)
    write(SOURCE / "uit_mutant.hpp", (ROOT / "tests" / "mutants" / "uit_mutant.hpp").read_bytes())


def configure(options: list[str]) -> None:
    flags = f"-std=c++20 -w -Wno-narrowing -include {SOURCE / 'uit_mutant.hpp'}"
    command = ["cmake", "-S", str(SOURCE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
               "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0", f"-DCMAKE_CXX_FLAGS={flags}", *options]
    done = run(command)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(command)}: {(done.stdout + done.stderr)[-2000:]}")


PLACE = re.compile(r"([^\s:]+):(\d+):(?:\d+:)?")


def refused_by(drawn: Draw, output: str) -> dict[int, str]:
    """Returns the mutants at which the compiler found errors.

    For each error, that is the first place in its report that belongs to a mutant.
    """
    at = {(candidate.file, line): number for number, candidate in drawn.active
          for line in range(candidate.line, candidate.last_line + 1)}
    include = str(SOURCE / "include") + "/"
    refused: dict[int, str] = {}
    context: list[str] = []
    lines = output.splitlines()
    starts = [index for index, line in enumerate(lines) if re.search(r"\b(fatal )?error: ", line)]
    for start, end in zip(starts, starts[1:] + [len(lines)]):
        # g++ prints the places of instantiation before an error, clang after it.
        context = lines[start:end] + lines[max(0, start - 30) : start][::-1]
        for line in context:
            for file, number in PLACE.findall(line):
                path = os.path.normpath(os.path.join(BUILD, file))
                if path.startswith(include) and (found := at.get((path[len(include) :], int(number)))):
                    refused.setdefault(found, lines[start].split("error: ")[-1])
                    break
            else:
                continue
            break
    return refused


def build(drawn: Draw, targets: list[str], jobs: int) -> None:
    """Compiles the copy. Mutants that do not compile leave the sample. A round ends at the first error."""
    while True:
        write_sources(drawn, is_new=not drawn.refused)
        command = ["ninja", "-C", str(BUILD), "-j", str(jobs), *targets]
        with subprocess.Popen(command, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as ninja:
            assert ninja.stdout is not None
            kept: list[str] = []
            for line in ninja.stdout:
                kept.append(line)
                if re.match(r"\[\d+/\d+\]", line):
                    print(f"mutants: {line.strip()[:110]}", file=sys.stderr, flush=True)
        output = "".join(kept)
        (WORK / "build.log").write_text(output)
        if ninja.returncode == 0:
            return
        refused = refused_by(drawn, output)
        if not refused:
            raise Trouble(f"the copy of the sources does not compile (all of it in {WORK / 'build.log'}): {output[-1500:]}")
        for number, words in sorted(refused.items()):
            candidate = drawn.drawn[number - 1]
            print(f"mutants: thrown away: {number} {candidate.file}:{candidate.line} {candidate.operator}: {words[:80]}", file=sys.stderr)
        drawn.refused.update(refused)
        (WORK / "refused.json").write_text(json.dumps({"key": drawn.key, "refused": drawn.refused}))


def listed_tests() -> list[dict[str, Any]]:
    listed = run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"])
    if listed.returncode != 0:
        raise Trouble(f"ctest lists no tests: {listed.stderr[:500]}")
    tests: list[dict[str, Any]] = json.loads(listed.stdout)["tests"]
    return tests
