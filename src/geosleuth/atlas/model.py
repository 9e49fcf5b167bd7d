"""What an atlas answers with: places, hits, reverse look-ups, documents, pictures. Each says where it is from.

Anybody may write into a map. Control and direction characters are taken out of its words here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from geosleuth.geo import Disc, Extent, LatLon
from geosleuth.text import clean_fields

MatchKind = Literal["exact", "alias", "fuzzy", "near"]
"""The main name; another recorded name; spelled differently; found by position."""


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
        """Clean the words."""
        clean_fields(self, "id", "name", "kind", "source", "region", "address", "details")


@dataclass(frozen=True, slots=True)
class Hit:
    """A place found, how well it fits (0 to 1), by which of its names, and how far from where was asked."""

    place: Place
    score: float
    match: MatchKind
    matched: str
    distance_km: float | None = None

    def __post_init__(self) -> None:
        """Clean the words."""
        clean_fields(self, "matched")


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
