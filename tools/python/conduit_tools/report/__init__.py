"""Reports as one static page of HTML: python -m conduit_tools.report RESULTS... [-o FILE]"""

from __future__ import annotations

import importlib.resources
import pathlib
import signal
import sys
from collections.abc import Sequence

from conduit_tools import InputError, files
from conduit_tools.command import Parser, exit_code_of


def write_report(results: Sequence[pathlib.Path], output: pathlib.Path) -> int:
    """Writes the page, and returns its size in bytes. Raises InputError or OutputError; then nothing is written."""
    from conduit_tools.report.inputs import read_inputs
    from conduit_tools.report.page import make_page

    page = make_page(read_inputs(results))
    files.write_text(output, page)
    return len(page.encode())


def main(words: Sequence[str] | None = None) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = sys.argv[1:] if words is None else words

    def body() -> int:
        parser = Parser(prog="tools/report", add_help=False)
        parser.add_argument("results", nargs="*", type=pathlib.Path)
        parser.add_argument("-o", "--output", type=pathlib.Path)
        parser.add_argument("-h", "--help", action="store_true")
        options = parser.parse_args(words)
        if options.help:
            sys.stdout.write(importlib.resources.files(__name__).joinpath("help.txt").read_text(encoding="utf-8"))
            return 0
        if not options.results:
            raise InputError("no results given (--help tells more)")
        first: pathlib.Path = options.results[0]
        output: pathlib.Path = options.output or (first if first.is_dir() else first.parent) / "report.html"
        size = write_report(options.results, output)
        print(f"report: {output} ({size / 1e6:.1f} MB)")
        return 0

    return exit_code_of(body)
