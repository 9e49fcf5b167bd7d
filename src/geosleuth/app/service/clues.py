"""The detective's clues for pages: where each was seen, and how much it speaks for which candidate."""

from collections.abc import Iterator, Mapping, Sequence

from geosleuth.agent.display import shares_of
from geosleuth.clues import Clue
from geosleuth.clues.finding import named_there
from geosleuth.clues.posterior import Contribution, Posterior
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name
from geosleuth.policies.detective import KIND_WORDS, Reasoning, clue_id
from geosleuth.policies.detective.rivals import full_name
from geosleuth.tools import ImageInfo
from geosleuth.tools.viewer import one_line

from .shapes import ClueView, SupportView

MOST_CLUES = 80
MOST_PLACES, MOST_COUNTRIES = 4, 3
LEAST_PLACE, LEAST_COUNTRY = 0.01, 0.03
"""Candidates and countries that are less likely are not worth a line in what a clue supports."""

_APART_KM = 1.0
_SEEN_CHARS, _SAYS_CHARS = 200, 400


def views_of_clues(
    reasoning: Reasoning, images: Mapping[str, ImageInfo], firsts: Mapping[int, ImageInfo]
) -> list[ClueView]:
    """The clues that count, the strongest first, then those that a person has ruled out.

    Args:
        reasoning: what the detective made of a run.
        images: every picture of the run, by its handle.
        firsts: the photos' first views, by the photos' numbers.
    """
    supported: dict[Clue, list[SupportView]] = {}
    for name, country, point, parts in _hypotheses(reasoning.found):
        for part in parts:
            if part.speaks_for or (part.speaks_against and part.log_ratio < 0):
                supported.setdefault(part.clue, []).append(_support(name, country, point, part))
    views: dict[str, ClueView] = {}
    for clue in reasoning.found.clues[:MOST_CLUES]:
        _add(views, _view(clue, supported.get(clue, ()), images, firsts, rejected=False))
    counted = sorted(views.values(), key=lambda view: -_strength(view))
    kept = {view["id"]: view for view in counted}
    for clue in reasoning.ruled_out[:MOST_CLUES]:
        view = _view(clue, (), images, firsts, rejected=True)
        kept.setdefault(view["id"], view)
    return list(kept.values())


def _hypotheses(found: Posterior) -> Iterator[tuple[str, str | None, LatLon | None, Sequence[Contribution]]]:
    """The places that it may be, and the countries, with what each clue adds to them."""
    taken: list[LatLon] = []
    for one in found.candidates:
        if one.probability < LEAST_PLACE or len(taken) >= MOST_PLACES:
            break
        if all(distance_km(one.point, other) > _APART_KM for other in taken):
            taken.append(one.point)
            yield full_name(one.name, one.country), one.country, one.point, one.contributions
    for code, share in list(found.countries.items())[:MOST_COUNTRIES]:
        if share >= LEAST_COUNTRY:
            yield country_name(code), code, None, found.country_contributions(code)


def _support(name: str, country: str | None, point: LatLon | None, part: Contribution) -> SupportView:
    return {
        "name": one_line(name, _SEEN_CHARS),
        "country": country,
        "lat": None if point is None else point.lat,
        "lon": None if point is None else point.lon,
        "log_ratio": round(part.log_ratio, 3),
    }


def _view(
    clue: Clue,
    supports: Sequence[SupportView],
    images: Mapping[str, ImageInfo],
    firsts: Mapping[int, ImageInfo],
    *,
    rejected: bool,
) -> ClueView:
    image = images.get(clue.where.image) if clue.where else None
    first = firsts.get(image.photo) if image else None
    box = shares_of(clue.where.box, image, first) if clue.where and image and first else None
    return {
        "id": clue_id(clue.kind, clue.seen),
        "kind": clue.kind,
        "kind_words": KIND_WORDS[clue.kind],
        "seen": one_line(clue.seen, _SEEN_CHARS),
        "says": one_line(_worded(clue, supports).says, _SAYS_CHARS),
        "photo": first.photo if first and box else None,
        "box": [round(side, 5) for side in box] if box else None,
        "reliability": round(clue.reliability, 3),
        "supports": sorted(supports, key=lambda one: -one["log_ratio"]),
        "caution": clue.caution,
        "rejected": rejected,
    }


def _worded(clue: Clue, supports: Sequence[SupportView]) -> Clue:
    """A clue in the words that fit the likeliest place it supports: a name is that of many places, one is meant."""
    best = next((one for one in supports if one["log_ratio"] > 0), None)
    if best is None or best["country"] is None:
        return clue
    lat, lon = best["lat"], best["lon"]
    return named_there(clue, best["country"], None if lat is None or lon is None else LatLon(lat, lon))


def _add(views: dict[str, ClueView], view: ClueView) -> None:
    """Take in a clue; what goes by one id is shown as one, since it is rejected as one."""
    known = views.get(view["id"])
    if known is None or _strength(view) > _strength(known):
        views[view["id"]] = view


def _strength(view: ClueView) -> float:
    return max((abs(one["log_ratio"]) for one in view["supports"]), default=0.0)
