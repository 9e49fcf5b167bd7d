"""How tools put what they found: short numbered lines to read, and the same in JSON types.

What was read in a photo, on a page or in a map entry is somebody else's words. It is kept on one line, without control
characters, and stands in quotation marks, so that it can't pass for ours.
"""

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from geosleuth.answer.wording import whole_percent
from geosleuth.atlas import Hit, Place
from geosleuth.errors import BadInput
from geosleuth.geo import Disc, Extent, LatLon

from .model import Output

NO_REGION_HINT = (
    "Offline, streets, shops and house numbers are known only in regions that were added "
    "(geosleuth atlas add FILE.osm.pbf)."
)
_LINE_CHARS = 300
_QUERY_CHARS = 80
_JOINERS = "\u200c\u200d"  # part of the spelling of Persian and of Indian scripts, unlike all other format characters


def one_line(text: str, limit: int = _LINE_CHARS) -> str:
    """A text on one line, without control and direction characters and half surrogates, cut at ``limit``."""
    kept = (
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in text[: 4 * limit]
        if char in _JOINERS or unicodedata.category(char) not in ("Cf", "Cs")
    )
    line = " ".join("".join(kept).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def quoted(text: str, limit: int = _LINE_CHARS) -> str:
    """Somebody else's words, on one line and in quotation marks that the words can't close."""
    return json.dumps(one_line(text, limit), ensure_ascii=False)


def required_text(text: str, name: str, example: str) -> str:
    """A text that must say something.

    Raises:
        BadInput: it is empty.
    """
    line = one_line(text, 1000)
    if not line:
        raise BadInput(f"{name} is empty; write something such as {example!r}")
    return line


def asked(text: str) -> str:
    """What was asked for, as an answer repeats it."""
    return quoted(text, _QUERY_CHARS)


def at(point: LatLon) -> str:
    """Coordinates to about a metre."""
    return f"{point.lat:.5f}, {point.lon:.5f}"


def length(distance_km: float) -> str:
    """A distance as people say it."""
    if distance_km < 0.9995:
        return f"{1000 * distance_km:.0f} m"
    return f"{distance_km:.1f} km" if distance_km < 99.95 else f"{distance_km:.0f} km"


def point_data(point: LatLon) -> dict[str, float]:
    """A point in JSON types."""
    return {"lat": point.lat, "lon": point.lon}


def extent_data(extent: Extent) -> dict[str, float]:
    """A disc or a box in JSON types."""
    if isinstance(extent, Disc):
        return {**point_data(extent.centre), "radius_km": extent.radius_km}
    return {"south": extent.south, "west": extent.west, "north": extent.north, "east": extent.east}


def place_data(place: Place, *, details: bool = False) -> dict[str, Any]:
    """A place in JSON types; its details only where they are asked for, since they may be long."""
    return {
        "id": place.id,
        "name": place.name,
        "kind": place.kind,
        **point_data(place.point),
        "extent": extent_data(place.extent),
        "country": place.country,
        "region": place.region,
        "address": place.address,
        "source": place.source,
        **({"details": dict(place.details)} if details else {}),
    }


def hit_data(hit: Hit) -> dict[str, Any]:
    """A place found, and how, in JSON types."""
    how = {"score": hit.score, "match": hit.match, "matched": hit.matched, "distance_km": hit.distance_km}
    return {**place_data(hit.place), **how}


def place_words(place: Place) -> str:
    """A place's name, kind and address."""
    address = one_line(place.address or "")
    if address.startswith(place.name):
        return f"{address} ({one_line(place.kind)})"
    return ", ".join(filter(None, (f"{one_line(place.name)} ({one_line(place.kind)})", address)))


def hit_words(hit: Hit) -> str:
    """A place found, on one line: what, where, how far, how well it fits, its id."""
    parts = [place_words(hit.place), at(hit.place.point)]
    if hit.distance_km is not None:
        parts.append(f"{length(hit.distance_km)} away")
    if hit.match != "near":
        other = f" as {quoted(hit.matched)}" if hit.matched.casefold() != hit.place.name.casefold() else ""
        parts.append(f"{hit.match} match{other}, confidence {hit.score:.2f}")
    return "; ".join([*parts, f"id {one_line(hit.place.id)}"])


def numbered(title: str, lines: Iterable[str], sources: Sequence[str] = ()) -> str:
    """A title, results counted from 1, and where they are from."""
    credit = [f"From: {'; '.join(one_line(source) for source in sources)}."] if sources else []
    return "\n".join([title, *(f"{number}. {line}" for number, line in enumerate(lines, 1)), *credit])


def hits_output(title: str, hits: Sequence[Hit], nothing: str) -> Output:
    """Places found, best first, or what to say where there are none."""
    sources = unique(hit.place.source for hit in hits)
    text = numbered(title, map(hit_words, hits), sources) if hits else nothing
    return Output(text, {"results": [hit_data(hit) for hit in hits]}, sources=sources)


def percent(share: float) -> str:
    """A share of one as people write it."""
    return f"{whole_percent(share)} %"


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(items))
