"""Runs the notebooks of binder/, and takes data for them: netuit figures"""

from __future__ import annotations

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netuit import InputError, OutputError, ToolError, files
from netuit.arguments import check_folder
from netuit.command import Parser, exit_code_of_command
from netuit.program import find_checkout

if TYPE_CHECKING:
    import pandas

BINDER = (find_checkout() or pathlib.Path.cwd()) / "binder"
HELP = pathlib.Path(__file__).parent / "figures_help.txt"

#: What the notebooks read of each file; the rest is in the manifest, or not needed.
KEPT = {
    "rows.csv": "case launcher cpus others_cpus graph processes threads mode mode_name replicate num_nodes updates_per_second conflicts "
    "conflict_edges_total oversubscribed updates cells_of_rival mean_generation".split(),
    "evidence.csv": ["experiment", "case", "seed", "measure", "value"],
    "quality.csv": "case launcher others_cpus oversubscribed processes threads mode mode_name replicate snapshot scope layer transport "
    "simstep_period_s simstep_latency_updates wall_latency_s failure_rate clumpiness skip_rate touch_mean_s age_mean_s age_p50_s age_p99_s transit_p50_s".split(),
}
_NEEDED = {"rows.csv": {"mode", "updates_per_second"}, "evidence.csv": {"measure"}, "quality.csv": {"scope", "snapshot"}}


def notebooks(folder: pathlib.Path = BINDER) -> dict[str, list[str]]:
    """Each notebook's name and those of the figures that it keeps, in order."""
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        source = "\n".join(
            "".join(cell["source"]) for cell in files.read_json(path)["cells"] if cell["cell_type"] == "code"
        )
        found[path.stem] = [line.split('"')[1] for line in source.splitlines() if "experiment_plots.keep(" in line]
    return found


