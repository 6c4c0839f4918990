"""Takes a line of a graph file apart, as C++'s LineCursor does."""

from __future__ import annotations

import ast
import math
import pathlib
from typing import Any

from netuit import InputError
from netuit.labels import label_value

WEIGHT = "weight"  #: the attribute of edges and of nodes
#: What to do about labels with blanks, as in C++'s line_cursor.hpp.
BLANK_LABEL_HINT = (
    "; a label with blanks needs quotes (relabel_nodes(G, repr) in NetworkX) or a number (convert_node_labels_to_integers(G))"
)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


class LineCursor:
    """Takes labels, words and weights from the front of a line."""

    def __init__(self, path: pathlib.Path, line: int, text: str) -> None:
        self._path, self._line, self._rest = path, line, text

    def is_at_end(self) -> bool:
        """Whether nothing but blanks and a comment is left."""
        self.skip_blanks()
        return not self._rest or self._rest[0] == "#"

    def skip_blanks(self) -> str:
        """Skips blanks and tabs, and returns them."""
        length = len(self._rest) - len(self._rest.lstrip(" \t"))
        return self._split(length)

    def fail(self, reason: str) -> InputError:
        """The error to raise."""
        return InputError(f"{self._path}:{self._line}: {reason}")

    def take_word(self) -> str:
        """Everything up to the next blank."""
        if self.is_at_end():
            raise self.fail("the line ends too early")
        length = next((i for i, c in enumerate(self._rest) if c in " \t#"), len(self._rest))
        return self._split(length)

    def take_label(self) -> Any:
        """A node's label."""
        if self.is_at_end():
            raise self.fail("a label is missing")
        if self._rest[0] == "{":
            raise self.fail(f"a label is missing before {self._rest!r}")
        if self._rest[0] not in "(['\"":
            return label_value(self.take_word())
        label = self._split(self._bracketed(0) if self._rest[0] in "([" else self._quoted(0))
        if self._rest and self._rest[0] not in " \t#":
            raise self.fail(f"no blank after the label '{label}'")
        return label_value(label)

    def take_count(self) -> int:
        """A whole number."""
        word = self.take_word()
        if not (word.isascii() and word.isdigit()):
            raise self.fail(f"{word!r} is not a whole number")
        return int(word)

    def take_weight(self) -> float:
        """A finite number that is not negative."""
        return self._parse_weight(self.take_word())

    def take_edge_data(self) -> dict[str, float]:
        """{'weight': …} from a dictionary, a number, or nothing."""
        if self.is_at_end():
            return {}
        if self._rest[0] != "{":
            word = self.take_word()
            if word[0].isascii() and word[0].isalpha() and not word.startswith(("nan", "inf")):
                raise self.fail(f"the weight {word!r} is not a number{BLANK_LABEL_HINT}")
            return {WEIGHT: self._parse_weight(word)}
        text = self._split(self._bracketed(0))
        try:
            data = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise self.fail(f"{text!r} is not a dictionary") from None
        return {WEIGHT: self._parse_weight(repr(data[WEIGHT]))} if isinstance(data, dict) and WEIGHT in data else {}

    def expect_end(self) -> None:
        """Fails if a word is left."""
        if not self.is_at_end():
            raise self.fail(f"too many words, from {self._rest!r}{BLANK_LABEL_HINT}")

    def _split(self, length: int) -> str:
        front, self._rest = self._rest[:length], self._rest[length:]
        return front

    def _parse_weight(self, word: str) -> float:
        try:
            weight = float(word)
        except ValueError:
            raise self.fail(f"the weight {word!r} is not a number") from None
        if not math.isfinite(weight) or weight < 0:
            raise self.fail(f"the weight {word!r} is not finite, or negative")
        return int(weight) if weight.is_integer() and weight < 2**53 else weight

    def _quoted(self, begin: int) -> int:
        at = begin + 1
        while at < len(self._rest):
            if self._rest[at] == self._rest[begin]:
                return at + 1 - begin
            at += 2 if self._rest[at] == "\\" else 1
        raise self.fail(f"a quote that is never closed: {self._rest[begin:]!r}")

    def _bracketed(self, begin: int) -> int:
        closers: list[str] = []
        at = begin
        while at < len(self._rest):
            c = self._rest[at]
            if c in "'\"":
                at += self._quoted(at) - 1
            elif c in _CLOSERS:
                closers.append(_CLOSERS[c])
            elif c in ")]}":
                if closers.pop() != c:
                    raise self.fail(f"brackets that do not match: {self._rest[begin:]!r}")
                if not closers:
                    return at + 1 - begin
            at += 1
        raise self.fail(f"a bracket that is never closed: {self._rest[begin:]!r}")
