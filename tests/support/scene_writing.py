"""What stands on the boards of a scene."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import acos, cos, degrees, radians, sin
from typing import TypeVar

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from geosleuth.lab.scenes.locales import COACHES, CUES, LANDS, NAMED_AFTER_TOWNS, SURNAMES, Cue, Land, Town
from scene_drawing import Board
from scene_places import Business

_SLUGS = ("nova", "aurora", "centrum24", "stella", "primo", "orion", "delta-service", "alfa")
_ROAD_FACTOR = 1.25
_MILES = {"GB": 0.621371, "US": 0.621371}
RICH_BUS = "rich tour bus"
_OF_ONE_COUNTRY = frozenset({"IT", "SE", "NO", "DK", "RO", "BG"})
_OF_SEVERAL = frozenset({"CN", "KR"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Written:
    """Boards, and where they stand: degrees north and east, ISO code, town."""

    boards: tuple[Board, ...]
    at: tuple[float, float]
    country: str
    city: str


def shop_boards(door: Business, chance: random.Random, *, sure: bool) -> tuple[Board, ...]:
    """A shop's name, mostly with its street, its stop or its number; with street or number in any case if ``sure``."""
    name = door.name.upper() if door.country != "FI" and chance.random() < 0.25 else door.name
    boards = [Board("front", (name,))]
    wish = chance.random()
    street, stop, notice = (wish < 0.62 or sure), 0.5 < wish < 0.75, 0.3 < wish < 0.62 or wish > 0.7 or sure
    if wish > 0.93 and not sure and " " in name and len(name) >= 12:
        return tuple(boards)
    if street and door.street:
        other = (door.street_other,) if door.street_other and chance.random() < 0.6 else ()
        boards.append(Board("plate", (door.street, *other)))
    if stop and door.stop:
        boards.append(Board("stop", (door.stop,)))
    if notice or len(boards) == 1:
        phone = door.phone or example_phone(door.country, chance)
        boards.append(Board("notice", (phone, *((door.domain,) if door.domain else ()))))
    return tuple(boards)


def country_boards(chance: random.Random, *, odd: bool, sure: bool) -> Written:
    """A shop somewhere: what it sells, its town, and enough besides to tell the country."""
    land = chance.choice(LANDS)
    town = chance.choice(_half(land.towns, odd=odd))
    word = chance.choice(_half(land.words, odd=odd))
    if land.own and not sure and chance.random() < 0.3:
        return Written(
            (Board("town", (town.name,)), Board("notice", (word,))), (town.lat, town.lon), land.code, town.name
        )
    boards = [Board("front", (word,))]
    address = _address(land, town)
    told = [
        *([f"www.{chance.choice(_SLUGS)}.{land.domain}"] if land.domain != "com" else []),
        town_phone(land, town, chance),
    ]
    if land.prices:
        told.append(chance.choice(land.prices))
    count = 2 if sure else chance.choice((1, 2))
    # A price alone is shared by too many countries where a language is, too.
    lines = told[:count] if chance.random() < 0.5 else list(reversed(told[: 2 if sure else 1 + (len(told) > 1)]))
    boards.append(Board("plate", (address[0],)) if len(address) > 1 else Board("stop", (address[0],)))
    boards.append(Board("notice", (*address[1:], *lines)))
    return Written(tuple(boards), (town.lat, town.lon), land.code, town.name)


def _address(land: Land, town: Town) -> list[str]:
    """A street of the town where one is known, and the town with its postcode."""
    if land.code in ("US", "CA", "AU", "GB", "NZ", "ZA", "IN", "PH", "MY", "ID", "LK", "KE", "NG", "BD", "NP", "PK"):
        place = f"{town.name} {town.postcode}".strip()
    else:
        place = f"{town.postcode} {town.name}".strip()
    if not land.streets:
        return [place]
    return [land.streets[land.towns.index(town) % len(land.streets)], place]


