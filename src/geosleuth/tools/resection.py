"""The tool `resection`: where the camera stood, from features of the map that are marked in the photo."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from geosleuth.answer.coordinates import parse_point
from geosleuth.atlas import Hit, Marker, OfflineAtlas, Place
from geosleuth.geo import (
    ColumnSighting,
    Disc,
    Extent,
    FieldOfView,
    LatLon,
    PositionCheck,
    Resection,
    Unsolvable,
    bearing_deg,
    check_position,
    coordinates,
    distance_km,
    distances_km,
    fov_of_focal_length,
    normalize_lon,
    resect,
    round_point,
)
from geosleuth.geo.resection import REACH_KM
from geosleuth.names import fold
from geosleuth.photo import OpenedPhoto, Photo
from geosleuth.support.errors import BadInput

from .calls import Case, Output, in_order
from .declare import PointData, tool
from .places import find_area
from .sun_sight import compass
from .viewer import Viewer, format_question, length, one_line, percent, place_words, point_data, several, unique

if TYPE_CHECKING:
    from PIL.Image import Image

_LOOKED_AT = 20
# What has no one column: lines, areas, and stops that are named after what stands near them.
_NO_LANDMARKS = ("street", "highway=", "route=", "boundary=", "place=", "public_transport=", "landuse=", "waterway=")
_SAME_M = 60.0
_SAME_MARK_KM = 0.001
_SURE_OF_SPELLING = 0.8
_OTHERS_SHOWN = 3
_MIN_SHARE = 0.02
_MAP_PX = 640, 520
_ANGLES = ("heading_deg", "heading_sd_deg", "fov_deg", "fov_sd_deg")
_AREA = "#f2960f"
_LINE = "#1f5fd1"
_WRONG = "#7a7a7a"
_CAMERA = "#d1121f"


class _Feature(PointData):
    name: str
    place: str
    id: str | None
    column: float
    distance_km: float | None
    bearing_deg: float | None
    residual_deg: float | None
    counts: bool
    others: int


class _Check(PointData):
    fits: bool
    probability: float | None
    heading_deg: float
    fov_deg: float
    residuals_deg: list[float]
    in_area: bool | None
    distance_km: float | None


class _Other(PointData):
    share: float
    heading_deg: float


class CameraPosition(TypedDict):
    """Plain data of the camera's position."""

    kind: Literal["fix", "curve", "check"]
    lat: float | None
    lon: float | None
    address: str
    radius_km: float | None
    area_km2: float | None
    area: dict[str, Any] | None
    ellipse_m: list[float] | None
    heading_deg: float | None
    heading_sd_deg: float | None
    fov_deg: float | None
    fov_sd_deg: float | None
    fits: bool
    misfits: list[str]
    danger_circle: bool
    at_edge: bool
    features: list[_Feature]
    others: list[_Other]
    check: _Check | None


@dataclass(frozen=True, slots=True)
class Marked:
    """A feature as the caller marks it: its name or coordinates, and its column from 0 (left) to 1 (right)."""

    name: str
    column: float


@dataclass(frozen=True, slots=True)
class StandRequest:
    """Features, known camera data, the area to search, and a place to check.

    `fov_source` says in words where the field of view is from; `picture` whether a map is drawn.
    """

    marked: Sequence[Marked]
    fov: FieldOfView | None = None
    fov_source: str = "given"
    noise_deg: float = 1.0
    within: Extent | None = None
    check: LatLon | None = None
    picture: bool = True


def photo_fov(given_deg: float | None, opened: OpenedPhoto | None) -> tuple[FieldOfView | None, str]:
    """Return the field of view and where it is from: what is given goes before what the photo's file claims.

    Raises:
        BadInput: what is given is none, or the photo is a panorama.
    """
    if given_deg is not None:
        try:
            return FieldOfView(given_deg), "given"
        except ValueError as error:
            raise BadInput(f"--fov: {error}") from error
    if opened is None:
        return None, ""
    if opened.photo.kind == "panorama":
        raise BadInput("a panorama has no field of view; cut out a view of it first, and give its --fov")
    focal_mm = opened.claims.focal_35mm
    found = None if focal_mm is None else fov_of_focal_length(focal_mm, *opened.photo.image.size)
    return found, f"claimed by the file: {focal_mm:g} mm" if found else ""


@dataclass(frozen=True, slots=True)
class _Known:
    """Marked feature, its position, the place it was taken for, and the number of its namesakes."""

    name: str
    column: float
    point: LatLon
    place: Place | None = None
    others: int = 0

    @property
    def words(self) -> str:
        if self.place is None:
            return f"{self.point.lat:.5f}, {self.point.lon:.5f}"
        return one_line(place_words(self.place))

    @property
    def label(self) -> str:
        return one_line(self.name if self.place is None else self.place.name, 60)


