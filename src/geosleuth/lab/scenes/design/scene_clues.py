"""The clues of a scene, written and unwritten: each is true of the place and explained, or is meant to mislead.

Written down for made-up scenes alone, and not taken from the tables by which clues are read. A number tells the
country's way of numbering; that just this road passes the town is not said.
"""

import random
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import floor
from typing import TypeVar

from geosleuth.atlas.facts import all_countries, by_postcode, country_facts, describe_climate, phone
from geosleuth.geo import distance_km
from geosleuth.lab.scenes.businesses import build_postcode, generate_phones
from geosleuth.lab.scenes.drawing.lettering import drawable, list_designs
from geosleuth.lab.scenes.locales import COACHES, CUES, NAMED_AFTER_TOWNS, Cue
from geosleuth.lab.scenes.scene import Board, Business, ClueLevel, SceneClue, SceneLook, Sky, Sort, Split, Spot
from geosleuth.lab.scenes.towns import WorldTown
from geosleuth.names import fold
from geosleuth.support.decode import decode
from geosleuth.tools.ranges import KM_A_MILE

from .appearance import get_style, number_plate

_FROM_ABROAD_SHARE = 0.6
_T = TypeVar("_T")
# Typical ratio of road distance to straight-line distance.
_ROAD_FACTOR = 1.25
_NEAR_KM, _FAR_KM = 12.0, 220.0
_STATES_ON_PLATES = frozenset({"US", "CA", "AU"})
_WITH_ARTICLE = ("United ", "Netherlands", "Philippines", "Czech Republic", "Dominican Republic")
_SLUGS = ("nova", "aurora", "stella", "primo", "orion", "delta", "alfa", "luna", "vega", "sol")
_SORTS: dict[str, tuple[Sort, tuple[Board, ...]]] = {
    "airline": ("airline", ("billboard", "poster")),
    "foreign chain": ("foreign_chain", ("shop_front",)),
    "imported product": ("imported_product", ("poster", "banner")),
    "foreign kitchen": ("foreign_kitchen", ("shop_front",)),
    "shop called after a town": ("foreign_kitchen", ("shop_front",)),
}
_WHAT: dict[Sort, str] = {
    "airline": "advertises an airline, which flies from home to many countries",
    "foreign_chain": "is a chain that has shops in other countries, too",
    "imported_product": "advertises something that is sold all over the world",
    "foreign_kitchen": "is a restaurant or shop called after another country",
}
_BUS_SHARE = 0.35
# Share of tour buses that carry the address and phone number of their company.
_ADDRESSED_BUS_SHARE = 0.6
_SUNNY = ("clear", "cloudy")


@dataclass(frozen=True, slots=True)
class _Signs:
    """Contents of signs.toml, by country and state; in ``roads`` {x|y} is one of several."""

    roads: dict[str, str]
    firms: dict[str, tuple[str, ...]]
    states: dict[str, str]
    countries: dict[str, str]


_SIGNS = decode(tomllib.loads((files(__package__) / "signs.toml").read_text(encoding="utf-8")), _Signs)
ROAD_FORMS: Mapping[str, str] = _SIGNS.roads
# Letters of states and provinces: North America's numbering plan names towns with them.
STATES: Mapping[str, str] = _SIGNS.states
# Business names on shop fronts, by country.
NATIONAL: Mapping[str, tuple[str, ...]] = _SIGNS.firms
POSTCODE_LAST = frozenset(_SIGNS.countries["postcode_last"].split())
_NUMBER_FIRST = frozenset(_SIGNS.countries["number_first"].split())


def road_number(country: str, chance: random.Random) -> str | None:
    """Return a road's number as the country writes it, None if it is not known here."""
    form = ROAD_FORMS.get(country)
    if form is None:
        return None
    before, _, rest = form.partition("{")
    choices, _, after = rest.partition("}")
    return f"{before}{chance.choice(choices.split('|'))}{after}"


