"""Countries as country-coder draws them: features, which ISO country each belongs to, and what a region code covers.

Source: ``src/data/borders.json`` of the npm package @rapideditor/country-coder 5.6.1 (ISC). Its features nest: France
has no shape of its own, metropolitan France and the overseas parts have. A fact is read from the parts.
"""

import json
import re
from functools import cache
from typing import Any

from registry import npm_file

VERSION = "5.6.1"

_SETTLED = {
    "Q7835": "UA", "Q23681": "CY", "FX": "FR", "IC": "ES", "EA": "ES", "CQ": "GG", "AC": "SH", "TA": "SH", "DG": "IO",
    "CP": "FR",
}  # fmt: skip
"""Features that ISO 3166-1 counts elsewhere: as GeoNames does, so that one atlas has one answer."""

_SETTLED_BY_NAME = {
    **dict.fromkeys(("Guernsey", "Alderney", "Sark"), "GG"),
    **dict.fromkeys(("Svalbard", "Jan Mayen"), "SJ"),
    **dict.fromkeys(("Bonaire", "Saba", "Sint Eustatius"), "BQ"),
    **dict.fromkeys(("Saint Helena", "Ascension Island", "Tristan da Cunha"), "SH"),
}


@cache
def features() -> list[dict[str, Any]]:
    """Properties of every feature; ``has_shape`` says whether it is drawn."""
    borders = json.loads(npm_file("@rapideditor/country-coder", VERSION, "src/data/borders.json"))
    return [{**feature["properties"], "has_shape": feature["geometry"] is not None} for feature in borders["features"]]


def iso_code(feature: dict[str, Any]) -> str:
    """The ISO 3166-1 alpha-2 code that a feature belongs to."""
    code = feature.get("iso1A2")
    settled = _SETTLED.get(feature["wikidata"]) or _SETTLED_BY_NAME.get(feature["nameEn"]) or _SETTLED.get(code or "")
    own = code if "iso1N3" in feature or code == "XK" else feature.get("country") or code
    return str(settled or own)


@cache
def parts() -> dict[str, list[dict[str, Any]]]:
    """The drawn features of each country."""
    by_country: dict[str, list[dict[str, Any]]] = {}
    for feature in features():
        if feature["has_shape"]:
            by_country.setdefault(iso_code(feature), []).append(feature)
    return by_country


@cache
def countries_in(code: str) -> frozenset[str]:
    """ISO codes of the countries in which a region lies: by ISO or M49 code, Wikidata id, name or alias.

    Raises:
        KeyError: country-coder knows no such region.
    """
    region = _by_identifier()[_plain(code)]
    own = {region.get("iso1A2"), region.get("m49"), region["wikidata"]} - {None}
    return frozenset(
        iso_code(feature)
        for feature in features()
        if feature["has_shape"]
        and (
            own & {feature.get("iso1A2"), feature["wikidata"], feature.get("country")}
            or own & set(feature.get("groups", ()))
        )
    )


@cache
def _by_identifier() -> dict[str, dict[str, Any]]:
    by_identifier: dict[str, dict[str, Any]] = {}
    keys = ("iso1A2", "iso1A3", "iso1N3", "m49", "wikidata", "nameEn")
    for feature in features():
        for value in [*(feature.get(key) for key in keys), *feature.get("aliases", ())]:
            if value:
                by_identifier.setdefault(_plain(value), feature)
    return by_identifier


def _plain(code: str) -> str:
    return re.sub(r"[^a-z0-9]", "", code.lower())
