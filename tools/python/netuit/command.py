"""How a command ends: in one line and a code, never in a traceback."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from netuit import InputError, ToolError


class Parser(argparse.ArgumentParser):
    """Raises InputError for a command line that makes no sense, instead of printing usage and ending the program."""

    def error(self, message: str) -> NoReturn:
        """Refuses in these words; suggests the option that an unknown one resembles."""
        kind, _, words = message.partition(": ")
        is_unknown = kind == "unrecognized arguments" and words.startswith("--")
        raise InputError(message + (suggest(words.split()[0].split("=")[0], self._option_string_actions) if is_unknown else ""))


def suggest(word: str, known: Iterable[str]) -> str:
    """What to append to an error about an unknown word: the known one that it resembles most, if any."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


class Interrupted(Exception):
    """Ctrl-C, or another signal that asks a tool to end. Its text, if any, says what is left."""


@contextlib.contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise Interrupted, once; further ones do nothing until the end."""

    def interrupt(number: int, frame: object) -> NoReturn:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)


def exit_code_of(body: Callable[[], int]) -> int:
    """What `body` gives; of a ToolError its own code, and 130 if interrupted, with one line on stderr that says so."""
    try:
        return body()
    except ToolError as error:
        print(f"conduit: error: {error}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, Interrupted) as error:
        print("conduit: error: interrupted" + (f"; {error}" if str(error) else ""), file=sys.stderr)
        return 130


def exit_code_of_command(body: Callable[[], int]) -> int:
    """The same for a command that a shell has started with Ctrl-C ignored, and whose output may be cut off by a reader."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return exit_code_of(body)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ToolError.exit_code
