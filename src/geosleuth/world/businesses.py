"""The made-up businesses of a town: doors along its streets, numbered, each with a name and how to reach it."""

import random
from dataclasses import dataclass
from itertools import pairwise
from math import hypot
from typing import Final

from geosleuth.geo import LatLon

from .businesses_contact import domain_of, phones_of
from .businesses_names import names_of
from .businesses_postcodes import postcode_of
from .model import Business
from .streets import Plan, at
from .towns import WorldTown

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
    """The name of the layer of a world: part of the id of all that stands in it."""
    return f"world-{seed}"


def businesses_of(town: WorldTown, plan: Plan, seed: int, *, chains: bool, homonyms: bool) -> tuple[Business, ...]:
    """All businesses of a town, which hang on the town and the seed alone."""
    chance = random.Random(f"doors {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    doors = _doors(plan)
    # The first streets are the busiest: what is drawn there counts for more.
    drawn = [(round(chance.random() ** (1 / _busy(door.street)), 9), place) for place, door in enumerate(doors)]
    size = sum(town.population >= people for people in (25_000, 60_000, 150_000, 400_000, 1_000_000))
    count = min(len(doors), chance.randrange(_FEWEST, _FEWEST + 9) + size * (_MOST - _FEWEST - 8) // 5)
    chosen = [doors[place] for place in sorted(place for _, place in sorted(drawn, reverse=True)[:count])]
    stops = bus_stops_of(town, plan)
    called = names_of(town, seed, count, chains=chains, homonyms=homonyms)
    found = []
    phones = phones_of(town, seed)
    for number, (door, name) in enumerate(zip(chosen, called, strict=True)):
        point, online = at(town.point, door.east_m, door.north_m), chance.random() < _WITH_DOMAIN
        found.append(
            Business(
                id=f"made-up:{region_name(seed)}:n{town.geonames}{number:03}",
                name=name.name,
                kind=name.kind,
                point=point,
                street=plan.streets[door.street].name,
                house_number=str(door.number),
                phone=next(phones),
                domain=domain_of(town, name.name, number, shared=name.homonym) if online else None,
                postcode=postcode_of(town, door.street, seed),
                bus_stop=_nearest_stop(door, stops),
                chain=name.chain,
                homonym=name.homonym,
            )
        )
    return tuple(found)


def bus_stops_of(town: WorldTown, plan: Plan) -> tuple[BusStop, ...]:
    """Stops in the middle of the first streets, called after what crosses them."""
    found: list[BusStop] = []
    names = [street.name for street in plan.streets]
    for number in range(min(_STOPS, len(plan.streets))):
        line = plan.lines_m[number]
        (x0, y0), (x1, y1) = line[len(line) // 2 - 1], line[len(line) // 2]
        length = max(hypot(x1 - x0, y1 - y0), 1.0)
        aside = (_STOP_M * (y1 - y0) / length, -_STOP_M * (x1 - x0) / length)
        metres = round((x0 + x1) / 2 + aside[0], 3), round((y0 + y1) / 2 + aside[1], 3)
        name = names[-1 - number % len(names)]
        found.append(BusStop(f"n{town.geonames}{_FIRST_STOP + number}", name, at(town.point, *metres), *metres))
    return tuple(found)


def _busy(street: int) -> float:
    return 3.0 if street == 0 else 1.5 if street < 3 else 1.0


def _doors(plan: Plan) -> list[_Door]:
    """Every door that there could be: on both sides, odd numbers on the left, away from crossings."""
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