def find_area(number: str, town: WorldTown) -> str | None:
    """Return what the numbering plan says a number belongs to, the empty text where it names no area.

    None if it names one that is not the town's: such a number would be a false clue. The area that the table of
    lands gives a town is taken to be right.
    """
    info = phone(number, town.country)
    place = info.place if info.place and info.place != country_facts(town.country).name else ""
    if not place or not info.valid:
        return ""
    if town.area and f"{info.e164 or ''}".startswith(f"+{_calling_code(town.country)}{town.area.lstrip('0')}"):
        return place
    _, _, state = place.rpartition(", ")
    if state in STATES:
        return place if fold(STATES[state]) == fold(town.region or "") else None
    named = fold(place)
    wanted = [fold(name) for name in (town.name, town.name_on_signs, town.region or "") if name]
    return place if any(name in named or named in name for name in wanted) else None


def number_of_area(town: WorldTown, chance: random.Random) -> str | None:
    """Return a number that begins as the town's do, as dialled at home or from abroad; None if no area is known."""
    import phonenumbers
    from phonenumbers import PhoneNumberFormat

    number = next(generate_phones(town, chance.randrange(1 << 30)))
    abroad = chance.random() < _FROM_ABROAD_SHARE
    if not find_area(number, town):
        return None
    parsed = phonenumbers.parse(number, None)
    return number if abroad else phonenumbers.format_number(parsed, PhoneNumberFormat.NATIONAL)


@cache
def _calling_code(country: str) -> int:
    import phonenumbers

    return phonenumbers.country_code_for_region(country)


def select_half(things: Sequence[_T], split: Split) -> Sequence[_T]:
    """Return one split's half of a list of words: what is seen in training is not asked for again."""
    return things[1 if split == "held-out" else 0 :: 2] or things


