"""Many findings on one page: a world map, a table that sorts, links to the single reports."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import numpy as np

from geosleuth import __version__
from geosleuth.agent import Trajectory
from geosleuth.agent.locate import Finding
from geosleuth.answer.answer import AreaKind, how_sure, is_doubtful, is_wide, percent_words, radius_words
from geosleuth.geo import LatLon, coordinates
from geosleuth.pipeline.outputs import SUMMARY_GENERATOR
from geosleuth.report.charts import n
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.report.worldmap import render_shared_symbols, to_page
from geosleuth.support.text.numbers import count, plural

from .digest import as_finding, build_digest
from .finding_page import document, now
from .pictures import WORLD, uri

if TYPE_CHECKING:
    from PIL.Image import Image

Status = Literal["located", "unlocated", "failed"]

THUMBNAIL_PX = 120
_STATUS = {"located": "found", "unlocated": "not found", "failed": "failed"}
_ORDER: tuple[Status, ...] = ("located", "unlocated", "failed")
_SURE, _LIKELY = 0.85, 0.5
_CLOSEST = 220.0  # units of the world drawing: on fewer, its coarse outline says nothing
_FEW = 200


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One photo of a batch.

    Attributes:
        name: what the photo is called on the page, such as its file name.
        status: whether a place was found, not found, or the work failed.
        place, point, probability, radius_km: the finding, no finer than its granularity.
        note: what else the reader must know, such as why it failed.
        told: what led there, a line each, such as the seconds of a video.
        area: what the finding is where it is no point: all of a country, or a circle in a country or region.
        conflicts: whether the file itself claims another place.
        report: the single report, as a path relative to the summary; None if there is none.
        thumbnail: the photo as a small JPEG, see `small_jpeg`; None leaves it out.
    """

    name: str
    status: Status
    place: str = ""
    point: LatLon | None = None
    probability: float | None = None
    radius_km: float | None = None
    note: str = ""
    report: str | None = None
    thumbnail: bytes | None = None
    conflicts: bool = False
    told: tuple[str, ...] = ()
    area: AreaKind | None = None

    @property
    def wide(self) -> bool:
        """Return whether the finding is a country or region: its point is not shown."""
        return is_wide(self.radius_km, self.area)


def summary_row(
    photo_name: str, found: Finding | Trajectory, *, report: str | None = None, thumbnail: bytes | None = None
) -> SummaryRow:
    """Return the row of a finding, already capped to its granularity.

    Without a thumbnail, one is made from the finding's album; a capped finding gets none, since writing may be read in
    it.
    """
    finding = as_finding(found)
    digest, ended = build_digest(finding), finding.trajectory.ended
    failed = ended is None or (ended.reason in ("service", "error", "cancelled") and not digest.located)
    answer = digest.answer
    conflicts = True in finding.conflicts
    notes = ["the file claims another place"] if conflicts else []
    if failed and ended is not None and ended.trouble:
        notes.append(ended.trouble)
    return SummaryRow(
        name=photo_name,
        status="failed" if failed else "located" if digest.located else "unlocated",
        place=digest.place if digest.located else "",
        point=answer.point,
        probability=answer.probability if digest.located else None,
        radius_km=answer.radius_km,
        note="; ".join(notes),
        report=report,
        thumbnail=(thumbnail or _first_picture(finding)) if digest.exact else None,
        conflicts=conflicts,
        area=digest.area,
    )


def _first_picture(finding: Finding) -> bytes | None:
    images = finding.trajectory.task.images
    return None if finding.album is None or not images else small_jpeg(finding.album[images[0].handle].image)


def small_jpeg(image: "Image") -> bytes:
    """Return a photo as a small JPEG without metadata, some three kilobytes."""
    scale = min(1.0, THUMBNAIL_PX / max(image.size))
    size = (max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale)))
    stream = io.BytesIO()
    image.convert("RGB").resize(size, reducing_gap=3.0).save(stream, "JPEG", quality=72, optimize=True)
    return stream.getvalue()


