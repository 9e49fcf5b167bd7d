"""The made-up businesses of a town: doors along its streets, each with a number, a name and contact details.

Every language's names are counted through, and each of its towns has a stretch of its own, so that no two towns draw
the same and none needs to know what another drew.
"""

import random
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import gcd, hypot
from typing import TYPE_CHECKING, Final

from geosleuth.geo import LatLon
from geosleuth.lab.scenes.locales.locale import KINDS
from geosleuth.lab.scenes.locales.names import apply_spelling, areas, beginnings, get_country, list_mask_options

from .locales import Language
from .scene import Business
from .towns import TownPlan, WorldTown, offset_point, towns_by_language

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

_TRIES: Final = 60
_EXCHANGES: Final = 3
_FREE_FIGURES: Final = 4
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_LATIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ə": "e"}
)

# Share of a town's businesses that are branches of a chain; one branch in `ABROAD_EVERY` is of a worldwide chain.
CHAIN_SHARE: Final = 0.12
# Share of a town's businesses whose name an unrelated business elsewhere has as well.
HOMONYM_SHARE: Final = 0.08
# Share of a town's businesses that are named after it.
TOWN_SHARE: Final = 0.05
ABROAD_EVERY: Final = 4
_GOLDEN: Final = 0.6180339887
# International chains: they have the same name in Latin letters everywhere.
WORLD_CHAINS: Final = (
    ("Velora", "shop=clothes"), ("Brenko", "shop=hardware"), ("Kaffa & Co", "amenity=cafe"),
    ("Ottima", "shop=optician"), ("Nordlo", "tourism=hotel"), ("Zapatek", "shop=shoes"),
    ("Burgerama", "amenity=fast_food"), ("Minimaxo", "shop=convenience"), ("Pastavia", "amenity=restaurant"),
    ("Autofixa", "shop=car_repair"),
)  # fmt: skip
SOURCE: Final = "geosleuth world (made up)"
_DOOR_EVERY_M: Final = 14.0
_METRES_A_NUMBER: Final = 7.0
_FROM_THE_MIDDLE_M: Final = 10.0
_FROM_A_CROSSING_M: Final = 16.0
_STOP_M: Final = 6.0
_WALK_TO_A_STOP_M: Final = 220.0
_WITH_DOMAIN: Final = 0.7
_STOPS: Final = 4
_FIRST_STOP: Final = 300
_FEWEST, _MOST = 16, 48


def generate_phones(town: WorldTown, seed: int) -> Iterator[str]:
    """Yield phone numbers with the town's or its region's area code, or else mobile ones; as dialled from abroad.

    The last digits are random: whether the number is in use is unknown.
    """
    chance = random.Random(f"phones {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    patterns = [_valid_number(town, chance) for _ in range(_EXCHANGES)]
    given: set[str] = set()
    while True:
        pattern, free = chance.choice(patterns)
        figures = iter(f"{chance.randrange(10**free):0{free}}")
        keep = sum(letter.isdigit() for letter in pattern) - free
        number = ""
        for letter in pattern:
            keep -= letter.isdigit()
            number += next(figures) if letter.isdigit() and keep < 0 else letter
        if number not in given:
            given.add(number)
            yield number


def _valid_number(town: WorldTown, chance: random.Random) -> tuple[str, int]:
    """Return a written number of the town, and how many of its last digits are free."""
    import phonenumbers
    from phonenumbers import PhoneNumberFormat

    country = phonenumbers.country_code_for_region(town.country)
    begins, length = _beginning(town)
    free = min(_FREE_FIGURES, length - len(begins))
    for _ in range(_TRIES):
        more = "".join(str(chance.randrange(10)) for _ in range(length - len(begins)))
        number = phonenumbers.parse(f"+{country}{begins}{more}", None)
        if phonenumbers.is_valid_number_for_region(number, town.country):
            return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL), free
    return phonenumbers.format_number(_example(town.country), PhoneNumberFormat.INTERNATIONAL), _FREE_FIGURES


