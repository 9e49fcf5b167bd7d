"""The tool `text_clues`: what the numbers and words on a sign tell about where it stands, each and together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from geosleuth.errors import BadInput
from geosleuth.names import country_name

from .declare import tool
from .model import Case, Output
from .results import SpotData
from .together import LEAST_SHARE, each_point_once, together_data, together_words, weighed
from .viewer import Viewer, text_of
from .wording import asked, at, length, numbered, one_line, percent, point_data, quoted, unique

if TYPE_CHECKING:
    from geosleuth.clues import Clue, TextSeen

_LINES = 40
_SHOWN = 8
_COUNTRIES = 4
_SPOTS = 3
_TOLD = 3
# Lines lie under each other, as on a sign: clues may be split over neighbours.
_LINE_HEIGHT, _LINE_WIDTH = 30.0, 400.0


class _Clue(TypedDict):
    kind: str
    seen: str
    says: str
    reliability: float
    countries: dict[str, float]
    spots: list[SpotData]
    caution: str | None


class _Together(TypedDict):
    places: list[SpotData]
    countries: dict[str, float]


class _Clues(TypedDict):
    together: _Together
    results: list[_Clue]


def _what_it_tells(data: Mapping[str, Any]) -> str:
    rows = data.get("results")
    said = [str(row.get("says")) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return f"that tells: {'; '.join(said[:_TOLD])}" if said else ""


@tool(
    "text_clues",
    use="learn what a phone number, postcode, plate, price or web address on a sign says about where it is",
    result=_Clues,
    viewer=Viewer(lambda given: f"asks what {text_of(given, 'text') or 'a sign'} tells", _what_it_tells, icon="text"),
    needs=("atlas",),
    aliases=("clues", "phone_lookup", "postcode_lookup", "plate_lookup"),
    renames={"lines": "text", "query": "text", "number": "text", "phone": "text"},
)
async def text_clues(case: Case, text: str) -> Output:
    """Say what the text on a sign tells of countries and areas: phone numbers, postcodes, plates, prices, languages.

    Web addresses, road numbers and dates count too. Telephone numbers lead to the area of their code, postcodes to the
    towns whose addresses have them on the map, distances to where they meet. What all lines say together comes first.
    Every clue says how often its kind is about the place at all.

    Args:
        text: a line as it stands on the sign, such as "Tel. +44 1463 608026"; or several lines.
    """
    lines = [line for part in text.splitlines() if (line := one_line(part))]
    if not lines:
        raise BadInput("text is empty; write a line of a sign, such as 'Tel. +44 1463 608026'")
    seen = [_seen(number, line) for number, line in enumerate(lines[:_LINES])]
    told = await weighed(case, seen)
    clues = sorted(told.found.clues, key=lambda clue: not clue.spots)  # what leads to a place comes first
    data = {"together": together_data(told.found), "results": [_clue_data(clue) for clue in clues]}
    sources = unique(source for clue in clues for source in clue.sources)
    unasked = f"\nNot everything could be looked up: {one_line(told.trouble)}" if told.trouble else ""
    if not clues:
        nothing = f"{asked(text)} tells nothing of countries or areas. Names of places and shops are for the map."
        return Output(nothing + unasked, data, sources=sources)
    together = together_words(told.found)
    title = f"What {asked(text)} tells, together: {together}. One by one:" if together else f"What {asked(text)} tells:"
    body = numbered(title, [_line(clue) for clue in clues[:_SHOWN]], sources)
    return Output(body + unasked, data, sources=sources)


def _seen(number: int, line: str) -> "TextSeen":
    from geosleuth.clues import TextSeen
    from geosleuth.photo.text import script_of

    top = number * _LINE_HEIGHT
    return TextSeen(line, "text", (0.0, top, _LINE_WIDTH, top + _LINE_HEIGHT), 1.0, script_of(line))


def _line(clue: "Clue") -> str:
    parts = [f"{clue.kind.replace('_', ' ')} {quoted(clue.seen, 60)}: {one_line(clue.says)}"]
    parts += [
        f"{one_line(spot.name)}: {at(spot.point)}, within {length(spot.radius_km)}"
        for spot in each_point_once(clue.spots)[:_SPOTS]
    ]
    likely = [(code, share) for code, share in _likeliest(clue) if share >= LEAST_SHARE]
    if len(likely) > 1:
        parts.append(", ".join(f"{country_name(code)} {percent(share)}" for code, share in likely))
    parts.append(f"about the place in {percent(clue.reliability)} of cases")
    return "; ".join([*parts, *([clue.caution] if clue.caution else [])])


def _likeliest(clue: "Clue") -> list[tuple[str, float]]:
    return sorted(clue.countries.items(), key=lambda one: (-one[1], one[0]))[:_COUNTRIES]


def _clue_data(clue: "Clue") -> dict[str, Any]:
    return {
        "kind": clue.kind,
        "seen": clue.seen,
        "says": clue.says,
        "reliability": clue.reliability,
        "countries": dict(clue.countries),
        "spots": [
            {
                "name": spot.name,
                **point_data(spot.point),
                "radius_km": spot.radius_km,
                "share": spot.weight,
                "country": spot.country,
            }
            for spot in clue.spots
        ],
        "caution": clue.caution,
    }
