"""Several agents' answers to the same images, in independent columns.

Only surface features of replies are used. Instructions in a reply are never followed; an empty reply gives zeros.
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from math import log1p, sqrt

import numpy as np
import numpy.typing as npt

from geosleuth.answer import Address, Answer
from geosleuth.geo import FloatArray, LatLon, distances_km, great_circle_km
from geosleuth.names import fold
from geosleuth.names.country_names import cities_by_country
from geosleuth.names.folding import fold_once
from geosleuth.support.errors import BadInput

# Columns of ``word_signs``, in order.
WORD_SIGNS = ("length", "hedges", "evidence", "quotes", "scripts", "decimals", "confidence")

# Maximum characters read of a reply, taken from its end, where the answer is.
MAX_CHARACTERS = 20_000

_MAX_DECIMALS = 7
_EAST_ASIAN = 0x2FFF
_HEDGES = re.compile(
    r"\b(?:may|might|maybe|perhaps|possibly|probably|likely|guess\w*|uncertain\w*|unsure|could|cannot|can't|unable|hard"
    r"|difficult|appears?|seems?|approximat\w*|estimat\w*|assum\w*|insufficient|generic|lack\w*|without|typical\w*"
    r"|plausible|suggest\w*|common\w*|no (?:clear|unique|specific|visible))\b|可能|大概|推测|猜测",
    re.IGNORECASE,
)
_EVIDENCE = re.compile(
    r"\b(?:sign\w*|reads?|reading|text|logo|plate|number|landmark|iconic|distinctive|named?|street|station|tower|bridge"
    r"|museum|hotel|park|temple|church|university|phone|website|address|matches|identif\w*|recogni[sz]\w*|known|unique\w*"
    r"|famous)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"「『‘]([^“”\"「」『』\n]{2,60})[”\"」』’]")
_OBJECT = re.compile(r"\{[^{}]*\}")

# Maximum towns read from one reply.
MAX_NAMED = 6
_LARGE_TOWN, _TOWN = 500_000, 100_000
_CAPITALISED = re.compile(
    r"[^\W\d_a-z][\w'’-]*(?:[ -](?:(?:de|la|le|am|an|der|of|sur|do|da|di)[ -])?[^\W\d_a-z][\w'’-]*){0,3}"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,}")
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
MAX_AGENTS = 16
# Images taken closer together than this show the same place and are never split between sets.
SAME_PLACE_KM = 0.1
_MIN_KM_A_DEGREE = 110.0


def spoken(text: str) -> str:
    """Return the text of a reply without the JSON object that holds the answer."""
    return _OBJECT.sub(" ", text[-MAX_CHARACTERS:])


def word_signs(text: str, answer: Answer) -> FloatArray:
    """Return one figure for each of ``WORD_SIGNS``."""
    words = spoken(text)
    scale = sqrt(max(1, len(words.split())))
    point = answer.point
    return np.array(
        [
            log1p(len(words)),
            len(_HEDGES.findall(words)) / scale,
            len(_EVIDENCE.findall(words)) / scale,
            log1p(len(_QUOTED.findall(words))),
            log1p(sum(ord(character) > _EAST_ASIAN for character in words)),
            0.0 if point is None else float(max(_decimals(point.lat), _decimals(point.lon))),
            0.5 if answer.probability is None else answer.probability,
        ]
    )


def _decimals(degrees: float) -> int:
    return len(f"{degrees:.{_MAX_DECIMALS}f}".rstrip("0").partition(".")[2])


@cache
def _load_town_index() -> dict[str, tuple[float, float, int]]:
    """Return location and size of towns by folded name; of several the largest. Large towns have all their names."""
    found: dict[str, tuple[float, float, int]] = {}
    for town in chain.from_iterable(cities_by_country().values()):
        for name in town.names if town.population >= _LARGE_TOWN else town.names[:1]:
            key = fold_once(name)
            if (len(name) > 3 or not name.isascii()) and found.get(key, (0, 0, -1))[2] < town.population:
                found[key] = (town.lat, town.lon, town.population)
    return found


def towns_named(text: str) -> list[tuple[float, float]]:
    """Return where the first few towns lie that a text names; a single word must be the name of a larger town."""
    towns, found = _load_town_index(), dict[tuple[float, float], None]()
    for match in _CAPITALISED.finditer(text):
        words = match[0].split()
        for size in range(len(words), 0, -1):
            for at in range(len(words) - size + 1):
                town = towns.get(fold(" ".join(words[at : at + size])))
                if town is not None and (size > 1 or town[2] >= _TOWN):
                    found.setdefault(town[:2])
    for match in _CHINESE.finditer(text):
        run = match[0]
        for at in range(len(run) - 1):
            for size in (4, 3, 2):
                if len(run) - at >= size and (town := towns.get(fold(run[at : at + size]))) is not None:
                    found.setdefault(town[:2])
    return list(found)[:MAX_NAMED]


@dataclass(frozen=True, slots=True)
class PanelReply:
    """One agent's reply about one image, and the answer parsed from it."""

    text: str
    answer: Answer


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Images by agents; the agents are sorted by name.

    Attributes:
        agents: their names.
        lat, lon: the point of each answer, NaN if there is none.
        apart_km: image, agent, agent: the distance between two answers; infinite if one has no point.
        words: surface features of each reply, see ``WORD_SIGNS``.
        same_name: image, agent, agent: the first names the same town as the second.
        mentioned: image, agent, agent: the first's town occurs in the second's reply.
        address: the place names of each answer; not used as features.
        named: image, agent, up to six: where the towns lie that its reply names, latitude and longitude; else NaN.
    """

    agents: tuple[str, ...]
    lat: FloatArray
    lon: FloatArray
    apart_km: FloatArray
    words: FloatArray
    same_name: BoolArray
    mentioned: BoolArray
    address: npt.NDArray[np.object_]
    named: FloatArray

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.lat)

    @property
    def has_point(self) -> BoolArray:
        """Return which agents gave a point."""
        return ~np.isnan(self.lat)

    def rows(self, chosen: IntArray) -> "Panel":
        """Return a subset of the images."""
        return Panel(
            self.agents,
            self.lat[chosen],
            self.lon[chosen],
            self.apart_km[chosen],
            self.words[chosen],
            self.same_name[chosen],
            self.mentioned[chosen],
            self.address[chosen],
            self.named[chosen],
        )

    def with_point(self, name: str, lat: FloatArray, lon: FloatArray) -> "Panel":
        """Return the panel with one more column of points, after the agents'; it says and names nothing."""
        wide = self.arrange((*self.agents, name))
        lats, lons = np.column_stack([self.lat, lat]), np.column_stack([self.lon, lon])
        return replace(wide, lat=lats, lon=lons, apart_km=_apart_km(lats, lons))

    @classmethod
    def from_answers(cls, said: Mapping[str, Sequence[PanelReply | None]]) -> "Panel":
        """Build a panel from the agents' answers; None where an agent did not answer.

        Raises:
            BadInput: there are fewer than two agents or too many, no image, or lists of different lengths.
        """
        agents = tuple(sorted(said))
        if not 2 <= len(agents) <= MAX_AGENTS:
            raise BadInput(f"got answers of {len(agents)} agents; give 2 to {MAX_AGENTS}")
        lengths = {len(column) for column in said.values()}
        if len(lengths) != 1 or lengths == {0}:
            raise BadInput("every agent must answer the same images, at least one")
        size, count = lengths.pop(), len(agents)
        lat, lon = np.full((size, count), np.nan), np.full((size, count), np.nan)
        words = np.zeros((size, count, len(WORD_SIGNS)))
        address = np.full((size, count), Address(), dtype=np.object_)
        named = np.full((size, count, MAX_NAMED, 2), np.nan)
        towns = [[""] * count for _ in range(size)]
        texts = [[""] * count for _ in range(size)]
        for place, agent in enumerate(agents):
            for row, item in enumerate(said[agent]):
                if item is None:
                    continue
                words[row, place] = word_signs(item.text, item.answer)
                texts[row][place] = spoken(item.text).casefold()
                towns[row][place] = _town(item.answer)
                address[row, place] = item.answer.address
                for slot, point in enumerate(towns_named(item.text[-MAX_CHARACTERS:])):
                    named[row, place, slot] = point
                if item.answer.point is not None:
                    lat[row, place], lon[row, place] = item.answer.point.lat, item.answer.point.lon
        same, mentioned = _compare_towns(towns, texts)
        return cls(agents, lat, lon, _apart_km(lat, lon), words, same, mentioned, address, named)

    def arrange(self, agents: Sequence[str]) -> "Panel":
        """Return the panel with a model's agents in its order; a missing agent counts as not answering.

        Raises:
            BadInput: the panel has an agent that the model does not know.
        """
        unknown = [agent for agent in self.agents if agent not in agents]
        if unknown:
            names = f"{', '.join(agents)}, not {', '.join(unknown)}"
            raise BadInput(f"the model knows {names}; give files the names that it knows: NAME=FILE")
        if tuple(agents) == self.agents:
            return self
        size, count = len(self), len(agents)
        here = np.array([agents.index(agent) for agent in self.agents])
        lat, lon = np.full((size, count), np.nan), np.full((size, count), np.nan)
        words = np.zeros((size, count, self.words.shape[2]))
        lat[:, here], lon[:, here], words[:, here] = self.lat, self.lon, self.words
        address = np.full((size, count), Address(), dtype=np.object_)
        address[:, here] = self.address
        named = np.full((size, count, MAX_NAMED, 2), np.nan)
        named[:, here] = self.named
        apart = np.full((size, count, count), np.inf)
        same, mentioned = np.zeros((size, count, count), np.bool_), np.zeros((size, count, count), np.bool_)
        square = np.ix_(np.arange(size), here, here)
        apart[square], same[square], mentioned[square] = self.apart_km, self.same_name, self.mentioned
        return Panel(tuple(agents), lat, lon, apart, words, same, mentioned, address, named)