@tool(
    "resection",
    use="work out where the camera stood from mapped features that you see in the photo",
    result=CameraPosition,
    viewer=Viewer(
        lambda given: f"works out from where {several(given, 'features') or 'the features'} are seen so", icon="map"
    ),
    needs=("atlas",),
    renames={"names": "features", "x": "columns", "fov_deg": "fov", "within": "area"},
    untold=("noise_deg",),
)
async def resection(
    case: Case,
    features: list[str],
    columns: list[float],
    fov: float | None = None,
    area: str = "",
    check: str = "",
    noise_deg: float = 1.0,
) -> Output:
    """Find where the camera stood, and its heading, from the columns of mapped features. A lead to check.

    Args:
        features: names, or "lat,lon" each.
        columns: of each feature's middle: 0 left edge, 1 right edge.
        fov: horizontal field of view in degrees, if known.
        area: a name, "south,west,north,east" or "lat,lon,radius_km".
        check: "lat,lon" of a place to test.
        noise_deg: standard deviation of a marked column, in degrees.
    """
    if len(features) != len(columns):
        raise BadInput(f"there are {len(features)} features and {len(columns)} columns; give one column for each")
    claimed = parse_point(check) if one_line(check) else None
    if claimed is None and one_line(check):
        raise BadInput(f"check is {format_question(check)}; write coordinates as 'lat,lon'")
    try:
        known_fov = None if fov is None else FieldOfView(fov)
    except ValueError as error:
        raise BadInput(str(error)) from error
    marked = [Marked(name, column) for name, column in zip(features, columns, strict=True)]
    within = await find_area(case, area)
    return await stand_point(case, StandRequest(marked, known_fov, noise_deg=noise_deg, within=within, check=claimed))


async def stand_point(case: Case, request: StandRequest) -> Output:
    """Return where the camera stood, as text, data and a map.

    Raises:
        BadInput: a feature that the atlas does not know or that is marked twice, values out of range, or sightings
            that no place fits.
    """
    known = await in_order(*(_find(case, item, request.within) for item in request.marked))
    _refuse_repeated(known)
    try:
        sightings = [ColumnSighting(item.point, item.column, request.noise_deg) for item in known]
        checked = None if request.check is None else check_position(sightings, request.check, request.fov)
        found = await asyncio.to_thread(_resect, sightings, request)
    except ValueError as error:
        raise BadInput(str(error)) from error
    address = "" if found is None else one_line((await case.atlas.reverse(found.poses[0].point)).address)
    picture = await _draw_picture(case, known, found, request.check) if request.picture else None
    return Output(
        text="\n".join(_format_resection(request, known, found, checked, address or "open sea")),
        data=_data(request, known, found, checked, address),
        images=(Photo(picture),) if picture else (),
        sources=unique(item.place.source for item in known if item.place is not None),
    )


def _refuse_repeated(known: Sequence[_Known]) -> None:
    for number, item in enumerate(known):
        for other in known[:number]:
            if distance_km(item.point, other.point) <= _SAME_MARK_KM:
                names = " and ".join(unique((other.label, item.label)))
                raise BadInput(
                    f"{names} is marked twice, in columns {other.column:.3f} and {item.column:.3f}: a feature has one "
                    "column; mark another feature, or write which one is meant by its coordinates or its id"
                )


def _resect(sightings: Sequence[ColumnSighting], request: StandRequest) -> Resection | None:
    """Return the camera's position; None if too little is marked for that, and only a place is to be checked."""
    try:
        return resect(sightings, request.fov, request.within)
    except Unsolvable:
        if request.check is None:
            raise
        return None


async def _find(case: Case, marked: Marked, within: Extent | None) -> _Known:
    """Return the place that a name means: a feature of the area first, then a place of the world."""
    point = parse_point(marked.name)
    if point is not None:
        return _Known(marked.name, marked.column, point)
    if not one_line(marked.name):
        raise BadInput("a feature has no name; write its name, or its coordinates as 'lat,lon'")
    if ":" in marked.name:
        place = await case.atlas.poi(marked.name.strip())
        if place is not None:
            return _Known(marked.name, marked.column, place.point, place)
    # What is seen from an area may stand outside of it.
    areas = [None] if within is None else [within, Disc(within.centre, REACH_KM)]
    like: list[str] = []
    for area in areas:
        sure, near = await _hits(case, marked.name, area)
        if sure:
            best = sure[0].place
            return _Known(marked.name, marked.column, best.point, best, _elsewhere(best, sure))
        like = like or near
    where = " in or around the area" if within is not None else ""
    known = f" (did you mean {' or '.join(like)}?)" if like else ""
    raise BadInput(
        f"no feature {format_question(marked.name)} is known{where}{known}; give its coordinates as 'lat,lon'"
    )


