"""The gallery: photos with a small map each, the nearest answers and the farthest."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from geosleuth.answer.answer import envelope, percent_words, radius_words
from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.names import country_code, country_name
from geosleuth.report.charts import n, path, series
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.report.mercator import MercatorPlane
from geosleuth.report.worldmap import great_circle, to_page
from geosleuth.support.text.numbers import distance, place, plural, threshold

from .figures import COST, SECONDS, with_unit
from .run_report import MAP_PX, PER_COUNTRY, GroundMap, RunReport, Shot

_EXPLANATION_CHARS = 260
_WORLD = (960.0, 467.3)


def gallery_section(runs: Sequence[RunReport]) -> Html:
    """Return wins and failures of every run, or nothing if none were requested."""
    shown = [run for run in runs if run.gallery.shots]
    if not shown:
        return Html("")
    km = threshold(shown[0].gallery.threshold_km)
    credit = dict.fromkeys(
        part for run in shown for shot in run.gallery.shots if shot.ground for part in shot.ground.credit.split(" · ")
    )
    return el(
        "section",
        {"id": "gallery", "aria-labelledby": "gallery-h"},
        el("h2", {"id": "gallery-h"}, "Wins and failures"),
        el(
            "p",
            {"class": "lead"},
            f"Chosen by rule: the nearest answers within {km}, and the farthest beyond it, at most {PER_COUNTRY} of a "
            "country while there are others. ",
            el("span", {"class": "nowrap"}, el("span", {"class": "spot truth"}), "where the photo was taken"),
            " ",
            el("span", {"class": "nowrap"}, el("span", {"class": "spot answer"}), "what was answered"),
        ),
        *(_run(run, index, len(runs)) for index, run in enumerate(runs) if run.gallery.shots),
        el("p", {"class": "quiet credit"}, f"Maps: {', '.join(credit)}.") if credit else "",
    )


def _run(run: RunReport, index: int, runs: int) -> Html:
    head = el("h3", None, el("span", {"class": f"key {series(index)}"}), name(run.label)) if runs > 1 else ""
    hidden = f"The photos are shown whole; the run saw them with what is hidden blanked: {run.hidden}."
    return el(
        "div",
        {"class": "field"},
        head,
        el("p", {"class": "quiet"}, hidden) if run.hidden and any(shot.photo for shot in run.gallery.shots) else "",
        _group("Wins", run.gallery.wins, "win", unfolded=index == 0),
        _group("Failures", run.gallery.failures, "miss", unfolded=index == 0),
    )


def _group(title: str, shots: Sequence[Shot], kind: str, *, unfolded: bool) -> Html:
    if not shots:
        return Html("")
    return el(
        "details",
        {"class": "shots", "open": unfolded},
        el("summary", None, f"{title}: {plural(len(shots), 'photo', 'photos')}"),
        el("ul", {"class": "cards"}, *(_card(shot, kind) for shot in shots)),
    )


def _card(shot: Shot, kind: str) -> Html:
    answer = shot.answer
    off = "no place" if isnan(shot.error_km) else f"{distance(shot.error_km)} off"
    named = envelope(answer.address)
    facts = [
        el("dt", None, "was"),
        el("dd", None, _truth(shot.truth)),
        el("dt", None, "said"),
        el("dd", None, name(named, 90) if named else "", _coordinates(answer.point), _sure(shot)),
    ]
    return el(
        "li",
        {"class": f"shot {kind}"},
        el("div", {"class": "pictures"}, _photo(shot), _map(shot)),
        el("p", {"class": "off"}, el("strong", None, off), " ", el("span", {"class": "quiet"}, name(shot.id, 44))),
        el("dl", None, *facts),
        el("p", {"class": "why"}, clean(_short(answer.explanation), _EXPLANATION_CHARS + 1))
        if answer.explanation
        else "",
        el("p", {"class": "work"}, *_work(shot)),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return (
        line if len(line) <= _EXPLANATION_CHARS else line[:_EXPLANATION_CHARS].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
    )


def _truth(truth: Truth) -> Html:
    code = country_code(truth.country) if truth.country else None
    country = truth.country if code is None else country_name(code)
    words = ", ".join(dict.fromkeys(part for part in (truth.city, truth.region, country) if part))
    return join((name(words, 90) if words else "", _coordinates(truth.point)))


def _coordinates(point: LatLon | None) -> Html:
    return Html("") if point is None else el("small", None, place(point.lat, point.lon))


def _sure(shot: Shot) -> Html:
    answer = shot.answer
    if answer.point is None and not envelope(answer.address):
        return el("span", {"class": "quiet"}, "can’t tell")
    if answer.probability is None:
        return Html("")
    reach = f" within {radius_words(answer.radius_km)}" if answer.radius_km is not None else ""
    return el("small", None, f"{percent_words(answer.probability)} sure{reach}")


def _work(shot: Shot) -> list[object]:
    parts = [plural(shot.turns, "turn", "turns")]
    if not isnan(shot.seconds):
        parts.append(with_unit(SECONDS, shot.seconds))
    if shot.tokens:
        parts.append(plural(shot.tokens, "token", "tokens"))
    if shot.cost_usd > 0:
        parts.append(with_unit(COST, shot.cost_usd))
    chips = [
        el(
            "code",
            {"class": None if good else "gave-nothing", "title": None if good else "gave nothing"},
            name(tool, 32),
        )
        for tool, good in shot.tools or ()
    ]
    return [" · ".join(parts), *((el("span", {"class": "chips"}, join(chips, " ")),) if chips else ())]


def _photo(shot: Shot) -> Html:
    if shot.photo is None:
        return Html("")
    attributes = {"src": shot.photo, "alt": f"The photo {clean(shot.id, 60)}", "decoding": "async"}
    return Html(el("img", attributes).removesuffix("</img>"))


def _map(shot: Shot) -> Html:
    point = shot.answer.point
    words = "Map with the true place"
    if point is not None:
        words += f" and the answered one, {distance(shot.error_km)} apart"
    if shot.ground is None:
        return _world(shot, words)
    return _ground(shot, shot.ground, words)


def _ground(shot: Shot, ground: GroundMap, words: str) -> Html:
    width, height = MAP_PX
    plane = MercatorPlane(ground.box, width, height)
    truth, answer = shot.truth.point, shot.answer.point
    way = ""
    if answer is not None:
        # Pieces are cut at the antimeridian, which is not an edge of this map: they are joined into one line again.
        lines = great_circle(truth.lat, truth.lon, answer.lat, answer.lon)
        points = [plane.place(a, b) for lat, lon in lines for a, b in zip(lat.tolist(), lon.tolist(), strict=True)]
        way = path(points)
    return el(
        "svg",
        {"class": "ground", "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": words},
        el("image", {"href": ground.uri, "width": width, "height": height}),
        *_marks(plane.place(truth.lat, truth.lon), plane.place(answer.lat, answer.lon) if answer else None, way, 1.0),
    )


def _world(shot: Shot, words: str) -> Html:
    truth, answer = shot.truth.point, shot.answer.point
    spots = [_on_world(point) for point in (truth, answer) if point is not None]
    way = ""
    if answer is not None:
        pieces = great_circle(truth.lat, truth.lon, answer.lat, answer.lon)
        drawn = [to_page(lat, lon) for lat, lon in pieces]
        way = "".join(path(zip(x.tolist(), y.tolist(), strict=True)) for x, y in drawn)
    return el(
        "svg",
        {"class": "ground world", "viewBox": f"0 0 {n(_WORLD[0])} {n(_WORLD[1])}", "role": "img", "aria-label": words},
        el("use", {"href": "#world"}),
        *_marks(spots[0], spots[1] if len(spots) > 1 else None, way, 4.2),
    )


def _on_world(point: LatLon) -> tuple[float, float]:
    x, y = to_page(np.array([point.lat]), np.array([point.lon]))
    return float(x[0]), float(y[0])


def _marks(truth: tuple[float, float], answer: tuple[float, float] | None, way: str, size: float) -> list[Html]:
    """Return marks that differ without colour and when they overlap: a ring for the truth, a diamond inside it."""
    parts: list[Html] = []
    if way:
        parts += [el("path", {"class": "way casing", "d": way}), el("path", {"class": "way", "d": way})]
    x, y = truth
    ring = {"cx": n(x), "cy": n(y), "r": n(8 * size)}
    parts += [el("circle", {"class": "mark truth casing", **ring}), el("circle", {"class": "mark truth", **ring})]
    if answer is not None:
        x, y = answer
        reach = 5.5 * size
        diamond = f"M{n(x)},{n(y - reach)}L{n(x + reach)},{n(y)}L{n(x)},{n(y + reach)}L{n(x - reach)},{n(y)}Z"
        parts.append(el("path", {"class": "mark answer", "d": diamond}))
    return parts