def summary_html(
    rows: Sequence[SummaryRow], *, title: str | None = None, generated: str | None = None, what: str = "Photo"
) -> str:
    """Return the page as text for UTF-8; it needs no other file, and its table works without scripts.

    ``what`` heads the column of names.
    """
    made = generated or now()
    script = files(__package__).joinpath("summary.js").read_text(encoding="utf-8")
    heading = title or f"Where {plural(len(rows), 'photo was', 'photos were')} taken"
    body = el(
        "body",
        {"class": "summary finding"},
        render_shared_symbols(),
        el(
            "header",
            None,
            el("p", {"class": "kicker"}, f"geosleuth · {made}"),
            el("h1", None, name(heading, 160)),
            el("p", {"class": "sure"}, _render_counts(rows)),
            el("p", {"class": "verdict"}, "Leads, not verdicts."),
        ),
        el("main", {"id": "main"}, _map(rows), _render_table(rows, what)),
        el("footer", None, f"Made with geosleuth {__version__}, {made}. This page is one file and loads nothing."),
        el("script", None, Html(script)),
    )
    return document(heading, body, script, generator=SUMMARY_GENERATOR)


def _render_counts(rows: Sequence[SummaryRow]) -> Html:
    located = [row for row in rows if row.status == "located"]
    found = [row for row in located if not is_doubtful(row.probability)]
    doubtful = len(located) - len(found)
    sure = sum(1 for row in found if (row.probability or 0.0) >= _SURE)
    unlocated = sum(1 for row in rows if row.status == "unlocated")
    failed = sum(1 for row in rows if row.status == "failed")
    parts: list[object] = [el("b", None, count(len(found))), f" found, {count(sure)} of them with 85 % or more; "]
    parts += [el("b", None, count(doubtful)), " doubtful; "] if doubtful else []
    parts += [el("b", None, count(unlocated)), " not found"]
    parts += ["; ", el("b", None, count(failed)), " failed."] if failed else ["."]
    if conflicts := sum(1 for row in rows if row.conflicts):
        claims = plural(conflicts, "file claims another place", "files claim other places")
        parts.append(el("span", {"class": "conflict"}, f" {claims} than what was found."))
    return join(parts)


def _status(row: SummaryRow) -> str:
    return "doubtful" if row.status == "located" and is_doubtful(row.probability) else _STATUS[row.status]


