"""The folder of a sweep's results: a folder a launch under runs/, and what is gathered from them.

A launch is done when its folder is there under its own name and holds what run.json promises. It is made under another
name, and renamed when it is whole.
"""

from __future__ import annotations

import contextlib
import csv
import fcntl
import hashlib
import json
import pathlib
import re
import shutil
from collections.abc import Iterator, Sequence
from typing import IO, Any

from netuit import InputError, OutputError, files
from netuit.builds import Build
from netuit.sweeps import Launch, Sweep

ROWS, QUALITY, RUN, MANIFEST = "rows.csv", "quality.csv", "run.json", "manifest.json"
HOSTS, HOSTS_OF_LAUNCH = "hosts.csv", "rows.hosts.csv"
_OF_LAUNCH = ("host", "first_process", "num_processes")  #: of a host, what another launch may have otherwise
_UNFINISHED = ".unfinished"
_FACTS = ("took_s", "cpus", "others_cpus", "oversubscribed")  #: of a record, those that are read again


class Store:
    """Results of one sweep in one folder, for one build. One process at a time."""

    def __init__(self, folder: pathlib.Path, sweep: Sweep, build: Build) -> None:
        self.folder, self._sweep, self._build = folder, sweep, build

    def key(self, launch: Launch) -> str:
        """The name of a launch's folder: what it is, and a digest of all that decides its result."""
        identity = [self._build.id, launch.identity()]
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
        mode = f"-m{launch.modes[0]}" if launch.is_part else ""
        return f"{launch.case.name}-{launch.workers}{mode}-r{launch.replicate}-{digest}"

    def path(self, launch: Launch) -> pathlib.Path:
        """The folder of a launch that is done."""
        return self.folder / "runs" / self.key(launch)

    def begin(self, launch: Launch) -> pathlib.Path:
        """An empty folder to make a launch in. Raises OutputError."""
        draft = self.path(launch).with_name(self.key(launch) + _UNFINISHED)
        files.make_new_folder(draft)
        return draft

    def finish(self, launch: Launch, draft: pathlib.Path, facts: dict[str, Any]) -> None:
        """Marks a launch as done. facts: what is to stand in run.json besides. Raises OutputError."""
        digests = {path.name: _digest(path) for path in sorted(draft.iterdir()) if path.name != RUN}
        record = {
            "key": self.key(launch),
            "case": launch.case.name,
            "workers": str(launch.workers),
            "replicate": launch.replicate,
            "seed": launch.seed,
            "build": self._build.id,
            **facts,
            "files": digests,
        }
        files.write_json(draft / RUN, record)
        try:
            shutil.rmtree(self.path(launch), ignore_errors=True)
            draft.rename(self.path(launch))
        except OSError as error:
            raise OutputError(f"{self.path(launch)}: {error.strerror}") from None

    def record(self, launch: Launch) -> dict[str, Any] | None:
        """run.json of a launch that is done; None if it is not, or if its files are not as it left them."""
        folder = self.path(launch)
        try:
            record = files.read_json(folder / RUN)
            whole = all(_digest(folder / name) == digest for name, digest in record["files"].items())
        except (InputError, OSError, KeyError, AttributeError):
            return None
        return record if whole and ROWS in record["files"] else None

    def check_version(self, launches: Sequence[Launch]) -> None:
        """Raises InputError if one of them was done by an earlier version of this tool, which noted less of it."""
        for launch in launches:
            record = self.record(launch) or {}
            missing = [name for name in _FACTS if record and name not in record]
            if missing:
                raise InputError(f"{self.path(launch) / RUN}: no {missing[0]}: of an earlier version; use another --output")

    def set_aside(self) -> str | None:
        """Moves what was gathered from runs of another build into aside/; says so in a line."""
        build = _build_of(self.folder / ROWS)
        if build is None or build == self._build.id:
            return None
        place = self.folder / "aside" / build
        files.make_folder(place)
        try:
            for path in self.folder.iterdir():
                if path.is_file() and path.suffix in (".csv", ".json", ".png", ".svg", ".txt", ".md", ".html"):
                    path.replace(place / path.name)
        except OSError as error:
            raise OutputError(f"{place}: {error.strerror}") from None
        return f"results of another build ({build}) are kept aside in {place}"

    def gather(self, launches: Sequence[Launch]) -> int:
        """Writes rows.csv, quality.csv and hosts.csv from the launches given, which are done. Gives how many rows. Raises
        OutputError."""
        num_rows = self._gather_file(ROWS, launches)
        self._gather_hosts(launches)
        if any((self.path(launch) / QUALITY).exists() for launch in launches):
            self._gather_file(QUALITY, launches)
        return num_rows

    def _gather_file(self, name: str, launches: Sequence[Launch]) -> int:
        num_rows = 0
        header: list[str] = []
        with files.replacing(self.folder / name) as out:
            writer = csv.writer(out, lineterminator="\n")
            for launch in launches:
                path = self.path(launch) / name
                if not path.exists():
                    continue
                with open(path, newline="", encoding="utf-8") as file:
                    num_rows += self._copy_rows(csv.reader(file), writer, header, launch, path)
        return num_rows

    def _gather_hosts(self, launches: Sequence[Launch]) -> None:
        """Writes a row per host, with the number of launches that ran on it."""
        counts: dict[tuple[str, ...], int] = {}
        header: list[str] = []
        for launch in launches:
            path = self.path(launch) / HOSTS_OF_LAUNCH
            if not path.exists():
                continue
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    kept = {name: value for name, value in row.items() if name not in _OF_LAUNCH}
                    header = header or list(kept)
                    if list(kept) != header:
                        raise InputError(f"{path}:1: other columns than those of the launches before it")
                    counts[tuple(kept.values())] = counts.get(tuple(kept.values()), 0) + 1
        if not counts:
            return
        with files.replacing(self.folder / HOSTS) as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["host", *header, "launches"])
            writer.writerows([number, *values, count] for number, (values, count) in enumerate(counts.items()))

    def _copy_rows(self, reader: Any, writer: Any, header: list[str], launch: Launch, path: pathlib.Path) -> int:
        columns: list[str] = next(reader, [])
        added = self._added(launch, columns)
        if not header:
            header += [*columns, *added]
            writer.writerow(header)
        if header != [*columns, *added]:
            raise InputError(f"{path}:1: other columns than those of the launches before it")
        changed = {columns.index(name): value for name, value in _renumbered(launch).items() if name in columns}
        num_rows = 0
        for row in reader:
            for index, value in changed.items():
                row[index] = value
            writer.writerow([*row, *added.values()])
            num_rows += 1
        return num_rows

    def _added(self, launch: Launch, columns: Sequence[str]) -> dict[str, str]:
        record = files.read_json(self.path(launch) / RUN)
        added = {
            "sweep": self._sweep.name,
            "case": launch.case.name,
            "build": self._build.id,
            "launcher": launch.case.launcher,
            "key": self.key(launch),
            "cpus": str(record["cpus"]),
            "others_cpus": "" if record["others_cpus"] is None else str(record["others_cpus"]),
            "processes": str(launch.workers.processes),
            "threads": str(launch.workers.threads),
            "oversubscribed": str(int(record["oversubscribed"])),
        }
        return {name: value for name, value in added.items() if name not in columns}

    def write_manifest(self, facts: dict[str, Any]) -> None:
        """Writes manifest.json: sweep, build and machine, and the facts given. Raises OutputError."""
        build = self._build
        manifest = {
            "sweep": self._sweep.name,
            "title": self._sweep.title,
            "program": build.program.name,
            "build": build.id,
            "sha256": build.sha256,
            "launcher": build.launcher,
            "machine": build.machine,
            **build.facts,
            "cases": [_case_facts(case) for case in self._sweep.cases],
            **facts,
        }
        files.write_json(self.folder / MANIFEST, manifest)


