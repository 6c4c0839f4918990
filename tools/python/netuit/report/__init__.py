"""Reports as one static page of HTML: netuit report RESULTS... [-o FILE]"""

from __future__ import annotations

import contextlib
import importlib.resources
import pathlib
import signal
import sys
from collections.abc import Sequence
from typing import TextIO

from netuit import InputError, files
from netuit.command import Parser, exit_code_of


def write_report(results: Sequence[pathlib.Path], output: pathlib.Path, others: Sequence[pathlib.Path] = ()) -> int:
    """Writes the page, and returns its size in bytes. others: folders that are shown below, each by itself. Raises InputError or OutputError; then nothing is written."""
    from netuit.report.inputs import read_inputs
    from netuit.report.page import make_page

    page = make_page(read_inputs(results), [read_inputs([folder]) for folder in others])
    files.write_text(output, page)
    return len(page.encode())


def try_report(folders: Sequence[pathlib.Path], out: TextIO) -> list[pathlib.Path]:
    """One page of all folders, report.html in the first; gives its path. If what is there cannot be drawn, says so in a line
    and leaves no page. Raises OutputError."""
    path = folders[0] / "report.html"
    try:
        write_report(folders[:1], path, folders[1:])
    except InputError as error:
        with contextlib.suppress(OSError):
            path.unlink()  # of an earlier time, when it could be drawn
        print(f"no {path.name}: {error}", file=out)
        return []
    return [path]


def main(words: Sequence[str] | None = None) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = sys.argv[1:] if words is None else words

    def body() -> int:
        parser = Parser(prog="tools/report", add_help=False)
        parser.add_argument("results", nargs="*", type=pathlib.Path)
        parser.add_argument("-o", "--output", type=pathlib.Path)
        parser.add_argument("--check", action="store_true")  # set by tools/report, before it sets anything up
        parser.add_argument("-h", "--help", action="store_true")
        options = parser.parse_args(words)
        if options.help:
            sys.stdout.write(importlib.resources.files(__name__).joinpath("help.txt").read_text(encoding="utf-8"))
            return 0
        if not options.results:
            raise InputError("no results given (--help tells more)")
        if options.check:
            return 0
        first: pathlib.Path = options.results[0]
        output: pathlib.Path = options.output or (first if first.is_dir() else first.parent) / "report.html"
        size = write_report(options.results, output)
        print(f"report: {output} ({size / 1e6:.1f} MB)")
        return 0

    return exit_code_of(body)
