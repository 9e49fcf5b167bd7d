"""Whom to trust with a picture: the social network of a team, as it is seen for one photo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from geosleuth.photo import OpenedPhoto


@dataclass(frozen=True, slots=True)
class Standing:
    """Election probabilities (Lst) and links (A), in the order of the members; a link to oneself is 0."""

    election: tuple[float, ...]
    links: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit and weights that are none."""
        count = len(self.election)
        if len(self.links) != count or any(len(row) != count for row in self.links):
            raise ValueError(f"{count} members need {count} x {count} links")
        if not all(0.0 <= value <= 1.0 for value in self.election):
            raise ValueError("an election probability lies between 0 and 1")
        if not all(value >= 0.0 for row in self.links for value in row):
            raise ValueError("a link's weight is not negative")

    @classmethod
    def equal(cls, count: int) -> "Standing":
        """Nobody knows anybody: every election probability is a half, every link is 1."""
        return cls((0.5,) * count, tuple(tuple(0.0 if i == j else 1.0 for j in range(count)) for i in range(count)))


class Society(Protocol):
    """Says how the members of a team stand, given the photos. It sees pixels, never a file name or a truth."""

    def standing(self, photos: Sequence[OpenedPhoto]) -> Standing:
        """Whom to trust with these photos."""
        ...


@dataclass(frozen=True, slots=True)
class StrangersSociety:
    """A team that has learned nothing yet."""

    count: int

    def standing(self, photos: Sequence[OpenedPhoto]) -> Standing:  # noqa: ARG002
        """The same for every photo."""
        return Standing.equal(self.count)
