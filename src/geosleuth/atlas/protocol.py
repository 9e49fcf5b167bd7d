"""What an atlas answers with, each with its source, and the one protocol behind which every atlas is asked.

Anybody may write into a map. Control and direction characters are taken out of its words here.

Points are (lat, lon) in degrees, distances in the unit their names carry. Text queries may be of any length and hold
anything; an empty one gives an empty list. Coordinates are ``LatLon`` and so in range. A service that does not offer a
question raises ``NotOffered``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.errors import UserError
from geosleuth.geo import Box, Disc, Extent, LatLon
from geosleuth.text import clean_fields

MatchKind = Literal["exact", "alias", "fuzzy", "near", "part"]
"""The main name; another recorded name; spelled differently; found by position; only a larger part of the query is
known, such as the town of an address."""

Level = Literal["address", "street", "feature", "town", "region", "country"]
"""How fine a place is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something with a name and a position.

    ``id`` is stable and says whose it is: ``geonames:2988507``, ``osm:monaco:n25254104``, ``airport:NCE``. ``kind``
    is a word of ours for places ("city", "country", "region", "airport", "street", "crossing", "address") and
    ``key=value`` for OpenStreetMap features ("amenity=cafe"). ``details`` holds what else is known: phone, website,
    population.
    """

    id: str
    name: str
    kind: str
    point: LatLon
    extent: Extent
    source: str
    country: str | None = None  # ISO 3166-1 alpha-2
    region: str | None = None
    address: str | None = None
    details: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Clean the words; nearly always they are, which one look at all of them tells at half the time."""
        words = f"{self.id}{self.name}{self.kind}{self.source}{self.region}{self.address}"
        if not f"{words}{''.join(self.details)}{''.join(self.details.values())}".isprintable():
            clean_fields(self, "id", "name", "kind", "source", "region", "address", "details")


@dataclass(frozen=True, slots=True)
class Hit:
    """A place found, how well it fits (0 to 1), by which of its names, and how far from where was asked.

    ``missing`` are the parts of the query that are not known, or not there: the street, where only the town is known.
    """

    place: Place
    score: float
    match: MatchKind
    matched: str
    distance_km: float | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Clean the words."""
        if self.missing or not self.matched.isprintable():
            clean_fields(self, "matched", "missing")

    @property
    def level(self) -> Level:
        """How fine the place is."""
        return level_of(self.place)


_QUARTER_DEG = 0.4
"""Boundaries that reach no farther are those of towns and their quarters."""


def level_of(place: Place) -> Level:
    """Return the level of a place by its kind."""
    key, _, value = place.kind.partition("=")
    if key == "boundary" and isinstance(place.extent, Box):
        wide = max(place.extent.north - place.extent.south, place.extent.width_deg)
        return "town" if wide <= _QUARTER_DEG else "region"
    if key in ("address", "crossing"):
        return "address"
    if key in ("street", "highway"):
        return "street"
    if key in ("city", "postcode") or (key == "place" and value not in ("country", "state", "region", "island")):
        return "town"
    if key in ("region", "place", "boundary"):
        return "region"
    return "country" if key == "country" else "feature"


@dataclass(frozen=True, slots=True)
class Reverse:
    """What lies at a point: its country and first-level region by polygon, and the places it belongs to, nearest first.

    ``country`` is an ISO code, None at sea. ``places`` starts with the settlement the point is in or nearest to.
    """

    point: LatLon
    country: str | None
    country_name: str | None
    region: str | None
    places: tuple[Hit, ...]
    source: str

    def __post_init__(self) -> None:
        """Clean the words."""
        if not f"{self.country_name}{self.region}{self.source}".isprintable():
            clean_fields(self, "country_name", "region", "source")

    @property
    def address(self) -> str:
        """The names, finest first; a settlement that does not reach the point is said to be near."""
        names = (*(_settlement(hit) for hit in self.places[:1]), self.region, self.country_name)
        return ", ".join(dict.fromkeys(name for name in names if name))


def _settlement(hit: Hit) -> str:
    """The name of a settlement that the point lies in, or how near the nearest one is."""
    away, extent = hit.distance_km or 0.0, hit.place.extent
    inside = isinstance(extent, Disc) and away <= 2 * extent.radius_km
    return hit.place.name if inside else f"near {hit.place.name} ({away:.0f} km)"


@dataclass(frozen=True, slots=True)
class Colocation:
    """One place for each feature that was asked for, all near each other; ``spread_m`` is their largest distance."""

    places: tuple[Place, ...]
    point: LatLon
    spread_m: float
    score: float


@dataclass(frozen=True, slots=True)
class Document:
    """A passage of text about a place."""

    id: str
    title: str
    snippet: str
    score: float
    source: str
    url: str | None = None

    def __post_init__(self) -> None:
        """Clean the words."""
        clean_fields(self, "id", "title", "snippet", "source", "url")


@dataclass(frozen=True, slots=True)
class Picture:
    """A map or a satellite image: PNG bytes, the ground it shows, and whom to credit."""

    png: bytes = field(repr=False)
    extent: Extent
    attribution: str
    source: str


@dataclass(frozen=True, slots=True)
class Marker:
    """A pin on a map."""

    point: LatLon
    label: str = ""
    colour: str = "#c4002f"


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
