"""The form of the tables: how a language names shops and streets, and what signs look like in a country."""

from dataclasses import dataclass

KINDS = (
    "shop=bakery", "amenity=pharmacy", "shop=butcher", "shop=books", "shop=hairdresser", "amenity=restaurant",
    "amenity=cafe", "shop=florist", "tourism=hotel", "shop=convenience", "shop=shoes", "shop=clothes",
    "shop=hardware", "shop=optician", "shop=car_repair", "amenity=fast_food",
)  # fmt: skip
"""What businesses are, as OpenStreetMap has it; the trades of a language stand in this order."""

_LETTERS = dict(zip("BPMLHRCFTGSKWOAX", KINDS, strict=True))
"""A letter for each kind, for the tables of chains."""


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language and how they are put together.

    ``trades`` has, for each of `KINDS`, what such a business calls itself. ``people`` are surnames or what a language
    has in their place, ``houses`` what houses and shops are called otherwise, ``common`` what they are called in every
    other town. ``forms`` put a ``{trade}`` together with a ``{person}``, a ``{second}`` person, a ``{house}`` or a
    ``{second_house}``. Streets are made of ``street_forms`` and ``street_stems``, or stand whole in ``streets``.
    ``chains`` are names of made-up chains, each with its kind.
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

    @property
    def trade_words(self) -> tuple[tuple[str, str], ...]:
        """Every trade word with its kind."""
        return tuple((kind, word) for kind, words in zip(KINDS, self.trades, strict=True) for word in words)


def language(
    code: str, trades: str, people: str, houses: str, common: str, *, forms: str, street_forms: str,
    street_stems: str, streets: str = "", chains: str = "", common_form: str = "{trade} {house}",
    town_form: str = "{trade} {town}",
) -> Language:  # fmt: skip
    """Return a language from texts: bars separate parts, slashes words of one trade; chains follow a letter."""
    return Language(
        code,
        tuple(tuple(word.strip() for word in part.split("/")) for part in _cut(trades)),
        _cut(people), _cut(houses), _cut(common), _cut(forms), common_form, town_form,
        _cut(street_forms), _cut(street_stems), _cut(streets),
        tuple((part[3:], _LETTERS[part[0]]) for part in _cut(chains)),
    )  # fmt: skip


def _cut(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|") if part.strip())


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
    """Return a land from texts: parts stand between bars, what is known of a town between semicolons."""
    return Land(code, domain, _towns(towns), _cut(words), _cut(streets), _cut(prices), digits, own)


def _towns(text: str) -> tuple[Town, ...]:
    found = []
    for part in _cut(text):
        name, lat, lon, *more = (word.strip() for word in part.split(";"))
        found.append(Town(name, float(lat), float(lon), *more))
    return tuple(found)
