"""House numbers on streets: "12 Rue Grimaldi", "Mannerheimintie 12 B"."""

import re
from typing import Final

from geosleuth.atlas.model import Hit, Place
from geosleuth.geo import Extent
from geosleuth.names import fold

from .spots import place_of, rows_of, street_ids
from .store import OpenRegion, text_of

_FIRST: Final = re.compile(
    r"^\s*(\d{1,5}(?:\s?(?:[a-z]|bis|ter|quater)\b)?(?:\s?[-/]\s?\d{1,5}[a-z]?)?)[\s,]+(\S.*)$", re.IGNORECASE
)
_LAST: Final = re.compile(
    r"^\s*(\S.*?)[\s,]+(\d{1,5}(?:\s?(?:[a-z]|bis|ter|quater)\b)?(?:\s?[-/]\s?\d{1,5}[a-z]?)?)\s*$", re.IGNORECASE
)
_STREETS: Final = 12
_LEAST_SCORE: Final = 0.7
_UNFIT: Final = 0.08


def split_address(text: str) -> list[tuple[str, str, str]]:
    """Ways to read a text as (house number, street, the rest after the street), the likelier first."""
    readings = []
    parts = [part.strip() for part in text[:400].split(",")]
    if len(parts) > 1 and re.fullmatch(r"\d{1,5}\s?\w{0,6}", parts[0]):
        parts = [f"{parts[0]} {parts[1]}", *parts[2:]]  # "12, Rue Grimaldi"
    rest = ", ".join(parts[1:])
    first = _FIRST.match(parts[0])
    if first:
        readings.append((first[1], first[2], rest))
    last = _LAST.match(parts[0])
    if last:
        readings.append((last[2], last[1], rest))
    return readings


def find_addresses(region: OpenRegion, text: str, within: Extent | None) -> list[Hit]:
    """House numbers that fit; where the street is there but not the number, the street, with a lower score."""
    hits: list[Hit] = []
    for number, street, rest in split_address(text):
        streets: dict[str, tuple[float, str]] = {fold(street): (1.0, "exact")}
        owners: list[tuple[int, float]] = []
        for found in region.index.search(street, limit=_STREETS, among=street_ids(region)):
            if found.score >= _LEAST_SCORE:
                owners.append((found.owner, found.score))
                for name in (found.text, *_names(region, found.owner)):
                    streets.setdefault(fold(name), (found.score, "exact" if found.score == 1.0 else "fuzzy"))
        wanted = fold(number).replace(" ", "")
        for key, (score, match) in streets.items():
            rows = region.conn.execute(
                "SELECT feature FROM address WHERE street_key = ? AND number = ? LIMIT 50", (key, wanted)
            ).fetchall()
            for row in rows_of(region, [feature for (feature,) in rows]).values():
                place = place_of(region, row)
                fits = address_fit(rest, place)
                matched = place.address or place.name
                hits.append(Hit(place, fitted(score, fits), "exact" if match == "exact" else "fuzzy", matched))
        if not hits and owners:
            rows_by_id = rows_of(region, [owner for owner, _ in owners])
            hits.extend(
                Hit(place_of(region, rows_by_id[owner]), 0.8 * score, "fuzzy", text_of(rows_by_id[owner][2]))
                for owner, score in owners
                if owner in rows_by_id
            )
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


def _names(region: OpenRegion, owner: int) -> list[str]:
    return [name for (name,) in region.conn.execute("SELECT text FROM name WHERE owner = ? AND role < 2", (owner,))]


def address_fit(rest: str, place: Place) -> float:
    """How much of what follows the street or the name is in a place's address: street, town, postcode."""
    wanted = set(fold(rest).split())
    return len(wanted & set(fold(place.address or "").split())) / len(wanted) if wanted else 1.0


def fitted(score: float, fit: float) -> float:
    """A score less what does not fit: half a fit counts for more than fame, so that the one that is meant is first."""
    return score * (1 - _UNFIT + _UNFIT * fit)