def distance_boards(chance: random.Random, *, odd: bool) -> Written:
    """A road sign with three towns and how far they are by road, seen from a place near the first two."""
    land = chance.choice([land for land in LANDS if len(land.towns) >= 4 and land.code != "HK"])
    near, far = _half(land.towns, odd=odd)[:2]
    third = _half(land.towns, odd=not odd)[0]
    share = chance.uniform(0.15, 0.5)
    at = (near.lat + share * (far.lat - near.lat), near.lon + share * (far.lon - near.lon))
    factor, unit = _MILES.get(land.code, 1.0), "" if chance.random() < 0.5 else " km"
    lines = []
    for town in sorted((near, far, third), key=lambda town: _great_circle_km(at, (town.lat, town.lon))):
        told = round(_great_circle_km(at, (town.lat, town.lon)) * _ROAD_FACTOR * factor)
        name = town.name.split(",")[0]
        lines.append(f"{name} {told}{unit if factor == 1 else ''}")
    return Written((Board("distances", tuple(lines)),), at, land.code, near.name)


def phone_boards(chance: random.Random, *, odd: bool) -> Written:
    """Nothing but a telephone number, as it is dialled from abroad."""
    land = chance.choice(LANDS)
    town = chance.choice(_half(land.towns, odd=odd))
    number = town_phone(land, town, chance, PhoneNumberFormat.INTERNATIONAL)
    board = Board("front", (number,)) if chance.random() < 0.5 else Board("notice", (f"Tel. {number}",))
    return Written((board,), (town.lat, town.lon), land.code, town.name)


def language_boards(chance: random.Random, *, odd: bool) -> Written:
    """Nothing but words, in a language that hardly any other country writes on its signs."""
    land = chance.choice([land for land in LANDS if _is_of_one_country(land)])
    town = chance.choice(_half(land.towns, odd=odd))
    words = list(_half(land.words, odd=odd))
    chance.shuffle(words)
    boards = (Board("front", (words[0],)), Board("notice", tuple(words[1:3])))
    return Written(boards, (town.lat, town.lon), land.code, town.name)


def named_boards(chance: random.Random, *, odd: bool) -> tuple[Written, Cue | None]:
    """A shop that is called after its owner, or after a town of another country, where it is not."""
    if chance.random() < 0.5:
        land = chance.choice([land for land in LANDS if land.code in SURNAMES])
        surname = chance.choice(_half(SURNAMES[land.code], odd=odd))
        title, cue = f"{chance.choice(_half(land.words, odd=odd))} {surname}", None
    else:
        land = chance.choice([land for land in LANDS if land.streets])
        cue = chance.choice([cue for cue in _half(NAMED_AFTER_TOWNS, odd=odd) if cue.country != land.code])
        (title,) = cue.lines
    town = chance.choice(_half(land.towns, odd=odd))
    street, place = _address(land, town)
    told = [f"www.{chance.choice(_SLUGS)}.{land.domain}"] if land.domain != "com" else []
    told.append(town_phone(land, town, chance))
    word = chance.choice(_half(land.words, odd=odd))
    notice = chance.choice(((place, told[-1]), (word, *told), (word, place)))
    boards = (Board("front", (title,)), Board("plate", (street,)), Board("notice", notice))
    return Written(boards, (town.lat, town.lon), land.code, town.name), cue


def rich_bus(country: str, chance: random.Random, *, odd: bool) -> tuple[Board, Cue]:
    """A tour bus with all that its firm has at home: town, street, postcode, web address and number."""
    land = chance.choice([land for land in LANDS if land.code != country and land.code in COACHES and land.streets])
    town = chance.choice(_half(land.towns, odd=odd))
    name = town.name.split(",")[0]
    street, place = _address(land, town)
    site = f"www.{name.casefold() if name.isascii() else chance.choice(_SLUGS)}-bus.{land.domain}".replace(" ", "-")
    number = town_phone(land, town, chance, PhoneNumberFormat.INTERNATIONAL)
    cue = Cue(RICH_BUS, land.code, (f"{name} {COACHES[land.code]}", f"{street}, {place}", f"{site}   {number}"))
    return Board("bus", cue.lines), cue


