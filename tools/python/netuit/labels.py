"""Labels of nodes, as they stand in graph files."""

from __future__ import annotations

import ast
import numbers
from typing import Any

from netuit import InputError


def label_text(node: Any) -> str:
    """A node's label as it stands in files. Raises InputError if the programs would refuse it."""
    if isinstance(node, tuple):
        if not all(isinstance(part, (numbers.Integral, str, tuple)) for part in node):
            raise InputError(f"label {node}: expected whole numbers, words and tuples in it")
        parts = [label_text(part) if isinstance(part, (str, tuple)) else str(int(part)) for part in node]
        parts = [repr(part) if isinstance(value, str) else part for value, part in zip(node, parts)]
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    text = str(node)
    if not text:
        raise InputError("a label is empty")
    if any(c.isspace() for c in text):
        raise InputError(f"label {text!r} has a blank in it")
    if any(c in "#'\"()[]{}," or not c.isprintable() for c in text):
        raise InputError(f"label {text!r} has a bracket, quote, comma, '#' or control character in it")
    number = text[1:] if text.startswith("-") else text
    if number.isascii() and number.isdigit() and (text.startswith("-") or int(text) >= 2**63):
        raise InputError(f"label {text}: expected whole numbers from 0 to 2^63 - 1")
    return text


def label_value(text: str) -> Any:
    """The label that stands in a file as `text`: a whole number, a tuple, or a word."""
    if text.isascii() and text.isdigit() and str(int(text)) == text:
        return int(text)
    if text.startswith("("):
        try:
            value = ast.literal_eval(text)
            hash(value)
            return value
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    return text


def parse_cell(text: str) -> tuple[int, int] | None:
    """(row, column) if a label is a pair of whole numbers, as those of networkx.grid_2d_graph are; else None."""
    value = label_value(text)
    if isinstance(value, tuple) and len(value) == 2 and all(type(part) is int for part in value):
        return value
    return None
