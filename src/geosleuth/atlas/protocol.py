"""The one way to ask about the world, whoever answers: the offline atlas or an online service.

Points are (lat, lon) in degrees, distances in the unit their names carry. Text queries may be of any length and hold
anything; an empty one gives an empty list. Coordinates are ``LatLon`` and so in range. A service that does not offer a
question raises ``NotOffered``.
"""

from collections.abc import Sequence
from typing import Protocol

from geosleuth.errors import UserError
from geosleuth.geo import Extent, LatLon

from .model import Colocation, Document, Hit, Marker, Picture, Place, Reverse


class NotOffered(UserError):
    """This atlas can't answer that kind of question; the message says what could."""


class Atlas(Protocol):
    """What can be asked."""

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Places of that name or address, best first; ``country`` is an ISO code."""
        ...

    async def reverse(self, point: LatLon) -> Reverse:
        """What lies at a point."""
        ...

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Names that begin so, the best known first."""
        ...

    async def search_pois(
        self,
        text: str,
        *,
        near: LatLon | None = None,
        within: Extent | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Named features by name, forgiving what text reading does to names; a category ("cafe") narrows."""
        ...

    async def poi(self, place_id: str) -> Place | None:
        """All that is known of one place, by its id."""
        ...

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Features around a point, nearest first."""
        ...

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Where two streets meet."""
        ...

    async def colocated(
        self,
        features: Sequence[str],
        within_m: float,
        *,
        within: Extent | None = None,
        bearings_deg: Sequence[float | None] | None = None,
        in_order: bool = False,
        limit: int = 10,
    ) -> list[Colocation]:
        """Every place where all these features stand within so many metres of each other.

        Args:
            features: names ("Carrefour") or categories ("amenity=pharmacy"), two to five.
            within_m: the largest distance between any two of them.
            within: search only there.
            bearings_deg: direction from the first feature to each other one, None where unknown, within 30 degrees.
            in_order: the features lie along a line in the order given.
            limit: how many to return, the closest together first.
        """
        ...

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Passages of text that fit the query."""
        ...

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """A drawn map."""
        ...

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """A picture from above."""
        ...
