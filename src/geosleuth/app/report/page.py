"""One finding as one HTML document: no network, no other file, no script."""

import hashlib
import math
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from geosleuth import __version__
from geosleuth.agent import Trajectory
from geosleuth.agent.display import BEST, Seen, speaks_of, text_seen
from geosleuth.agent.locate import Finding
from geosleuth.answer.model import percent_words
from geosleuth.atlas import Atlas
from geosleuth.bench.page.charts import n
from geosleuth.bench.page.markup import Html, caption, clean, el, join, name
from geosleuth.bench.page.worldmap import shared_drawing
from geosleuth.geo import coordinates

from .chain import chain_section
from .digest import (
    Digest,
    Rival,
    as_finding,
    claims_section,
    conflict_note,
    digest_of,
    failures_section,
    first_sentence,
    making_section,
)
from .pictures import Embedded, Ground, Pictures, badges, draw_ground, ground_figure, map_credits, world_figure
from .team import team_section

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
) -> str:
    """The report as text, to be written as UTF-8.

    Where the finding is capped (`geosleuth.agent.locating.cap_finding`), what is not part of it stays out of the page
    too: legible pixels, claimed coordinates and close maps.

    Args:
        found: the finding; of a bare trajectory there are no claims to show.
        atlas: draws the maps; an online one is asked for them. Without one, or where it can't, there is the world map.
        pictures: pixels by handle, such as what `pictures_of` gives; those of the finding's own album if left out.
            Without either no photo is shown.
        generated: when the page was made, as it is to be read; now, if left out.
        claim: what the finding says of a place that somebody claims: the verdict, then what speaks for and against.
    """
    finding = as_finding(found)
    digest = digest_of(finding)
    grounds = await draw_ground(digest, atlas)
    own = finding.album.__getitem__ if finding.album is not None else None
    return render_report(finding, digest, grounds, pictures or own, generated or now(), claim)


def render_report(
    finding: Finding,
    digest: Digest,
    grounds: Sequence[Ground],
    pictures: Pictures | None,
    generated: str,
    claim: Sequence[str] = (),
) -> str:
    """The page from what was gathered for it."""
    embedded = Embedded(digest.trajectory, pictures, legible=digest.exact)
    seen = text_seen(digest.trajectory, digest.evidence) if digest.exact else ()
    body = el(
        "body",
        {"class": "finding"},
        shared_drawing(),
        _header(finding, digest, claim),
        el(
            "main",
            {"id": "main"},
            el(
                "div",
                {"class": "views" if embedded else "views alone"},
                el("div", {"class": "shots"}, embedded.figures(seen)) if embedded else "",
                _maps(digest, grounds),
            ),
            _evidence(digest, seen, embedded),
            _account(digest),
            _rivals(digest),
            team_section(finding),
            failures_section(digest),
            claims_section(finding, digest),
            chain_section(digest, embedded),
            making_section(finding, generated),
        ),
        el("footer", None, f"Made with geosleuth {__version__}, {generated}. This page is one file and loads nothing."),
    )
    return document(f"{digest.place} – geosleuth", body)


def document(title: str, body: Html, script: str = "", *, generator: str = "geosleuth") -> str:
    """A whole page that may load nothing and run nothing but the one script given; it says what made it."""
    css = stylesheet()
    head = el(
        "head",
        None,
        el("meta", {"charset": "utf-8"}),
        el("meta", {"http-equiv": "Content-Security-Policy", "content": Html(content_policy(css, script))}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"name": "color-scheme", "content": "light dark"}),
        el("meta", {"name": "referrer", "content": "no-referrer"}),
        el("meta", {"name": "generator", "content": generator}),
        el("title", None, clean(title, 200)),
        el("style", None, Html(css)),
    )
    return f"<!doctype html>\n{el('html', {'lang': 'en'}, head, body)}\n"


