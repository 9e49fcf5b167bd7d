"""The field guide as tools: what was seen becomes odds, candidates are told apart, and tables are read."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TypedDict

from geosleuth.names import country_name

from .calls import Case, Output
from .declare import tool
from .viewer import Viewer, get_text, percent, quote, require_text

_SOURCE = "geosleuth field guide"
_SHOWN_COUNTRIES = 10
_SHOWN_REGIONS = 4
_SHOWN_UNKNOWN = 6
_SHOWN_FORMS = 3
_SHOWN_ALIKE = 4
_SHOWN_ROWS = 24
_MIN_SHARE = 0.01


class _Seen(TypedDict):
    attribute: str
    values: list[str]
    confidence: float
    moved: dict[str, float]


class _Odds(TypedDict):
    sightings: list[_Seen]
    not_understood: list[str]
    countries: dict[str, float]
    regions: dict[str, dict[str, float]]


class _Tells(TypedDict):
    attribute: str
    bits: float
    values: dict[str, list[str]]


class _Differences(TypedDict):
    differences: list[_Tells]


class _Rows(TypedDict):
    rows: dict[str, dict[str, str]]


@tool(
    "weigh_sightings",
    use="turn what streets show (lines, plates, poles, roofs, trees) into odds over countries",
    result=_Odds,
    viewer=Viewer(lambda _: "weighs what is seen on the street"),
    aliases=("weigh_clues", "weigh"),
    renames={"sighting": "sightings", "clues": "sightings", "features": "sightings", "observations": "sightings"},
)
async def weigh_sightings(case: Case, sightings: list[str], within: list[str] | None = None) -> Output:  # noqa: ARG001  # every tool takes the case
    """Odds over countries from what is seen, and what moved them.

    Args:
        sightings: one thing each: "double yellow centre line", "red soil @0.6" (60 % sure).
        within: countries it must be in; of one, its regions.
    """
    from geosleuth.evidence.guide import place_code
    from geosleuth.evidence.guide import weigh_sightings as weigh

    only = [place_code(name) for name in within or ()]
    weighed = await asyncio.to_thread(weigh, sightings, within=only)
    seen: list[_Seen] = [
        {
            "attribute": one.attribute,
            "values": list(one.values),
            "confidence": one.confidence,
            "moved": {move.place: round(move.factor, 2) for move in moves},
        }
        for one, moves in zip(weighed.sightings, weighed.moves, strict=True)
    ]
    countries = {code: round(share, 4) for code, share in weighed.countries.items() if share >= _MIN_SHARE}
    data: _Odds = {
        "sightings": seen,
        "not_understood": list(weighed.not_understood),
        "countries": countries,
        "regions": {
            code: {place: round(share, 4) for place, share in list(found.items())[:_SHOWN_REGIONS]}
            for code, found in weighed.regions.items()
        },
    }
    lines = [f"Odds: {_odds(countries)}."] if seen else ["Nothing in the field guide fits these words."]
    lines += [
        f"{quote(read.words)}: {one['attribute']} = {_forms(one['values'])}: {_format_factors(one['moved'])}"
        for read, one in zip(weighed.sightings, seen, strict=True)
    ]
    lines += [
        f"In {country_name(code)}: {_odds(found, regions=True)}"
        for code, found in data["regions"].items()
        if code in countries
    ]
    if weighed.not_understood:
        lines.append(f"Not in the guide: {'; '.join(weighed.not_understood[:_SHOWN_UNKNOWN])}")
    return Output("\n".join(lines), data, sources=(_SOURCE,))


@tool(
    "tell_apart",
    use="learn what tells candidate countries apart",
    result=_Differences,
    viewer=Viewer(lambda given: f"asks what tells {get_text(given, 'candidates')} apart"),
    aliases=("differences", "compare_countries"),
    renames={"countries": "candidates", "places": "candidates"},
)
async def tell_apart(case: Case, candidates: list[str]) -> Output:  # noqa: ARG001  # every tool takes the case
    """What to look for to tell places apart, what photos show first.

    Args:
        candidates: countries or ISO 3166-2 regions.
    """
    from geosleuth.evidence.guide import field_guide as tables
    from geosleuth.evidence.guide import look_alike, place_code
    from geosleuth.evidence.guide import tell_apart as differences

    guide = await asyncio.to_thread(tables)
    codes = [place_code(candidate) for candidate in candidates]
    found = await asyncio.to_thread(differences, codes)
    note = [said] if (said := guide.stand_ins(codes)) else []
    data: _Differences = {
        "differences": [
            {
                "attribute": item.attribute,
                "bits": round(item.bits, 3),
                "values": {c: list(v) for c, v in item.values.items()},
            }
            for item in found
        ]
    }
    if not found:
        nothing = "The field guide has nothing that tells these apart: they look alike."
        return Output("\n".join([nothing, *note]), data, sources=(_SOURCE,))
    alike = look_alike(found)
    lines = [*note, *(["Their streets look much alike."] if alike else [])]
    for item in found[: _SHOWN_ALIKE if alike else None]:
        labels = guide.values[item.attribute]
        each = (
            f"{code} {', '.join(labels[value].label for value in values) or 'none of these'}"
            for code, values in item.values.items()
        )
        lines.append(f"{guide.attributes[item.attribute].label}: {'; '.join(each)}")
    return Output("\n".join(lines), data, sources=(_SOURCE,))


@tool(
    "field_guide",
    use="read what a country's streets look like",
    result=_Rows,
    viewer=Viewer(lambda given: f"reads the field guide on {get_text(given, 'about')}".rstrip()),
    renames={"place": "about", "country": "about", "attribute": "about", "query": "about"},
)
async def field_guide(case: Case, about: str) -> Output:  # noqa: ARG001  # every tool takes the case
    """What a country's streets look like, or where each form of a thing is found.

    Args:
        about: a country, region, or thing: "bollard".
    """
    from geosleuth.evidence.guide import field_guide as tables
    from geosleuth.evidence.guide import most_telling, place_code

    asked = require_text(about, "about", "Norway")
    guide = await asyncio.to_thread(tables)
    name = guide.attribute_called(asked)
    if name is None:
        place = guide.resolve_code(place_code(asked))
        found = guide.of_place(place)
        labels = [guide.attributes[item].label for item in await asyncio.to_thread(most_telling, place)]
        rows = {label: found[label] for label in labels}
        left = len(rows) - _SHOWN_ROWS
    else:
        rows, left = dict(guide.of_attribute(name)), 0
    data: _Rows = {"rows": {key: dict(row) for key, row in rows.items()}}
    lines = [f"{key}: {', '.join(f'{what} ({grade})' for what, grade in row.items())}" for key, row in rows.items()]
    if left > 0:
        lines[_SHOWN_ROWS:] = [f"{left} more say less: {', '.join(list(rows)[_SHOWN_ROWS:])}"]
    return Output("\n".join(lines), data, sources=(_SOURCE,))


def _odds(shares: Mapping[str, float], *, regions: bool = False) -> str:
    shown: Sequence[tuple[str, float]] = list(shares.items())[:_SHOWN_COUNTRIES]
    return ", ".join(f"{code if regions else country_name(code)} {percent(share)}" for code, share in shown)


def _forms(values: Sequence[str]) -> str:
    """Return the first few of the values that words fit, by name."""
    more = f" or {len(values) - _SHOWN_FORMS} more" if len(values) > _SHOWN_FORMS else ""
    return " or ".join(values[:_SHOWN_FORMS]) + more


def _format_factors(moves: Mapping[str, float]) -> str:
    return (
        "says little"
        if not moves
        else ", ".join(f"{country_name(code)} x{factor:.2g}" for code, factor in moves.items())
    )