def _beginning(town: WorldTown) -> tuple[str, int]:
    """Return the leading digits of a town's numbers, and their total length."""
    import phonenumbers
    from phonenumbers import PhoneNumberType

    if town.area and town.land.digits:
        return town.area, town.land.digits
    begins = areas().get(str(town.geonames)) or areas().get(town.region_code, "")
    kept = phonenumbers.example_number_for_type(town.country, PhoneNumberType.FIXED_LINE)
    if not begins or kept is None:
        mobile = phonenumbers.national_significant_number(_example(town.country))
        return mobile[:-_FREE_FIGURES], len(mobile)
    return begins, len(phonenumbers.national_significant_number(kept))


@cache
def _example(country: str) -> "PhoneNumber":
    import phonenumbers
    from phonenumbers import PhoneNumberType

    mobile = phonenumbers.example_number_for_type(country, PhoneNumberType.MOBILE)
    example = mobile or phonenumbers.example_number(country)
    if example is None:
        raise LookupError(f"phonenumbers has no example for {country}")
    return example


def build_domain(town: WorldTown, name: str, number: int, *, shared: bool) -> str:
    """Return a web address: the name if it is in Latin letters, and the town if the name is not enough."""
    slug = slugify(name)
    place = slugify(town.name)
    if len(slug) < 4:
        slug = f"{place}{number + 1}"
    elif shared:
        slug = f"{slug}-{place}"
    return f"{slug}.{town.land.domain}"