async def _hits(case: Case, name: str, area: Extent | None) -> tuple[list[Hit], list[str]]:
    """Return the places that a name surely means, and names of features that are similar."""
    features = [
        hit
        for hit in await case.atlas.search_pois(name, within=area, limit=_LOOKED_AT)
        if not hit.place.kind.startswith(_NO_LANDMARKS)
    ]
    sure = [hit for hit in features if hit.match != "fuzzy"]
    sure = sure or [hit for hit in features if fold(name) in fold(hit.place.name)]
    sure = sure or [
        hit
        for hit in await case.atlas.geocode(name, within=area, limit=_LOOKED_AT)
        if hit.match not in ("fuzzy", "part")
    ]
    sure = sure or [hit for hit in features[:1] if hit.score >= _SURE_OF_SPELLING]
    return sure, list(unique(format_question(hit.place.name) for hit in features[:_OTHERS_SHOWN]))


def _elsewhere(best: Place, hits: Sequence[Hit]) -> int:
    """Return the number of other places with exactly this name."""
    kept = [best]
    for hit in hits:
        if hit.place.name == best.name and all(
            1000 * distance_km(hit.place.point, other.point) > _SAME_M for other in kept
        ):
            kept.append(hit.place)
    return len(kept) - 1


def _format_resection(
    request: StandRequest,
    known: Sequence[_Known],
    found: Resection | None,
    checked: PositionCheck | None,
    address: str,
) -> list[str]:
    taken = "; ".join(f"{item.label} = {item.words}, column {item.column:.3f}" for item in known)
    lines = [f"Features taken as: {taken}."]
    if found is not None:
        lines += _format_position(request, known, found, address)
    if checked is not None and request.check is not None:
        lines.append(_check_text(request.check, known, found, checked))
    same = [f"{item.label} ({item.others + 1})" for item in known if item.others]
    if same:
        lines.append(f"Names that several features bear: {', '.join(same)}. Coordinates or an area would choose.")
    lines.append(
        f"Assumed: a level camera, no crop, columns right to {request.noise_deg:g}° (standard deviation). "
        "A lead, not a proof."
    )
    return lines


def _format_position(request: StandRequest, known: Sequence[_Known], found: Resection, address: str) -> list[str]:
    best = found.poses[0]
    given = f" ({request.fov_source})" if request.fov is not None else " (solved for)"
    spread = f" ± {best.fov_sd_deg:.0f}°" if best.fov_sd_deg else ""
    view = f"field of view {best.fov_deg:.0f}°{spread}{given}"
    reach = f"{length(found.radius_km)} from there ({_square(found.area_km2)})"
    if found.kind == "curve":
        more = "a third feature" if request.fov is not None else "a fourth feature, or the field of view,"
        lines = [
            f"These features leave a whole curve, not a point; {more} would give a point. Its middle lies at "
            f"{coordinates(best.point, found.radius_km)} ({address}); it reaches up to {reach}; {view}."
        ]
    else:
        sure = "" if best.heading_sd_deg is None else f" ± {best.heading_sd_deg:.1f}°"
        place = (
            f"{coordinates(best.point, found.radius_km)} ({address}), looking {compass(best.heading_deg)} "
            f"({best.heading_deg:.0f}°{sure}); {view}."
        )
        if found.fits:
            area = f"The area that holds the true place in 90 % of such cases reaches up to {reach}."
            lines = [f"The camera stood at {place}", area]
        else:
            lines = [f"The nearest compromise is {place} The area, up to {reach}, is a guess."]
        others = [pose for pose in found.poses[1:] if pose.share >= _MIN_SHARE][:_OTHERS_SHOWN]
        lines += [
            f"Or at {coordinates(pose.point, found.radius_km)} ({percent(pose.share)} of the probability)."
            for pose in others
        ]
    if not found.fits:
        where = "" if request.within is None else " in the area given"
        off = _offsets(known, best.residuals_deg)
        lines.insert(0, f"The features do not fit together{where} (off by {off}): at least one is wrong.")
    if found.danger_circle:
        lines.append(
            "Features and camera lie near one circle, where bearings hardly tell the place (the danger circle): "
            "a feature well inside or outside of it would help."
        )
    if found.at_edge:
        lines.append("The area goes on beyond the ground that was searched.")
    return lines + _misfit_text(known, found)


