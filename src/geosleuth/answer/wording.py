"""An answer in a few words that every view shares: how sure, how far, and the place as on an envelope."""

from .model import Address

_WORDS = (
    (0.97, "almost certain"),
    (0.85, "very likely"),
    (0.65, "likely"),
    (0.45, "as likely as not"),
    (0.2, "doubtful"),
    (0.0, "a long shot"),
)


def how_sure(probability: float | None) -> str:
    """What a probability means in everyday words."""
    if probability is None:
        return "how sure was not said"
    return next(words for least, words in _WORDS if probability >= least)


def whole_percent(share: float) -> int:
    """A share of one in whole percent.

    Answers keep three decimals, and an explanation speaks of the number before: rounded at once, 0.1348 would be 13 %
    in one line and 14 % in another.
    """
    return round(100 * round(share, 3))


def percent_words(probability: float) -> str:
    """A probability in percent, never quite nothing and never quite all."""
    rounded = whole_percent(probability)
    if rounded == 100:
        return "over 99 %"
    return "under 1 %" if rounded == 0 else f"{rounded} %"


def radius_words(radius_km: float) -> str:
    """A radius as people say it: 220 m, 2.5 km, 1,200 km."""
    if radius_km < 0.9995:
        return f"{max(1, round(1000 * radius_km)):,} m"
    return f"{radius_km:.1f} km".replace(".0 km", " km") if radius_km < 9.95 else f"{round(radius_km):,} km"


def envelope(address: Address) -> str:
    """The names, finest first, none of them twice."""
    parts: list[str] = []
    for level in (address.precise, address.region, address.country):
        name = level.conclusion or ""
        known = {part.strip().casefold() for written in parts for part in written.split(",")}
        if name and name.casefold() not in known:
            parts.append(name)
    return ", ".join(parts)
