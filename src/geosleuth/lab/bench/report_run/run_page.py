"""The page of ``bench report``: the score page's sections, those of the run folders, and a gallery of photos."""

from collections.abc import Sequence
from importlib.resources import files
from math import isnan
from textwrap import shorten
from typing import Any

import numpy as np

from geosleuth.answer.answer import envelope, percent_words, radius_words
from geosleuth.geo import LatLon
from geosleuth.lab.bench.page.error_map import map_section
from geosleuth.lab.bench.page.parts import Group, PageSection, Para, render_keyed_label, render_sections
from geosleuth.lab.bench.page.score_charts import confidence_section
from geosleuth.lab.bench.page.score_page import (
    charts_section,
    figures_section,
    headline,
    how_to_read,
    method_section,
    pairs_section,
    slices_section,
    worst_section,
)
from geosleuth.lab.bench.report import PairReport
from geosleuth.lab.score import PublishedRow, Truth
from geosleuth.names import country_code, country_name
from geosleuth.report.charts import n, path
from geosleuth.report.jinja import render
from geosleuth.report.markup import Html, el, join, name
from geosleuth.report.mercator import MercatorPlane
from geosleuth.report.worldmap import HEIGHT, WIDTH, great_circle, to_page
from geosleuth.support.text.numbers import distance, place, plural, threshold

from .figures import COST, SECONDS, with_unit
from .run_report import MAP_PX, PER_COUNTRY, RunReport, RunsReport, Shot
from .sections import (
    behaviour_section,
    costs_section,
    coverage_section,
    facts_section,
    failures_section,
    hung_on_section,
)

EXPLANATION_CHARS = 260
# Scale factor of marks on the world map, which is drawn larger than it is displayed.
_WORLD_MARK = 4.2


def render_run_page(
    report: RunsReport,
    *,
    published: Sequence[PublishedRow] = (),
    pairs: Sequence[PairReport] = (),
    generated: str,
    command: str = "",
) -> str:
    """Return the whole page as text, to be written as UTF-8.

    Args:
        report: the runs.
        published: rows from papers to show beneath ours.
        pairs: paired comparisons of runs.
        generated: the time when the page was made, as displayed.
        command: the command line that made it.
    """
    reports = [run.report for run in report.runs]
    sections = [
        figures_section(reports, published),
        coverage_section(report),
        charts_section(reports),
        costs_section(report),
        behaviour_section(report.runs),
        failures_section(report.runs),
        hung_on_section(report.hung_on),
        map_section(reports),
        slices_section(reports),
        confidence_section(reports),
        pairs_section(pairs),
        gallery_section(report.runs),
        facts_section(report.runs),
        worst_section(reports),
        method_section(reports, command),
    ]
    return render_sections(
        "Runs" if len(reports) > 1 else "Run",
        sections,
        command="geosleuth bench",
        generated=generated,
        headlines=[headline(one, index) for index, one in enumerate(reports)],
        intro=how_to_read(reports),
        alarms=[name(f"{run.label}: {words}", 300) for run in report.runs for words in run.alarms],
        style=files(__package__).joinpath("run.css").read_text(encoding="utf-8"),
    )


def gallery_section(runs: Sequence[RunReport]) -> PageSection:
    """Return wins and failures of every run, if any were requested."""
    shown = [(index, run) for index, run in enumerate(runs) if run.gallery.shots]
    grounds = [shot.ground for _, run in shown for shot in run.gallery.shots if shot.ground]
    credit = dict.fromkeys(part for ground in grounds for part in ground.credit.split(" · "))
    parts: list[object] = [
        Group(_gallery(run, is_open=index == 0), render_keyed_label(index, run.label) if len(runs) > 1 else "")
        for index, run in shown
    ]
    if credit:
        parts.append(Para(f"Maps: {', '.join(credit)}.", "quiet credit"))
    km = threshold(runs[0].gallery.threshold_km)
    marks = [
        el("span", {"class": "nowrap"}, el("span", {"class": f"spot {kind}"}), words)
        for kind, words in (("truth", "where the photo was taken"), ("answer", "what was answered"))
    ]
    lead = (
        f"Chosen by rule: the nearest answers within {km}, and the farthest beyond it, at most {PER_COUNTRY} of a "
        "country while there are others. "
    )
    return PageSection("gallery", "Wins and failures", parts, join((lead, join(marks, " "))))


