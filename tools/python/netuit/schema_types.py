"""How netuit.schema describes a file of results."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a CSV file, or one member of a manifest."""

    name: str  #: of a member within another, `outer.inner`; where outer is a list, of each of its objects
    kind: str  #: count, id, real, text, flag, list, object; an id or a real may be empty (in JSON null), a count may not
    unit: str
    meaning: str


@dataclasses.dataclass(frozen=True)
class Table:
    """One kind of file. A file is told by `marks`: columns that no other kind has."""

    name: str
    file: str
    about: str
    marks: tuple[str, ...]
    columns: tuple[Column, ...]
    required: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        """The column of that name, if the table has it."""
        return next((column for column in self.columns if column.name == name), None)


def columns(text: str) -> tuple[Column, ...]:
    """Columns from lines `name | kind | unit | meaning`."""
    rows = (line.split("|") for line in text.splitlines() if line.strip())
    return tuple(Column(*(cell.strip() for cell in row)) for row in rows)
