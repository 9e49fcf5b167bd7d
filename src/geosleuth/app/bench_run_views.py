"""How a benchmark run looks while it goes on, and when it has ended."""

import time
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from geosleuth.app.console import Bar
from geosleuth.bench.numbers import count, distance, percent_sign, plural
from geosleuth.bench.run.engine import Ending
from geosleuth.bench.run.results import accuracy_to_dict
from geosleuth.bench.run.standing import Standing

if TYPE_CHECKING:
    from rich.console import RenderableType

_LINE_EVERY_S = 5.0
SHOWN_KM = (1.0, 25.0, 200.0, 750.0)


class Live:
    """Shows how a run stands: at a terminal in the bar, elsewhere as a line now and then."""

    def __init__(self, bar: Bar) -> None:
        """Show it in this bar."""
        self._bar, self._said_at = bar, time.monotonic()

    def __call__(self, standing: Standing) -> None:
        """Show the newest."""
        words = standing_words(standing)
        self._bar.at(standing.done, standing.total, words)
        now = time.monotonic()
        if not self._bar.drawn and now - self._said_at >= _LINE_EVERY_S:
            self._said_at = now
            left = "" if standing.eta_s is None else f", about {_duration(standing.eta_s)} left"
            self._bar.say(f"{standing.done}/{standing.total} {words}{left}")


def standing_words(standing: Standing) -> str:
    """Accuracy so far, failures, cost, and whoever rests, on one line."""
    parts = []
    if standing.within_25km is not None:
        parts.append(f"{percent_sign(100 * standing.within_25km)} within 25 km")
    if standing.failed:
        parts.append(plural(standing.failed, "error", "errors"))
    if standing.tokens:
        parts.append(f"{count(standing.tokens)} tokens")
    if standing.usd:
        parts.append(f"${standing.usd:.2f}")
    if standing.resting:
        parts.append(f"{standing.resting} is left alone for a while")
    return ", ".join(parts)


def ending_view(ending: Ending, folder: Path) -> "RenderableType":
    """What came of it, for people."""
    from rich.table import Table

    standing = ending.standing
    table = Table(box=None, show_header=False, pad_edge=False)
    answered = f"{count(standing.answered)} of {plural(standing.total, 'photo', 'photos')}"
    unlocated = f", {count(standing.unlocated)} of them without a place" if standing.unlocated else ""
    rows = [
        ("answered", answered + unlocated),
        ("errors", f"{count(standing.failed)}, in no other figure; --retry errors tries them again")
        if standing.failed
        else ("errors", "none"),
        ("missing", f"{count(standing.missing)}; {ending.words}") if standing.missing else None,
        ("within 1, 25, 200, 750 km", _accuracies(ending)) if standing.answered else None,
        ("median error", distance(ending.summary.accuracy.median_km.value)) if standing.answered else None,
        ("spent", _spent(standing)),
        ("kept in", str(folder)),
        ("look closer", f"geosleuth bench report {quote(str(folder))} --out report.html"),
    ]
    for row in rows:
        if row is not None:
            table.add_row(*row)
    return table


def _accuracies(ending: Ending) -> str:
    within = ending.summary.accuracy.within
    return ", ".join(percent_sign(within[km].percent.value) for km in SHOWN_KM)


def _spent(standing: Standing) -> str:
    parts = [_duration(standing.seconds)]
    if standing.tokens:
        parts.append(f"{count(standing.tokens)} tokens")
    if standing.usd is None:
        parts.append("money not known")
    elif standing.usd:
        parts.append(f"${standing.usd:.4f}")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def ending_document(ending: Ending, folder: Path) -> dict[str, Any]:
    """What came of it, for programs."""
    standing = ending.standing
    return {
        "run": str(folder),
        "ended": ending.why,
        "words": ending.words,
        "photos": standing.total,
        "answered": standing.answered,
        "unlocated": standing.unlocated,
        "errors": standing.failed,
        "missing": standing.missing,
        "accuracy": accuracy_to_dict(ending.summary),
        "tokens": standing.tokens,
        "usd": standing.usd,
        "seconds": round(standing.seconds, 3),
    }
