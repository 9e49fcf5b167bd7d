"""Views of a tool at work: progress lines, numbered lines to read, and the same in JSON types.

What was read in a photo, on a page or in a map entry is third-party text. It is kept on one line, without control
characters, and stands in quotation marks, so that it can't pass for ours.

The content of a call or a result is third-party text: it stands in quotation marks.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from geosleuth.answer.answer import whole_percent
from geosleuth.atlas import Hit, Place
from geosleuth.geo import Disc, Extent, LatLon, is_valid
from geosleuth.support.errors import BadInput

from .calls import Output

_LINE_CHARS = 300
_QUERY_CHARS = 80
_JOINERS = "\u200c\u200d"  # part of the spelling of Persian and of Indian scripts, unlike all other format characters

Icon = Literal["zoom", "text", "map", "note", "sun", "search"]
"""The pictures that the page has for tools."""
Arguments = Mapping[str, Any]
Words = Callable[[Mapping[str, Any]], str]
"""From the arguments of a call, or the data of its result, to a few words on one line."""
# Argument that describes in words the part of the photo which a call's box covers, if known.
PART_ARGUMENT = "the part in words"
NAME_CHARS = 60
_SHOWN = 3
_FIELD = re.compile(r"\{(\w+)\}")


def one_line(text: str, limit: int = _LINE_CHARS) -> str:
    """A text on one line, without control and direction characters and half surrogates, cut at ``limit``."""
    kept = (
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char
        for char in text[: 4 * limit]
        if char in _JOINERS or unicodedata.category(char) not in ("Cf", "Cs")
    )
    line = " ".join("".join(kept).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def quote(text: str, limit: int = _LINE_CHARS) -> str:
    """Quote third-party text on one line, in quotation marks that its words can't close."""
    return json.dumps(one_line(text, limit), ensure_ascii=False)


def require_text(text: str, name: str, example: str) -> str:
    """Return a text; raise if it is empty.

    Raises:
        BadInput: it is empty.
    """
    line = one_line(text, 1000)
    if not line:
        raise BadInput(f"{name} is empty; write something such as {example!r}")
    return line


def format_question(text: str) -> str:
    """Return a question as an answer repeats it."""
    return quote(text, _QUERY_CHARS)


def format_point(point: LatLon) -> str:
    """Return coordinates to about a metre."""
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
    how: dict[str, Any] = {
        "score": hit.score,
        "match": hit.match,
        "matched": hit.matched,
        "distance_km": hit.distance_km,
    }
    how |= {"level": hit.level, "missing": list(hit.missing)}
    return {**place_data(hit.place), **how}


def place_words(place: Place) -> str:
    """A place's name, kind and address."""
    address = one_line(place.address or "")
    if address.startswith(place.name):
        return f"{address} ({one_line(place.kind)})"
    return ", ".join(filter(None, (f"{one_line(place.name)} ({one_line(place.kind)})", address)))


def hit_words(hit: Hit) -> str:
    """A place found, on one line: what, where, how far, how well it fits, its id."""
    wide = hit.match == "part" and hit.level in ("region", "country")
    parts = [
        place_words(hit.place),
        f"somewhere in it; {format_point(hit.place.point)} is its main town" if wide else format_point(hit.place.point),
    ]
    if hit.distance_km is not None:
        parts.append(f"{length(hit.distance_km)} away")
    if hit.match == "part":
        parts.append(f"only the {hit.level} is known, not {', '.join(map(quote, hit.missing))}")
    elif hit.match != "near":
        other = f" as {quote(hit.matched)}" if hit.matched.casefold() != hit.place.name.casefold() else ""
        parts.append(f"{hit.match} match{other}, confidence {hit.score:.2f}")
    return "; ".join([*parts, f"id {one_line(hit.place.id)}"])


def number_lines(title: str, lines: Iterable[str], sources: Sequence[str] = ()) -> str:
    """Return a title, results counted from 1, and their sources."""
    credit = [f"From: {'; '.join(one_line(source) for source in sources)}."] if sources else []
    return "\n".join([title, *(f"{number}. {line}" for number, line in enumerate(lines, 1)), *credit])


def hits_output(title: str, hits: Sequence[Hit], nothing: str) -> Output:
    """Places found, best first, or what to say where there are none."""
    sources = unique(hit.place.source for hit in hits)
    text = number_lines(title, map(hit_words, hits), sources) if hits else nothing
    return Output(text, {"results": [hit_data(hit) for hit in hits]}, sources=sources)