def _misfit_text(known: Sequence[_Known], found: Resection) -> list[str]:
    residuals = found.poses[0].residuals_deg
    if len(found.misfits) == 1:
        (wrong,) = found.misfits
        side = "left" if residuals[wrong] > 0 else "right"
        return [
            f"{known[wrong].label} does not fit and was left out: it is marked {abs(residuals[wrong]):.0f}° too far to "
            f"the {side}. Another building, or another of that name?"
        ]
    if found.misfits:
        names = ", ".join(known[number].label for number in found.misfits)
        return [f"One of these does not fit, and nothing says which: {names}. The area covers all these cases."]
    return []


def _check_text(claimed: LatLon, known: Sequence[_Known], found: Resection | None, checked: PositionCheck) -> str:
    off = _offsets(known, checked.residuals_deg)
    verdict = "fits" if checked.fits else "does not fit"
    if checked.probability is None:
        verdict, odds = "can't be checked with so few features", ""
    else:
        odds = f"; correct marks are off by at least as much in {_odds(checked.probability)} of cases"
    where = ""
    if found is not None:
        away_km = _away_km(found, claimed)
        where = " It lies in the area." if away_km == 0 else f" It lies {length(away_km)} outside of the area."
    return (
        f"{claimed.lat:.5f}, {claimed.lon:.5f} {verdict}: looking {compass(checked.heading_deg)} "
        f"({checked.heading_deg:.0f}°), the marks are off by {off}{odds}.{where}"
    )


def _offsets(known: Sequence[_Known], residuals_deg: Sequence[float]) -> str:
    shown = (round(rest, 1) + 0.0 for rest in residuals_deg)  # no -0.0
    return ", ".join(f"{one.label} {rest:+.1f}°" for one, rest in zip(known, shown, strict=True))


def _odds(probability: float) -> str:
    return "less than 0.1 %" if probability < 0.001 else f"{100 * probability:.2g} %"


def _square(area_km2: float) -> str:
    return f"{1e6 * area_km2:,.0f} m²" if area_km2 < 0.1 else f"{area_km2:,.2f} km²"


def _away_km(found: Resection, point: LatLon) -> float:
    """Return the distance of a place from the area."""
    if found.area.contains(point):
        return 0.0
    import shapely

    corners = shapely.get_coordinates(shapely.segmentize(found.area.shape, 0.0005))
    return float(distances_km(point.lat, point.lon, corners[:, 1], corners[:, 0], "geodesic").min())


def _data(
    request: StandRequest,
    known: Sequence[_Known],
    found: Resection | None,
    checked: PositionCheck | None,
    address: str,
) -> dict[str, Any]:
    best = None if found is None else found.poses[0]
    point = None if best is None or found is None else round_point(best.point, found.radius_km)
    left_out = found.misfits if found is not None and len(found.misfits) == 1 else ()
    return {
        "kind": "check" if found is None else found.kind,
        **({"lat": None, "lon": None} if point is None else point_data(point)),
        "address": address,
        "radius_km": None if found is None else round(found.radius_km, 4),
        "area_km2": None if found is None else round(found.area_km2, 6),
        "area": None if found is None else _geojson(found),
        "ellipse_m": None if best is None or best.ellipse is None else [round(part, 1) for part in best.ellipse],
        **{name: None if best is None else _figure(getattr(best, name)) for name in _ANGLES},
        "fits": found is None or (found.fits and not found.misfits),
        "misfits": [known[number].label for number in found.misfits] if found else [],
        "danger_circle": found is not None and found.danger_circle,
        "at_edge": found is not None and found.at_edge,
        "features": [
            {
                "name": one.name,
                "place": one.words,
                "id": None if one.place is None else one.place.id,
                **point_data(one.point),
                "column": one.column,
                "distance_km": None if best is None else round(distance_km(best.point, one.point, "geodesic"), 4),
                "bearing_deg": None if best is None else round(bearing_deg(best.point, one.point, "geodesic"), 2),
                "residual_deg": None if best is None else round(best.residuals_deg[number], 2) + 0.0,
                "counts": number not in left_out,
                "others": one.others,
            }
            for number, one in enumerate(known)
        ],
        "others": [
            {
                **point_data(round_point(pose.point, found.radius_km)),
                "share": round(pose.share, 3),
                "heading_deg": round(pose.heading_deg, 2),
            }
            for pose in (found.poses[1:] if found else ())
            if found is not None and pose.share >= _MIN_SHARE
        ],
        "check": None if checked is None or request.check is None else _check_data(request.check, found, checked),
    }


