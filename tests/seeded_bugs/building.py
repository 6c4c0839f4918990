"""For tools/seeded_bugs: builds a test as build/release would, but by clang if there is one, without optimisation, and with other headers."""

import dataclasses
import functools
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "release"
COMPILED_PARTS = ("uit_compiled_for_tests", "netuit_compiled_for_tests")


class Trouble(Exception):
    """A bug cannot be judged, for this reason."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One test case, and what it is compiled from."""

    test: str  # the name in ctest: a program, perhaps with " x" and the number of ranks
    case: str  # name of the test case; empty: the program has no cases
    sources: tuple[str, ...]
    seen_by: str  # how it shows a bug; empty: a check fails; "timeout": ranks hang; otherwise a pattern in its output

    @functools.cached_property
    def filter(self) -> str:
        """Returns the arguments with which Catch2 runs this case alone; for a template, with all of its types."""
        text = "".join((ROOT / source).read_text() for source in self.sources)
        found = re.search(r'(\w*TEST_CASE\w*)\(\s*"' + re.escape(self.case) + '"', text)
        if not found:
            raise Trouble(f"there is no case {self.case!r} in {', '.join(self.sources)}")
        name = re.sub(r"([,\[*])", r"\\\1", self.case)
        return f"{name} - *" if found.group(1).startswith("TEMPLATE") else name


def run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, text=True, errors="replace", capture_output=True, check=False, **options)


def first_words(output: str) -> str:
    """Returns the first lines of a failed test's report."""
    lines = [line.strip() for line in output.splitlines()]
    for begin, line in enumerate(lines):
        if not line.endswith("FAILED:"):
            continue
        words = lines[begin + 1] if begin + 1 < len(lines) else ""
        for number, what in enumerate(lines[begin + 1 : begin + 8], begin + 1):
            if what.startswith(("with expansion", "due to", "explicitly with")) and number + 1 < len(lines):
                expanded = lines[number + 1]
                return expanded if re.search(r"[A-Za-z]{6}", expanded) else f"{words}  with {expanded}"
        return words
    for line in lines:
        if re.search(r"at the end: |conduit: |\[rank \d+\].*(failed|timed out|error|MPI)|pmpi|misuse|timed out", line):
            return line
    return next((line for line in reversed(lines) if re.search(r"\w", line)), "no words")


class Build:
    """The commands of build/release that compile, link and run each test."""

    def __init__(self) -> None:
        parts = ["uit_catch_main", "uit_catch_runner", "uit_catch_mpi_main", "uit_pmpi", *COMPILED_PARTS]
        for command in (["cmake", "--preset", "release"], ["cmake", "--build", str(BUILD), "--target", *parts]):
            done = run(command, cwd=ROOT)
            if done.returncode != 0:
                raise Trouble(f"{' '.join(command)}: {(done.stdout + done.stderr)[-2000:]}")
        # Without the tests' precompiled header, which has been made of headers without bugs.
        precompiled = re.compile(r" -Winvalid-pch(?: (?:-Xclang|-include|-include-pch|\S*cmake_pch\S*))+")
        self.commands = json.loads(precompiled.sub("", (BUILD / "compile_commands.json").read_text()))
        listed = run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"])
        self.tests = {test["name"]: test for test in json.loads(listed.stdout)["tests"]}
        cache = (BUILD / "CMakeCache.txt").read_text()
        launcher = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(.*)$", cache, re.MULTILINE)
        self.launcher = launcher.group(1) if launcher else "mpiexec"
        self.ccache = [path] if (path := shutil.which("ccache")) else []
        # Without optimisation, clang compiles in half the time of g++. What it makes links with the rest. In the order of tools/test.
        names = [f"clang++-{version}" for version in (19, 20, 21, 22, 18, 17, 16)]
        self.compiler = next((path for name in names if (path := shutil.which(name))), None)

    def properties(self, probe: Probe) -> dict[str, Any]:
        if probe.test not in self.tests:
            raise Trouble(f"there is no test {probe.test}")
        return {item["name"]: item["value"] for item in self.tests[probe.test].get("properties", [])}

    def link_words(self, probe: Probe) -> list[str]:
        target = probe.test.split()[0]
        listed = run(["ninja", "-C", str(BUILD), "-t", "commands", target])
        if listed.returncode != 0:
            raise Trouble(f"ninja does not know {target}: {listed.stderr.strip()}")
        words = shlex.split(listed.stdout.splitlines()[-1].replace(": && ", "", 1).rsplit(" && :", 1)[0])
        del words[words.index("-o") : words.index("-o") + 2]
        return words

    def uses_compiled_part(self, probe: Probe) -> bool:
        """Returns whether the test links a library that needs the compiled part.

        Otherwise the seeded headers bring their own definitions.
        """
        libraries = {Path(word).stem for word in self.link_words(probe) if Path(word).match("lib*.a")}
        return bool(libraries - {f"lib{name}" for name in (*COMPILED_PARTS, "uit_build_commit")})

    def compile(self, probe: Probe, source: str, seeded: Path, to: Path) -> str:
        """Returns the target of a source: the test itself, or a library that it links."""
        owner_of = re.compile(r"CMakeFiles/(\S+)\.dir/")
        words = self.link_words(probe)
        owners = {Path(word).stem[3:] for word in words if Path(word).match("lib*.a")}
        owners |= {found.group(1) for word in words if word.endswith(".o") and (found := owner_of.search(word))}
        file = str(ROOT / source)
        entries = [(found.group(1), entry) for entry in self.commands if entry["file"] == file
                   if (found := owner_of.search(entry["command"])) and found.group(1) in owners]
        if not entries:
            raise Trouble(f"{source} is no source of {probe.test.split()[0]}")
        owner, entry = entries[0]
        words = shlex.split(entry["command"])
        words[0] = self.compiler or words[0]
        del words[words.index("-o") : words.index("-o") + 2]
        words = [word for word in words if word not in ("-Werror", "-c", file) and not word.startswith("-O")]
        include = f"-I{ROOT / 'include'}"
        if include not in words:
            raise Trouble(f"{source} is not compiled with {ROOT / 'include'}")
        # The seeded headers come first, then demos/, which are included by their path from the root.
        folders = [f"-I{seeded / 'include'}", f"-I{seeded}"] if seeded != ROOT else [include]
        words[1:1] = folders
        if not self.uses_compiled_part(probe):
            words = [word for word in words if word != "-DUIT_COMPILED=1"]
        if (seeded / source).exists():
            file = str(seeded / source)
        done = run([*self.ccache, *words, "-O0", "-w", "-o", str(to), "-c", file], cwd=entry["directory"])
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise Trouble(f"does not compile: {(errors or ['?'])[0]}")
        return str(owner)

    def link(self, probe: Probe, objects: list[Path], owners: set[str], to: Path) -> None:
        own = []
        replaced = owners | (set() if self.uses_compiled_part(probe) else set(COMPILED_PARTS))
        for word in self.link_words(probe):
            is_replaced = Path(word).match("lib*.a") and Path(word).stem[3:] in replaced
            if not is_replaced and (not word.endswith(".o") or "uit_catch" in word or "uit_pmpi" in word):
                own.append(word)
        own[1:1] = map(str, objects)
        done = run([*own, "-o", str(to)], cwd=BUILD)
        if done.returncode != 0:
            raise Trouble(f"does not link: {done.stderr.strip()[:200]}")
