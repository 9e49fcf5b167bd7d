"""The form in which the tables of lands say what signs look like somewhere."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Town:
    """A town as its own signs name it."""

    name: str
    lat: float
    lon: float
    postcode: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class Land:
    """One language of one country: its towns, what shops and streets are called, how a price is written.

    Streets go with the towns, in their order; where there are fewer, they are such as every town has.

    ``digits`` is how many figures follow a country code in a number with an area code; 0 where mobile numbers are
    drawn instead. ``own`` says that town and language together leave no doubt of the country, so that a scene needs
    no further clue.
    """

    code: str
    domain: str
    towns: tuple[Town, ...]
    words: tuple[str, ...]
    streets: tuple[str, ...]
    prices: tuple[str, ...]
    digits: int
    own: bool


def land(
    code: str, domain: str, towns: str, words: str, streets: str = "", prices: str = "", digits: int = 0, *,
    own: bool = False,
) -> Land:  # fmt: skip
    """A land from texts: parts stand between bars, what is known of a town between semicolons."""
    return Land(code, domain, _towns(towns), _cut(words), _cut(streets), _cut(prices), digits, own)


def _cut(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|") if part.strip())


def _towns(text: str) -> tuple[Town, ...]:
    found = []
    for part in _cut(text):
        name, lat, lon, *more = (word.strip() for word in part.split(";"))
        found.append(Town(name, float(lat), float(lon), *more))
    return tuple(found)