def _check_data(claimed: LatLon, found: Resection | None, checked: PositionCheck) -> dict[str, Any]:
    return {
        **point_data(claimed),
        "fits": checked.fits,
        "probability": None if checked.probability is None else round(checked.probability, 6),
        "heading_deg": round(checked.heading_deg, 2),
        "fov_deg": round(checked.fov_deg, 2),
        "residuals_deg": [round(rest, 2) for rest in checked.residuals_deg],
        "in_area": None if found is None else found.area.contains(claimed),
        "distance_km": None if found is None else round(_away_km(found, claimed), 4),
    }


def _figure(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _geojson(found: Resection) -> dict[str, Any]:
    import shapely

    # A tenth of a metre is finer than any area is known.
    shape = shapely.transform(found.area.shape, lambda corners: np.round(corners, 6))
    made: dict[str, Any] = shapely.geometry.mapping(shape)
    return made


async def _draw_picture(
    case: Case, known: Sequence[_Known], found: Resection | None, claimed: LatLon | None
) -> "Image | None":
    """Return the map with the area, the camera and the lines of sight; None if the atlas draws none."""
    if found is None or not isinstance(case.atlas, OfflineAtlas):
        return None
    import shapely

    best = found.poses[0]
    points = [*(item.point for item in known), best.point, *([claimed] if claimed else [])]
    corners = np.vstack([shapely.get_coordinates(found.area.shape), [(point.lon, point.lat) for point in points]])
    turns = normalize_lon(corners[:, 0] - best.point.lon)
    low, high = float(turns.min()), float(turns.max())
    south, north = float(corners[:, 1].min()), float(corners[:, 1].max())
    middle_lon = float(normalize_lon(best.point.lon + (low + high) / 2))
    centre = LatLon((south + north) / 2, middle_lon)
    wide = max(high - low, 1e-5) / 360
    tall = max(north - south, 1e-5) / 360 / math.cos(math.radians(centre.lat))
    zoom = min(18.0, *(math.log2(0.8 * px / 256 / part) for px, part in zip(_MAP_PX, (wide, tall), strict=True)))
    zoom = max(0.0, math.floor(10 * zoom) / 10)
    markers = [
        Marker(one.point, one.label, _WRONG if number in found.misfits else _LINE) for number, one in enumerate(known)
    ]
    picture = await case.atlas.map(centre, zoom=zoom, size=_MAP_PX, markers=markers)
    return await asyncio.to_thread(_draw_position, picture.png, (centre, zoom), known, found, claimed)


def _draw_position(
    png: bytes, where: tuple[LatLon, float], known: Sequence[_Known], found: Resection, claimed: LatLon | None
) -> "Image":
    """Draw the area (orange), lines of sight (blue), camera (red) and a claimed place on a map."""
    import shapely
    from PIL import Image, ImageDraw

    from geosleuth.atlas.maps.canvas import MapView

    centre, zoom = where
    view = MapView(centre, zoom, *_MAP_PX)

    def pixels(lonlat: Any) -> list[tuple[float, float]]:
        corners = np.array(lonlat, dtype=np.float64).reshape(-1, 2)
        corners[:, 0] = centre.lon + normalize_lon(corners[:, 0] - centre.lon)
        return [(float(x), float(y)) for x, y in view.pixels(corners)]

    image = Image.open(BytesIO(png)).convert("RGB")
    cover = Image.new("L", image.size)
    for polygon in shapely.get_parts(found.area.shape):
        ImageDraw.Draw(cover).polygon(pixels(polygon.exterior.coords), fill=120)
        for hole in polygon.interiors:
            ImageDraw.Draw(cover).polygon(pixels(hole.coords), fill=0)
    image.paste(Image.new("RGB", image.size, _AREA), mask=cover)
    pen = ImageDraw.Draw(image)
    for polygon in shapely.get_parts(found.area.shape):
        pen.line(pixels(polygon.exterior.coords), fill=_AREA, width=2)
    best = found.poses[0]
    ((x, y),) = pixels([best.point.lon, best.point.lat])
    if found.kind == "fix":
        for number, item in enumerate(known):
            end = pixels([item.point.lon, item.point.lat])[0]
            pen.line([(x, y), end], fill=_WRONG if number in found.misfits else _LINE, width=1)
        pen.ellipse((x - 5, y - 5, x + 5, y + 5), fill=_CAMERA, outline="white", width=2)
    if claimed is not None:
        ((x, y),) = pixels([claimed.lon, claimed.lat])
        pen.line((x - 7, y - 7, x + 7, y + 7), fill=_CAMERA, width=3)
        pen.line((x - 7, y + 7, x + 7, y - 7), fill=_CAMERA, width=3)
    return image
