"""What the answers hung on: with and without what a mask hid."""

from collections.abc import Sequence
from math import isnan

from geosleuth.bench.page.markup import Html, caption, el, name
from geosleuth.bench.page.tables import cell, scroll_box
from geosleuth.bench.report_run.hung_on import MOVED_KM, HungOn, Shift
from geosleuth.text.numbers import count, distance, p_value, place, plural, signed, threshold


def hung_on_section(found: Sequence[HungOn]) -> Html:
    """Every masked run against the one that saw all, or nothing."""
    if not found:
        return Html("")
    return el(
        "section",
        {"id": "hung-on", "aria-labelledby": "hung-on-h"},
        el("h2", {"id": "hung-on-h"}, "What the answers hung on"),
        el(
            "p",
            {"class": "lead"},
            "The same photos once more with something hidden. An answer that stays did not need it; one that moves "
            "hung on it, or would have moved anyway: a model that is asked twice may say two things.",
        ),
        *(_pair(one) for one in found),
    )


def _pair(one: HungOn) -> Html:
    heads = (
        "within",
        "right in both",
        "right, then wrong",
        "wrong, then right",
        "wrong in both",
        "change, points",
        "p",
    )
    body = [
        el(
            "tr",
            {"class": "clear-last" if item.p_adjusted < 0.05 else None},
            el("th", {"scope": "row"}, threshold(item.threshold_km)),
            cell(count(item.both_right)),
            cell(count(item.right_to_wrong)),
            cell(count(item.wrong_to_right)),
            cell(count(item.both_wrong)),
            cell(signed(100 * (item.wrong_to_right - item.right_to_wrong) / one.n)),
            cell(p_value(item.p_adjusted)),
        )
        for item in one.turned
    ]
    table = el(
        "table",
        {"class": "turned"},
        caption(
            "Photos by whether their answer was right, first with everything to be seen, then with it hidden. p: exact "
            "McNemar test, Holm-corrected over the rows; bold where below 0.05."
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *body),
    )
    return el(
        "div",
        {"class": "field"},
        el("h3", None, name(one.second), " against ", name(one.first), "; hidden: ", name(one.hidden or "nothing")),
        el("p", None, *_sentence(one)),
        scroll_box(f"{one.second} against {one.first}", table),
        _shifts(one),
    )


def _sentence(one: HungOn) -> list[object]:
    parts: list[object] = [f"On {plural(one.n, 'photo', 'photos')} with an answer in both: "]
    if one.located:
        parts += [
            el("strong", None, count(one.moved)),
            f" of {count(one.located)} with a place in both moved by more than {threshold(MOVED_KM)}",
            f" (the middle one by {distance(one.median_moved_km)})" if one.median_moved_km > MOVED_KM else "",
            "; ",
        ]
    parts += [el("strong", None, count(one.lost)), " lost their place"]
    parts.append(f", {count(one.found)} got one." if one.found else ".")
    return parts


def _shifts(one: HungOn) -> Html:
    if not one.shifts:
        return el("p", {"class": "quiet"}, "No answer moved.")
    heads = ("photo", "moved", "with everything", "error", "hidden", "error")
    table = el(
        "table",
        {"class": "shifts"},
        caption("Answers with and without what was hidden, and how far each is from the truth."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *(_shift(shift) for shift in one.shifts)),
    )
    words = f"The {plural(len(one.shifts), 'photo', 'photos')} whose answer moved most"
    return el("details", {"open": True}, el("summary", None, words), scroll_box("Answers that moved most", table))


def _shift(shift: Shift) -> Html:
    return el(
        "tr",
        None,
        el("th", {"scope": "row"}, name(shift.id, 60)),
        cell("place lost" if isnan(shift.moved_km) else distance(shift.moved_km)),
        _answer(shift.first_place, shift.first),
        cell(distance(shift.first_km)),
        _answer(shift.second_place, shift.second),
        cell(distance(shift.second_km)),
    )


def _answer(words: str, point: tuple[float, float]) -> Html:
    where = place(*point)
    return el("td", {"class": "text"}, name(words, 60) if words else where, el("small", None, where) if words else "")