def _gallery(run: RunReport, *, is_open: bool) -> list[object]:
    gallery = run.gallery
    groups = [("Wins", "win", gallery.wins), ("Failures", "miss", gallery.failures)]
    shots = [(title, kind, [_card(shot) for shot in found]) for title, kind, found in groups if found]
    hidden = f"The photos are shown whole; the run saw them with what is hidden blanked: {run.hidden}."
    note = [Para(hidden, "quiet")] if run.hidden and any(shot.photo for shot in gallery.shots) else []
    return [*note, render(f"{__package__}:gallery", groups=shots, open=is_open)]


def _card(shot: Shot) -> dict[str, Any]:
    answer, truth = shot.answer, shot.truth.point
    reach = f" within {radius_words(answer.radius_km)}" if answer.radius_km is not None else ""
    work = [plural(shot.turns, "turn", "turns")]
    work += [] if isnan(shot.seconds) else [with_unit(SECONDS, shot.seconds)]
    work += [plural(shot.tokens, "token", "tokens")] if shot.tokens else []
    work += [with_unit(COST, shot.cost_usd)] if shot.cost_usd > 0 else []
    return {
        "id": shot.id,
        "photo": shot.photo,
        "map": _map(shot),
        "off": "no place" if isnan(shot.error_km) else f"{distance(shot.error_km)} off",
        "was": _truth_words(shot.truth),
        "truth": place(truth.lat, truth.lon),
        "said": envelope(answer.address),
        "answer": "" if answer.point is None else place(answer.point.lat, answer.point.lon),
        "sure": "" if answer.probability is None else f"{percent_words(answer.probability)} sure{reach}",
        "why": shorten(answer.explanation or "", EXPLANATION_CHARS, placeholder="…"),
        "work": " · ".join(work),
        "tools": shot.tools or (),
    }


def _truth_words(truth: Truth) -> str:
    code = country_code(truth.country) if truth.country else None
    country = truth.country if code is None else country_name(code)
    return ", ".join(dict.fromkeys(part for part in (truth.city, truth.region, country) if part))


def _map(shot: Shot) -> Html:
    """Draw both places on a map or on the outline of the world: a ring for the truth, a diamond for the answer."""
    points = [point for point in (shot.truth.point, shot.answer.point) if point is not None]
    words = "Map with the true place"
    pieces = []
    if len(points) > 1:
        words += f" and the answered one, {distance(shot.error_km)} apart"
        pieces = great_circle(points[0].lat, points[0].lon, points[1].lat, points[1].lon)
    if shot.ground is None:
        spots = [_on_world(point) for point in points]
        lines = [to_page(lat, lon) for lat, lon in pieces]
        way = "".join(path(zip(x.tolist(), y.tolist(), strict=True)) for x, y in lines)
        return _draw_marks(
            "ground world", (WIDTH, HEIGHT), words, el("use", {"href": "#world"}), spots, way, _WORLD_MARK
        )
    plane = MercatorPlane(shot.ground.box, *MAP_PX)
    # Pieces are cut at the antimeridian, which is not an edge of this map: they are joined into one line again.
    way = path(plane.place(a, b) for lat, lon in pieces for a, b in zip(lat.tolist(), lon.tolist(), strict=True))
    image = el("image", {"href": shot.ground.uri, "width": MAP_PX[0], "height": MAP_PX[1]})
    return _draw_marks(
        "ground", MAP_PX, words, image, [plane.place(point.lat, point.lon) for point in points], way, 1.0
    )


def _on_world(point: LatLon) -> tuple[float, float]:
    x, y = to_page(np.array([point.lat]), np.array([point.lon]))
    return float(x[0]), float(y[0])


def _draw_marks(
    kind: str,
    size: tuple[float, float],
    words: str,
    ground: Html,
    spots: Sequence[tuple[float, float]],
    way: str,
    scale: float,
) -> Html:
    """Draw marks that differ without colour and stay distinct when they overlap."""
    (x, y), *answers = spots
    parts = [el("path", {"class": f"way{casing}", "d": way}) for casing in (" casing", "") if way]
    ring = {"cx": n(x), "cy": n(y), "r": n(8 * scale)}
    parts += [el("circle", {"class": f"mark truth{casing}", **ring}) for casing in (" casing", "")]
    for x, y in answers:
        reach = 5.5 * scale
        corners = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
        parts.append(el("path", {"class": "mark answer", "d": f"{path(corners)}Z"}))
    view = f"0 0 {n(size[0])} {n(size[1])}"
    return el("svg", {"class": kind, "viewBox": view, "role": "img", "aria-label": words}, ground, *parts)
