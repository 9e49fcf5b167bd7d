"""Naming of shops and streets by language, and appearance of signs by country."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .tables import is_yes, parts, read_table

# Kinds of businesses as OpenStreetMap tags; the trades of a language are listed in this order.
KINDS: Final = (
    "shop=bakery", "amenity=pharmacy", "shop=butcher", "shop=books", "shop=hairdresser", "amenity=restaurant",
    "amenity=cafe", "shop=florist", "tourism=hotel", "shop=convenience", "shop=shoes", "shop=clothes",
    "shop=hardware", "shop=optician", "shop=car_repair", "amenity=fast_food",
)  # fmt: skip

# Letter for each kind, used for the chains in the table.
_LETTERS: Final = dict(zip("BPMLHRCFTGSKWOAX", KINDS, strict=True))
_LANGUAGE_COLUMNS: Final = (
    "code", "trades", "people", "houses", "common", "forms", "common_form", "town_form", "street_forms",
    "street_stems", "streets", "chains", "towns",
)  # fmt: skip
_LAND_COLUMNS: Final = (
    "code", "language", "domain", "towns", "words", "streets", "prices", "digits", "own", "listed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language and how they are put together.

    ``trades`` has, for each of `KINDS`, what such a business calls itself. ``people`` are surnames or what a language
    has in their place, ``houses`` what houses and shops are called otherwise, ``common`` what they are called in every
    other town. ``forms`` put a ``{trade}`` together with a ``{person}``, a ``{second}`` person, a ``{house}`` or a
    ``{second_house}``. Streets are made of ``street_forms`` and ``street_stems``, or stand whole in ``streets``.
    ``chains`` are names of made-up chains, each with its kind. ``towns`` are names as towns write them themselves,
    where the atlas's main names are in another script.
    """

    code: str
    trades: tuple[tuple[str, ...], ...]
    people: tuple[str, ...]
    houses: tuple[str, ...]
    common: tuple[str, ...]
    forms: tuple[str, ...]
    common_form: str
    town_form: str
    street_forms: tuple[str, ...]
    street_stems: tuple[str, ...]
    streets: tuple[str, ...]
    chains: tuple[tuple[str, str], ...]
    towns: tuple[str, ...]

    @property
    def trade_words(self) -> tuple[tuple[str, str], ...]:
        """Every trade word with its kind."""
        return tuple((kind, word) for kind, words in zip(KINDS, self.trades, strict=True) for word in words)


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
    no further clue. A land that is not ``listed`` has towns in a world only if they are asked for.
    """

    code: str
    language: str
    domain: str
    towns: tuple[Town, ...]
    words: tuple[str, ...]
    streets: tuple[str, ...]
    prices: tuple[str, ...]
    digits: int
    own: bool
    listed: bool


def read_languages() -> Iterator[Language]:
    """Yield every language."""
    for row in read_table("languages.tsv", _LANGUAGE_COLUMNS):
        plain = {name: row[name] for name in ("code", "common_form", "town_form")}
        lists = {name: parts(cell) for name, cell in row.items() if name not in ("trades", "chains", *plain)}
        yield Language(
            **plain, **lists,  # type: ignore[arg-type]
            trades=tuple(tuple(words.split("/")) for words in parts(row["trades"])),
            chains=tuple((chain[3:], _LETTERS[chain[0]]) for chain in parts(row["chains"])),
        )  # fmt: skip


def read_lands() -> Iterator[Land]:
    """Yield every land."""
    for row in read_table("lands.tsv", _LAND_COLUMNS):
        yield Land(
            row["code"], row["language"], row["domain"], tuple(map(_town, parts(row["towns"]))), parts(row["words"]),
            parts(row["streets"]), parts(row["prices"]), int(row["digits"]), is_yes(row["own"]), is_yes(row["listed"]),
        )  # fmt: skip


def _town(text: str) -> Town:
    name, lat, lon, *codes = text.split(";")
    return Town(name, float(lat), float(lon), *codes)
