"""The look of a picture, as the tool `visual_prior` sees it, as a clue."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, TypeGuard

from geosleuth.evidence import Clue, CluePlace
from geosleuth.evidence.country_prior import normalize
from geosleuth.geo import LatLon, is_valid
from geosleuth.names import country_name

# Default reliability of a picture's appearance as a clue, used if the tool states none.
RELIABILITY = 0.6

_SHOWN = 3


def visual_clues(data: Mapping[str, Any]) -> Iterator[Clue]:
    """One clue, or none where the tool found nothing; what is malformed is passed over."""
    countries = normalize(_parse_shares(data.get("countries")))
    spots = tuple(_spots(data.get("cells")))
    if not countries and not spots:
        return
    # A country of which no photo is known may still be the likelier one; none of its photos look alike.
    known = [code for code in _codes(data.get("looks_like")) if countries.get(code)] or list(countries)
    likely = " or ".join(country_name(code) for code in known[:_SHOWN])
    says = f"photos that look alike are from {likely}" if likely else f"photos that look alike are from {spots[0].name}"
    stated, caution = data.get("reliability"), data.get("says")
    reliability = stated if _is_share(stated) else RELIABILITY
    if reliability > 0:
        yield Clue(
            kind="visual",
            seen="the look of the picture",
            says=says,
            reliability=reliability,
            countries=countries,
            spots=spots,
            sources=("visual prior",),
            caution=caution if isinstance(caution, str) else None,
        )


def _parse_shares(given: Any) -> dict[str, float]:
    if isinstance(given, Mapping):
        return {str(code): float(share) for code, share in given.items() if _is_share(share)}
    return {}


def _codes(given: Any) -> list[str]:
    return [code for code in given if isinstance(code, str)] if isinstance(given, list) else []


def _spots(given: Any) -> Iterator[CluePlace]:
    rows: Sequence[Any] = given if isinstance(given, list) else []
    for row in rows:
        lat, lon, radius_km, share = (row.get(key) for key in ("lat", "lon", "radius_km", "probability"))
        if is_valid(lat, lon) and isinstance(radius_km, int | float) and radius_km > 0 and _is_share(share):
            point = LatLon(float(lat), float(lon))
            yield CluePlace(
                f"{point.lat:.1f}, {point.lon:.1f}", point, float(radius_km), float(share), row.get("country")
            )


def _is_share(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and 0 <= value <= 1
