"""Two files on the same images: who is better, how sure is that, and which images moved."""

from collections.abc import Sequence
from math import isnan

from geosleuth.bench.compare import Moved, PairReport, Side
from geosleuth.text.numbers import count, distance, p_value, percent, plural, signed, threshold

from .markup import Html, caption, el, name
from .tables import cell, scroll_box

SHOWN_MOVES = 20
_CLEAR_P = 0.05


def pairs_section(pairs: Sequence[PairReport]) -> Html:
    """All pairs, or nothing."""
    if not pairs:
        return Html("")
    return el(
        "section",
        {"id": "pairs", "aria-labelledby": "pairs-h"},
        el("h2", {"id": "pairs-h"}, "Side by side on the same photos"),
        *(_pair(pair) for pair in pairs),
    )


def _pair(pair: PairReport) -> Html:
    comparison = pair.comparison
    heads = ["within", pair.first.label, pair.second.label, "difference", "only the first", "only the second", "p"]
    lost = pair.first.unlocated, pair.second.unlocated
    unlocated = el(
        "tr",
        None,
        el("th", {"scope": "row"}, "unlocated, photos"),
        *(cell(count(value)) for value in lost),
        cell(signed(lost[1] - lost[0], 0)),
        *(cell("") for _ in range(3)),
    )
    body = [
        el(
            "tr",
            {"class": "clear" if item.p_adjusted < _CLEAR_P else None},
            el("th", {"scope": "row"}, threshold(item.threshold_km)),
            cell(percent(item.first_percent)),
            cell(percent(item.second_percent)),
            cell(signed(item.second_percent - item.first_percent)),
            cell(count(item.only_first)),
            cell(count(item.only_second)),
            cell(p_value(item.p_adjusted), title=f"before Holm's correction: {p_value(item.p)}"),
        )
        for item in comparison.accuracies
    ]
    table = el(
        "table",
        {"class": "pairs"},
        caption(
            "First the photos without a readable place, which are misses at every distance. Then percent within each "
            "distance, and the photos that only one of the two gets right. p: exact McNemar test, "
            "Holm-corrected over the rows; bold where below 0.05.",
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, name(words, 30)) for words in heads))),
        el("tbody", None, unlocated, *body),
    )
    return el(
        "div",
        {"class": "field"},
        el("h3", None, name(pair.second.label), " against ", name(pair.first.label)),
        el("p", None, *_sentence(pair)),
        scroll_box(f"{pair.second.label} against {pair.first.label}", table),
        *(_notes(side) for side in (pair.first, pair.second)),
        _moves(pair),
    )


def _notes(side: Side) -> Html:
    """How a file was read, and what is odd about it."""
    read = f": {side.parser} parser, {side.distance} distance"
    return el("p", {"class": "quiet"}, name(side.label), "; ".join((read, *side.notes)), ".")


def _sentence(pair: PairReport) -> list[object]:
    comparison = pair.comparison
    difference = comparison.geoscore_difference
    points = f"{abs(difference.value):,.0f} GeoScore points"
    if comparison.geoscore_p >= _CLEAR_P:
        verdict: list[object] = ["no clear difference in GeoScore"]
    elif difference.value > 0:
        verdict = [name(pair.second.label), f" is better by {points}"]
    else:
        verdict = [name(pair.first.label), f" is better by {points}"]
    ends = f"{signed(difference.low, 0)} to {signed(difference.high, 0)}"
    apart = f" (mean change {signed(difference.value, 0)}, 95 % interval {ends}"
    sentence = [f"On the {plural(comparison.n, 'photo', 'photos')} that both have: ", *verdict, apart]
    sentence.append(f"; sign-flip test p {_equals(comparison.geoscore_p)}).")
    alone = pair.first.left_out, pair.second.left_out
    if any(alone):
        sentence.append(f" Only the first has {count(alone[0])} others, only the second {count(alone[1])}.")
    return sentence


def _equals(p: float) -> str:
    words = p_value(p)
    return words if words.startswith("<") else f"= {words}"


def _moves(pair: PairReport) -> Html:
    if not pair.moved:
        return el("p", {"class": "quiet"}, "No photo's score moved.")
    shown = pair.moved[:SHOWN_MOVES]
    heads = ["photo", pair.first.label, pair.second.label, "GeoScore change"]
    table = el(
        "table",
        {"class": "moves"},
        caption("Error under each, and the change in GeoScore (0 to 5,000) from first to second."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, name(words, 30)) for words in heads))),
        el("tbody", None, *(_move(moved) for moved in shown)),
    )
    words = f"The {len(shown)} photos that moved most, of {count(len(pair.moved))} that moved"
    return el("details", None, el("summary", None, words), scroll_box("Photos that moved most", table))


def _move(moved: Moved) -> Html:
    return el(
        "tr",
        None,
        el("th", {"scope": "row"}, name(moved.id, 60)),
        cell(_error(moved.first_km)),
        cell(_error(moved.second_km)),
        cell(signed(moved.gain, 0)),
    )


def _error(km: float) -> str:
    return "unlocated" if isnan(km) else distance(km)