def _renumbered(launch: Launch) -> dict[str, str]:
    return {"replicate": str(launch.replicate)}  # the program was asked for one, which it numbers 0


def _case_facts(case: Any) -> dict[str, Any]:
    facts = {name: getattr(case, name) for name in ("name", "about", "launcher", "seconds", "replicates", "snapshot", "straggler", "shared_memory")}
    facts |= {"workers": [str(workers) for workers in case.workers], "modes": list(case.modes)}
    return {**facts, "options": case.options, "cluster": case.cluster}


def _digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _build_of(path: pathlib.Path) -> str | None:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            row = next(csv.DictReader(file), {})
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    build = row.get("build") or ""
    return build if re.fullmatch(r"[0-9a-z]+(-[0-9a-z]+)*", build) else None


@contextlib.contextmanager
def locked(folder: pathlib.Path, tool: str = "tools/experiment") -> Iterator[None]:
    """Keeps others of this tool out of the folder. Raises OutputError if one is in it."""
    files.make_folder(folder)
    file: IO[str] | None = None
    try:
        file = open(folder / ".lock", "w", encoding="utf-8")  # noqa: SIM115: held until the end
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if file is not None:
            file.close()
        raise OutputError(f"{folder}: another {tool} is writing there") from None
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}") from None
    try:
        yield
    finally:
        file.close()