def within_sentence(country: str) -> str:
    """Return a country's name with its article: "the Netherlands"."""
    country = country.removeprefix("The ")
    return f"the {country}" if country.startswith(_WITH_ARTICLE) else country


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes clues for one spot. What can't be written there is None."""

    spot: Spot
    town: WorldTown
    split: Split
    chance: random.Random

    @property
    def land(self) -> str:
        """The country's name as it stands within a sentence."""
        return within_sentence(self.spot.country_name)

    def clue(
        self, sort: Sort, level: ClueLevel, says: str, board: Board, *lines: str, place: str | None = None
    ) -> SceneClue:
        """Return a clue about this spot, pointing as far as its level goes."""
        return SceneClue(
            id="", sort=sort, level=level, says=says, board=board, lines=lines, country=self.spot.country,
            region=self.spot.region if level != "country" else None, place=place if level == "precise" else None,
            design=self.chance.choice(list_designs(board, self.split)),
        )  # fmt: skip

    def business(self, business: Business) -> SceneClue:
        """Return the name over the door of a business that the map knows."""
        town = self.spot.town
        if business.chain:
            says = f"The shop is called {business.name}; it is one of a chain that the map knows in several towns."
            return self.clue("chain", "country", says, "shop_front", business.name)
        says = f"The shop is called {business.name}; the map knows one in {town}."
        if business.homonym:
            says = f"The shop is called {business.name}; the map knows one in {town}, and an unrelated one elsewhere."
        return self.clue("business", "precise", says, "shop_front", business.name, place=f"{business.name}, {town}")

    def write_founding_year(self, year: int) -> SceneClue:
        """Return the year that a shop was founded in, on a poster; its pages tell it, and the map does not."""
        says = f"The shop dates from {year}: of the shops of its name, pages tell that of the one in {self.spot.town}."
        return self.clue("founded", "precise", says, "poster", str(year), place=self.spot.town)

    def street_name(self, street: str) -> SceneClue:
        """Return a street's name plate."""
        says = f"The plate names the street, {street}; the map knows a street of that name in {self.spot.town}."
        return self.clue("street_name", "precise", says, "street_plate", street, place=f"{street}, {self.spot.town}")

    def house_number(self, business: Business) -> SceneClue | None:
        """Return the number beside the door."""
        if not business.house_number or not business.street:
            return None
        says = f"The house has the number {business.house_number}, which fixes the spot once the street is known."
        place = f"{business.street} {business.house_number}, {self.spot.town}"
        return self.clue("house_number", "precise", says, "house_number", business.house_number, place=place)

    def bus_stop(self, stop: str) -> SceneClue:
        """Return what the stop is called."""
        says = f"The bus stop is called {stop}; there is one in {self.spot.town}."
        return self.clue("bus_stop", "precise", says, "bus_stop", stop, place=f"{stop}, {self.spot.town}")

    def town_name(self) -> SceneClue:
        """Return the sign where the town begins."""
        name = self.spot.town_on_signs
        says = f"The sign names the town: {name} is {self.spot.town} in {self.land}."
        return self.clue("town_name", "precise", says, "town_sign", name, place=self.spot.town)

    def address(self, business: Business) -> SceneClue:
        """Return a notice with street, town and postcode, as the map has them."""
        name, code = self.spot.town_on_signs, business.postcode or ""
        place = f"{name} {code}" if self.town.country in POSTCODE_LAST else f"{code} {name}"
        lines = [*([street_line(self.town.country, business)] if business.street else []), place.strip()]
        says = f"The notice gives the address: {', '.join(lines)}, which is in {self.spot.town}."
        return self.clue("town_name", "precise", says, "notice", *lines, place=", ".join(lines))

    def phone(self, business: Business) -> SceneClue | None:
        """Return the shop's own telephone number, where it says nothing wrong about the region."""
        if not business.phone:
            return None
        lines = [self._label_phone(business.phone)]
        if business.domain and self.chance.random() < 0.3:
            lines.append(business.domain)
        area = find_area(business.phone, self.town)
        if area is None:
            return None
        if area:
            return self._area_clue(business.phone, area, lines)
        says = f"The number {business.phone} has the form of numbers in {self.land}."
        return self.clue("phone", "country", says, "notice", *lines)

    def area_code(self) -> SceneClue | None:
        """Return a phone number with the area code of the town or its region; of no business on the map."""
        number = number_of_area(self.town, self.chance)
        area = find_area(number, self.town) if number else None
        if number is None or not area:
            return None
        return self._area_clue(number, area, [self._label_phone(number)])

    def _area_clue(self, number: str, area: str, lines: Sequence[str]) -> SceneClue:
        says = f"The number {number} belongs to {area} by the numbering plan of {self.land}."
        return self.clue("phone", "region", says, "notice", *lines)

    def _label_phone(self, number: str) -> str:
        return f"Tel. {number}" if self.town.land.words[0].isascii() and self.chance.random() < 0.5 else number

    def postcode(self, world_seed: int) -> SceneClue | None:
        """Return a postcode without its town, if the atlas knows its region."""
        code = build_postcode(self.town, self.chance.randrange(3), world_seed)
        if not code or not (self.town.postcode or self.spot.country in by_postcode(code).regions):
            return None
        says = f"{code} is a postcode of {self.land}, of {self.spot.region or 'one region'} there."
        return self.clue("postcode", "region", says, "notice", code)

    def region_name(self) -> SceneClue | None:
        """Return a banner of the region, if nothing else shows it."""
        region = self.spot.region
        if region is None or not drawable(region):
            return None
        return self.clue("town_name", "region", f"The banner names the region: {region}.", "banner", region)

    def distances(self, towns: Sequence[WorldTown]) -> SceneClue | None:
        """Return a road sign with two or three other towns and how far they are by road."""
        here = self.spot.point
        near = sorted(
            (round(distance_km(here, town.point), 3), town.name_on_signs)
            for town in towns
            if town.country == self.spot.country and town.name_on_signs != self.spot.town_on_signs
        )
        named = Counter(name for _, name in near)
        fit = [(km, name) for km, name in near if _NEAR_KM <= km <= _FAR_KM and named[name] == 1][:6]
        if len(fit) < 2:
            return None
        shown = sorted(self.chance.sample(fit, min(len(fit), self.chance.choice((2, 2, 3)))))
        by_miles = country_facts(self.spot.country).distance_unit == "mi"
        unit = "" if by_miles or self.chance.random() < 0.6 else " km"
        per = KM_A_MILE if by_miles else 1.0
        lines = [f"{name} {floor(km * _ROAD_FACTOR / per + 0.5)}{unit}" for km, name in shown]
        says = (
            f"The sign says how far it is to {' and '.join(name for _, name in shown)}, "
            f"{'in miles' if by_miles else 'in kilometres'}: the place lies where these distances meet."
        )
        return self.clue("distance", "region", says, "direction_sign", *lines)

    def language(self) -> SceneClue:
        """Return what a shop sells, in the language of the place."""
        words = select_half(self.town.land.words, self.split)
        word = self.chance.choice(words)
        says = f"The sign reads {word}, in a language and a script that signs in {self.land} have."
        return self.clue("language", "country", says, "shop_front", word)

    def price(self) -> SceneClue | None:
        """Return a price in the country's money."""
        prices = self.town.land.prices
        if not prices:
            return None
        price = self.chance.choice(prices)
        says = f"{price} is written as prices are in {self.land}."
        word = self.chance.choice(select_half(self.town.land.words, self.split))
        return self.clue("price", "country", says, "poster", word, price)

    def web_address(self) -> SceneClue | None:
        """Return a web address under the country's own domain."""
        domain = self.town.land.domain
        if domain == "com":
            return None
        address = f"www.{self.chance.choice(_SLUGS)}{self.chance.randrange(10, 100)}.{domain}"
        says = f"{address} is under .{domain}, the domain of {self.land}."
        return self.clue("web_address", "country", says, self.chance.choice(("notice", "banner")), address)

    def brand(self) -> SceneClue | None:
        """Return a chain that is at home in the country."""
        names = NATIONAL.get(self.spot.country)
        if not names:
            return None
        name = self.chance.choice(names)
        says = f"{name} is a firm of {self.land}, hardly seen elsewhere."
        return self.clue("brand", "country", says, self.chance.choice(("shop_front", "billboard")), name)

    def plate(self) -> SceneClue | None:
        """Return a car's number plate; some countries write the state on it."""
        plate = number_plate(self.spot.country, self.chance)
        if plate is None:
            return None
        says = f"The number plate {plate} has the form and the colours of plates in {self.land}."
        region = self.spot.region
        if self.spot.country in _STATES_ON_PLATES and region and self.chance.random() < 0.5:
            says = f"The number plate names the state it is from: {region}."
            return self.clue("number_plate", "region", says, "number_plate", plate, region)
        return self.clue("number_plate", "country", says, "number_plate", plate)

    def road(self) -> SceneClue | None:
        """Return a road's number."""
        number = road_number(self.spot.country, self.chance)
        if number is None:
            return None
        says = f"{number} is how {self.land} numbers its roads."
        return self.clue("road_number", "country", says, "road_shield", number)


