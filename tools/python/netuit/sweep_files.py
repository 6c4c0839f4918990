"""Reads sweeps from small TOML files that declare what to run. Standard library only (tomli before Python 3.11).

    name = "compute_work"
    title = "from communication-bound to compute-bound"
    seconds = 5                    # of each run; a launch makes a run of each mode, a simulated one of a single mode
    replicates = 5
    modes = [0, 3]
    workers = ["1x1", "2x1"]       # processes x threads
    [options]                      # of the program, for all cases
    nodes-per-worker = 2048
    [[case]]                       # one or more; each may have keys of its own, which go before those above
    name = "work_0"
    options = { work = 0 }
    [quick]                        # what --quick changes
    seconds = 1
    replicates = 3

A case may have a table `quick` of its own, as in `quick = { modes = [0, 3] }`, which goes before the sweep's.

`KEYS` has all keys with their meanings.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from netuit import InputError
from netuit.arguments import MODE_NAMES, Workers, check_readable, parse_workers
from netuit.command import suggest
from netuit.program import SIZE_OPTIONS
from netuit.sweeps import Case, Sweep, names_a_file

LAUNCHERS = ("local", "hosts", "slurm", "simulated")
REPORTS = ("rates", "headline", "factors")
PROGRAMS = tuple(SIZE_OPTIONS)
FOLDER = (pathlib.Path(__file__).parent / "ready_made").resolve()  #: in a checkout a link to tools/sweeps

_OURS = (  # options that tools/experiment sets itself
    "output mode modes threads duration updates replicates seed quality snapshot-interval snapshot-length progress "
    "watch help version record checkpoint checkpoint-every resume instructions sensors"
).split()
_CLUSTER_KEYS = ("network", "latency", "noise", "faulty-host", "node-seconds", "cell-seconds", "update-seconds")
_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")

CASE_KEYS = {
    "about": "what the case shows, in a line",
    "launcher": "local, hosts (two network namespaces of this machine), slurm, or simulated",
    "workers": "layouts, processes x threads",
    "modes": "asynchronicity modes, by number or name",
    "seconds": "length of each run",
    "replicates": "runs of each layout and mode; replicate r has seed + r",
    "snapshot": "length of snapshots of the quality of service in seconds, from the beginning of one to the next; 0: none",
    "options": "options of the program; true is a flag",
    "straggler": "the last worker has so many times the nodes of each other one; 1: all have as many",
    "cluster": "settings of a simulated cluster: options of tools/simulate, but for hosts, seed and output",
    "shared_memory": "false: processes of this machine talk through MPI, as those of two machines do; of launcher local only",
}
KEYS = {
    "name": "name of the sweep, as its file's",
    "title": "what it shows, in a line",
    "program": "the program, of demos/",
    "seed": "first seed",
    "report": "what is drawn and printed at the end: rates, headline, factors",
    "also": "ready-made sweeps that are run after it, into folders below its own, and reported with it",
    "case": "the cases, each with a name and any of the keys that follow",
    "quick": "what --quick changes: any of the keys that follow, max_workers, and without (names of cases)",
    **CASE_KEYS,
}
_QUICK_KEYS = (set(CASE_KEYS) - {"about", "launcher"}) | {"max_workers", "without"}


def ready_made() -> list[pathlib.Path]:
    """The files of the sweeps that come with the tool."""
    return sorted(FOLDER.glob("*.toml"))


def find(name: str) -> pathlib.Path:
    """The file of a sweep by its name, or by its path. Raises InputError."""
    if name.endswith(".toml") or "/" in name:
        return pathlib.Path(name)
    known = {each.stem: each for each in ready_made()}
    if name not in known:
        raise InputError(f"unknown sweep {name} ({''.join(f'{each}, ' for each in known)}or a file that ends in .toml){suggest(name, known)}")
    return known[name]


def load(path: pathlib.Path, *, quick: bool = False, overrides: Mapping[str, Any] | None = None) -> Sweep:
    """Reads a sweep. overrides: keys of CASE_KEYS that go before all else. Raises InputError as `file: reason`."""
    table = _parse(path)
    try:
        return _sweep(table, path, quick, dict(overrides or {}))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def load_all(path: pathlib.Path, *, quick: bool = False, overrides: Mapping[str, Any] | None = None) -> list[Sweep]:
    """A sweep, as load() does, and after it those that it names by `also`. Raises InputError as `file: reason`."""
    first = load(path, quick=quick, overrides=overrides)
    others = [load(find(name), quick=quick, overrides=overrides) for name in first.also]
    for other in others:
        if other.also:
            raise InputError(f"{path}: also {other.name}: it names others itself")
        if other.is_simulated != first.is_simulated:
            raise InputError(f"{path}: also {other.name}: either all are simulated or none")
    return [first, *others]


def _parse(path: pathlib.Path) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: this is not text") from None
    try:
        return dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        match = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = match[1] if match else str(text.count("\n") + 1)
        reason = str(error)[: match.start()] if match else str(error).replace(" (at end of document)", " at the end")
        raise InputError(f"{path}:{line}: {reason}") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{path}: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deep") from None


def _sweep(table: dict[str, Any], path: pathlib.Path, quick: bool, overrides: dict[str, Any]) -> Sweep:
    _check_keys(table, KEYS, "")
    cases = _take(table, "case", [], _is_tables, "one [[case]] or more")
    hurried = _take(table, "quick", {}, _is_table, "a table")
    _check_keys(hurried, _QUICK_KEYS, "quick: ")
    if not quick:
        hurried = {}
    without = _take(hurried, "without", [], _is_words, "names of cases")
    common = {key: value for key, value in table.items() if key in CASE_KEYS}
    names = [_take(case, "name", "", _is_word, "a name of letters, digits, _ and -") for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two cases are named {name}")
    for name in without:
        if name not in names:
            raise InputError(f"quick: without {name}: no case has this name")
    made = [
        _case(name, case, [common, hurried, overrides], quick, path) for name, case in zip(names, cases) if name not in without
    ]
    if not made:
        raise InputError("no case: expected [[case]] with a name")
    if len({case.launcher == "simulated" for case in made}) > 1:
        raise InputError("simulated cases need a program built for them: put them into a sweep of their own")
    program = _take(table, "program", "channel_selection", _is_word, "a program's name")
    if program not in PROGRAMS:
        raise InputError(f"unknown program {program} ({', '.join(PROGRAMS)})")
    for case in made:
        if case.straggler != 1 and program != "channel_selection":
            raise InputError(f"case {case.name}: straggler: of channel_selection only")
    reports = _take(table, "report", ["rates"], _is_words, f"any of {', '.join(REPORTS)}")
    for report in reports:
        if report not in REPORTS:
            raise InputError(f"unknown report {report} ({', '.join(REPORTS)})")
    also = _take(table, "also", [], _is_words, "names of ready-made sweeps")
    known = [each.stem for each in ready_made()]
    for name in also:
        if name not in known:
            raise InputError(f"also {name}: no ready-made sweep ({', '.join(known)})")
        if also.count(name) > 1:
            raise InputError(f"also {name}: named twice")
    return Sweep(
        name=_take(table, "name", "", _is_word, "a name of letters, digits, _ and -"),
        title=_take(table, "title", "", _is_line, "a line of text"),
        program=program,
        seed=_take(table, "seed", 1, lambda value: _is_count(value) and value < 2**62, "a whole number"),
        reports=tuple(reports),
        also=tuple(also),
        cases=tuple(made),
        path=path,
    )


def _case(
    name: str,
    own: dict[str, Any],
    shared: list[dict[str, Any]],
    quick: bool,
    path: pathlib.Path,
) -> Case:
    """shared: what all cases have, what --quick changes in all, and what the command line does."""
    try:
        _check_keys(own, {"name", "quick", *CASE_KEYS}, "")
        own_hurried = _take(own, "quick", {}, _is_table, "a table")
        _check_keys(own_hurried, _QUICK_KEYS - {"without"}, "quick: ")
        common, hurried, overrides = shared
        own = {key: value for key, value in own.items() if key != "quick"}
        layers = [common, own, hurried, own_hurried if quick else {}, overrides]
        merged: dict[str, Any] = {}
        for layer in layers:
            for key, value in layer.items():
                joins = key in ("options", "cluster") and _is_table(value)
                merged[key] = {**merged.get(key, {}), **value} if joins else value
        launcher = _take(merged, "launcher", "local", _is_word, f"one of {', '.join(LAUNCHERS)}")
        if launcher not in LAUNCHERS:
            raise InputError(f"unknown launcher {launcher} ({', '.join(LAUNCHERS)})")
        shared_memory = _take(merged, "shared_memory", True, _is_flag, "true or false")
        if not shared_memory and launcher != "local":
            raise InputError(f"shared_memory false: of launcher local only, not {launcher}")
        layouts = _workers(_take(merged, "workers", ["1x1"], _is_words, 'layouts as in ["1x2", "2x1"]'))
        most = _take(merged, "max_workers", 1024, _is_count, "a whole number")
        seconds = _take(merged, "seconds", 1, lambda value: _is_number(value) and 0 < value <= 86400, "more than 0, and at most a day")
        straggler = _take(merged, "straggler", 1, lambda value: _is_number(value) and 1 <= value <= 1000, "1 to 1000")
        options = _take(merged, "options", {}, _is_table, "a table")
        nodes = options.get("nodes-per-worker", 1)
        if straggler != 1 and not (_is_count(nodes) and 0 < nodes <= 2**24):
            raise InputError(f"straggler {straggler}: wants option nodes-per-worker as a whole number, and not {nodes!r}")
        for option in ("graph", "placement"):
            if straggler != 1 and option in options:
                raise InputError(f"straggler {straggler}: not together with option {option}")
        return Case(
            name=name,
            straggler=float(straggler),
            about=_take(merged, "about", "", _is_line, "a line of text"),
            launcher=launcher,
            workers=tuple(layout for layout in layouts if layout.count <= most),
            modes=_modes(_take(merged, "modes", [0, 1, 2, 3, 4], lambda value: isinstance(value, list) and value, "a list of modes")),
            seconds=float(seconds),
            replicates=_take(merged, "replicates", 1, lambda value: _is_count(value) and 0 < value <= 1000, "1 to 1000"),
            snapshot=float(_take(merged, "snapshot", 1.0, lambda value: _is_number(value) and 0 <= value <= 86400, "seconds, or 0")),
            options=_options(options, path),
            cluster=_cluster(_take(merged, "cluster", {}, _is_table, "a table")),
            shared_memory=shared_memory,
        )  # fmt: skip
    except InputError as error:
        raise InputError(f"case {name}: {error}") from None


def _check_keys(table: Mapping[str, Any], known: Any, where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{where}unknown key {key} ({', '.join(sorted(known))})")


def _take(table: Mapping[str, Any], key: str, default: Any, accepts: Callable[[Any], Any], wanted: str) -> Any:
    value = table.get(key, default)
    if not accepts(value):
        given = f"{key} {value!r}" if key in table else f"no {key}"
        raise InputError(f"{given}: expected {wanted}")
    return value


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(_is_word(each) for each in value)


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _workers(words: list[str]) -> list[Workers]:
    try:
        return parse_workers(",".join(words))
    except InputError as error:
        raise InputError(str(error).replace("--workers", "workers", 1)) from None


def _modes(values: list[Any]) -> tuple[int, ...]:
    modes = set()
    for value in values:
        if value in MODE_NAMES:
            modes.add(MODE_NAMES.index(value))
        elif _is_count(value) and value < len(MODE_NAMES):
            modes.add(value)
        else:
            raise InputError(f"unknown mode {value!r} (0 to 5, or {', '.join(MODE_NAMES)})")
    return tuple(sorted(modes))


def _options(table: dict[str, Any], path: pathlib.Path) -> dict[str, Any]:
    options = {}
    for name, value in table.items():
        if not _WORD.fullmatch(name):
            raise InputError(f"option {name!r}: expected a name as in nodes-per-worker")
        if name in _OURS:
            raise InputError(f"option {name} is set by tools/experiment")
        if not isinstance(value, (str, bool, int, float)) or (isinstance(value, str) and not value.isprintable()):
            raise InputError(f"option {name}: {value!r} is not text, a number or a flag")
        if names_a_file(name, value):
            file = path.parent / str(value)
            check_readable(file)
            value = str(file)
        options[name] = value
    return options


def _cluster(table: dict[str, Any]) -> dict[str, Any]:
    for name, value in table.items():
        if name not in _CLUSTER_KEYS:
            raise InputError(f"cluster: unknown key {name} ({', '.join(_CLUSTER_KEYS)})")
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise InputError(f"cluster: {name} {value!r}: expected text or a number")
    return table
