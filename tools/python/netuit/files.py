"""Files that appear whole or not at all. Standard library only."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import pathlib
import secrets
import shutil
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

from netuit import InputError, OutputError

_GZIP = 31  # zlib's number for gzip's format, without a name and a time
_LONGEST_NAME = 200  # of a target's, so that its draft's stays below the system's 255 bytes


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[IO[str]]:
    """A text file to write that takes the place of `path` when the block ends well. Raises OutputError.

    Any number of writers may do this to one name at once: it always shows the whole file of the last that ended well. If
    `path` is a link to a file, the link stays and the file that it points at is replaced; a link that points at nothing is
    itself replaced. What is no regular file, and anything in /dev, is written as it is.
    """
    with _open(path, "w", newline="", encoding="utf-8") as file:
        yield file


@contextlib.contextmanager
def _open(path: pathlib.Path, mode: str, **options: Any) -> Iterator[IO[Any]]:
    draft = None
    try:
        if (path.exists() and not path.is_file()) or str(path).startswith("/dev/"):
            with open(path, mode, **options) as file:
                yield file
            return
        target = path.resolve() if path.is_file() else path
        draft, descriptor = create_draft(target)
        with open(descriptor, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
        draft = None
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)


def create_draft(
    target: pathlib.Path, next_number: Callable[[], str] = lambda: secrets.token_hex(8)
) -> tuple[pathlib.Path, int]:
    """Creates a file beside `target`, with a name that nobody can guess and the mode that the umask leaves; gives its path and
    descriptor. A name that is taken, by a file or by a link, is left alone. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    name = os.fsdecode(os.fsencode(target.name)[:_LONGEST_NAME])
    num_left = 100
    while True:
        draft = target.with_name(f"{name}.{next_number()}.tmp")
        try:
            return draft, os.open(draft, flags, 0o666)
        except FileExistsError:
            num_left -= 1
            if num_left == 0:
                raise


def write_text(path: pathlib.Path, text: str) -> None:
    """Replaces `path` in one step. Raises OutputError."""
    with replacing(path) as file:
        file.write(text)


def write_compressed(path: pathlib.Path, text: str) -> None:
    """Replaces `path` by a text that gzip has compressed, in one step. The same text gives the same bytes, at any time. Raises
    OutputError."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    write_bytes(path, packer.compress(text.encode()) + packer.flush())


def present(path: pathlib.Path) -> pathlib.Path:
    """`path`, or the compressed file `path`.gz if only that exists."""
    compressed = path.with_name(path.name + ".gz")
    return compressed if not path.exists() and compressed.exists() else path


def open_text(path: pathlib.Path) -> IO[str]:
    """A text file to read, compressed by gzip if its name ends in .gz. Raises OSError if it cannot be read, InputError if it
    is not compressed or is damaged, and UnicodeDecodeError."""
    if path.suffix != ".gz":
        return open(path, newline="", encoding="utf-8")
    content = path.read_bytes()
    try:
        return io.StringIO(gzip.decompress(content).decode(), newline="")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: not compressed by gzip, or damaged") from None


def write_bytes(path: pathlib.Path, content: bytes) -> None:
    """Replaces `path` in one step. Raises OutputError."""
    with _open(path, "wb") as file:
        file.write(content)


def write_figure(path: pathlib.Path, figure: Any, **options: Any) -> None:
    """Replaces `path` by a figure of matplotlib's, in one step. options: of its savefig. Raises OutputError."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:] or None, **options)
    write_bytes(path, drawn.getvalue())


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
        raise InputError(f"{path}:1: expected an object")
    return value


def make_folder(path: pathlib.Path) -> None:
    """Makes a folder and those above it. Raises OutputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def make_new_folder(path: pathlib.Path) -> None:
    """Makes an empty folder, and those above it, in the place of one that a run which was killed has left. Raises OutputError,
    also if a link has that name."""
    make_folder(path.parent)
    shutil.rmtree(path, ignore_errors=True)
    try:
        path.mkdir()
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
