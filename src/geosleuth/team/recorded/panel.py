"""What several agents said about the same images, in columns. No truth is in here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.answer import Address, Answer
from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, great_circle_km
from geosleuth.names import fold

from .wording import WORD_SIGNS, spoken, word_signs

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

MOST_AGENTS = 16


@dataclass(frozen=True, slots=True)
class Said:
    """What one agent said about one image: its words, and the answer that was read from them."""

    text: str
    answer: Answer


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Images by agents; the agents stand in the order of their names, whatever order they came in.

    Attributes:
        agents: their names.
        lat, lon: where each points, NaN where it gave no point.
        apart_km: image, agent, agent: how far apart two agents point; infinite where one gave no point.
        words: the outward signs of each reply, see ``WORD_SIGNS``.
        same_name: image, agent, agent: the first names the same town as the second.
        mentioned: image, agent, agent: the first's town occurs in the second's words.
        address: the names that each gave; carried along, never weighed.
    """

    agents: tuple[str, ...]
    lat: FloatArray
    lon: FloatArray
    apart_km: FloatArray
    words: FloatArray
    same_name: BoolArray
    mentioned: BoolArray
    address: npt.NDArray[np.object_]

    def __len__(self) -> int:
        """Number of images."""
        return len(self.lat)

    @property
    def answered(self) -> BoolArray:
        """Who gave a point."""
        return ~np.isnan(self.lat)

    def rows(self, chosen: IntArray) -> "Panel":
        """Some of the images."""
        return Panel(
            self.agents,
            self.lat[chosen],
            self.lon[chosen],
            self.apart_km[chosen],
            self.words[chosen],
            self.same_name[chosen],
            self.mentioned[chosen],
            self.address[chosen],
        )

    @classmethod
    def of(cls, said: Mapping[str, Sequence[Said | None]]) -> "Panel":
        """Put what the agents said side by side; None where one said nothing.

        Raises:
            BadInput: there are fewer than two agents or too many, no image, or lists of unequal length.
        """
        agents = tuple(sorted(said))
        if not 2 <= len(agents) <= MOST_AGENTS:
            raise BadInput(f"give the answers of 2 to {MOST_AGENTS} agents, not of {len(agents)}")
        lengths = {len(column) for column in said.values()}
        if len(lengths) != 1 or lengths == {0}:
            raise BadInput("every agent must answer the same images, at least one")
        size, count = lengths.pop(), len(agents)
        lat, lon = np.full((size, count), np.nan), np.full((size, count), np.nan)
        words = np.zeros((size, count, len(WORD_SIGNS)))
        address = np.full((size, count), Address(), dtype=np.object_)
        towns = [[""] * count for _ in range(size)]
        texts = [[""] * count for _ in range(size)]
        for place, agent in enumerate(agents):
            for row, one in enumerate(said[agent]):
                if one is None:
                    continue
                words[row, place] = word_signs(one.text, one.answer)
                texts[row][place] = spoken(one.text).casefold()
                towns[row][place] = _town(one.answer)
                address[row, place] = one.answer.address
                if one.answer.point is not None:
                    lat[row, place], lon[row, place] = one.answer.point.lat, one.answer.point.lon
        same, mentioned = _named(towns, texts)
        return cls(agents, lat, lon, _apart_km(lat, lon), words, same, mentioned, address)

    def arranged(self, agents: Sequence[str]) -> "Panel":
        """The same with the agents of a model, in its order; one that is not here gave no answer.

        Raises:
            BadInput: there is an agent that the model does not know.
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
        apart = np.full((size, count, count), np.inf)
        same, mentioned = np.zeros((size, count, count), np.bool_), np.zeros((size, count, count), np.bool_)
        square = np.ix_(np.arange(size), here, here)
        apart[square], same[square], mentioned[square] = self.apart_km, self.same_name, self.mentioned
        return Panel(tuple(agents), lat, lon, apart, words, same, mentioned, address)


def _town(answer: Answer) -> str:
    return (answer.address.precise.conclusion or "").partition(",")[0].strip().casefold()


def _named(towns: list[list[str]], texts: list[list[str]]) -> tuple[BoolArray, BoolArray]:
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
