"""The contents of each file of results: column or member, kind, unit, meaning.

`netuit schema [TABLE…]` prints them as tables.
"""

from __future__ import annotations

import sys

from netuit.command import suggest
from netuit.schema_documents import CLUSTER, DEMO, MANIFEST, RUN, SWEEP_MANIFEST
from netuit.schema_tables import COLORS, EVIDENCE, EVOLUTION_ROWS, FRAMES, HOSTS, QUALITY, ROWS, SWEEP_COLUMNS
from netuit.schema_types import Column, Table

__all__ = [
    "CLUSTER",
    "COLORS",
    "DEMO",
    "DOCUMENTS",
    "EVIDENCE",
    "EVOLUTION_ROWS",
    "FRAMES",
    "HOSTS",
    "MANIFEST",
    "QUALITY",
    "ROWS",
    "RUN",
    "SWEEP_COLUMNS",
    "SWEEP_MANIFEST",
    "TABLES",
    "Column",
    "Table",
    "as_markdown",
]

DOCUMENTS = (MANIFEST, SWEEP_MANIFEST, RUN, CLUSTER, DEMO)  #: objects, as JSON
TABLES = (ROWS, EVOLUTION_ROWS, EVIDENCE, QUALITY, FRAMES, COLORS, HOSTS, *DOCUMENTS)


def as_markdown(table: Table) -> str:
    """Returns the table's columns as a table in Markdown."""
    what = "member" if table in DOCUMENTS else "column"
    lines = [f"### {table.file}", "", table.about, "", f"| {what} | kind | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{column.name}` | {column.kind} | {column.unit} | {column.meaning} |" for column in table.columns]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> int:
    """Prints the named tables, or all. Returns the exit code."""
    known = {table.name: table for table in TABLES}
    if {"-h", "--help"} & set(names):
        print(f"usage: netuit schema [TABLE...]\n\nPrints the meaning of every column of result files.\n\nTABLE: {', '.join(known)} (default: all)")
        return 0
    for name in names:
        if name not in known:
            print(f"conduit: error: unknown table {name} ({', '.join(known)}){suggest(name, known)}", file=sys.stderr)
            return 2
    sys.stdout.write("\n".join(as_markdown(known[name]) for name in names or known))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
