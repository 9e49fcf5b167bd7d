"""What is written in a scene: each clue is true of the place, and says why it tells."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import TypeVar

from geosleuth.atlas.facts import by_postcode, country_facts
from geosleuth.geo import distance_km
from geosleuth.tools.ranges import KM_A_MILE
from geosleuth.world.businesses_postcodes import postcode_of
from geosleuth.world.drawing.designs import designs_for
from geosleuth.world.drawing.lettering import drawable
from geosleuth.world.model import Board, Business, Clue, ClueLevel, Sort, Split, Spot
from geosleuth.world.towns import WorldTown

from .areas import area_of, number_of_area
from .national import NATIONAL
from .plates import number_plate
from .roads import road_number
from .styles import codes

_T = TypeVar("_T")
_BY_ROAD = 1.25
"""Roads are so much longer than the straight line, as a rule."""
_NEAR_KM, _FAR_KM = 12.0, 220.0
_STATES_ON_PLATES = frozenset({"US", "CA", "AU"})
POSTCODE_LAST = codes("US CA AU GB NZ ZA IN PH MY ID LK KE NG BD NP PK IE")
_NUMBER_FIRST = codes("US CA AU GB NZ IE ZA FR IN PH MY LK KE NG")
_WITH_ARTICLE = ("United ", "Netherlands", "Philippines", "Czech Republic", "Dominican Republic")
_SLUGS = ("nova", "aurora", "stella", "primo", "orion", "delta", "alfa", "luna", "vega", "sol")


def half_of(things: Sequence[_T], split: Split) -> Sequence[_T]:
    """One split's half of a list of words: what is seen in training is not asked for again."""
    return things[1 if split == "held-out" else 0 :: 2] or things


