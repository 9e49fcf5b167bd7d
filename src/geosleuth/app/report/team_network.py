"""The social network of a team as a drawing and as a page: no network, no script, no other file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth import __version__
from geosleuth.bench.page import NO_SCRIPT, page_head
from geosleuth.bench.page.markup import Html, caption, clean, el, join, name
from geosleuth.names import country_name
from geosleuth.team import TrustWeights
from geosleuth.team.learning import Overview, best_of
from geosleuth.team.network import TrainedSociety

_WIDTH, _HEIGHT, _MIDDLE, _RADIUS, _NODE = 920, 560, (300.0, 290.0), 175.0, 17.0
_BARS_LEFT, _BARS_WIDTH = 630.0, 220.0
_NAME_CHARACTERS = 15
_INK, _PAPER, _BLUE, _PALE, _GREY = "#1b2530", "#ffffff", "#2463a8", "#9cc3ee", "#8a94a0"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn: the usual trust weights, or that for one photo."""

    name: str
    society: TrainedSociety
    seen: Overview
    photo: TrustWeights | None

    @property
    def shown(self) -> TrustWeights:
        """The trust weights in the drawing."""
        return self.society.usual() if self.photo is None else self.photo

    @property
    def title(self) -> str:
        """What the drawing is of."""
        about = "on the photos learned from, on average" if self.photo is None else "for one photo"
        return f"{self.name}: whom to trust {about}"


def country_words(code: str) -> str:
    """A country's name, or what else there is to say."""
    return (country_name(code) or code) if code else "at sea"


def network_svg(members: Sequence[str], trust_weights: TrustWeights, title: str, *, alone: bool = False) -> Html:
    """Members on a circle, links as wide as they are strong, and a bar for each election probability.

    Args:
        members: their names, in the order of the weights.
        trust_weights: what to draw.
        title: said to those who can't see it.
        alone: as a file of its own, with the title above it.
    """
    count = len(members)
    spots = [_spot(i, count) for i in range(count)]
    best = best_of(trust_weights.election)
    head = {"xmlns": "http://www.w3.org/2000/svg"} if alone else {}
    return el(
        "svg",
        head | {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img", "aria-label": title,
                "font-family": "system-ui, sans-serif", "font-size": "14", "fill": _INK},
        el("rect", {"width": _WIDTH, "height": _HEIGHT, "fill": _PAPER}),
        *([el("text", {"x": 24, "y": 34, "font-size": "17", "font-weight": "600"}, clean(title, 90))] if alone else []),
        *_links(trust_weights, spots),
        *(_node(i, members[i], trust_weights.election[i], spots[i], first=i == best) for i in range(count)),
        *_bars(members, trust_weights),
        el("text", {"x": 24, "y": _HEIGHT - 16, "fill": _GREY, "font-size": "12"},
           "A link goes from who answers to who is asked for a review; wide ones are asked more often than by chance."),
    )  # fmt: skip


def _spot(i: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * i / max(1, count) - math.pi / 2
    return _MIDDLE[0] + _RADIUS * math.cos(angle), _MIDDLE[1] + _RADIUS * math.sin(angle)


def _links(trust_weights: TrustWeights, spots: Sequence[tuple[float, float]]) -> list[Html]:
    count = len(spots)
    drawn: list[tuple[float, Html]] = []
    for i, row in enumerate(trust_weights.links):
        total = sum(row)
        for j, weight in enumerate(row):
            if i == j or not total or not weight:
                continue
            # 1 is what chance would give: the share of this link among all of its row, against an equal one.
            strength = min(3.0, weight / total * (count - 1))
            path = _curve(spots[i], spots[j])
            drawn.append((strength, el("path", {
                "d": path, "fill": "none", "stroke": _BLUE if strength > 1.05 else _GREY,
                "stroke-width": f"{0.4 + 2.2 * strength**1.5:.2f}", "stroke-opacity": f"{0.18 + 0.2 * strength:.2f}",
                "stroke-linecap": "round",
            })))  # fmt: skip
    return [path for _, path in sorted(drawn, key=lambda one: one[0])]


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From one node's edge to the other's, bent to the right of its way, so that both directions can be seen."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    ux, uy = dx / length, dy / length
    bend = 0.1 * length
    x, y = (start[0] + end[0]) / 2 - uy * bend, (start[1] + end[1]) / 2 + ux * bend
    gap = _NODE + 3
    return (
        f"M{start[0] + ux * gap:.1f} {start[1] + uy * gap:.1f}Q{x:.1f} {y:.1f} "
        f"{end[0] - ux * gap:.1f} {end[1] - uy * gap:.1f}"
    )


def _node(i: int, label: str, chance: float, spot: tuple[float, float], *, first: bool) -> Html:
    x, y = spot
    dx, dy = x - _MIDDLE[0], y - _MIDDLE[1]
    anchor = "middle" if abs(dx) < 30 else ("start" if dx > 0 else "end")
    at_x = x + (0 if anchor == "middle" else math.copysign(_NODE + 8, dx))
    at_y = y + (math.copysign(_NODE + 14, dy) + 5 if anchor == "middle" else 5)
    return el(
        "g",
        None,
        el("title", None, f"{clean(label, 200)}: elected with {chance:.0%}"),
        el("circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": _NODE, "fill": _PAPER, "stroke": _INK,
                      "stroke-width": 3 if first else 1.2}),
        el("circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{_NODE * math.sqrt(chance):.1f}", "fill": _PALE}),
        el("text", {"x": f"{x:.1f}", "y": f"{y + 5:.1f}", "text-anchor": "middle", "font-size": "13",
                    "font-weight": "600"}, i + 1),
        el("text", {"x": f"{at_x:.1f}", "y": f"{at_y:.1f}", "text-anchor": anchor}, clean(label, _NAME_CHARACTERS)),
    )  # fmt: skip