def run_notebook(path: pathlib.Path, figures: pathlib.Path, seconds: float = 300) -> None:
    """Runs all cells of a notebook, whose figures go to a folder. Raises ToolError with the line that failed."""
    import nbclient
    import nbformat

    package = str(pathlib.Path(__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = os.environ | {"UIT_FIGURES": str(figures.resolve()), "PYTHONPATH": os.pathsep.join(paths)}
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    client = nbclient.NotebookClient(notebook, timeout=seconds, kernel_name="python3", resources=where)
    try:
        client.execute(env=variables, stderr=subprocess.DEVNULL)  # what kernels say about themselves
    except nbclient.exceptions.CellExecutionError as error:
        raise ToolError(f"{path}: {error.ename}: {error.evalue}") from None
    except nbclient.exceptions.CellTimeoutError:
        raise ToolError(f"{path}: a cell did not end within {seconds:g} s") from None


def take(results: pathlib.Path, data: pathlib.Path) -> pathlib.Path:
    """Copies a sweep's results into the notebooks' data, without the columns that they do not read, and without what
    only tells where they were measured: of paths the base names are left, and the host has no name. Of what
    tools/evolve leaves, the last picture of the world. Tables are compressed: rows.csv becomes rows.csv.gz. Raises
    InputError, OutputError."""
    films = sorted(results.glob("mode*-replicate*/frames.csv"))
    manifest = files.read_json(results / ("rows.json" if films else "manifest.json"))
    name = "world" if films else str(manifest.get("sweep") or manifest.get("name") or results.resolve().name)
    if not re.fullmatch(r"\w[\w-]*", name):
        raise InputError(f"{results / 'manifest.json'}: sweep {name!r}: expected a name of letters, digits, _ and -")
    if films:
        taken = {"frames.csv": _last_frame(films[0])}
    else:
        found = {file: files.present(results / file) for file in KEPT}
        taken = {file: _kept(path, file) for file, path in found.items() if path.exists()}
    if not taken:
        raise InputError(f"{results}: no results: expected {' or '.join(KEPT)}")
    for path in sorted((results / "genomes").glob("*.genome")):
        taken[f"genomes/{path.name}"] = path.read_text(encoding="utf-8")
    taken["manifest.json"] = json.dumps(_of_no_host(_anywhere(manifest)), indent=1) + "\n"
    files.make_folder(data / name)
    for file, text in taken.items():
        path = data / name / file
        files.make_folder(path.parent)
        if path.suffix == ".csv":
            files.write_compressed(path.with_name(file + ".gz"), text)
            path.unlink(missing_ok=True)  # as an earlier version of this tool left it
        else:
            files.write_text(path, text)
    return data / name


def _words(path: pathlib.Path) -> pandas.DataFrame:
    """A CSV file as it stands. Raises InputError."""
    import pandas

    try:
        with files.open_text(path) as file:
            return pandas.read_csv(file, dtype=str, keep_default_na=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # no text, or no table
        raise InputError(f"{path}: {str(error).splitlines()[0]}") from None


def _last_frame(path: pathlib.Path) -> str:
    """The last picture of a film, as CSV. Raises InputError."""
    film = _words(path)
    if "elapsed_s" not in film or not len(film):
        raise InputError(f"{path}: no picture")
    return str(film[film["elapsed_s"] == film["elapsed_s"].iloc[-1]].to_csv(index=False, lineterminator="\n"))


def _kept(path: pathlib.Path, file: str) -> str:
    """Returns as CSV the columns of a file of results that the notebooks use. file: its name in KEPT. Raises InputError."""
    table = _words(path)
    if missing := _NEEDED[file] - set(table.columns):
        raise InputError(f"{path}:1: no column {min(missing)}")
    if file == "quality.csv":
        table = table[(table["scope"] == "worker") & (table["snapshot"] != "run")]
    kept = table[[column for column in KEPT[file] if column in table.columns]]
    return str(kept.apply(lambda words: words.map(_shortened)).to_csv(index=False, lineterminator="\n"))


def _shortened(word: str) -> str:
    """A number with a fraction to five digits; of a path the base name; other words as they are."""
    if re.fullmatch(r"\d*\.\d+(e-?\d+)?|\d+e-?\d+", word):
        return f"{float(word):.5g}"
    return str(_anywhere(word))


_ABSOLUTE = re.compile(r"(?<![\w./~])~?/(?:[^\s/:;,'\"]+/)*([^\s/:;,'\"]+)/?")
_WHOLE = re.compile(r"(--[\w-]+=)?/[^:]*")  # a word of a command line, which may have blanks


def _anywhere(value: Any) -> Any:
    """Texts, and what holds texts, with the base names of absolute paths."""
    if isinstance(value, dict):
        return {_anywhere(name): _anywhere(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_anywhere(each) for each in value]
    if not isinstance(value, str):
        return value
    if whole := _WHOLE.fullmatch(value):
        return (whole[1] or "") + pathlib.PurePath(value).name
    return _ABSOLUTE.sub(r"\1", value)


def _of_no_host(manifest: dict[str, Any]) -> dict[str, Any]:
    """Without this host's name, where messages may have it."""
    host = re.compile(rf"(?<![\w.-]){re.escape(socket.gethostname())}(?![\w-])")
    told = {name: manifest[name] for name in ("failed", "left_out", "launcher", "machine") if name in manifest}
    return {**manifest, **json.loads(host.sub("host", json.dumps(told)))}


def _check_names(names: Sequence[str]) -> None:
    known = notebooks()
    for name in names:
        if not any(name in (notebook, *figures) for notebook, figures in known.items()):
            raise InputError(f"no notebook or figure {name} (--list names them)")


def _draw(names: Sequence[str], output: pathlib.Path) -> None:
    known = notebooks()
    files.make_folder(output)
    for notebook, figures in known.items():
        if not names or set(names) & {notebook, *figures}:
            run_notebook(BINDER / f"{notebook}.ipynb", output)
            for path in (output / f"{figure}.svg" for figure in figures):
                print(path if path.exists() else f"figures: not drawn: {path} (its data are absent)", flush=True)


def main(words: Sequence[str] | None = None) -> int:
    def body() -> int:
        try:
            return _run_command(words)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{error.filename}: {error.strerror}") from None

    return exit_code_of_command(body)


def _run_command(words: Sequence[str] | None) -> int:
    parser = Parser(prog="tools/figures", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=BINDER / "figures")
    parser.add_argument("--take", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")  # set by tools/figures, before it sets anything up
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args(words)
    if options.help:
        sys.stdout.write(HELP.read_text(encoding="utf-8"))
    elif not BINDER.is_dir():
        raise ToolError(f"{BINDER}: no such folder; the notebooks are in Conduit's checkout")
    elif options.list:
        for notebook, figures in notebooks().items():
            print(f"{notebook}: {' '.join(figures)}")
    elif options.take:
        if not options.names:
            raise InputError("--take: requires the folders of results")
        for name in () if options.check else options.names:
            print(take(pathlib.Path(name), BINDER / "data"))
    else:
        check_folder(options.output)
        _check_names(options.names)
        if not options.check:
            _draw(options.names, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
