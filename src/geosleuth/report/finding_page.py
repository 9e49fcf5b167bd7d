"""One finding as one HTML document: no network, no other file, no script."""

import hashlib
import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from geosleuth import __version__
from geosleuth.agent import Trajectory
from geosleuth.agent.display import BEST, SeenLine, text_seen
from geosleuth.agent.locate import Finding
from geosleuth.agent.spoken_of import is_about
from geosleuth.answer.answer import percent_words
from geosleuth.atlas import Atlas
from geosleuth.atlas.granular import wide_country
from geosleuth.geo import coordinates
from geosleuth.report.charts import n
from geosleuth.report.markup import Html, clean, el, join
from geosleuth.report.team_section import team_section
from geosleuth.report.worldmap import render_shared_symbols

from .chain import chain_section
from .digest import (
    FindingDigest,
    RivalPlace,
    as_finding,
    build_digest,
    describe_making,
    failures,
    find_conflict,
    first_sentence,
    list_claims,
)
from .jinja import render
from .pictures import Embedded, MapPicture, Pictures, badges, draw_maps, map_credits, map_figure, world_figure

_DOTS = 20
_EVIDENCE_CHARS = 400
_SHOWN_PARTS = 3


async def report_html(
    found: Finding | Trajectory,
    *,
    atlas: Atlas | None = None,
    pictures: Pictures | None = None,
    generated: str | None = None,
    claim: Sequence[str] = (),
    frames: Sequence[str] = (),
) -> str:
    """Return the report as text, to be written as UTF-8.

    Where the finding is capped (`geosleuth.agent.locate.cap_finding`), what is not part of it stays out of the page
    too: legible pixels, claimed coordinates and close maps.

    Args:
        found: the finding; of a bare trajectory there are no claims to show.
        atlas: draws the maps; an online one is asked for them. Without one, or where it can't, there is the world map.
        pictures: pixels by handle, such as what `cut_pictures` gives; those of the finding's own album if left out.
            Without either no photo is shown.
        generated: when the page was made, as it is to be read; now, if left out.
        claim: what the finding says of a claimed place: the verdict, then arguments for and against.
        frames: of a video, which second told what, a line for each frame.
    """
    finding = as_finding(found)
    digest = build_digest(finding)
    maps = await draw_maps(digest, atlas)
    own = finding.album.__getitem__ if finding.album is not None else None
    return render_report(finding, digest, maps, pictures or own, generated or now(), claim, frames)


def render_report(
    finding: Finding,
    digest: FindingDigest,
    maps: Sequence[MapPicture],
    pictures: Pictures | None,
    generated: str,
    claim: Sequence[str] = (),
    frames: Sequence[str] = (),
) -> str:
    """Return the page from what was gathered for it."""
    # Of several tries, the pictures and the text are those of the one that was picked.
    shown = digest.trajectory if finding.best_attempt is None else finding.best_attempt
    embedded = Embedded(shown, pictures, legible=digest.exact)
    seen = text_seen(shown, digest.evidence) if digest.exact else ()
    point, radius_km = digest.answer.point, digest.answer.radius_km
    reason, more_reason = ("", "") if digest.located else first_sentence(digest.account.why)
    body = render(
        "finding",
        digest=digest,
        world=render_shared_symbols(),
        dots=_dots(digest.answer.probability),
        where="" if point is None or (digest.wide and digest.country) else coordinates(point, radius_km),
        reason=reason,
        more_reason=more_reason,
        conflict=find_conflict(finding, digest),
        claim=tuple(claim),
        frames=tuple(frames),
        photos=embedded.figures(seen) if embedded else "",
        maps=_maps(digest, maps),
        cards=[_card(piece, seen, embedded) for piece in digest.evidence[:BEST]],
        further=digest.evidence[BEST:],
        evidence_chars=_EVIDENCE_CHARS,
        trust=_trust(digest),
        rivals=[_rival(rival, digest) for rival in digest.rivals],
        sides_told=digest.exact and any(rival.speaks_for or rival.against for rival in digest.rivals),
        team=team_section(finding),
        failures=failures(digest),
        claims=list_claims(finding, digest),
        chain=chain_section(digest, embedded, finding.best_attempt),
        making=describe_making(finding, generated),
        version=__version__,
        generated=generated,
    )
    return document(f"{digest.place} – geosleuth", body)