def fewer(boards: tuple[Board, ...], chance: random.Random) -> tuple[Board, ...]:
    """The boards of a house with less on them than a tour bus has: one line of what its notice tells, or none."""
    notices = [Board("notice", board.lines[:1]) for board in boards if board.role == "notice"]
    others = tuple(board for board in boards if board.role != "notice")
    return others if len(others) > 1 and chance.random() < 0.3 else (*others, *notices)


def misleading_board(country: str, chance: random.Random, *, odd: bool) -> tuple[Board, Cue]:
    """Something from elsewhere: a tour bus, an airline, a chain, an imported product, a foreign kitchen."""
    kind = chance.random()
    if kind < 0.25:
        return rich_bus(country, chance, odd=odd)
    if kind < 0.4:
        land = chance.choice([land for land in LANDS if land.code != country])
        town = chance.choice(_half(land.towns, odd=odd))
        name = town.name.split(",")[0]
        title = f"{name} Tours" if name.isascii() else name
        cue = Cue("tour bus", land.code, (title, example_phone(land.code, chance)))
        return Board("bus", cue.lines), cue
    cue = chance.choice([cue for cue in _half(CUES, odd=odd) if cue.country != country])
    return Board("poster", cue.lines), cue


def _is_of_one_country(land: Land) -> bool:
    return land.code not in _OF_SEVERAL and (land.own or land.code in _OF_ONE_COUNTRY)


def town_phone(land: Land, town: Town, chance: random.Random, style: int | None = None) -> str:
    """A number of the town where its area code is known, of a mobile where not; as dialled at home or from abroad."""
    code = phonenumbers.country_code_for_region(land.code)
    if style is None:
        style = PhoneNumberFormat.NATIONAL if chance.random() < 0.35 else PhoneNumberFormat.INTERNATIONAL
    for _ in range(60 if land.digits and town.area else 0):
        more = "".join(str(chance.randrange(10)) for _ in range(land.digits - len(town.area)))
        number = phonenumbers.parse(f"+{code}{town.area}{more}", None)
        if phonenumbers.is_valid_number_for_region(number, land.code):
            return phonenumbers.format_number(number, style)
    return example_phone(land.code, chance)


def example_phone(country: str, chance: random.Random) -> str:
    """The package's example of a mobile number of a country, with other last figures, as dialled from abroad."""
    example = _example(country)
    national = phonenumbers.national_significant_number(example)
    for _ in range(60):
        varied = national[:-4] + f"{chance.randrange(10_000):04}"
        number = phonenumbers.parse(f"+{example.country_code}{varied}", None)
        if phonenumbers.is_valid_number_for_region(number, country):
            return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
    return phonenumbers.format_number(example, PhoneNumberFormat.INTERNATIONAL)


@cache
def _example(country: str) -> phonenumbers.PhoneNumber:
    example = phonenumbers.example_number_for_type(country, PhoneNumberType.MOBILE) or phonenumbers.example_number(
        country
    )
    if example is None:
        raise LookupError(f"phonenumbers has no example for {country}")
    return example


def _half(things: Sequence[_T], *, odd: bool) -> Sequence[_T]:
    """One split's half of a list."""
    return things[1 if odd else 0 :: 2] or things


def _great_circle_km(here: tuple[float, float], there: tuple[float, float]) -> float:
    (lat, lon), (other_lat, other_lon) = here, there
    cosine = sin(radians(lat)) * sin(radians(other_lat)) + cos(radians(lat)) * cos(radians(other_lat)) * cos(
        radians(lon - other_lon)
    )
    return degrees(acos(max(-1.0, min(1.0, cosine)))) * 111.195
