"""Google's two forms of a place, read into ours."""

from geosleuth.atlas.model import Place

from . import shape
from .found import nested_text, spot
from .text import LONG_CHARS

FIELDS = (
    "id",
    "displayName",
    "formattedAddress",
    "location",
    "viewport",
    "primaryType",
    "types",
    "addressComponents",
    "internationalPhoneNumber",
    "websiteUri",
)
"""The fields asked of Places; each is billed, so no more than are used."""

_KINDS = {
    "country": "country",
    "administrative_area_level_1": "region",
    "administrative_area_level_2": "region",
    "locality": "city",
    "postal_town": "city",
    "sublocality": "city",
    "administrative_area_level_3": "city",
    "route": "street",
    "intersection": "crossing",
    "street_address": "address",
    "premise": "address",
    "subpremise": "address",
    "airport": "airport",
}


def place_of(one: shape.Object) -> Place | None:
    """A place as Places (New) writes it."""
    location = shape.inner(one, "location")
    at = shape.point(location.get("latitude"), location.get("longitude"))
    identity, address = shape.text(one, "id", 300), shape.text(one, "formattedAddress", LONG_CHARS)
    name = nested_text(one, "displayName", "text") or (address.split(",")[0] if address else None)
    if at is None or not identity or not name:
        return None
    low, high = shape.inner(one, "viewport", "low"), shape.inner(one, "viewport", "high")
    extent = shape.box(low.get("latitude"), low.get("longitude"), high.get("latitude"), high.get("longitude"))
    types = [shape.text(one, "primaryType") or "", *shape.words(one, "types")]
    facts = shape.details({"phone": one.get("internationalPhoneNumber"), "website": one.get("websiteUri")})
    if any(types):
        facts["types"] = ", ".join(dict.fromkeys(sort for sort in types if sort))
    return Place(
        f"google:{identity}",
        name,
        _kind(types),
        at,
        extent or spot(at),
        "google",
        shape.country(component(one, "country")[1]),
        component(one, "administrative_area_level_1")[0],
        address,
        facts,
    )


def geocoded_place(one: shape.Object) -> Place | None:
    """A place as Geocoding writes it."""
    geometry = shape.inner(one, "geometry")
    location = shape.inner(geometry, "location")
    at = shape.point(location.get("lat"), location.get("lng"))
    identity, address = shape.text(one, "place_id", 300), shape.text(one, "formatted_address", LONG_CHARS)
    if at is None or not identity or not address:
        return None
    around = shape.inner(geometry, "bounds") or shape.inner(geometry, "viewport")
    low, high = shape.inner(around, "southwest"), shape.inner(around, "northeast")
    types = shape.words(one, "types")
    first = next(shape.objects(one, "address_components"), {})
    named = any(sort in shape.words(first, "types") for sort in types)
    return Place(
        f"google:{identity}",
        (shape.text(first, "long_name") if named else None) or address.split(",")[0],
        _kind(types),
        at,
        shape.box(low.get("lat"), low.get("lng"), high.get("lat"), high.get("lng")) or spot(at),
        "google",
        shape.country(component(one, "country")[1]),
        component(one, "administrative_area_level_1")[0],
        address,
        {"types": ", ".join(types)} if types else {},
    )


def component(one: shape.Object, sort: str) -> tuple[str | None, str | None]:
    """The long and the short name of one level of an address, in either form."""
    for part in (*shape.objects(one, "addressComponents"), *shape.objects(one, "address_components")):
        if sort in shape.words(part, "types"):
            return shape.first_text(part, "longText", "long_name"), shape.first_text(part, "shortText", "short_name")
    return None, None


def _kind(types: list[str]) -> str:
    known = next((_KINDS[sort] for sort in types if sort in _KINDS), None)
    return known or f"google={next((sort for sort in types if sort), 'place')}"