def slugify(text: str) -> str:
    """Return lower-case Latin letters and digits, words joined by hyphens; empty for other scripts."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LATIN))
    kept = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return _NO_LETTERS.sub("-", kept).strip("-")


@dataclass(frozen=True, slots=True)
class Called:
    """A name, what kind of business has it, and whether it stands elsewhere too."""

    name: str
    kind: str
    chain: bool = False
    homonym: bool = False


def generate_names(town: WorldTown, seed: int, count: int, *, chains: bool, homonyms: bool) -> list[Called]:
    """Return so many names for a town; unwanted chains and homonyms are replaced by unique names."""
    language = town.language
    chance = random.Random(f"names {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    of_chains, shared = round(count * CHAIN_SHARE), round(count * HOMONYM_SHARE)
    of_town = round(count * TOWN_SHARE)
    found = _branches(town, of_chains, seed) if chains else []
    found += _generate_shared_names(town, shared, seed) if homonyms else []
    own = _own(language, town.number, towns_by_language(seed)[language.code], seed, chance)
    after_town = _after_town(town, chance)
    places = of_chains + shared
    found += [next(own) for _ in range(places - len(found))]
    found += [after_town[number] for number in range(of_town)]
    seen = {item.name.casefold() for item in found}
    while len(found) < count:
        item = next(own)
        if item.name.casefold() not in seen:
            seen.add(item.name.casefold())
            found.append(item)
    order = random.Random(f"order {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    order.shuffle(found)
    return [replace(item, name=apply_spelling(item.name, town.country)) for item in found]


def _branches(town: WorldTown, count: int, seed: int) -> list[Called]:
    """Return branches of the language's chains in turn, with an occasional worldwide one."""
    home = town.language.chains
    abroad = [WORLD_CHAINS[(town.geonames + seed + 3 * turn) % len(WORLD_CHAINS)] for turn in range(3)]
    found: list[tuple[str, str]] = []
    for turn in range(count):
        if turn % ABROAD_EVERY == ABROAD_EVERY - 1:
            found.append(abroad[turn // ABROAD_EVERY % len(abroad)])
        else:
            found.append(home[(town.number * 2 + turn) % len(home)])
    return [Called(name, kind, chain=True) for name, kind in dict.fromkeys(found)]


@cache
def _pool(language: Language) -> tuple[tuple[str, str], ...]:
    """Return names that recur in every other town, each with its kind, shuffled."""
    pool = [
        (language.common_form.format(trade=words[0], house=house), kind)
        for kind, words in zip(KINDS, language.trades, strict=True)
        for house in language.common
    ]
    random.Random(f"common {language.code}").shuffle(pool)  # noqa: S311 - no secret depends on it
    return tuple(pool)


def _generate_shared_names(town: WorldTown, count: int, seed: int) -> list[Called]:
    """Draw names from a pool half as large as the number of towns of the language, so that each recurs."""
    towns = towns_by_language(seed)[town.language.code]
    pool = _pool(town.language)[: max(1, towns // 2)]
    picked = [pool[(town.number + turn) % len(pool)] for turn in range(min(count, len(pool)))]
    return [Called(name, kind, homonym=towns > 1) for name, kind in picked]


def _after_town(town: WorldTown, chance: random.Random) -> list[Called]:
    words = list(town.language.trade_words)
    chance.shuffle(words)
    return [Called(town.language.town_form.format(trade=word, town=town.name_on_signs), kind) for kind, word in words]


def _own(language: Language, number: int, towns: int, seed: int, chance: random.Random) -> Iterator[Called]:
    """Yield names that no other town of the language has, in mixed forms."""
    forms = _forms(language)
    stretches = [
        _stretch(len(form), number, towns, f"{seed} {language.code} {index}") for index, form in enumerate(forms)
    ]
    left = list(range(len(forms)))
    while left:
        index = chance.choice(left)
        place = next(stretches[index], None)
        if place is None:
            left.remove(index)
            continue
        called = forms[index].build_name(place)
        if called is not None:
            yield called
    raise AssertionError(f"too few names for the towns that speak {language.code}")


@dataclass(frozen=True, slots=True)
class _Form:
    """Pattern of a name, whose names can be enumerated."""

    form: str
    words: tuple[tuple[str, str], ...]
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def __len__(self) -> int:
        total = len(self.words)
        for _, options in self.parts:
            total *= len(options)
        return total

    def build_name(self, place: int) -> Called | None:
        """Return the name at a place; None if it would say the same word twice."""
        place, at = divmod(place, len(self.words))
        kind, word = self.words[at]
        filled = {}
        for key, options in self.parts:
            place, at = divmod(place, len(options))
            filled[key] = options[at]
        if len(set(filled.values())) < len(filled):
            return None
        return Called(self.form.format(trade=word, **filled), kind)


@cache
def _forms(language: Language) -> tuple[_Form, ...]:
    options = {
        "person": language.people, "second": language.people, "house": language.houses, "second_house": language.houses,
    }  # fmt: skip
    return tuple(
        _Form(
            form,
            language.trade_words if "{trade}" in form else tuple((kind, "") for kind in KINDS),
            tuple((key, words) for key, words in options.items() if f"{{{key}}}" in form),
        )
        for form in language.forms
    )


def _stretch(total: int, number: int, towns: int, key: str) -> Iterator[int]:
    """Yield one town's disjoint part of the places, spread over all of them."""
    length = total // towns
    step = int(total * _GOLDEN) | 1
    while gcd(step, total) > 1:
        step += 2
    start = random.Random(f"stretch {key}").randrange(max(total, 1))  # noqa: S311 - no secret depends on it
    for turn in range(number * length, (number + 1) * length):
        yield (start + turn * step) % total


def build_postcode(town: WorldTown, street: int, seed: int) -> str | None:
    """Return the postcode of one of a town's streets; None if the land has none, or none that can be made up.

    The table of lands knows the codes of some towns' centres. Elsewhere figures are drawn, so that they are of the
    right region where codes are known by region; the rest is made up.
    """
    mask = get_country(town.country).postcode
    if not mask or len(town.postcode) >= len(mask):
        return town.postcode or None
    of_town = random.Random(f"post {town.geonames}")  # noqa: S311 - no secret depends on it
    of_street = random.Random(f"post {seed} {town.geonames} {street}")  # noqa: S311 - no secret depends on it
    known = beginnings()
    begins = known.get(str(town.geonames)) or known.get(town.region_code, ())
    if town.postcode:
        begins = (town.postcode,)
    elif not begins and town.country in known:
        return None  # any code drawn would speak of some other region
    code = of_town.choice(begins) if begins else ""
    fixed = max(len(code), (len(mask) + 1) // 2)
    for place in range(len(code), len(mask)):
        options = list_mask_options(mask[place])
        chance = of_town if place < fixed else of_street
        code += chance.choice(options[1:] if place == 0 and mask[place] == "#" else options)
    return code


@dataclass(frozen=True, slots=True)
class BusStop:
    """A stop and its name, which is mostly that of the street it stands at or of one that crosses it."""

    id: str
    name: str
    point: LatLon
    east_m: float
    north_m: float


@dataclass(frozen=True, slots=True)
class _Door:
    street: int
    number: int
    east_m: float
    north_m: float


def region_name(seed: int) -> str:
    """Return the name of the layer of a world: part of the id of all that stands in it."""
    return f"world-{seed}"


def generate_businesses(
    town: WorldTown, plan: TownPlan, seed: int, *, chains: bool, homonyms: bool
) -> tuple[Business, ...]:
    """Return all businesses of a town; they depend only on the town and the seed."""
    chance = random.Random(f"doors {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    doors = _doors(plan)
    # The first streets are the busiest: what is drawn there counts for more.
    drawn = [(round(chance.random() ** (1 / _busy(door.street)), 9), place) for place, door in enumerate(doors)]
    size = sum(town.population >= people for people in (25_000, 60_000, 150_000, 400_000, 1_000_000))
    count = min(len(doors), chance.randrange(_FEWEST, _FEWEST + 9) + size * (_MOST - _FEWEST - 8) // 5)
    chosen = [doors[place] for place in sorted(place for _, place in sorted(drawn, reverse=True)[:count])]
    stops = generate_bus_stops(town, plan)
    called = generate_names(town, seed, count, chains=chains, homonyms=homonyms)
    found = []
    phones = generate_phones(town, seed)
    for number, (door, name) in enumerate(zip(chosen, called, strict=True)):
        point, online = offset_point(town.point, door.east_m, door.north_m), chance.random() < _WITH_DOMAIN
        found.append(
            Business(
                id=f"made-up:{region_name(seed)}:n{town.geonames}{number:03}",
                name=name.name,
                kind=name.kind,
                point=point,
                street=plan.streets[door.street].name,
                house_number=str(door.number),
                phone=next(phones),
                domain=build_domain(town, name.name, number, shared=name.homonym) if online else None,
                postcode=build_postcode(town, door.street, seed),
                bus_stop=_nearest_stop(door, stops),
                chain=name.chain,
                homonym=name.homonym,
            )
        )
    return tuple(found)


def generate_bus_stops(town: WorldTown, plan: TownPlan) -> tuple[BusStop, ...]:
    """Return stops in the middle of the first streets, named after crossing streets."""
    found: list[BusStop] = []
    names = [street.name for street in plan.streets]
    for number in range(min(_STOPS, len(plan.streets))):
        line = plan.lines_m[number]
        (x0, y0), (x1, y1) = line[len(line) // 2 - 1], line[len(line) // 2]
        length = max(hypot(x1 - x0, y1 - y0), 1.0)
        aside = (_STOP_M * (y1 - y0) / length, -_STOP_M * (x1 - x0) / length)
        metres = round((x0 + x1) / 2 + aside[0], 3), round((y0 + y1) / 2 + aside[1], 3)
        name = names[-1 - number % len(names)]
        found.append(
            BusStop(f"n{town.geonames}{_FIRST_STOP + number}", name, offset_point(town.point, *metres), *metres)
        )
    return tuple(found)


def _busy(street: int) -> float:
    return 3.0 if street == 0 else 1.5 if street < 3 else 1.0


def _doors(plan: TownPlan) -> list[_Door]:
    """Return every possible door: on both sides, odd numbers on the left, away from crossings."""
    found = []
    for street, line in enumerate(plan.lines_m):
        behind = 0.0
        for (x0, y0), (x1, y1) in pairwise(line):
            length = hypot(x1 - x0, y1 - y0)
            dx, dy = (x1 - x0) / length, (y1 - y0) / length
            along = _FROM_A_CROSSING_M
            while along <= length - _FROM_A_CROSSING_M:
                x, y = x0 + along * dx, y0 + along * dy
                step = int(round(behind + along, 3) / _METRES_A_NUMBER)
                for side, number in ((-1, 2 * step + 1), (1, 2 * step + 2)):
                    off = side * _FROM_THE_MIDDLE_M
                    found.append(_Door(street, number, round(x + off * dy, 3), round(y - off * dx, 3)))
                along += _DOOR_EVERY_M
            behind += length
    return found


def _nearest_stop(door: _Door, stops: tuple[BusStop, ...]) -> str | None:
    near = min((hypot(door.east_m - stop.east_m, door.north_m - stop.north_m), stop.name) for stop in stops)
    return near[1] if round(near[0], 3) <= _WALK_TO_A_STOP_M else None
