"""What a text query may mean: which part is the name, which parts say where."""

from dataclasses import dataclass

from geosleuth.atlas.search import exact_key
from geosleuth.atlas.search.keys import MAX_QUERY_CHARS
from geosleuth.names import country_code

_MAX_PARTS = 6
_COUNTRY_OR_REGION = frozenset({"georgia"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A name to look up, the country it must be in, and keys of what it may lie in."""

    name: str
    country: str | None = None
    parents: tuple[str, ...] = ()
    guessed: bool = False  # no comma said where the name ends: what follows it must be known to hold it

    @property
    def key(self) -> str:
        """The name, folded."""
        return exact_key(self.name)


def readings(text: str, country: str | None = None) -> list[Reading]:
    """The ways to read a query, most literal first; none for an empty one.

    "Paris, Texas, USA" is Paris inside Texas inside a country. Without commas, trailing words may be the country or
    what the place lies in: "springfield illinois".
    """
    text = " ".join(text[:MAX_QUERY_CHARS].split())
    parts = [part.strip() for part in text.split(",") if exact_key(part)][:_MAX_PARTS]
    if not parts:
        return []
    found = [Reading(text, country)] if len(parts) > 1 else []
    found += _from_parts(parts, country)
    if len(parts) == 1:
        found += _from_words(parts[0].split(), country)
    unique = {(reading.key, reading.country, reading.parents): reading for reading in reversed(found)}
    return [reading for reading in reversed(unique.values()) if reading.key]


def _from_parts(parts: list[str], country: str | None) -> list[Reading]:
    name, *rest = parts
    keys = tuple(exact_key(part) for part in rest)
    code = country_code(rest[-1]) if rest and country is None else None
    if code is None:
        return [Reading(name, country, keys)]
    inside = Reading(name, code, keys[:-1])
    # "Athens, Georgia" and "Cambridge, MA": what may be a region too is tried as both, and what is found decides.
    return [inside, Reading(name, None, keys)] if _may_be_region(rest[-1]) else [inside]


def _may_be_region(tail: str) -> bool:
    return exact_key(tail) in _COUNTRY_OR_REGION or (len(tail.strip()) == 2 and tail.isascii())


def _from_words(words: list[str], country: str | None) -> list[Reading]:
    found = []
    for cut in range(len(words) - 1, max(0, len(words) - 4), -1):
        name, tail = " ".join(words[:cut]), " ".join(words[cut:])
        if exact_key(tail) == exact_key(name):  # Bora Bora, Baden-Baden
            continue
        code = country_code(tail) if country is None else None
        if code is not None:
            found.append(Reading(name, code))
        if code is None or _may_be_region(tail):
            found.append(Reading(name, country, (exact_key(tail),), guessed=True))
    return found
