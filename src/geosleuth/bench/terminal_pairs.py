"""Two files side by side, for people at a terminal."""

from collections.abc import Iterable
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.geo import threshold_text
from geosleuth.score import Comparison
from geosleuth.text.numbers import count, distance, p_value

from .compare import PairReport, Side
from .terminal import notes


def pair_view(pair: PairReport, moved: int) -> RenderableType:
    """Who is who, the paired table, what is odd about the files, and the images that moved most."""
    sides = (("first", pair.first), ("second", pair.second))
    parts: list[RenderableType] = [
        Text(f"{pair.second.label} against {pair.first.label}, {count(pair.comparison.n)} images in both"),
        *(Text(f"{word + ':':8}{_side(side)}") for word, side in sides),
        _accuracies(pair),
        Text(_geoscore(pair.comparison)),
        Text("p: exact McNemar test; Holm: corrected over the rows; GeoScore by sign flips"),
    ]
    if pair.first.left_out or pair.second.left_out:
        alone = f"{count(pair.first.left_out)} images only in the first file, {count(pair.second.left_out)} only in "
        parts.append(Text(f"left out: {alone}the second", style="yellow"))
    for _, side in sides:
        parts += notes(side.label, side.notes)
    if moved and pair.moved:
        parts += ["", _moved_table(pair, moved)]
    return Group(*parts)


def _side(side: Side) -> str:
    return f"{side.label} ({side.parser} parser, {side.distance} distance), {count(side.unlocated)} unlocated"


def _accuracies(pair: PairReport) -> Table:
    """Short headings: the names stand above, so that the figures fit on 80 columns."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("within, %")
    for name in ("first", "second", "change", "only 1st", "only 2nd", "p", "Holm"):
        table.add_column(name, justify="right")
    lost = pair.first.unlocated, pair.second.unlocated
    table.add_row("unlocated", *map(count, lost), f"{lost[1] - lost[0]:+,}", end_section=True)
    for row in _accuracy_rows(pair.comparison):
        table.add_row(*row)
    return table


def _accuracy_rows(comparison: Comparison) -> Iterable[tuple[str | Text, ...]]:
    for item in comparison.accuracies:
        yield (
            f"{threshold_text(item.threshold_km)} km",
            f"{item.first_percent:.2f}",
            f"{item.second_percent:.2f}",
            f"{item.second_percent - item.first_percent:+.2f}",
            count(item.only_first),
            count(item.only_second),
            p_value(item.p),
            Text(p_value(item.p_adjusted), style="bold" if item.p_adjusted < 0.05 else ""),
        )


def _geoscore(comparison: Comparison) -> str:
    gain = comparison.geoscore_difference
    interval = "" if isnan(gain.low) else f" ({gain.low:+.0f} to {gain.high:+.0f})"
    return f"mean GeoScore {gain.value:+.0f}{interval}, p {p_value(comparison.geoscore_p)}"


def _moved_table(pair: PairReport, limit: int) -> Table:
    title = f"{count(len(pair.moved))} images moved; the largest changes"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("image", overflow="fold")
    for name in ("first", "second", "GeoScore"):
        table.add_column(name, justify="right", no_wrap=True)
    for item in pair.moved[:limit]:
        table.add_row(item.id, _error(item.first_km), _error(item.second_km), f"{item.gain:+.0f}")
    return table


def _error(km: float) -> str:
    return "unlocated" if isnan(km) else distance(km)
