"""Results as pandas DataFrames."""

from __future__ import annotations

import csv
import os
import pathlib
from typing import Any

import pandas

from netuit import InputError, files, schema

_DTYPES = {"count": "int64", "id": "Int64", "real": "float64", "text": "str", "flag": "bool"}
_UNSIGNED = {"seed"}  # up to 2^63 and more


def load(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """A file of results as a DataFrame with the dtypes of netuit.schema.

    Takes rows, quality, frames, colors or hosts as CSV, told apart by their columns; a manifest as JSON, which gives one
    row; or a folder of tools/experiment, which gives its rows. A CSV file may be compressed, as rows.csv.gz; the name
    rows.csv then finds it too. `frame.attrs["table"]` names the kind. Columns that
    the schema does not know stay as pandas reads them. Raises InputError.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        path = path / "rows.csv"
    path = files.present(path)
    frame = _load_manifest(path) if path.suffix == ".json" else _load_csv(path)
    frame.attrs["path"] = str(path)
    return frame


def _load_manifest(path: pathlib.Path) -> pandas.DataFrame:
    frame = pandas.DataFrame([files.read_json(path)])
    frame.attrs["table"] = "manifest"
    return frame


def _load_csv(path: pathlib.Path) -> pandas.DataFrame:
    table = _table_of(_header(path), path)
    try:
        with files.open_text(path) as file:
            frame = pandas.read_csv(file, dtype=str, keep_default_na=False, index_col=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {str(error).splitlines()[0]}") from None
    for name in frame.columns:
        column = table.column(name)
        frame[name] = _convert(frame[name], column, path) if column else _guess(frame[name])
    frame.attrs["table"] = table.name
    return frame


def _header(path: pathlib.Path) -> list[str]:
    try:
        with files.open_text(path) as file:
            return next(csv.reader(file), [])
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}:1: {error}") from None


def _table_of(header: list[str], path: pathlib.Path) -> schema.Table:
    for table in schema.TABLES:
        if set(table.marks) <= set(header):
            return table
    known = ", ".join(table.name for table in schema.TABLES)
    raise InputError(f"{path}:1: these are no columns of {known}")


def _convert(texts: Any, column: schema.Column, path: pathlib.Path) -> Any:
    if column.kind == "text":
        return texts.astype("category") if texts.nunique() <= 64 else texts
    if column.name == "snapshot":
        texts = texts.replace("run", "")
    is_empty = texts == ""
    if column.kind in ("count", "flag") and is_empty.any():
        raise InputError(f"{path}:{_line(is_empty)}: {column.name} is empty")
    if column.kind == "real":
        numbers = pandas.to_numeric(texts, errors="coerce").astype("float64")
        is_wrong = numbers.isna() & ~is_empty & ~texts.str.lower().isin(("nan", "-nan"))
    else:
        is_wrong = ~is_empty & ~texts.str.fullmatch(r"-?\d{1,20}")
        numbers = texts
    if is_wrong.any():
        raise InputError(f"{path}:{_line(is_wrong)}: {column.name} {texts[is_wrong].iloc[0]!r} is not a number")
    try:
        if column.kind == "real":
            return numbers
        if column.kind == "flag":
            return texts != "0"
        if column.kind == "id":
            return texts.mask(is_empty, None).map(int, na_action="ignore").astype("Int64")
        return texts.map(int).astype("uint64" if column.name in _UNSIGNED else _DTYPES[column.kind])
    except (OverflowError, ValueError) as error:
        raise InputError(f"{path}: {column.name}: {error}") from None


def _line(is_wrong: Any) -> int:
    return int(is_wrong.to_numpy().argmax()) + 2


def _guess(texts: Any) -> Any:
    try:
        return pandas.to_numeric(texts)
    except (ValueError, TypeError):
        return texts
