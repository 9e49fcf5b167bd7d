"""The `Atlas` protocol that every map source implements, and the types of its results, each with its source.

Anybody can edit a public map, so the results remove control and text-direction characters from its texts.

Points are (lat, lon) in degrees; names of distances carry the unit. Text queries may have any length and content; an
empty one returns an empty list. A source that does not support a query raises ``NotOffered``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.geo import Box, Disc, Extent, LatLon
from geosleuth.support.errors import UserError
from geosleuth.support.text import clean_fields

MatchKind = Literal["exact", "alias", "fuzzy", "near", "part"]
"""How a place was found: by its main name; by an alternative name; by a similar name; by position; or by only a part
of the query, such as the town of an address."""

Level = Literal["address", "street", "feature", "town", "region", "country"]
"""How precise a place is, from the finest to the coarsest."""

# Kind of all second-level units: counties, districts, departments, provinces and larger municipalities.
UNIT_KIND = "county"
# Maximum size of the boundary of a town or quarter, in degrees; larger boundaries are regions.
_TOWN_BOUNDARY_DEG = 0.4


@dataclass(frozen=True, slots=True)
class Place:
    """Something with a name and a position.

    ``id`` is stable and starts with the data source: ``geonames:2988507``, ``osm:monaco:n25254104``, ``airport:NCE``.
    ``kind`` is "city", "country", "region", "airport", "street", "crossing" or "address", or ``key=value`` for
    OpenStreetMap features ("amenity=cafe"). ``details`` holds further data such as phone, website and population.
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
        """Clean the texts; checking all of them at once first halves the time, as they nearly always are clean."""
        texts = f"{self.id}{self.name}{self.kind}{self.source}{self.region}{self.address}"
        if not f"{texts}{''.join(self.details)}{''.join(self.details.values())}".isprintable():
            clean_fields(self, "id", "name", "kind", "source", "region", "address", "details")


@dataclass(frozen=True, slots=True)
class Hit:
    """A place found, with a score (0 to 1), the name that matched, and the distance from the query's point.

    ``missing`` lists the parts of the query that were not found: for example the street, if only the town is known.
    """

    place: Place
    score: float
    match: MatchKind
    matched: str
    distance_km: float | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Clean the texts."""
        if self.missing or not self.matched.isprintable():
            clean_fields(self, "matched", "missing")

    @property
    def level(self) -> Level:
        """Return how precise the place is."""
        return get_level(self.place)


def get_level(place: Place) -> Level:
    """Return the level of a place by its kind."""
    key, _, value = place.kind.partition("=")
    if key == "boundary" and isinstance(place.extent, Box):
        wide = max(place.extent.north - place.extent.south, place.extent.width_deg)
        return "town" if wide <= _TOWN_BOUNDARY_DEG else "region"
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
    """The result of reverse geocoding: country and first-level region by polygon, and places, nearest first.

    ``country`` is an ISO code, None at sea. ``places`` starts with the settlement around the point, or the nearest one.
    """

    point: LatLon
    country: str | None
    country_name: str | None
    region: str | None
    places: tuple[Hit, ...]
    source: str

    def __post_init__(self) -> None:
        """Clean the texts."""
        if not f"{self.country_name}{self.region}{self.source}".isprintable():
            clean_fields(self, "country_name", "region", "source")

    @property
    def address(self) -> str:
        """Return the names, finest first; a settlement that does not reach the point is marked as near."""
        names = (*(_settlement(hit) for hit in self.places[:1]), self.region, self.country_name)
        return ", ".join(dict.fromkeys(name for name in names if name))


def _settlement(hit: Hit) -> str:
    """Return the name of the settlement that contains the point, or "near" the nearest one and its distance."""
    away, extent = hit.distance_km or 0.0, hit.place.extent
    inside = isinstance(extent, Disc) and away <= 2 * extent.radius_km
    return hit.place.name if inside else f"near {hit.place.name} ({away:.0f} km)"


@dataclass(frozen=True, slots=True)
class Colocation:
    """One place for each requested feature, all near each other; ``spread_m`` is the largest distance between two."""

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
        """Clean the texts."""
        clean_fields(self, "id", "title", "snippet", "source", "url")


@dataclass(frozen=True, slots=True)
class Picture:
    """A map or a satellite image: PNG bytes, the extent it shows, and the attribution."""

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
    """This atlas does not support that kind of query; the message says what does."""


class Atlas(Protocol):
    """A map source; a query that it does not support raises `NotOffered`."""

    async def geocode(
        self, text: str, *, limit: int = 5, within: Extent | None = None, country: str | None = None
    ) -> list[Hit]:
        """Return places with that name or address, best first; ``country`` is an ISO code."""
        ...

    async def reverse(self, point: LatLon) -> Reverse:
        """Return country, region and nearest places of a point."""
        ...

    async def suggest(self, prefix: str, *, limit: int = 10, near: LatLon | None = None) -> list[Hit]:
        """Return places with names that begin with the prefix, the best known first."""
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
        """Return features with a similar name, tolerating OCR errors; a category such as "cafe" narrows the search."""
        ...

    async def poi(self, place_id: str) -> Place | None:
        """Return a place by its id, with all its details."""
        ...

    async def nearby(
        self, point: LatLon, radius_m: float, *, category: str | None = None, limit: int = 20
    ) -> list[Hit]:
        """Return features around a point, nearest first."""
        ...

    async def crossing(self, first: str, second: str, *, within: Extent | None = None, limit: int = 5) -> list[Hit]:
        """Return where two streets meet."""
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
        """Return where all these features stand within `within_m` metres of each other.

        Args:
            features: two to five names ("Carrefour") or categories ("amenity=pharmacy").
            within_m: the largest distance between any two of them.
            within: only search inside this extent.
            bearings_deg: direction from the first feature to each other one, to within 30 degrees; None if unknown.
            in_order: whether the features lie along a line in the given order.
            limit: the highest number of results, the closest together first.
        """
        ...

    async def search_documents(self, text: str, *, limit: int = 10) -> list[Document]:
        """Return passages of text that match the query."""
        ...

    async def map(
        self, centre: LatLon, *, zoom: float = 15, size: tuple[int, int] = (640, 640), markers: Sequence[Marker] = ()
    ) -> Picture:
        """Draw a map."""
        ...

    async def satellite(self, centre: LatLon, *, zoom: float = 16, size: tuple[int, int] = (640, 640)) -> Picture:
        """Return a satellite or aerial image."""
        ...
