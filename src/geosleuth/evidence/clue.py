"""A clue: something seen in a photo, and what it says about where the photo was taken.

A clue never speaks louder than its evidence. It says two things apart: how likely each country is *if the clue is
about the place* (``countries``, ``spots``), and how likely it is to be about the place at all (``reliability``): a tour
bus, a foreign chain or an airline far from home is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from geosleuth.geo import LatLon
from geosleuth.photo.text.lines import rotate_bounds

ClueKind = Literal[
    "script", "language", "place", "street", "business", "station", "airport", "landmark", "phone", "postcode", "tld",
    "currency", "road_number", "brand", "plate", "distance_sign", "date_format", "opening_hours", "speed", "unit",
    "driving_side", "sun", "visual", "hint", "sighting",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextSeen:
    """A line of text as it was read: where on which image (left, top, right, bottom in its pixels), how surely.

    ``confidence`` is the probability that it was read rightly. ``turn`` is by how many degrees clockwise the image must
    be turned for the line to stand upright. ``overlay`` is what was laid over the image, None for text of the scene.
    """

    text: str
    image: str
    box: tuple[float, float, float, float]
    confidence: float
    script: str
    turn: int = 0
    overlay: str | None = None

    @property
    def upright(self) -> tuple[float, float, float, float]:
        """The box as it lies to other lines once the image stands upright."""
        return rotate_bounds(self.box, self.turn)


@dataclass(frozen=True, slots=True)
class CluePlace:
    """A place that a clue points at. ``weight`` is its share among the clue's spots; they add up to 1 or less.

    Of one that is ``sharp`` the place itself is meant, and neither what lies around it nor what is across a border.
    """

    name: str
    point: LatLon
    radius_km: float
    weight: float
    country: str | None = None
    place_id: str | None = None
    sharp: bool = False


@dataclass(frozen=True, slots=True)
class Clue:
    """Something seen and what it says.

    Attributes:
        kind: what sort of clue it is; clues of one kind are not independent of each other.
        seen: the text or thing itself, as seen.
        says: what follows from it, in one sentence for people.
        reliability: how often a clue of this kind is about the place where it is seen, 0 to 1.
        countries: P(country | clue) by ISO code where the clue is about the place; adds up to 1, empty where the clue
            says nothing of countries.
        spots: finer places it points at; empty where it says nothing finer than countries.
        where: the image and box it was seen in; None where a person or a whole picture said it.
        sources: where the knowledge comes from.
        caution: what may mislead, None if nothing is known to.
    """

    kind: ClueKind
    seen: str
    says: str
    reliability: float
    countries: Mapping[str, float] = field(default_factory=dict, hash=False)
    spots: tuple[CluePlace, ...] = ()
    where: TextSeen | None = None
    sources: tuple[str, ...] = ()
    caution: str | None = None
