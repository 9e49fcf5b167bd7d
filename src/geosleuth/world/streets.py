"""Made-up streets around the centre of a real town: a small, bent grid with the country's kind of names."""

import random
from dataclasses import dataclass
from math import cos, hypot, radians, sin
from typing import Final

from geosleuth.geo import LatLon, bearing_deg

from .lands.names import spelled
from .lands.streets import STREETS
from .towns import WorldTown

METRES_PER_DEGREE: Final = 111_195.0
_SPACING_M: Final = (85.0, 150.0)
_BEYOND_M: Final = (50.0, 130.0)
_BEND_M: Final = 7.0
_CROSSINGS, _ENDS = 400, 700  # below are the numbers of businesses and stops


@dataclass(frozen=True, slots=True)
class Street:
    """One street: its id in the layer, its name, what it is on the map ("highway=residential"), and its line.

    ``nodes`` numbers the points of the line; streets that meet share a node.
    """

    id: str
    name: str
    kind: str
    line: tuple[LatLon, ...]
    nodes: tuple[int, ...]

    def heading_deg(self, point: LatLon) -> float:
        """The direction of the street next to a point, from north to east, 0 to 360, towards higher numbers."""
        squeeze = round(cos(radians(point.lat)), 9)

        def away(index: int) -> float:
            here, there = self.line[index], self.line[index + 1]
            x, y = (point.lon - here.lon) * squeeze, point.lat - here.lat
            dx, dy = (there.lon - here.lon) * squeeze, there.lat - here.lat
            along = max(0.0, min(1.0, (x * dx + y * dy) / max(dx * dx + dy * dy, 1e-18)))
            return hypot(x - along * dx, y - along * dy)

        nearest = min(range(len(self.line) - 1), key=away)
        return bearing_deg(self.line[nearest], self.line[nearest + 1])


@dataclass(frozen=True, slots=True)
class Plan:
    """The streets of a town on a plane around its centre, in metres east and north."""

    streets: tuple[Street, ...]
    lines_m: tuple[tuple[tuple[float, float], ...], ...]


def plan_of(town: WorldTown, seed: int) -> Plan:
    """The streets of a town, which hang on the town and the seed alone."""
    chance = random.Random(f"streets {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    along, across = _counts(town.population, chance)
    turned = radians(chance.uniform(0, 90))
    turn = (round(cos(turned), 9), round(sin(turned), 9))
    rows, columns = _offsets(along, chance), _offsets(across, chance)
    crossings = {
        (row, column): (
            columns[column] + chance.uniform(-_BEND_M, _BEND_M),
            rows[row] + chance.uniform(-_BEND_M, _BEND_M),
        )
        for row in range(along)
        for column in range(across)
    }
    names = _names(town, along + across, chance)
    streets: list[Street] = []
    lines: list[tuple[tuple[float, float], ...]] = []
    for number in range(along + across):
        if number < along:
            keys = [(number, column) for column in range(across)]
        else:
            first, last = _part(along, chance)
            keys = [(row, number - along) for row in range(first, last)]
        line = _with_ends([crossings[key] for key in keys], chance)
        turned_line = tuple(_rounded(x * turn[0] - y * turn[1], x * turn[1] + y * turn[0]) for x, y in line)
        ends = (_ENDS + 2 * number, _ENDS + 2 * number + 1)
        nodes = (ends[0], *(_CROSSINGS + row * 20 + column for row, column in keys), ends[1])
        streets.append(
            Street(
                f"w{town.geonames}{number:03}", names[number], _kind(number, along, chance),
                tuple(at(town.point, *metres) for metres in turned_line),
                tuple(town.geonames * 1000 + node for node in nodes),
            )
        )  # fmt: skip
        lines.append(turned_line)
    return Plan(tuple(streets), tuple(lines))


def at(centre: LatLon, east_m: float, north_m: float) -> LatLon:
    """The point so many metres east and north of a centre; good for a few kilometres."""
    shrink = round(cos(radians(centre.lat)), 9)
    lon = centre.lon + east_m / (METRES_PER_DEGREE * shrink)
    return LatLon(round(centre.lat + north_m / METRES_PER_DEGREE, 6), round((lon + 180) % 360 - 180, 6))


def _counts(population: int, chance: random.Random) -> tuple[int, int]:
    size = sum(population >= people for people in (30_000, 100_000, 400_000, 1_500_000))
    return 3 + size // 2 + chance.randrange(2), 3 + (size + 1) // 2 + chance.randrange(2)


def _offsets(count: int, chance: random.Random) -> list[float]:
    found = [0.0]
    for _ in range(count - 1):
        found.append(found[-1] + chance.uniform(*_SPACING_M))
    return [offset - found[-1] / 2 for offset in found]


def _part(along: int, chance: random.Random) -> tuple[int, int]:
    """The rows that a side street reaches: all of them, or at least two."""
    if along <= 2 or chance.random() < 0.5:
        return 0, along
    length = chance.randrange(2, along + 1)
    first = chance.randrange(along - length + 1)
    return first, first + length


def _with_ends(line: list[tuple[float, float]], chance: random.Random) -> list[tuple[float, float]]:
    (x0, y0), (x1, y1) = line[0], line[-1]
    length = max(hypot(x1 - x0, y1 - y0), 1.0)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    before, after = chance.uniform(*_BEYOND_M), chance.uniform(*_BEYOND_M)
    return [(x0 - before * dx, y0 - before * dy), *line, (x1 + after * dx, y1 + after * dy)]


def _rounded(x: float, y: float) -> tuple[float, float]:
    return round(x, 3), round(y, 3)


def _kind(number: int, along: int, chance: random.Random) -> str:
    if number == 0:
        return "highway=secondary"
    if number == along:
        return "highway=tertiary"
    return "highway=pedestrian" if chance.random() < 0.1 else "highway=residential"


def _names(town: WorldTown, count: int, chance: random.Random) -> list[str]:
    """Names as every town of the land has them; the first is one of the usual main streets."""
    tongue, own = town.tongue, STREETS.get(town.country)
    whole = list(own.whole if own else tongue.streets)
    chance.shuffle(whole)
    forms, stems = (own.forms, own.stems) if own else (tongue.street_forms, tongue.street_stems)
    made = [form.format(stem) for form in forms for stem in stems]
    chance.shuffle(made)
    few = whole[: max(2, count // 3)]
    mixed = [*few[1:], *made]
    mixed = mixed[: 2 * count]
    chance.shuffle(mixed)
    names = dict.fromkeys([*few[:1], *mixed, *made, *whole])
    return [spelled(name, town.country) for name in names][:count]