def content_policy(css: str, script: str = "") -> str:
    """What a page may use: its own style sheet, pictures that are in it, and its own script where it has one."""
    scripts = f"script-src 'sha256-{_digest(script)}'; " if script else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(css)}'; {scripts}img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def stylesheet() -> str:
    """The house style, and on top of it what findings need."""
    house = files("geosleuth.bench.page").joinpath("page.css").read_text(encoding="utf-8")
    return house + files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def now() -> str:
    """The present moment, as pages say it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _header(finding: Finding, digest: Digest, claim: Sequence[str]) -> Html:
    point = digest.answer.point
    lines: list[object] = [
        el("p", {"class": "kicker"}, "geosleuth · where was this photo taken?"),
        el("h1", None, name(digest.place, 160)),
    ]
    if digest.sure:
        lines.append(el("p", {"class": "sure"}, _dots(digest.answer.probability), f"{digest.sure}."))
    if point is not None:
        where = coordinates(point, digest.answer.radius_km)
        lines.append(
            el(
                "p",
                {"class": "coordinates"},
                el("a", {"href": f"geo:{where.replace(' ', '')}"}, where),
                el("span", {"class": "quiet"}, " latitude, longitude", " of a point in it" if digest.country else ""),
            )
        )
    if not digest.located:
        first, rest = first_sentence(digest.account.why)
        lines.append(el("p", {"class": "sure", "dir": "auto"}, clean(first, 900)))
        lines.append(el("p", {"class": "quiet rest", "dir": "auto"}, clean(rest, 900)) if rest else "")
    if digest.verdict:
        lines.append(el("p", {"class": "verdict"}, digest.verdict))
    if not digest.exact:
        words = f"Told no finer than the {digest.granularity}: whatever could say more is left out of this page."
        lines.append(el("p", {"class": "capped"}, words))
    lines.append(conflict_note(finding, digest))
    if claim:
        lines.append(_claim(claim))
    return el("header", None, *lines)


def _claim(claim: Sequence[str]) -> Html:
    verdict, *sides = claim
    listed = el("ul", None, *(el("li", {"dir": "auto"}, clean(_capital(line.strip()), 400)) for line in sides))
    return el(
        "div",
        {"class": "checked"},
        el("p", None, el("b", None, "The claim. "), clean(verdict, 400)),
        listed if sides else "",
    )


def _dots(probability: float | None) -> Html:
    """How many of twenty such findings hold, as dots; never all of them."""
    if probability is None:
        return Html("")
    held = min(_DOTS, max(1, math.floor(probability * _DOTS)))
    drawn = [
        el("circle", {"cx": n(7 + 12 * number), "cy": 7, "r": 4.4, "class": "held" if number < held else "missed"})
        for number in range(_DOTS)
    ]
    label = f"Of {_DOTS} such findings about {held} hold"
    return el(
        "svg",
        {"class": "odds", "viewBox": f"0 0 {12 * _DOTS + 2} 14", "role": "img", "aria-label": label},
        el("title", None, label),
        *drawn,
    )


def _maps(digest: Digest, grounds: Sequence[Ground]) -> Html:
    close, others = grounds[:1], grounds[1:]
    rest = [*(ground_figure(ground, digest, close=False) for ground in others), world_figure(digest)]
    radius = "The circle is the radius that the finding is sure of. " if digest.answer.radius_km and close else ""
    radius = "The outline is the country that the finding names. " if digest.outline else radius
    nothing = "" if digest.located else "The letters are weak candidates, not findings. " if digest.rivals else ""
    return el(
        "div",
        {"class": "maps"},
        *(ground_figure(ground, digest, close=True) for ground in close),
        el("div", {"class": "small-maps" if others else "one-map"}, *rest),
        el("p", {"class": "map-note"}, radius, nothing, map_credits(grounds)),
    )


def _evidence(digest: Digest, seen: Sequence[Seen], embedded: Embedded) -> Html:
    best = digest.evidence[:BEST]
    further = digest.evidence[BEST:]
    if not best:
        if not digest.exact or not digest.located:
            return Html("")
        words = "No single piece of evidence was given." if not digest.account.why else ""
        return el("section", {"class": "evidence"}, el("p", {"class": "quiet"}, words)) if words else Html("")
    cards = [_card(piece, seen, embedded) for piece in best]
    return el(
        "section",
        {"id": "evidence", "class": "evidence", "aria-labelledby": "evidence-h"},
        el("h2", {"id": "evidence-h"}, "The best evidence"),
        el("ol", {"class": "cards"}, *cards),
        el(
            "details",
            None,
            el("summary", None, f"{len(further)} more"),
            el("ul", None, *(el("li", {"dir": "auto"}, clean(piece, _EVIDENCE_CHARS)) for piece in further)),
        )
        if further
        else "",
    )


def _card(piece: str, seen: Sequence[Seen], embedded: Embedded) -> Html:
    about = [line for line in seen if line.number is not None and speaks_of(piece, line.text)][:_SHOWN_PARTS]
    parts = [embedded.part(line.photo, line.box, "part", line.text) for line in about]
    words = clean(piece[:1].upper() + piece[1:], _EVIDENCE_CHARS)
    return el(
        "li",
        {"class": "card"},
        el("div", {"class": "parts"}, *(part for part in parts if part)) if any(parts) else "",
        el("p", {"dir": "auto"}, badges(line.number or 0 for line in about), words),
    )


def _account(digest: Digest) -> Html:
    account = digest.account
    if not digest.located and not account.would_help:
        return Html("")
    why = _why(digest) if digest.located else Html("")
    if not account.in_parts:
        return why
    rows = [
        ("What it hangs on", account.hangs_on),
        ("What speaks against it", account.against),
        ("What would help", account.would_help.removeprefix("What would help: ")),
    ]
    if not digest.located:
        rows = [("", rows[-1][1])]
    cells = [
        el("div", None, el("h3", None, title) if title else "", el("p", {"dir": "auto"}, clean(_capital(words), 1200)))
        for title, words in rows
        if words
    ]
    heading = "How far to trust it" if digest.located else "What would help"
    trust = el(
        "section",
        {"id": "trust", "aria-labelledby": "trust-h"},
        el("h2", {"id": "trust-h"}, heading),
        el("div", {"class": "trust"}, *cells),
    )
    return join((why, trust))


def _why(digest: Digest) -> Html:
    if not digest.own_words:
        return Html("")
    return el(
        "section",
        {"id": "why", "aria-labelledby": "why-h"},
        el("h2", {"id": "why-h"}, "Why"),
        el("p", {"class": "lead", "dir": "auto"}, clean(digest.own_words, 4000)),
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _rivals(digest: Digest) -> Html:
    if not digest.rivals:
        return Html("")
    heading = "Candidates" if digest.located else "Weak candidates"
    told = digest.exact and any(one.speaks_for or one.against for one in digest.rivals)
    head = ("", "Place", "How likely", *(("For and against",) if told else ()))
    table = el(
        "table",
        {"class": "rivals"},
        caption("Best first. The letters are those on the maps."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in head))),
        el("tbody", None, *(_rival(one, digest, told=told) for one in digest.rivals)),
    )
    return el(
        "section",
        {"id": "candidates", "aria-labelledby": "candidates-h"},
        el("h2", {"id": "candidates-h"}, heading),
        el("div", {"class": "scroll"}, table),
        el("p", {"class": "quiet alone-note"}, "No other single place was found that it could be.")
        if digest.located and not digest.others
        else "",
    )


def _rival(one: Rival, digest: Digest, *, told: bool) -> Html:
    # The middle of a country that is merely likely is not a place that anybody found.
    where = "" if one.point is None or not digest.located else coordinates(one.point, digest.answer.radius_km)
    sides: list[object] = []
    if one.speaks_for:
        sides.append(el("p", {"dir": "auto"}, clean(_capital(one.speaks_for), 700)))
    if one.against:
        sides.append(el("p", {"dir": "auto"}, el("b", None, "Against: "), clean(one.against, 700)))
    kind = "letter answer-letter" if one.is_answer else "letter"
    return el(
        "tr",
        None,
        el("td", None, el("span", {"class": kind}, one.letter)),
        el("th", {"scope": "row"}, name(one.name or where or "unnamed", 120), el("small", None, where)),
        el("td", {"class": "likely"}, _bar(one.probability)),
        el("td", {"class": "sides"}, *sides) if told else "",
    )


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
