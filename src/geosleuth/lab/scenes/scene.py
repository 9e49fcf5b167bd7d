"""A scene as data: where it is, its clues and its look; written as plain data and read back.

A scene depends on its seed only, so that it can be drawn again, split, scored and stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar, cast

from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

SceneKind = Literal["street", "panorama"]
Split = Literal["train", "held-out"]
ClueLevel = Literal["country", "region", "precise"]
Visibility = Literal["plain", "small", "hidden"]
"""Small: legible in the original pixels, lost in a first view of 2 million. Hidden: partly behind something."""

Board = Literal[
    "shop_front", "street_plate", "house_number", "bus_stop", "notice", "poster", "billboard", "bus", "number_plate",
    "town_sign", "direction_sign", "road_shield", "banner",
]  # fmt: skip
"""What text stands on. A clue without a board is not written: it is how the street itself looks."""

Sort = Literal[
    "business", "chain", "street_name", "house_number", "town_name", "distance", "road_number", "bus_stop", "phone",
    "postcode", "web_address", "price", "language", "brand", "number_plate", "airline", "tour_bus", "foreign_chain",
    "imported_product", "foreign_kitchen", "driving_side", "road_marking", "pole", "architecture", "vegetation",
    "terrain", "sun", "founded",
]  # fmt: skip
"""What a clue is about. Airlines, tour buses and what follows up to the foreign kitchen speak of somewhere else.
"Founded" is the year of a shop, which its pages tell and the map does not."""

Wall = Literal["plaster", "brick", "timber", "concrete", "stone", "tiles", "metal", "adobe"]
Roof = Literal["gable", "hip", "flat", "terrace"]
Plant = Literal["broadleaf", "conifer", "palm", "cypress", "acacia", "cactus", "bamboo", "birch", "shrub", "none"]
Ground = Literal["grass", "dry_grass", "sand", "red_earth", "snow", "paved"]
Terrain = Literal["flat", "hills", "mountains", "coast"]
Line = Literal["white", "yellow", "none"]
Layout = Literal["high_street", "suburb", "market", "square", "country_road", "industrial"]
_Model = TypeVar("_Model")


@dataclass(frozen=True, slots=True)
class Business:
    """A place of business that the map knows.

    ``id`` is its id in the layer or region that holds it. ``chain`` says that the same name stands in several towns,
    ``homonym`` that an unrelated place elsewhere has the same name, ``real`` that it comes from an added region.
    """

    id: str
    name: str
    kind: str  # "amenity=pharmacy"
    point: LatLon
    street: str | None = None
    house_number: str | None = None
    phone: str | None = None
    domain: str | None = None
    postcode: str | None = None
    bus_stop: str | None = None
    chain: bool = False
    homonym: bool = False
    real: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """Position of the camera: the truth of a scene.

    Names are the atlas's; ``town_on_signs`` is how the town writes itself. ``cell`` is the square of land by which
    places are split.
    """

    point: LatLon
    country: str  # ISO code
    country_name: str
    region: str | None
    town: str
    town_on_signs: str
    population: int
    climate: str  # Köppen class, "Cfb"
    cell: str
    split: Split


@dataclass(frozen=True, slots=True)
class SceneClue:
    """One clue to the place.

    ``says`` is what it means, in one plain sentence that would convince a viewer. ``country`` (ISO),
    ``region`` and ``place`` are what it points to as far as it goes; for a misleading one, what it wrongly points to.
    ``design`` names the family of its lettering, colours and layout: designs are split as places are.
    """

    id: str
    sort: Sort
    level: ClueLevel
    says: str
    board: Board | None = None
    lines: tuple[str, ...] = ()
    visibility: Visibility = "plain"
    misleading: bool = False
    country: str | None = None
    region: str | None = None
    place: str | None = None
    design: str = ""


@dataclass(frozen=True, slots=True)
class SceneLook:
    """Appearance of the street."""

    layout: Layout
    drives_on: Literal["left", "right"]
    centre_line: Line
    centre_double: bool
    edge_line: Line
    walls: tuple[Wall, ...]
    wall_colours: tuple[str, ...]
    roof: Roof
    roof_colour: str
    storeys: tuple[int, int]
    poles: Literal["wood", "concrete", "metal", "none"]
    wires: bool
    plant: Plant
    ground: Ground
    terrain: Terrain
    number_plate_ground: str
    number_plate_ink: str
    number_plate_band: str | None
    road: Literal["asphalt", "cobbles", "earth", "concrete"] = "asphalt"


@dataclass(frozen=True, slots=True)
class Sky:
    """The light: a moment, where the sun stands then and there, and the weather. Azimuth counts from north to east."""

    at: datetime
    sun_azimuth_deg: float
    sun_elevation_deg: float
    weather: Literal["clear", "cloudy", "overcast", "rain", "snow", "fog"]
    season: Literal["spring", "summer", "autumn", "winter", "wet", "dry"]


@dataclass(frozen=True, slots=True)
class Camera:
    """Camera type and view. The street runs along ``heading_deg``."""

    heading_deg: float
    height_m: float
    field_deg: float
    blur_px: float = 0.0
    grain: float = 0.0


@dataclass(frozen=True, slots=True)
class Scene:
    """All there is to know of a picture before it is drawn.

    ``seed`` fixes all that drawing leaves open. ``business`` is what the camera looks at, where the map knows it.
    ``missing`` are the sorts of clue that a street like this would have and that were left out. ``locatability`` and
    ``tags`` are on the scales of `lab.bench.makers`.
    """

    id: str
    seed: int
    kind: SceneKind
    split: Split
    size: tuple[int, int]
    spot: Spot
    look: SceneLook
    sky: Sky
    camera: Camera
    clues: tuple[SceneClue, ...] = ()
    business: Business | None = None
    missing: tuple[Sort, ...] = ()
    locatability: float = 0.0
    tags: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def needs_zoom(self) -> bool:
        """Whether a clue is too small for a first view."""
        return any(clue.visibility == "small" and not clue.misleading for clue in self.clues)

    @property
    def needs_page(self) -> bool:
        """Whether only a made-up web page tells which of several shops of one name this is."""
        return any(clue.sort == "founded" for clue in self.clues)

    @property
    def finest(self) -> ClueLevel | None:
        """The finest level that an honest, legible clue reaches; None if there is none."""
        reached = {clue.level for clue in self.clues if not clue.misleading and clue.visibility != "hidden"}
        levels: tuple[ClueLevel, ...] = ("precise", "region", "country")
        return next((level for level in levels if level in reached), None)


@dataclass(frozen=True, slots=True)
class Mark:
    """Position of a clue in the picture: left, top, right, bottom in pixels of the original.

    ``line`` counts the lines of a clue from 0; it is None for the whole of it. ``letter_px`` is how tall its letters
    are; 0 for what is not written.
    """

    clue: str
    box: tuple[int, int, int, int]
    line: int | None = None
    letter_px: float = 0.0


def scene_to_dict(scene: Scene) -> dict[str, Any]:
    """Return the scene as JSON can hold it; what is at its default is left out of the lists of clues."""
    found = _convert_plain(scene)
    found["clues"] = [_clue_to_dict(clue) for clue in scene.clues]
    return cast("dict[str, Any]", found)


def scene_from_dict(data: Mapping[str, Any]) -> Scene:
    """Return the scene that `scene_to_dict` wrote.

    Raises:
        BadInput: invalid data.
    """
    try:
        held = dict(data)
        held["size"] = (int(data["size"][0]), int(data["size"][1]))
        held["spot"] = _build_model(Spot, data["spot"], point=_parse_scene_point(data["spot"]["point"]))
        look = data["look"]
        held["look"] = _build_model(
            SceneLook, look, walls=tuple(look["walls"]), wall_colours=tuple(look["wall_colours"]),
            storeys=(int(look["storeys"][0]), int(look["storeys"][1])),
        )  # fmt: skip
        held["sky"] = _build_model(Sky, data["sky"], at=datetime.fromisoformat(data["sky"]["at"]))
        held["camera"] = _build_model(Camera, data["camera"])
        held["clues"] = tuple(
            _build_model(SceneClue, clue, lines=tuple(clue.get("lines", ()))) for clue in data["clues"]
        )
        business = data.get("business")
        held["business"] = (
            _build_model(Business, business, point=_parse_scene_point(business["point"])) if business else None
        )
        held["missing"] = tuple(data["missing"])
        held["tags"] = dict(data["tags"])
        return Scene(**held)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadInput(f"this is no scene: {error}; make the folder again with geosleuth world make") from error


def mark_to_dict(mark: Mark) -> dict[str, Any]:
    """Return a mark as JSON can hold it."""
    return cast("dict[str, Any]", _convert_plain(mark))


def mark_from_dict(data: Mapping[str, Any]) -> Mark:
    """Return the mark that `mark_to_dict` wrote.

    Raises:
        BadInput: invalid data.
    """
    try:
        left, top, right, bottom = (int(edge) for edge in data["box"])
        return _build_model(Mark, data, box=(left, top, right, bottom))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"this is no mark: {error}; make the folder again with geosleuth world make") from error


def _clue_to_dict(clue: SceneClue) -> dict[str, Any]:
    plain = _convert_plain(clue)
    return {
        item.name: plain[item.name]
        for item in fields(SceneClue)
        if plain[item.name] not in (None, "", [], False, "plain")
    }


def _build_model(model: type[_Model], data: Mapping[str, Any], **instead: Any) -> _Model:
    return model(**{**data, **instead})


def _parse_scene_point(pair: list[float]) -> LatLon:
    return LatLon(float(pair[0]), float(pair[1]))


def _convert_plain(value: Any) -> Any:
    if isinstance(value, LatLon):
        return [value.lat, value.lon]
    if is_dataclass(value):
        return {item.name: _convert_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple | list):
        return [_convert_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _convert_plain(one) for key, one in sorted(value.items())}
    return value