def percent(share: float) -> str:
    """A share of one as people write it."""
    return f"{whole_percent(share)} %"


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(items))


@dataclass(frozen=True, slots=True)
class Viewer:
    """Progress text of a tool call for people.

    Attributes:
        call: what a call does, in words that follow "it": "looks up {address} on the map". Arguments in braces are
            quoted, and left out where a call does not give them; ``{image}`` is said in words. Or a function of the
            arguments.
        result: what came of it, such as "magnified it"; a function of the result's data. Left out, places are counted
            and named; where there are none, the first line of the result's text is shown.
        icon: the picture beside it.
    """

    call: str | Words = ""
    result: Words | None = None
    icon: Icon = "search"

    def call_words(self, arguments: Arguments) -> str:
        """Return what a call with these arguments does; empty where nothing was declared."""
        if not isinstance(self.call, str):
            return self.call(arguments)
        filled = _FIELD.sub(lambda match: _argument(arguments, match[1]), self.call)
        return " ".join(filled.split())

    def result_words(self, data: Mapping[str, Any]) -> str:
        """Return what came of a call; empty where its text says it better."""
        return (self.result or places_found)(data)


def get_text(arguments: Arguments, *names: str) -> str:
    """Return the first of these arguments that holds text, quoted; empty if there is none."""
    value = next((value for name in names if isinstance(value := arguments.get(name), str) and value.strip()), "")
    return quote(value, NAME_CHARS) if value else ""


def several(arguments: Arguments, name: str) -> str:
    """The texts of a list, quoted, with "and" before the last."""
    values = arguments.get(name)
    listed = [quote(str(value), NAME_CHARS) for value in values] if isinstance(values, list | tuple) else []
    return f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)


def describe_image(arguments: Arguments) -> str:
    """Return the image, or the part of it, that a call looks at, in words."""
    image = arguments["image"] if isinstance(arguments.get("image"), str) else "the photo"
    if PART_ARGUMENT in arguments:
        return f"the part of {image} {arguments[PART_ARGUMENT]}"
    return f"a part of {image}" if arguments.get("bbox_2d") else image


def describe_point(arguments: Arguments) -> str:
    """Return the point that a call names, as " at LAT, LON"; empty if it names none."""
    lat: Any = arguments.get("latitude")
    lon: Any = arguments.get("longitude")
    return f" at {format_point(LatLon(float(lat), float(lon)))}" if is_valid(lat, lon) else ""


def looks_up(what: str, *names: str) -> Words:
    """Words of a search on the map: what is done, for which argument, in which country."""

    def words(arguments: Arguments) -> str:
        country = arguments.get("country")
        there = f" in {one_line(country, 40)}" if isinstance(country, str) and country else ""
        return f"{what} {get_text(arguments, *names)}".rstrip() + f" on the map{there}"

    return words


def iterate_places(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a result that may be places, in its own order."""
    if "address" in data and is_valid(data.get("lat"), data.get("lon")):
        yield data
        return
    for key in ("results", "fixes"):
        rows = data.get(key)
        if isinstance(rows, list):
            for row in (item for item in rows if isinstance(item, Mapping)):
                spots = row.get("spots")
                yield from (spot for spot in spots if isinstance(spot, Mapping)) if isinstance(spots, list) else (row,)


def place_name(row: Mapping[str, Any]) -> str:
    """Return a row's name of its place."""
    inside = row.get("places")
    if isinstance(inside, list) and not row.get("name") and not row.get("address"):
        return " + ".join(str(item.get("name")) for item in inside if isinstance(item, Mapping))
    return str(row.get("name") or row.get("place") or row.get("address") or row.get("title") or "")


def places_found(data: Mapping[str, Any]) -> str:
    """Return the number of places in a result, and the first of their names."""
    return count_names([name for row in iterate_places(data) if (name := place_name(row))], "place", "places", "found")


def count_names(names: list[str], text: str, more: str, did: str) -> str:
    """Return the number of names and the first few of them, quoted: 'found 2 places: "A", "B"'."""
    if not names:
        return ""
    shown = ", ".join(quote(name, NAME_CHARS) for name in names[:_SHOWN])
    return f"{did} {len(names)} {text if len(names) == 1 else more}: {shown}{', …' if len(names) > _SHOWN else ''}"


def _argument(arguments: Arguments, name: str) -> str:
    if name == "image":
        return describe_image(arguments)
    value = arguments.get(name)
    if isinstance(value, list | tuple):
        return several(arguments, name)
    return "" if value is None or value == "" else quote(str(value), NAME_CHARS)