def street_line(country: str, business: Business) -> str:
    """Return street and number in the country's order; empty without a street."""
    if not business.house_number:
        return business.street or ""
    return (
        f"{business.house_number} {business.street}"
        if country in _NUMBER_FIRST
        else f"{business.street} {business.house_number}"
    )


def misleading_clue(pen: Pen, town: WorldTown, street: Callable[[], str]) -> SceneClue:
    """Return something from another country.

    Args:
        pen: writes for the scene's spot.
        town: where a tour bus may come from.
        street: gives the name of a street there.
    """
    chance = pen.chance
    if chance.random() < _BUS_SHARE:
        return _tour_bus(pen, town, street)
    kinds = [*select_half(CUES, pen.split), *select_half(NAMED_AFTER_TOWNS, pen.split)]
    cue: Cue = chance.choice([cue for cue in kinds if cue.country != pen.spot.country])
    sort, boards = _SORTS[cue.sort]
    text = " / ".join(cue.lines)
    there = within_sentence(country_facts(cue.country).name)
    says = f"{text} {_WHAT[sort]}: it points to {there}, where the scene is not."
    clue = pen.clue(sort, "country", says, chance.choice(boards), *cue.lines)
    return _elsewhere(clue, cue.country)


def _tour_bus(pen: Pen, town: WorldTown, street: Callable[[], str]) -> SceneClue:
    name = town.name_on_signs
    title = f"{name} {COACHES[town.country]}" if town.country in COACHES else f"{town.name} Tours"
    lines = [title]
    level: ClueLevel = "region"
    if pen.chance.random() < _ADDRESSED_BUS_SHARE:
        place = f"{name} {town.postcode}" if town.country in POSTCODE_LAST else f"{town.postcode} {name}"
        lines.append(f"{street()}, {place.strip()}")
        level = "precise"
    number = number_of_area(town, pen.chance)
    if number:
        lines.append(phone(number, town.country).international or number)
    country = within_sentence(country_facts(town.country).name)
    says = f"The bus is from {town.name} in {country}: tour buses travel, and this one is far from home."
    clue = pen.clue("tour_bus", level, says, "bus", *lines)
    return _elsewhere(clue, town.country, town.region, town.name if level == "precise" else None)