def document(title: str, body: Html, script: str = "", *, generator: str = "geosleuth") -> str:
    """Return a whole page that may load nothing and run nothing but the one script given; it says what made it."""
    css = stylesheet()
    return render(
        "document",
        policy=Html(content_policy(css, script)),
        generator=generator,
        title=clean(title, 200),
        css=Html(css),
        body=body,
        line_end="\n",
    )


def content_policy(css: str, script: str = "") -> str:
    """Return what a page may use: its own style sheet, pictures that are in it, and its own script where it has one."""
    scripts = f"script-src 'sha256-{_digest(script)}'; " if script else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(css)}'; {scripts}img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def stylesheet() -> str:
    """Return the house style, and on top of it what findings need."""
    house = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return house + files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def now() -> str:
    """Return the present moment, as pages say it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _dots(probability: float | None) -> Html:
    """Return how many of twenty such findings would be right, to the nearest, as dots; at least one."""
    if probability is None:
        return Html("")
    held = min(_DOTS, max(1, math.floor(probability * _DOTS + 0.5)))
    drawn = [
        el("circle", {"cx": n(7 + 12 * number), "cy": 7, "r": 4.4, "class": "held" if number < held else "missed"})
        for number in range(_DOTS)
    ]
    label = f"{_DOTS} cases like this one: about {held} would be right"
    return el(
        "svg",
        {"class": "odds", "viewBox": f"0 0 {12 * _DOTS + 2} 14", "role": "img", "aria-label": label},
        el("title", None, label),
        *drawn,
    )


@dataclass(frozen=True, slots=True)
class _Maps:
    close: Html
    others: Html
    many: bool
    note: str
    credits: Html | str


def _maps(digest: FindingDigest, maps: Sequence[MapPicture]) -> _Maps:
    close, others = maps[:1], maps[1:]
    rest = [*(map_figure(other, digest, close=False) for other in others), world_figure(digest)]
    radius = "The circle is the radius that the finding is sure of. " if digest.answer.radius_km and close else ""
    radius = "The outline is the country that the finding names. " if digest.outline else radius
    nothing = "" if digest.located else "The letters are weak candidates, not findings. " if digest.rivals else ""
    return _Maps(
        join(map_figure(item, digest, close=True) for item in close),
        join(rest),
        bool(others),
        f"{radius}{nothing}",
        map_credits(maps),
    )


@dataclass(frozen=True, slots=True)
class _Card:
    parts: Html
    badges: Html
    words: str


def _card(piece: str, seen: Sequence[SeenLine], embedded: Embedded) -> _Card:
    about = [line for line in seen if line.number is not None and is_about(piece, line.text)][:_SHOWN_PARTS]
    parts = [embedded.part(line.photo, line.box, "part", line.text) for line in about]
    return _Card(join(part for part in parts if part), badges(line.number or 0 for line in about), piece)


def _trust(digest: FindingDigest) -> list[tuple[str, str]]:
    """Return how far to trust the finding; if there is none, what would help."""
    account = digest.account
    would_help = account.would_help.removeprefix("What would help: ")
    if not account.in_parts:
        return []
    if not digest.located:
        return [("", would_help)] if would_help else []
    rows = [
        ("What it hangs on", account.hangs_on),
        ("What speaks against it", account.against),
        ("What would help", would_help),
    ]
    return [(title, words) for title, words in rows if words]


@dataclass(frozen=True, slots=True)
class _Row:
    rival: RivalPlace
    where: str
    bar: Html


def _rival(place: RivalPlace, digest: FindingDigest) -> _Row:
    # The centre of a country that is merely likely is not a place that was found.
    unknown = place.point is None or not digest.located or wide_country(place.name) or (place.is_answer and digest.wide)
    where = "" if unknown or place.point is None else coordinates(place.point, digest.answer.radius_km)
    return _Row(place, where, _bar(place.probability))


def _bar(probability: float | None) -> Html:
    if probability is None:
        return Html("not said")
    bar = el(
        "svg",
        {"class": "share", "viewBox": "0 0 60 8", "preserveAspectRatio": "none", "aria-hidden": "true"},
        el("rect", {"class": "whole", "width": 60, "height": 8, "rx": 2}),
        el("rect", {"class": "value", "width": n(60 * probability), "height": 8, "rx": 2}),
    )
    return join((el("span", {"class": "nowrap"}, percent_words(probability)), bar))
