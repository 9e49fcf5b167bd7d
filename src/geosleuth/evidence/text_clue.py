"""Text findings before they become clues: what was seen, the countries it fits, and how it was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name, fold

from .clue import Clue, ClueKind, CluePlace, TextSeen
from .clue_reliability import ReliabilityTable, get_distractor, reliability
from .country_prior import country_prior

SHOWN_COUNTRIES = 3
MIN_SHOWN_SHARE = 0.05
_HARDLY = 1.05
_SIGHT_KM = 0.2
_OF_NAMES: frozenset[ClueKind] = frozenset({"place", "street", "business", "station", "airport", "landmark"})


@dataclass(frozen=True, slots=True)
class ClueDraft:
    """A clue in the making: ``sort`` is its row in the table of reliabilities, ``meaning`` what it is, in words."""

    kind: ClueKind
    sort: str
    seen: str
    meaning: str
    countries: Mapping[str, float] = field(hash=False)
    where: TextSeen
    sources: tuple[str, ...]
    factor: float = 1.0  # how much of the sort's reliability this one deserves
    spots: tuple[CluePlace, ...] = ()

    def clue(self, table: ReliabilityTable | None = None) -> Clue:
        """The clue, with its reliability and its caution."""
        return Clue(
            kind=self.kind,
            seen=self.seen,
            says=f"{self.meaning}: {spoken(self.countries)}" if self.countries else self.meaning,
            reliability=reliability(self.sort, self.where.confidence, table) * self.factor,
            countries=self.countries,
            spots=self.spots,
            where=self.where,
            sources=self.sources,
            caution=get_distractor(self.sort),
        )


def spoken(countries: Mapping[str, float]) -> str:
    """The likeliest countries in words."""
    ranked = sorted(countries, key=lambda code: (-countries[code], code))
    named = [code for code in ranked[:SHOWN_COUNTRIES] if countries[code] >= MIN_SHOWN_SHARE] or ranked[:1]
    words = " or ".join(country_name(code) for code in named)
    return words if len(named) == len(countries) else f"{words} and others" if len(named) > 1 else f"mostly {words}"


def specify_place(clue: Clue, code: str, point: LatLon | None = None) -> Clue:
    """Return a clue of a name that several places share, worded for a country and, if given, a point.

    Any other clue, and one that is worded so already, stays as it is.
    """
    there = [spot for spot in clue.spots if spot.country == code]
    if clue.kind not in _OF_NAMES or not there:
        return clue
    best = max(clue.spots, key=lambda spot: spot.weight)
    at_point = [
        spot for spot in there if point is not None and distance_km(spot.point, point) <= spot.radius_km + _SIGHT_KM
    ]
    here = max(at_point or there, key=lambda spot: spot.weight)
    in_words = not at_point or here == best or fold(here.name) in fold(clue.says)
    if in_words and best.country == code and not _names_another(clue, code):
        return clue
    return replace(clue, says=f'"{clue.seen}" may be {here.name}, {country_name(code)}')


def _names_another(clue: Clue, code: str) -> bool:
    """Return whether the words of a clue with several readings are about another country alone."""
    others = {spot.country for spot in clue.spots if spot.country and spot.country != code}
    said = fold(clue.says)
    return fold(country_name(code)) not in said and any(fold(country_name(other)) in said for other in others)


def specify_country(clue: Clue, code: str, point: LatLon | None = None) -> Clue:
    """Return a clue that many countries share, worded for a country that it supports, with its gain.

    A name that several places bear is worded for the one that is there, see `specify_place`.
    """
    worded = specify_place(clue, code, point)
    if worded is not clue:
        return worded
    countries = spoken(clue.countries) if code in clue.countries else ""
    if " or " not in countries or not clue.says.endswith(f": {countries}"):
        return clue
    meaning = clue.says.removesuffix(f": {countries}")
    area = next((spot.name.removeprefix("the area of ") for spot in clue.spots if spot.country == code), None)
    ratio = clue.reliability * clue.countries[code] / country_prior()[code] + 1 - clue.reliability
    if ratio <= _HARDLY:
        return clue
    gain = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
    of_area = f" of {area}" if area and area not in meaning else ""
    return replace(clue, says=f"{meaning}{of_area}: {country_name(code)} is {gain} times as likely with it")


def distinct(findings: Sequence[ClueDraft]) -> list[ClueDraft]:
    """One of each thing seen: the same sign is read in several crops, and signs repeat themselves."""
    best: dict[tuple[str, str, tuple[str, ...]], ClueDraft] = {}
    for finding in findings:
        # A line may say one thing by its language and another by its wording.
        key = (finding.kind, finding.seen.casefold(), finding.sources)
        kept = best.get(key)
        if kept is None or kept.where.confidence < finding.where.confidence:
            best[key] = finding
    return list(best.values())