def _map(rows: Sequence[SummaryRow]) -> Html:
    placed = [(number, row, row.point) for number, row in enumerate(rows) if row.point is not None and not row.wide]
    if not placed:
        return Html("")
    x, y = to_page(np.array([at.lat for *_, at in placed]), np.array([at.lon for *_, at in placed]))
    view = _view(x.tolist(), y.tolist())
    spots = [f"M{a:.2f} {b:.2f}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    # The surest are drawn last, and so lie on top.
    order = sorted(range(len(placed)), key=lambda i: placed[i][1].probability or 0.0)
    dots = [
        el(
            "a",
            {"href": f"#photo-{placed[i][0] + 1}"},
            el("title", None, f"{clean(placed[i][1].name, 80)}: {clean(placed[i][1].place, 120)}"),
            el("path", {"class": f"dot dot-{_class(placed[i][1].probability)}", "d": spots[i]}),
        )
        for i in order
    ]
    legend = (("sure", "85 % or more"), ("likely", "50 % or more"), ("doubtful", "less, or not said"))
    return el(
        "section",
        {"id": "map"},
        el(
            "figure",
            {"class": "ground" if len(placed) <= _FEW else "ground crowded"},
            el(
                "svg",
                {"viewBox": " ".join(n(side) for side in view), "role": "img",
                 "aria-label": f"World map with {plural(len(placed), 'photo', 'photos')}"},
                el("use", {"href": "#world"}),
                # A dot is a line of no length with round ends: it is as large on a telephone as on a wall.
                el("path", {"class": "dot dot-ring", "d": "".join(spots)}),
                *dots,
            ),
            el(
                "figcaption",
                None,
                "Each dot is a finding; it leads to its row. How sure: ",
                join(el("span", {"class": "key-line"}, el("span", {"class": f"spot spot-{kind}"}), words)
                     for kind, words in legend),
                _without_a_dot(rows),
                "" if view[2] >= WORLD[0] else " The map shows the part of the world where the findings are.",
            ),
        ),
    )  # fmt: skip


def _without_a_dot(rows: Sequence[SummaryRow]) -> str:
    wide = sum(1 for row in rows if row.wide)
    return f" Without a dot: {plural(wide, 'whole country or region', 'whole countries or regions')}." if wide else ""


def _view(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the frame around all dots, or the whole world where they fill most of it."""
    left, right, top, bottom = min(x), max(x), min(y), max(y)
    width = max(1.3 * (right - left), 1.3 * (bottom - top) * WORLD[0] / WORLD[1], _CLOSEST)
    if width > 0.6 * WORLD[0]:
        return 0.0, 0.0, *WORLD
    height = width * WORLD[1] / WORLD[0]
    x0 = min(max(0.0, (left + right - width) / 2), WORLD[0] - width)
    y0 = min(max(0.0, (top + bottom - height) / 2), WORLD[1] - height)
    return x0, y0, width, height


def _class(probability: float | None) -> str:
    if probability is None or probability < _LIKELY:
        return "doubtful"
    return "sure" if probability >= _SURE else "likely"


def _render_table(rows: Sequence[SummaryRow], what: str) -> Html:
    head = (("", ""), (what, "text"), ("Place", "text"), ("How sure", "number"), ("Within", "number"),
            ("Status", "number"))  # fmt: skip
    headings = [el("th", {"scope": "col", "data-kind": kind or None}, words) for words, kind in head]
    return el(
        "section",
        {"id": "table"},
        el(
            "div",
            {"class": "scroll"},
            el(
                "table",
                {"class": "photos"},
                el("thead", None, el("tr", None, *headings)),
                el("tbody", None, *(_render_row(number, row) for number, row in enumerate(rows, 1))),
            ),
        ),
    )


def _render_row(number: int, row: SummaryRow) -> Html:
    label = name(row.name, 80)
    # A relative path and nothing else: no scheme, no host.
    link = el("a", {"href": f"./{quote(row.report)}"}, label) if row.report is not None else label
    where = el("small", None, coordinates(row.point, row.radius_km)) if row.point is not None and not row.wide else ""
    told = [el("small", {"dir": "auto"}, clean(line, 600)) for line in row.told]
    note = el("small", {"class": "row-note"}, clean(row.note, 200)) if row.note else ""
    sure, within = Html(""), ""
    if row.probability is not None:
        sure = join((percent_words(row.probability), el("small", None, how_sure(row.probability))))
    if row.radius_km is not None and not row.wide:
        within = radius_words(row.radius_km)
    return el(
        "tr",
        {"id": f"photo-{number}", "class": row.status},
        el("td", {"class": "thumb"}, _image(row)),
        el("th", {"scope": "row", "data-sort": clean(row.name, 200)}, link),
        el("td", {"data-sort": clean(row.place, 200)}, _render_place(row), where, *told, note),
        el("td", {"data-sort": _format_number(row.probability)}, sure),
        el("td", {"data-sort": _format_number(row.radius_km)}, within),
        el("td", {"data-sort": _ORDER.index(row.status)}, _status(row)),
    )


def _render_place(row: SummaryRow) -> Html:
    if row.place:
        return name(row.place, 120)
    return el("span", {"class": "quiet"}, "no place found") if row.status == "unlocated" else Html("")


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _image(row: SummaryRow) -> Html:
    if row.thumbnail is None:
        return Html("")
    shown = {"src": uri("image/jpeg", row.thumbnail), "alt": "", "loading": "lazy", "decoding": "async"}
    return Html(el("img", shown).removesuffix("</img>"))