def _bars(members: Sequence[str], trust_weights: TrustWeights) -> list[Html]:
    step = min(40.0, (_HEIGHT - 120) / max(1, len(members)))
    parts = [el("text", {"x": _BARS_LEFT, "y": 76, "font-weight": "600"}, "Election probability")]
    for row, i in enumerate(sorted(range(len(members)), key=lambda i: -trust_weights.election[i])):
        y, chance = 94 + step * row, trust_weights.election[i]
        height = min(12.0, step * 0.36)
        parts += [
            el("text", {"x": _BARS_LEFT, "y": f"{y + step * 0.34:.1f}", "font-size": "13"},
               f"{i + 1}  {clean(members[i], 28)}"),
            el("rect", {"x": _BARS_LEFT, "y": f"{y + step * 0.44:.1f}", "width": _BARS_WIDTH, "height": f"{height:.1f}",
                        "fill": "#e6e9ed", "rx": 2}),
            el("rect", {"x": _BARS_LEFT, "y": f"{y + step * 0.44:.1f}", "width": f"{_BARS_WIDTH * chance:.1f}",
                        "height": f"{height:.1f}", "fill": _BLUE, "rx": 2}),
            el("text", {"x": _BARS_LEFT + _BARS_WIDTH + 10, "y": f"{y + step * 0.44 + height - 1:.1f}",
                        "font-size": "13"}, f"{chance:.0%}"),
        ]  # fmt: skip
    return parts


def standing_page(drawn: Drawn, learned: str) -> str:
    """The whole page as text, to be written as UTF-8; ``learned`` says what the state holds."""
    society, seen = drawn.society, drawn.seen
    about = f"{learned[:1].upper()}{learned[1:]}."
    sections = [el("section", None, network_svg(society.members, drawn.shown, drawn.title)), _links_section(drawn)]
    if seen.countries:
        sections.append(_countries_section(drawn))
    body = el(
        "body",
        None,
        el("header", None, el("p", {"class": "kicker"}, "geosleuth team"), el("h1", None, drawn.title),
           el("div", {"class": "intro"}, el("p", None, about))),
        el("main", {"id": "main"}, *sections),
        el("footer", None, f"Made with geosleuth {__version__}. This page is one file and loads nothing."),
    )  # fmt: skip
    return f"<!doctype html>\n{el('html', {'lang': 'en'}, page_head(drawn.title, NO_SCRIPT), body)}\n"


def _links_section(drawn: Drawn) -> Html:
    members, links = drawn.society.members, drawn.shown.links
    rows = []
    for i, member in enumerate(members):
        total = sum(links[i]) or 1.0
        cells = ("" if i == j else f"{weight / total:.0%}" for j, weight in enumerate(links[i]))
        rows.append(el("tr", None, el("th", {"scope": "row"}, name(member)), *(el("td", None, cell) for cell in cells)))
    heads = el("tr", None, el("th", {"scope": "col"}, "answers"), *(_head(member) for member in members))
    said = caption("How often each is drawn to review an answer of the row's member, at its first step")
    return _section("Who reviews whom", el("table", None, said, el("thead", None, heads), el("tbody", None, *rows)))


def _countries_section(drawn: Drawn) -> Html:
    seen = drawn.seen
    rows = []
    for one in seen.countries:
        best = best_of(one.election)
        cells = (
            el("td", None, el("strong", None, f"{e:.0%}") if i == best else f"{e:.0%}", f" ({r:.0%})")
            for i, (e, r) in enumerate(zip(one.election, one.right, strict=True))
        )
        rows.append(
            el("tr", None, el("th", {"scope": "row"}, country_words(one.code)), el("td", None, one.photos), *cells)
        )
    heads = el(
        "tr", None, el("th", {"scope": "col"}, "country"), el("th", {"scope": "col"}, "photos"),
        *(_head(member) for member in seen.members),
    )  # fmt: skip
    said = caption("Election probability on the photos learned from, and in brackets how often the member was right")
    return _section("By country", el("table", None, said, el("thead", None, heads), el("tbody", None, *rows)))


def _head(member: str) -> Html:
    return el("th", {"scope": "col"}, name(member, 24))


def _section(title: str, table: Html) -> Html:
    return join([el("section", None, el("h2", None, title), el("div", {"class": "scroll"}, table))])
