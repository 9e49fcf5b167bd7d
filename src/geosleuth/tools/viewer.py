"""How people see a tool at work: on the page, in progress lines and in reports.

Whatever a call or a result holds is somebody else's text: it stands in quotation marks.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from geosleuth.geo import LatLon, is_valid

from .wording import at, one_line, quoted

Icon = Literal["zoom", "text", "map", "note", "sun", "search"]
"""The pictures that the page has for tools."""

Arguments = Mapping[str, Any]
Words = Callable[[Mapping[str, Any]], str]
"""From the arguments of a call, or the data of its result, to a few words on one line."""

PART = "the part in words"
"""The argument under which a call's words find which part of the photo its box covers, where somebody knows."""

NAME_CHARS = 60
_SHOWN = 3
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Viewer:
    """What people read about a call of a tool.

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


def text_of(arguments: Arguments, *names: str) -> str:
    """The first of these arguments that holds text, quoted; empty where none does."""
    value = next((value for name in names if isinstance(value := arguments.get(name), str) and value.strip()), "")
    return quoted(value, NAME_CHARS) if value else ""


def several(arguments: Arguments, name: str) -> str:
    """The texts of a list, quoted, with "and" before the last."""
    values = arguments.get(name)
    listed = [quoted(str(value), NAME_CHARS) for value in values] if isinstance(values, list | tuple) else []
    return f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)


def image_of(arguments: Arguments) -> str:
    """The image that a call looks at, or the part of it, in words."""
    image = arguments["image"] if isinstance(arguments.get("image"), str) else "the photo"
    if PART in arguments:
        return f"the part of {image} {arguments[PART]}"
    return f"a part of {image}" if arguments.get("bbox_2d") else image


def point_of(arguments: Arguments) -> str:
    """The point that a call names, as " at LAT, LON"; empty where it names none."""
    lat: Any = arguments.get("latitude")
    lon: Any = arguments.get("longitude")
    return f" at {at(LatLon(float(lat), float(lon)))}" if is_valid(lat, lon) else ""


def looks_up(what: str, *names: str) -> Words:
    """Words of a search on the map: what is done, for which argument, in which country."""

    def words(arguments: Arguments) -> str:
        country = arguments.get("country")
        there = f" in {one_line(country, 40)}" if isinstance(country, str) and country else ""
        return f"{what} {text_of(arguments, *names)}".rstrip() + f" on the map{there}"

    return words


def places_in(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows of a result that may be places, in its own order."""
    if "address" in data and is_valid(data.get("lat"), data.get("lon")):
        yield data
        return
    for key in ("results", "fixes"):
        rows = data.get(key)
        if isinstance(rows, list):
            for row in (one for one in rows if isinstance(one, Mapping)):
                spots = row.get("spots")
                yield from (one for one in spots if isinstance(one, Mapping)) if isinstance(spots, list) else (row,)


def place_name(row: Mapping[str, Any]) -> str:
    """What a row of a result calls its place."""
    inside = row.get("places")
    if isinstance(inside, list) and not row.get("name") and not row.get("address"):
        return " + ".join(str(one.get("name")) for one in inside if isinstance(one, Mapping))
    return str(row.get("name") or row.get("place") or row.get("address") or row.get("title") or "")


def places_found(data: Mapping[str, Any]) -> str:
    """How many places a result holds, and the first of their names."""
    return counted([name for row in places_in(data) if (name := place_name(row))], "place", "places", "found")


def counted(names: list[str], one: str, more: str, did: str) -> str:
    """How many there are, and the first few of them, quoted: 'found 2 places: "A", "B"'."""
    if not names:
        return ""
    shown = ", ".join(quoted(name, NAME_CHARS) for name in names[:_SHOWN])
    return f"{did} {len(names)} {one if len(names) == 1 else more}: {shown}{', …' if len(names) > _SHOWN else ''}"


def _argument(arguments: Arguments, name: str) -> str:
    if name == "image":
        return image_of(arguments)
    value = arguments.get(name)
    if isinstance(value, list | tuple):
        return several(arguments, name)
    return "" if value is None or value == "" else quoted(str(value), NAME_CHARS)
