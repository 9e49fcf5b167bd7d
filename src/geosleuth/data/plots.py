"""The regimes of filtering as a drawing of its own: no script, no other file."""

from collections.abc import Sequence

from geosleuth.bench.page.canvas import Plot, n
from geosleuth.bench.page.markup import Html, clean, el
from geosleuth.text.numbers import count, threshold, threshold_name

from .filtering import PAPER_KEPT, PAPER_PHOTOS, PAPER_TRIES, Regime

_WIDTH, _HEIGHT = 920.0, 560.0
_BARS = Plot(_WIDTH, 336, left=64, top=96, right=44, bottom=34)
_INK, _PAPER, _GREY, _RULE = "#1b2530", "#ffffff", "#5f6a76", "#d9dee4"
_HARD, _KEPT, _EASY, _THEIRS = "#c9ced6", "#2463a8", "#9cc3ee", "#b3541e"
_KEYS = (
    (_HARD, "no try is within: too hard"),
    (_KEPT, "some are: kept"),
    (_EASY, "all are: too easy"),
)


def regimes_svg(regimes: Sequence[Regime], title: str) -> Html:
    """How many photos each distance keeps, beside the paper's share; below, how many tries were within it."""
    words = ", ".join(f"{threshold(one.km)}: {count(one.kept)} of {count(one.photos)} kept" for one in regimes)
    return el(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {n(_WIDTH)} {n(_HEIGHT)}", "role": "img",
         "aria-label": f"{clean(title, 120)}. {words}.", "font-family": "system-ui, sans-serif", "font-size": "13",
         "fill": _INK},
        el("rect", {"width": n(_WIDTH), "height": n(_HEIGHT), "fill": _PAPER}),
        _text(24, 32, clean(title, 90), size=17, weight=600),
        *_key(),
        *_shares(),
        *(part for number, one in enumerate(regimes) for part in _bar(number, len(regimes), one)),
        _text(24, 372, "Photos by how many of their tries were within the distance", weight=600),
        *(part for number, one in enumerate(regimes) for part in _histogram(number, len(regimes), one)),
    )  # fmt: skip


def _text(
    x: float, y: float, words: object, *, anchor: str = "start", size: int = 13, weight: int = 400, ink: str = _INK
) -> Html:
    return el(
        "text",
        {"x": n(x), "y": n(y), "text-anchor": anchor, "font-size": size, "font-weight": weight, "fill": ink},
        words,
    )


def _rect(x: float, y: float, width: float, height: float, fill: str, *, title: str = "") -> Html:
    inside = [el("title", None, title)] if title else []
    return el(
        "rect", {"x": n(x), "y": n(y), "width": n(width), "height": n(max(0.0, height)), "fill": fill}, *inside
    )  # fmt: skip


def _key() -> list[Html]:
    parts: list[Html] = []
    x = 24.0
    for colour, words in _KEYS:
        parts += [_rect(x, 48, 12, 12, colour), _text(x + 18, 58, words)]
        x += 34 + 6.6 * len(words)
    theirs = f"SpotAgent's kept share of {count(PAPER_PHOTOS)} photos, {PAPER_TRIES} tries each"
    parts += [_line(x, 54, x + 14, 54), _text(x + 20, 58, theirs)]
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, ink: str = _THEIRS, width: float = 2.5) -> Html:
    return el("line", {"x1": n(x1), "y1": n(y1), "x2": n(x2), "y2": n(y2), "stroke": ink, "stroke-width": width})


def _shares() -> list[Html]:
    parts: list[Html] = []
    for share in (0, 25, 50, 75, 100):
        y = _BARS.y(share / 100)
        parts += [
            _line(_BARS.x(0), y, _BARS.x(1), y, _RULE, 1),
            _text(_BARS.x(0) - 8, y + 4, f"{share} %", anchor="end", ink=_GREY),
        ]
    return parts


def _bar(number: int, bars: int, regime: Regime) -> list[Html]:
    middle, width = _BARS.x((number + 0.5) / bars), min(110.0, 0.5 * (_BARS.x(1) - _BARS.x(0)) / bars)
    left = middle - width / 2
    parts: list[Html] = []
    below = 0.0
    # What is kept stands on the ground, so that it can be compared at a glance.
    for colour, photos, words in (
        (_KEPT, regime.kept, "kept"), (_EASY, regime.always, "too easy"), (_HARD, regime.never, "too hard"),
    ):  # fmt: skip
        share = photos / regime.photos if regime.photos else 0.0
        top = _BARS.y(below + share)
        parts.append(_rect(left, top, width, _BARS.y(below) - top, colour, title=f"{words}: {count(photos)}"))
        below += share
    kept = 100 * regime.kept / regime.photos if regime.photos else 0.0
    name = threshold_name(regime.km)
    parts.append(
        _text(middle, _BARS.y(0) + 20, f"{threshold(regime.km)}{f' ({name})' if name else ''}", anchor="middle")
    )
    told = f"{count(regime.kept)} kept, {kept:.1f} %"
    parts.append(_text(middle, _BARS.y(1) - 8, told, anchor="middle", weight=600))
    if (theirs := PAPER_KEPT.get(regime.km)) is not None:
        y = _BARS.y(theirs / PAPER_PHOTOS)
        parts.append(_line(left - 12, y, left + width + 12, y))
        parts.append(_text(left + width + 16, y + 4, f"{100 * theirs / PAPER_PHOTOS:.1f} %", ink=_THEIRS))
    return parts


def _histogram(number: int, plots: int, regime: Regime) -> list[Html]:
    room = (_BARS.x(1) - _BARS.x(0)) / plots
    left, width, bottom, height = _BARS.x(0) + room * number + 0.09 * room, 0.82 * room, 520.0, 120.0
    most = max((*regime.by_passes, 1))
    step = width / max(1, len(regime.by_passes))
    parts = [_line(left, bottom, left + width, bottom, _RULE, 1)]
    last = len(regime.by_passes) - 1
    every = max(1, len(regime.by_passes) // 9)
    for tries, photos in enumerate(regime.by_passes):
        x, tall = left + step * tries, height * photos / most
        colour = _HARD if tries == 0 else _EASY if tries == last else _KEPT
        parts.append(_rect(x + 1, bottom - tall, step - 2, tall, colour, title=f"{tries} of {last}: {count(photos)}"))
        if tries % every == 0:
            parts.append(_text(x + step / 2, bottom + 15, tries, anchor="middle", size=11, ink=_GREY))
    parts.append(_text(left + width / 2, bottom + 32, threshold(regime.km), anchor="middle"))
    return parts