def _town(answer: Answer) -> str:
    return (answer.address.precise.conclusion or "").partition(",")[0].strip().casefold()


def _compare_towns(towns: list[list[str]], texts: list[list[str]]) -> tuple[BoolArray, BoolArray]:
    size, count = len(towns), len(towns[0])
    same, mentioned = np.zeros((size, count, count), np.bool_), np.zeros((size, count, count), np.bool_)
    for row, (names, words) in enumerate(zip(towns, texts, strict=True)):
        plain = [fold(name) for name in names]
        for i, name in enumerate(names):
            for j in range(count) if name else ():
                if i != j:
                    same[row, i, j] = plain[i] == plain[j]
                    mentioned[row, i, j] = name in words[j]
    return same, mentioned


def _apart_km(lat: FloatArray, lon: FloatArray) -> FloatArray:
    apart: FloatArray = np.nan_to_num(
        great_circle_km(lat[:, :, None], lon[:, :, None], lat[:, None, :], lon[:, None, :]), nan=np.inf
    )
    agents = np.arange(lat.shape[1])
    apart[:, agents, agents] = np.inf
    return apart


def number_groups(
    keys: Sequence[Sequence[Hashable]], places: Sequence[LatLon] = (), within_km: float = SAME_PLACE_KM
) -> IntArray:
    """Number the images so that images that belong together, directly or through others, share a number.

    Args:
        keys: for each image, values that it must not share with another fold, such as its name.
        places: for each image where it was taken; those within ``within_km`` of each other belong together.
        within_km: that distance.
    """
    parent = list(range(len(keys)))

    def root(of: int) -> int:
        while parent[of] != of:
            parent[of] = parent[parent[of]]
            of = parent[of]
        return of

    def join(row: int, other_row: int) -> None:
        item, other = root(row), root(other_row)
        parent[max(item, other)] = min(item, other)

    first: dict[Hashable, int] = {}
    for row, own in enumerate(keys):
        for key in own:
            join(first.setdefault(key, row), row)
    for row, other_row in _find_near_pairs(places, within_km):
        join(row, other_row)
    return np.array([root(row) for row in range(len(keys))], dtype=np.int64)


def _find_near_pairs(places: Sequence[LatLon], within_km: float) -> Iterator[tuple[int, int]]:
    if not places:
        return
    lat, lon = np.array([place.lat for place in places]), np.array([place.lon for place in places])
    order = np.argsort(lat, kind="stable")
    lat, lon = lat[order], lon[order]
    # Two places are at least as far apart as their latitudes, so only a few need measuring.
    ends = np.searchsorted(lat, lat + within_km / _MIN_KM_A_DEGREE, side="right")
    for at, end in enumerate(ends):
        if end > at + 1:
            apart = distances_km(lat[at + 1 : end], lon[at + 1 : end], lat[at], lon[at])
            for other in np.flatnonzero(apart <= within_km):
                yield int(order[at]), int(order[at + 1 + other])


def fold_numbers(groups: IntArray, folds: int, seed: int) -> IntArray:
    """Return each image's fold; groups stay together, and folds have about equal size."""
    names, where = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of_group = np.empty(len(names), dtype=np.int64)
    fold_of_group[order] = np.arange(len(names)) % folds
    numbers: IntArray = fold_of_group[where]
    return numbers
