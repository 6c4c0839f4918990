"""Files that appear whole or not at all. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from conduit_tools import InputError, OutputError


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[IO[str]]:
    """A text file to write that takes the place of `path` when the block ends well. Raises OutputError."""
    draft = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", newline="", encoding="utf-8", dir=path.parent, prefix=path.name + ".", delete=False
        ) as file:
            draft = file.name
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(draft, 0o666 & ~umask)
        os.replace(draft, path)
        draft = None
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)


def write_text(path: pathlib.Path, text: str) -> None:
    """Replaces `path` in one step. Raises OutputError."""
    with replacing(path) as file:
        file.write(text)


def write_json(path: pathlib.Path, value: Any) -> None:
    """Replaces `path` in one step. Raises OutputError."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_json(path: pathlib.Path) -> dict[str, Any]:
    """The object in a file. Raises InputError as `file:line: reason`."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}:1: want an object")
    return value


def make_folder(path: pathlib.Path) -> None:
    """Makes a folder and those above it. Raises OutputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