def _elsewhere(clue: SceneClue, country: str, region: str | None = None, place: str | None = None) -> SceneClue:
    return SceneClue(
        id="", sort=clue.sort, level=clue.level, says=clue.says, board=clue.board, lines=clue.lines, misleading=True,
        country=country, region=region, place=place, design=clue.design,
    )  # fmt: skip


def collect_unwritten_clues(spot: Spot, look: SceneLook, sky: Sky) -> tuple[SceneClue, ...]:
    """Return what a street shows without text. None of it names one country, so ``country`` is left open."""
    found: list[tuple[Sort, str]] = []
    if look.centre_line != "none":
        side = sum(facts.driving_side == look.drives_on for facts in all_countries().values())
        found.append(
            ("driving_side", f"Traffic keeps to the {look.drives_on}, as in {side} countries and territories.")
        )
        pair = "A pair of lines" if look.centre_double else "A line"
        edge = "" if look.edge_line == "none" else f", with {look.edge_line} lines at the edges"
        found.append(("road_marking", f"{pair} in {look.centre_line} runs down the middle of the road{edge}."))
    if look.poles != "none":
        wires = "with wires overhead" if look.wires else "without wires"
        found.append(("pole", f"Poles of {look.poles} stand along the street, {wires}."))
    found.append(("architecture", f"The houses are of a style: {get_style(spot.country).words}."))
    if look.plant != "none":
        climate = describe_climate(spot.climate)
        found.append(("vegetation", f"Plants ({look.plant}) fit the climate: {climate}."))
    if look.terrain != "flat":
        there = {"hills": "Hills rise", "mountains": "Mountains rise", "coast": "The sea lies"}[look.terrain]
        found.append(("terrain", f"{there} behind the houses."))
    if sky.weather in _SUNNY:
        found.append(("sun", _shadows(sky)))
    return tuple(SceneClue(id="", sort=sort, level="country", says=says) for sort, says in found)


def _shadows(sky: Sky) -> str:
    length = "short" if sky.sun_elevation_deg > 50 else "long" if sky.sun_elevation_deg < 20 else "of middling length"
    return (
        f"Shadows are {length}: the sun stands {sky.sun_elevation_deg:.0f} degrees high, "
        f"{sky.sun_azimuth_deg:.0f} degrees from north."
    )
