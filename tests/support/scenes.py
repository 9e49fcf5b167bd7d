"""Made-up street scenes with real facts, to measure the detective with; it shares no table with them.

Names of businesses, streets and stops come straight from OpenStreetMap extracts, telephone numbers from the package
`phonenumbers`, and what signs say elsewhere from `geosleuth.lab.scenes.locales`. A scene hangs on its seed alone.

There are two splits that share no place: businesses go by their name, towns and words by their number, so that nothing
a calibration was fitted on turns up in what is held out.
"""

import random
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from scene_drawing import Backdrop, Board, Drawn, draw
from scene_places import Business, businesses, extracts
from scene_writing import (
    RICH_BUS,
    Written,
    country_boards,
    distance_boards,
    fewer,
    language_boards,
    misleading_board,
    named_boards,
    phone_boards,
    shop_boards,
)

Kind = Literal["business", "country", "named", "phone", "language", "misleading", "nothing", "small"]
Split = Literal["calibration", "held-out"]

SHARES: dict[Kind, float] = {
    "business": 0.34, "country": 0.18, "named": 0.08, "phone": 0.04, "language": 0.04, "misleading": 0.20,
    "nothing": 0.06, "small": 0.06,
}  # fmt: skip
_REGION_SHARES = {"monaco": 0.38, "andorra": 0.20, "helsinki": 0.42}
_SIZES = ((1024, 768), (1280, 960), (1632, 1224))
TWO_MEGAPIXELS = _SIZES[-1]
_SMALL_SIZE, _SMALL_FAR = (3264, 2448), 0.25


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scene shows and where it stands.

    ``truth`` names the country by its ISO code; it is None where a scene shows nothing that tells. ``business`` is the
    name over the door where that door is in an added region. ``misleading_country`` is what ``misleading``, a thing out
    of its country, speaks of.
    """

    id: str
    kind: Kind
    split: Split
    size: tuple[int, int]
    boards: tuple[Board, ...] = ()
    backdrop: Backdrop = "house"
    truth: Truth | None = None
    business: str | None = None
    misleading: str | None = None
    misleading_country: str | None = None
    far: float = 1.0

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is written."""
        return tuple(line for board in self.boards for line in board.lines)

    def drawn(self) -> Drawn:
        """The picture, the same every time."""
        return draw(self.backdrop, self.boards, self.size, self.far, random.Random(f"draw {self.id}"))

    def jpeg(self) -> bytes:
        """The picture as a file."""
        return self.drawn().jpeg(random.Random(f"quality {self.id}").randrange(74, 93))


def make_scenes(
    count: int = 300, *, split: Split, seed: int = 1, regions: Mapping[str, Path] | None = None
) -> list[Scene]:
    """So many scenes of one split.

    Args:
        count: how many; kinds are mixed as `SHARES` says.
        split: which places may occur.
        seed: another one gives other scenes.
        regions: extracts by region; those at hand if left out.
    """
    chance = random.Random(f"scenes {split} {seed}")
    doors = _Doors(extracts() if regions is None else regions, split, chance)
    kinds = [kind for kind, share in SHARES.items() for _ in range(round(count * share))]
    kinds = (kinds + ["business"] * count)[:count]
    chance.shuffle(kinds)
    return [_scene(kind, f"{split}-{seed}-{number:04}", split, doors) for number, kind in enumerate(kinds)]


class _Doors:
    """Businesses in turn, none twice before all have been there."""

    def __init__(self, regions: Mapping[str, Path], split: Split, chance: random.Random) -> None:
        self._chance = chance
        self._regions = sorted(regions)
        self._turns = {name: self._turn(businesses(regions[name], name), split) for name in self._regions}

    def _turn(self, known: tuple[Business, ...], split: Split) -> Iterator[Business]:
        own = [one for one in known if (zlib.crc32(one.name.casefold().encode()) % 2 == 0) == (split == "calibration")]
        while True:
            self._chance.shuffle(own)
            yield from own

    def next(self) -> Business:
        (region,) = self._chance.choices(self._regions, [_REGION_SHARES[name] for name in self._regions])
        return next(self._turns[region])


def _scene(kind: Kind, name: str, split: Split, doors: _Doors) -> Scene:
    chance = random.Random(f"scene {name}")
    size = chance.choice(_SIZES)
    if kind == "nothing":
        backdrop: Backdrop = chance.choice(("landscape", "wall", "house"))
        # Some have a number or a letter that stands everywhere.
        marked = (Board("front", (chance.choice(("24", "P", "7", "118")),)),) if chance.random() < 0.3 else ()
        return Scene(name, kind, split, size, marked, backdrop)
    odd = split == "held-out"
    if kind in ("named", "phone", "language"):
        return _told_by_little(kind, name, split, size, chance)
    at_door = kind == "business" or (kind in ("misleading", "small") and chance.random() < 0.5)
    if at_door:
        door = doors.next()
        plain = kind != "business"
        boards = shop_boards(door, chance, sure=plain)
        truth, business = Truth(door.point, door.country, city=door.city), door.name
    else:
        signed = kind == "country" and chance.random() < 0.15
        written = (
            distance_boards(chance, odd=odd) if signed else country_boards(chance, odd=odd, sure=kind != "country")
        )
        boards, truth, business = written.boards, _truth(written), None
    if kind == "small":
        return Scene(name, kind, split, _SMALL_SIZE, boards, "house", truth, business, far=_SMALL_FAR)
    backdrop = "landscape" if {board.role for board in boards} & {"town", "distances"} else "house"
    if kind == "misleading":
        assert truth.country is not None
        board, cue = misleading_board(truth.country, chance, odd=odd)
        boards = (*(fewer(boards, chance) if cue.sort == RICH_BUS else boards), board)
        return Scene(name, kind, split, size, boards, backdrop, truth, business, cue.sort, cue.country)
    return Scene(name, kind, split, size, boards, backdrop, truth, business)


def _told_by_little(kind: Kind, name: str, split: Split, size: tuple[int, int], chance: random.Random) -> Scene:
    odd, cue = split == "held-out", None
    if kind == "named":
        written, cue = named_boards(chance, odd=odd)
    else:
        written = (phone_boards if kind == "phone" else language_boards)(chance, odd=odd)
    sort, country = (cue.sort, cue.country) if cue else (None, None)
    return Scene(name, kind, split, size, written.boards, "house", _truth(written), None, sort, country)


def _truth(written: Written) -> Truth:
    return Truth(LatLon(*written.at), written.country, city=written.city)
