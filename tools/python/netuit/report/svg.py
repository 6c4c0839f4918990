"""Small charts as SVG, in colours that the page's style sheet sets for light and dark."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Callable, Iterable, Sequence

from netuit import units

WIDTH, HEIGHT = 400, 270
LEFT, RIGHT, TOP, BOTTOM = 66, 12, 12, 44


def escape(text: object) -> str:
    return html.escape(str(text), quote=True)


@dataclasses.dataclass
class Scale:
    """Maps values onto pixels; `floor` is what stands for 0 on a logarithmic scale."""

    low: float
    high: float
    begin: float
    end: float
    is_log: bool = False
    floor: float | None = None
    text: Callable[[float], str] = units.short

    def __call__(self, value: float) -> float:
        if self.is_log:
            value = max(value, self.low)
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self) -> list[tuple[float, str]]:
        if not self.is_log:
            return [(value, self.text(value)) for value in _linear_ticks(self.low, self.high)]
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        stride = math.ceil((last - first) / 7)
        values: list[float] = []
        for steps in (
            (1,),
            (1, 3),
            (1, 2, 5),
            (1, 1.5, 2, 3, 5, 7),
            (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9),
        ):
            values = [step * 10.0**power for power in range(first, last + 1, stride) for step in steps]
            values = [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]
            if len(values) >= 3:
                break
        zero = [(self.floor, "0")] if self.floor else []
        return zero + [(value, self.text(value)) for value in values if value > 1.3 * (self.floor or 0)]


def _linear_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def from_zero(values: Iterable[float], begin: float, end: float, text: Callable[[float], str] = units.short) -> Scale:
    return Scale(0, 1.06 * max([*values, 0]) or 1, begin, end, text=text)


def logarithmic(values: Iterable[float], begin: float, end: float, text: Callable[[float], str] = units.short) -> Scale:
    """Over all positive values; where there are zeros as well, they sit below the smallest."""
    values = list(values)
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive) / 1.15, max(positive) * 1.15
    floor = None
    if min(values) <= 0:
        floor = low = low / 2
    return Scale(low, high, begin, end, True, floor, text)


def across(values: Iterable[float], text: Callable[[float], str] = units.short, is_log: bool = False) -> Scale:
    """A scale along x."""
    return (logarithmic if is_log else from_zero)(values, LEFT, WIDTH - RIGHT, text)


def upwards(values: Iterable[float], text: Callable[[float], str] = units.short, is_log: bool = False) -> Scale:
    """A scale along y."""
    return (logarithmic if is_log else from_zero)(values, HEIGHT - BOTTOM, TOP, text)


class Canvas:
    """Collects the parts of a chart."""

    def __init__(self, label: str, height: int = HEIGHT, left: int = LEFT) -> None:
        self._label = label
        self._height = height
        self._left = left
        self._parts: list[str] = []

    def add(self, tag: str, title: str = "", **attributes: object) -> None:
        """An element; underscores in names are hyphens, and `class_` is class. Numbers keep one decimal."""
        words = []
        for name, value in attributes.items():
            shown = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(value)
            words.append(f'{name.rstrip("_").replace("_", "-")}="{shown}"')
        inner = f"<title>{escape(title)}</title>" if title else ""
        self._parts.append(f'<{tag} {" ".join(words)}>{inner}</{tag}>' if inner else f'<{tag} {" ".join(words)}/>')

    def text(self, x: float, y: float, words: str, anchor: str = "middle", class_: str = "tick") -> None:
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{class_}">{escape(words)}</text>'
        )

    def y_axis(self, scale: Scale, label: str) -> None:
        for value, words in scale.ticks():
            y = scale(value)
            self.add("line", x1=self._left, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid")
            self.text(self._left - 6, y + 4, words, "end")
        middle = (scale.begin + scale.end) / 2
        self._parts.append(
            f'<text transform="translate(13 {middle:.1f}) rotate(-90)" text-anchor="middle" '
            f'class="axis">{escape(label)}</text>'
        )

    def x_axis(self, scale: Scale, label: str, has_grid: bool = False) -> None:
        bottom = self._height - BOTTOM
        for value, words in scale.ticks():
            x = scale(value)
            self.add(
                "line", x1=x, x2=x, y1=TOP if has_grid else bottom, y2=bottom + (0 if has_grid else 4), class_="grid"
            )
            self.text(x, bottom + 17, words)
        self.baseline(label)

    def baseline(self, label: str) -> None:
        bottom = self._height - BOTTOM
        self.add("line", x1=self._left, x2=WIDTH - RIGHT, y1=bottom, y2=bottom, class_="base")
        self.text((self._left + WIDTH - RIGHT) / 2, self._height - 8, label, class_="axis")

    def path(self, points: Sequence[tuple[float, float]], class_: str, title: str = "") -> None:
        words = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add("polyline", title, points=words, class_=class_)

    def render(self) -> str:
        return (
            f'<svg viewBox="0 0 {WIDTH} {self._height}" role="img" aria-label="{escape(self._label)}">'
            f'{"".join(self._parts)}</svg>'
        )


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], most: int = 200, name: str = "Numbers") -> str:
    """A table for readers who cannot see a chart, or want its numbers."""
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[:most])
    more = f"<p>The first {most} of {len(rows)} rows.</p>" if len(rows) > most else ""
    return (
        f'<details><summary>{name}</summary><div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}</details>"
    )


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Names beside swatches of a class each."""
    items = "".join(f'<li><i class="{escape(class_)}"></i>{escape(name)}</li>' for class_, name in entries)
    return f'<ul class="legend">{items}</ul>'


def figure(title: str, drawing: str, caption: str = "", key: str = "", numbers: str = "") -> str:
    """A chart with everything around it."""
    words = f"<p>{escape(caption)}</p>" if caption else ""
    return f"<figure><figcaption><h3>{escape(title)}</h3>{words}</figcaption>{key}{drawing}{numbers}</figure>"