def within_sentence(country: str) -> str:
    """A country's name with its article: "the Netherlands"."""
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
    ) -> Clue:
        """A clue about this spot, pointing as far as its level goes."""
        return Clue(
            id="", sort=sort, level=level, says=says, board=board, lines=lines, country=self.spot.country,
            region=self.spot.region if level != "country" else None, place=place if level == "precise" else None,
            design=self.chance.choice(designs_for(board, self.split)),
        )  # fmt: skip

    def business(self, one: Business) -> Clue:
        """The name over the door of a business that the map knows."""
        town = self.spot.town
        if one.chain:
            says = f"The shop is called {one.name}; it is one of a chain that the map knows in several towns."
            return self.clue("chain", "country", says, "shop_front", one.name)
        says = f"The shop is called {one.name}; the map knows one in {town}."
        if one.homonym:
            says = f"The shop is called {one.name}; the map knows one in {town}, and an unrelated one elsewhere."
        return self.clue("business", "precise", says, "shop_front", one.name, place=f"{one.name}, {town}")

    def street_name(self, street: str) -> Clue:
        """A street's name plate."""
        says = f"The plate names the street, {street}; the map knows a street of that name in {self.spot.town}."
        return self.clue("street_name", "precise", says, "street_plate", street, place=f"{street}, {self.spot.town}")

    def house_number(self, one: Business) -> Clue | None:
        """The number beside the door."""
        if not one.house_number or not one.street:
            return None
        says = f"The house has the number {one.house_number}, which fixes the spot once the street is known."
        place = f"{one.street} {one.house_number}, {self.spot.town}"
        return self.clue("house_number", "precise", says, "house_number", one.house_number, place=place)

    def bus_stop(self, stop: str) -> Clue:
        """What the stop is called."""
        says = f"The bus stop is called {stop}; there is one in {self.spot.town}."
        return self.clue("bus_stop", "precise", says, "bus_stop", stop, place=f"{stop}, {self.spot.town}")

    def town_name(self) -> Clue:
        """The sign where the town begins."""
        name = self.spot.town_on_signs
        says = f"The sign names the town: {name} is {self.spot.town} in {self.land}."
        return self.clue("town_name", "precise", says, "town_sign", name, place=self.spot.town)

    def address(self, one: Business) -> Clue:
        """A notice with street, town and postcode, as the map has them."""
        name, code = self.spot.town_on_signs, one.postcode or ""
        place = f"{name} {code}" if self.town.country in POSTCODE_LAST else f"{code} {name}"
        lines = [*([street_line(self.town.country, one)] if one.street else []), place.strip()]
        says = f"The notice gives the address: {', '.join(lines)}, which is in {self.spot.town}."
        return self.clue("town_name", "precise", says, "notice", *lines, place=", ".join(lines))

    def phone(self, one: Business) -> Clue | None:
        """The shop's own telephone number, where it says nothing wrong about the region."""
        if not one.phone:
            return None
        lines = [self._labelled(one.phone)]
        if one.domain and self.chance.random() < 0.3:
            lines.append(one.domain)
        area = area_of(one.phone, self.town)
        if area is None:
            return None
        if area:
            return self._area_clue(one.phone, area, lines)
        says = f"The number {one.phone} has the form of numbers in {self.land}."
        return self.clue("phone", "country", says, "notice", *lines)

    def area_code(self) -> Clue | None:
        """A telephone number with the area code of the town, or of its region; nobody's on the map."""
        number = number_of_area(self.town, self.chance)
        area = area_of(number, self.town) if number else None
        if number is None or not area:
            return None
        return self._area_clue(number, area, [self._labelled(number)])

    def _area_clue(self, number: str, area: str, lines: Sequence[str]) -> Clue:
        says = f"The number {number} belongs to {area} by the numbering plan of {self.land}."
        return self.clue("phone", "region", says, "notice", *lines)

    def _labelled(self, number: str) -> str:
        return f"Tel. {number}" if self.town.land.words[0].isascii() and self.chance.random() < 0.5 else number

    def postcode(self, world_seed: int) -> Clue | None:
        """A postcode without its town, where the atlas can tell its region."""
        code = postcode_of(self.town, self.chance.randrange(3), world_seed)
        if not code or not (self.town.postcode or self.spot.country in by_postcode(code).regions):
            return None
        says = f"{code} is a postcode of {self.land}, of {self.spot.region or 'one region'} there."
        return self.clue("postcode", "region", says, "notice", code)

    def region_name(self) -> Clue | None:
        """A banner of the region, where nothing else tells it."""
        region = self.spot.region
        if region is None or not drawable(region):
            return None
        return self.clue("town_name", "region", f"The banner names the region: {region}.", "banner", region)

    def distances(self, towns: Sequence[WorldTown]) -> Clue | None:
        """A road sign with two or three other towns and how far they are by road."""
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
        lines = [f"{name} {floor(km * _BY_ROAD / per + 0.5)}{unit}" for km, name in shown]
        says = (
            f"The sign says how far it is to {' and '.join(name for _, name in shown)}, "
            f"{'in miles' if by_miles else 'in kilometres'}: the place lies where these distances meet."
        )
        return self.clue("distance", "region", says, "direction_sign", *lines)

    def language(self, *, board: Board = "shop_front") -> Clue:
        """What a shop sells, in the language of the place."""
        words = half_of(self.town.land.words, self.split)
        word = self.chance.choice(words)
        says = f"The sign reads {word}, in a language and a script that signs in {self.land} have."
        return self.clue("language", "country", says, board, word)

    def price(self) -> Clue | None:
        """A price in the country's money."""
        prices = self.town.land.prices
        if not prices:
            return None
        price = self.chance.choice(prices)
        says = f"{price} is written as prices are in {self.land}."
        word = self.chance.choice(half_of(self.town.land.words, self.split))
        return self.clue("price", "country", says, "poster", word, price)

    def web_address(self) -> Clue | None:
        """A web address under the country's own domain."""
        domain = self.town.land.domain
        if domain == "com":
            return None
        address = f"www.{self.chance.choice(_SLUGS)}{self.chance.randrange(10, 100)}.{domain}"
        says = f"{address} is under .{domain}, the domain of {self.land}."
        return self.clue("web_address", "country", says, self.chance.choice(("notice", "banner")), address)

    def brand(self) -> Clue | None:
        """A chain that is at home in the country."""
        names = NATIONAL.get(self.spot.country)
        if not names:
            return None
        name = self.chance.choice(names)
        says = f"{name} is a firm of {self.land}, hardly seen elsewhere."
        return self.clue("brand", "country", says, self.chance.choice(("shop_front", "billboard")), name)

    def plate(self) -> Clue | None:
        """A car's number plate; some countries write the state on it."""
        plate = number_plate(self.spot.country, self.chance)
        if plate is None:
            return None
        says = f"The number plate {plate} has the form and the colours of plates in {self.land}."
        region = self.spot.region
        if self.spot.country in _STATES_ON_PLATES and region and self.chance.random() < 0.5:
            says = f"The number plate names the state it is from: {region}."
            return self.clue("number_plate", "region", says, "number_plate", plate, region)
        return self.clue("number_plate", "country", says, "number_plate", plate)

    def road(self) -> Clue | None:
        """A road's number."""
        number = road_number(self.spot.country, self.chance)
        if number is None:
            return None
        says = f"{number} is how {self.land} numbers its roads."
        return self.clue("road_number", "country", says, "road_shield", number)


def street_line(country: str, one: Business) -> str:
    """Street and number as the country orders them; the empty text where there is no street."""
    if not one.house_number:
        return one.street or ""
    return f"{one.house_number} {one.street}" if country in _NUMBER_FIRST else f"{one.street} {one.house_number}"
