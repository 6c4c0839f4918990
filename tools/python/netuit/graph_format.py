"""Recognises the format of a graph file, as C++'s RecogniseFormat does, and also lists in JSON. Standard library only."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import re
import zlib

from netuit import InputError

EDGE_LIST, ADJACENCY, MULTILINE, METIS = "edge list", "adjacency list", "multiline adjacency list", "METIS"
MATRIX = "MatrixMarket"  #: which this package reads, and the programs do not
_BY_EXTENSION = {
    ".graph": METIS, ".adjlist": ADJACENCY, ".multiline_adjlist": MULTILINE, ".madjlist": MULTILINE, ".edgelist": EDGE_LIST
}  # fmt: skip
_START_BYTES = 2**16  #: so much of a file decides
_PACKED = [(b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "zip")]
_SIMPLE = [
    (r"\*(vertices|network|arcs|edges)", "Pajek", "read_pajek(%)"),
    (r">>graph6<<", "graph6", "read_graph6(%)"),
    (r">>sparse6<<", "sparse6", "read_sparse6(%)"),
    (r"leda\.graph", "LEDA", "read_leda(%)"),
    (r"""\[?\{\s*["}]""", "JSON", "node_link_graph(json.load(open(%)))"),
    (r"((#|//|creator |version |comment )[^\n]*\n\s*)*graph\s*\[", "GML", 'read_gml(%, label="id")'),
    (r"((#|//|creator |version |comment )[^\n]*\n\s*)*(strict )?\s*(di)?graph[^\n{]*\{[ \t\r]*(?![ \t\r'\"}])", "DOT", "nx_pydot.read_dot(%)"),
]
_FIRST_COLUMNS = ("source", "src", "from", "node1", "id1", "start", "tail", "u")


def read_bytes(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """A file's bytes, unpacked if gzip has compressed it. Raises InputError."""
    try:
        with open(path, "rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not is_packed:
                return file.read(most)
            with gzip.open(file) as unpacked:
                return unpacked.read(most)
    except EOFError:
        raise InputError(f"{path}: cannot be unpacked: the file ends too early") from None
    except (gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: cannot be unpacked: its data is damaged") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def is_matrix(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a matrix of MatrixMarket."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(b"%%matrixmarket")


def recognise(path: str | os.PathLike[str], start: bytes | None = None) -> str:
    """The format of a graph file, by its extension or its first bytes. Raises InputError if it is none that is read, with
    the lines of Python that convert it."""
    path = pathlib.Path(path)
    start = (read_bytes(path, _START_BYTES) if start is None else start)[:_START_BYTES]
    for magic, program in _PACKED:
        if start.startswith(magic) and (program != "bzip2" or start[4:].startswith(b"1AY&SY")):
            raise InputError(f"{path}:1: compressed by {program}: unpack it first")
    text = start.decode("utf-8-sig", errors="replace")
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    if is_matrix(start):
        return MATRIX
    if (foreign := _recognise_foreign(text)) is not None:
        name, expression = foreign
        if not expression:
            raise InputError(f"{path}:1: this is {name}, and no graph")
        modules = ["networkx", *(module for module in ("json", "pandas") if f"{module}." in expression)]
        expression = expression.replace("%", _python_string(str(path)), 1)
        converted = _python_string(str(stem.with_suffix(".multiline_adjlist")))
        raise InputError(
            f"{path}:1: this is {name}, which is not read; convert it in Python: import {', '.join(modules)}; "
            f"networkx.write_multiline_adjlist({expression}, {converted})"
        )
    return _BY_EXTENSION.get(stem.suffix) or _recognise_by_content(path, text)


def _python_string(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _recognise_foreign(text: str) -> tuple[str, str] | None:
    """A format's name and the expression of Python that reads it, in which % stands for the file."""
    body = text.lstrip()
    if body.startswith("<"):
        for tag, name in (("graphml", "GraphML"), ("gexf", "GEXF")):
            if f"<{tag}" in body:
                return name, f"networkx.read_{tag}(%)"
        return "XML", ""
    for pattern, name, expression in _SIMPLE:
        if re.match(pattern, body, re.IGNORECASE):
            return name, f"networkx.{expression}"
    if body.startswith("[") and (array := _recognise_array(body)) is not None:
        return array
    line = next((line.strip() for line in text.split("\n") if line.strip() and not line.strip().startswith("#")), "")
    for separator in ",;":
        if fields := _split_csv(line, separator):
            pick = "" if separator == "," else ', sep=";"'
            attributes = ", edge_attr=True)" if len(fields) > 2 else ")"
            if fields[0].lower() in _FIRST_COLUMNS and len(fields[1]) < 40:
                return "CSV", f'networkx.from_pandas_edgelist(pandas.read_csv(%{pick}), "{fields[0]}", "{fields[1]}"{attributes}'
            if '"' in line:  # NetworkX would take the quotes for a part of the labels
                return "CSV", f"networkx.from_pandas_edgelist(pandas.read_csv(%{pick}, header=None), 0, 1{attributes}"
            is_weighted = len(fields) == 3 and re.fullmatch(r"[0-9+\-.eE]+", fields[2])
            return "CSV", f'networkx.read_{"weighted_" if is_weighted else ""}edgelist(%, delimiter="{separator}")'
    return None


def _recognise_array(body: str) -> tuple[str, str] | None:
    """The same of a JSON array; None if the file is something else, such as an edge list whose labels have brackets."""
    decoder = json.JSONDecoder()
    try:
        if body[decoder.raw_decode(body)[1] :].strip():
            return None
    except json.JSONDecodeError as error:  # expected only where the text was cut
        if error.pos < len(body) - 1 and not error.msg.startswith("Unterminated string"):
            return None
    except RecursionError:
        return None
    first = re.match(r"\[\s*(?=\[)", body)
    try:
        edge = decoder.raw_decode(body, first.end())[0] if first else []
    except json.JSONDecodeError:
        edge = []
    if len(edge) in (2, 3) and all(isinstance(label, (int, str)) for label in edge[:2]):
        if len(edge) == 2:
            return "JSON", "networkx.Graph(json.load(open(%)))"
        if isinstance(edge[2], (int, float)):
            return "JSON", 'networkx.Graph((a, b, {"weight": w}) for a, b, w in json.load(open(%)))'
    return "a JSON array, not of edges as in [[1, 2], [3, 4]]", ""


def _split_csv(line: str, separator: str) -> list[str]:
    """The fields of a line of comma-separated values; none if it is something else, such as two labels of an edge list."""
    fields = [""]
    is_quoted, depth = False, 0
    for at, c in enumerate(line):
        is_quoted ^= c == '"'
        if not is_quoted:
            depth = max(0, depth + (c in "([{") - (c in ")]}"))
        if c == separator and not is_quoted and not depth:
            fields.append("")
        elif is_quoted or depth or c not in " \t\r":
            fields[-1] += c
        elif fields[-1] and line[at:].strip() and not line[at:].lstrip().startswith(separator):
            return []
    return fields if len(fields) > 1 and all(fields) else []


def _recognise_by_content(path: pathlib.Path, text: str) -> str:
    has_header, has_line, has_zeros_alone = False, False, True
    for line in (each.strip() for each in text.split("\n")):
        has_header = has_header or (not has_line and line.startswith("# GMT "))
        if not line or line.startswith("#"):
            continue
        rest = _after_label(line)
        if rest.startswith("{"):
            return MULTILINE
        has_zeros_alone = has_zeros_alone and rest == "0"
        has_line = True
    if has_header and has_line and has_zeros_alone:
        raise InputError(
            f"{path}:1: either no node has an edge, or each has one to node 0: name the file .multiline_adjlist or .adjlist"
        )
    return ADJACENCY if has_header else EDGE_LIST


def _after_label(line: str) -> str:
    quote, depth = "", 0
    for at, c in enumerate(line):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth = max(0, depth - 1)
        elif not depth and c in " \t\r":
            return line[at:].strip()
    return ""
