"""Small lines below figures: how to read them, over how many replicates, and whether other work disturbed what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas

DISTURBED_CPUS = 0.1  #: taken by others, from which on a figure says so
_GID = "footer "  #: begins the ids of lines of ours, beside other texts of a figure


def add(figure: Any, text: str, key: str = "") -> Any:
    """One more line below a figure, and below those that it has; a line of the same key takes the place of the former.
    Gives its artist."""
    gid = _GID + (key or text)
    line = next((each for each in figure.texts if each.get_gid() == gid), None)
    if line is None:
        line = figure.text(0.5, 0, "", gid=gid, ha="center", va="top", fontsize=7.5, color="#666666")
    line.set_text(text)
    shown = [each for each in figure.texts if (each.get_gid() or "").startswith(_GID) and each.get_text()]
    for number, each in enumerate(shown):
        each.set_y(-0.01 - number * 0.16 / figure.get_figheight())
    return line


def replicates(rows: pandas.DataFrame) -> dict[Any, int]:
    """How many replicates each case, layout and mode has."""
    keys = [key for key in ("case", "processes", "threads", "mode") if key in rows]
    return dict(rows.groupby(keys, observed=True)["replicate"].nunique())


def tell(figure: Any, sentence: str, rows: pandas.DataFrame) -> None:
    """Says how to read a figure, with {} where the number of replicates of these rows goes, and of those told before of
    other panels: `3 replicates`, `3 to 5 replicates`. Then whether other work disturbed them."""
    if "replicate" in rows:
        _gather(figure, sentence, replicates(rows), lambda counts: sentence.format(_span(sorted(counts.values()))))
    _gather(figure, "disturbed", _others_cpus(rows), _disturbance)


def _gather(figure: Any, key: str, told: Mapping[Any, Any], say: Callable[[Mapping[Any, Any]], str]) -> None:
    """Says something about all that has been told of a figure's panels, one after the other."""
    line = add(figure, "", key)
    line.told = {**getattr(line, "told", {}), **told}
    add(figure, say(line.told), key)


def _span(counts: list[int]) -> str:
    if counts[-1] == 1:
        return "1 replicate"
    return f"{counts[-1]} replicates" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]} replicates"


def _others_cpus(rows: pandas.DataFrame) -> dict[Any, float]:
    """CPUs that other work took, by launch; of none whose time is simulated."""
    if "others_cpus" not in rows:
        return {}
    rows = rows[rows["launcher"].astype(str) != "simulated"] if "launcher" in rows else rows
    names = ("key",) if "key" in rows else ("case", "processes", "threads", "replicate")
    keys = [name for name in names if name in rows]
    return dict(rows.groupby(keys, observed=True)["others_cpus"].first().dropna())


def _disturbance(told: Mapping[Any, float]) -> str:
    mean = sum(told.values()) / len(told) if told else 0
    return f"DISTURBED: other work took {mean:.2f} CPUs meanwhile, on average" if mean > DISTURBED_CPUS else ""
