"""The command `netuit`: one subcommand for each tool of the package, each in its own module."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

from netuit import InputError, __version__
from netuit.command import exit_code_of_command, suggest


class Command(NamedTuple):
    """A subcommand: the module whose main runs it, and what it does in a line."""

    module: str
    about: str


COMMANDS = {
    "run": Command("coloring", "colour a graph file on threads and processes: a table, or rows as CSV"),
    "demo": Command("demo", "colour graphs in every asynchronicity mode: table, chart, picture, report.html"),
    "experiment": Command("experiment", "run a sweep over modes, workers and options, and draw its results"),
    "evolve": Command("evolve", "let digital cells evolve: pictures of the world and its history"),
    "evidence": Command("evidence", "show over several seeds that this evolution is real"),
    "report": Command("report", "draw results as one HTML page"),
    "figures": Command("notebooks", "draw the figures of the notebooks in a checkout's binder/"),
    "simulate": Command("simulate", "run a program on a simulated cluster"),
    "supervise": Command("supervise", "start a program over MPI so that the other processes survive if one dies"),
    "paired": Command("paired", "compare the modes of a sweep within each replicate"),
    "schema": Command("schema", "print the meaning of every column of the result files"),
}


def overview() -> str:
    """The text of --help."""
    width = max(map(len, COMMANDS))
    lines = ["usage: netuit COMMAND [options]", ""]
    lines += [f"  {name:<{width}}  {command.about}" for name, command in COMMANDS.items()]
    lines += ["", "netuit COMMAND --help prints the options of a command; netuit --version prints the version."]
    return "\n".join(lines) + "\n"


def run(words: Sequence[str]) -> int:
    """Runs a command line, and returns its exit code. Raises InputError if it names no command."""
    name, *rest = words or ["--help"]
    if name in ("-h", "--help", "help"):
        sys.stdout.write(overview())
        return 0
    if name == "--version":
        print(f"netuit {__version__}")
        return 0
    if name not in COMMANDS:
        kind, known = ("option", ["--help", "--version"]) if name.startswith("-") else ("command", list(COMMANDS))
        raise InputError(f"unknown {kind} {name} (netuit --help lists the commands){suggest(name, known)}")
    code: int = importlib.import_module(f"netuit.{COMMANDS[name].module}").main(rest)
    return code


def main(words: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    return exit_code_of_command(lambda: run(sys.argv[1:] if words is None else words))
