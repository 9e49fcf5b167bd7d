"""Maps of a finding: the atlas draws the ground, and the candidates and the circle of doubt are laid over it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.answer import Granularity
from geosleuth.answer.model import percent_words, radius_words
from geosleuth.atlas import Atlas, Picture
from geosleuth.atlas.outlines import CountryOutline
from geosleuth.bench.page.charts import n, path
from geosleuth.bench.page.markup import Html, el, join
from geosleuth.bench.page.worldmap import MercatorPlane, mercator, split_at_antimeridian, to_page
from geosleuth.errors import GeosleuthError
from geosleuth.geo import Box, FloatArray, LatLon, destinations

from .digest import Digest, Rival
from .pictures import uri

SIZE_PX = (760, 570)
WORLD = (960.0, 467.3)
CLOSEST_ZOOM = 16.5
"""With an unstated radius, and with any that is smaller than a block of houses."""

# Beyond these zooms a map names things that are finer than may be told.
_CLOSEST: dict[Granularity, float] = {"country": 4.5, "region": 7.0, "city": 10.9, "street": 15.4, "exact": 17.5}
_CIRCLE_SHARE = 0.5
_BOX_SHARE = 0.85
_REGIONAL_ZOOM = 5.6
_REGIONAL_BELOW = 9.0
_UNSTATED_KM = 5.0
_EARTH_ROUND_M = 40_075_016.686
_TILE_PX = 256
_QUARTER_KM = 10_001.0
_SEEN_ON_WORLD_KM = 250.0
_LETTERED = 8
_HEADROOM = 24  # for the heads of pins in the far north


@dataclass(frozen=True, slots=True)
class Ground:
    """A drawn map: PNG bytes, the ground in it, whom to credit, and what to call it."""

    title: str
    picture: Picture

    @property
    def box(self) -> Box | None:
        """The ground as a box; None where a service says no more than a disc."""
        return self.picture.extent if isinstance(self.picture.extent, Box) else None


async def draw_ground(digest: Digest, atlas: Atlas | None) -> tuple[Ground, ...]:
    """The maps around an answer's point, closest first; none without a point, and none where the atlas can't draw.

    How close they are follows from the radius, and from what may be told.
    """
    point = digest.answer.point
    if point is None or atlas is None:
        return ()
    outline = digest.outline
    if outline is None:
        closest = zoom_for(point, digest.answer.radius_km or _UNSTATED_KM, digest.granularity)
    else:
        point, closest = framed(outline.box, digest.granularity)
    zooms = [("Close up", closest)]
    if closest >= _REGIONAL_BELOW:
        zooms.append(("Around it", _REGIONAL_ZOOM))
    drawn = []
    for title, zoom in zooms:
        try:
            drawn.append(Ground(title, await atlas.map(point, zoom=zoom, size=SIZE_PX)))
        except GeosleuthError:
            # The world map still says where it is.
            continue
    return tuple(drawn)


def zoom_for(point: LatLon, radius_km: float, granularity: Granularity = "exact") -> float:
    """The zoom at which the circle takes up about half of a map's height, no closer than may be told."""
    lat = min(abs(point.lat), 85.0)
    wide_m = 2000 * radius_km / _CIRCLE_SHARE
    zoom = math.log2(_EARTH_ROUND_M * math.cos(math.radians(lat)) * SIZE_PX[1] / (_TILE_PX * wide_m))
    return round(min(max(zoom, 1.0), CLOSEST_ZOOM, _CLOSEST[granularity]), 1)


def framed(box: Box, granularity: Granularity = "exact") -> tuple[LatLon, float]:
    """The middle of a map and the zoom at which a box fills most of it, no closer than may be told."""
    south, north = mercator(box.south), mercator(box.north)
    lat = math.degrees(math.atan(math.sinh((south + north) / 2)))
    width, height = (_BOX_SHARE * side / _TILE_PX for side in SIZE_PX)
    zoom = min(
        math.log2(width * 360 / max(box.width_deg, 1e-6)), math.log2(height * 2 * math.pi / max(north - south, 1e-6))
    )
    return LatLon(lat, box.centre.lon), round(min(max(zoom, 1.0), CLOSEST_ZOOM, _CLOSEST[granularity]), 1)


def ground_figure(ground: Ground, digest: Digest, *, close: bool) -> Html:
    """One map with the circle and the pins."""
    box, point = ground.box, digest.answer.point
    width, height = SIZE_PX
    over: list[Html] = []
    if box is not None and point is not None:
        plane = MercatorPlane(box, width, height)
        radius_km, outline = digest.answer.radius_km, digest.outline
        if outline is not None:
            over.append(el("path", {"class": "doubt", "d": _outlined(outline, plane)}))
        elif radius_km is not None and (circle := _circle(plane, point, radius_km)):
            over.append(el("path", {"class": "doubt", "d": circle}))
        over += _pins(digest.pinned, plane, size=15 if close else 38)
    words = f"{ground.title}: map with the place"
    if digest.outline is not None:
        words = f"{ground.title}: map with the outline of {digest.outline.name}"
    elif digest.answer.radius_km is not None:
        words += f" and a circle of {radius_words(digest.answer.radius_km)} around it"
    return el(
        "figure",
        {"class": "ground"},
        el(
            "svg",
            {"class": "map-drawing", "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": words},
            el("image", {"href": uri("image/png", ground.picture.png), "width": width, "height": height}),
            *over,
        ),
    )


def world_figure(digest: Digest) -> Html:
    """The whole world with all candidates on it; needs `shared_drawing` on the page."""
    point, radius_km = digest.answer.point, digest.answer.radius_km
    over: list[Html] = []
    if digest.outline is not None:
        over.append(el("path", {"class": "doubt", "d": _outlined(digest.outline, _World())}))
    elif point is not None and radius_km is not None and radius_km >= _SEEN_ON_WORLD_KM:
        over.append(el("path", {"class": "doubt", "d": _world_circle(point, radius_km)}))
    over += _pins(digest.pinned, _World(), size=28)
    if point is None:
        words = "World map with weak candidates" if over else "World map with no place marked"
    else:
        words = "World map with the place marked"
    return el(
        "figure",
        {"class": "ground world-map"},
        el(
            "svg",
            {"viewBox": f"0 {-_HEADROOM} {n(WORLD[0])} {n(WORLD[1] + _HEADROOM)}", "role": "img", "aria-label": words},
            el("use", {"href": "#world"}),
            *over,
        ),
    )


class _World:
    """The world drawing's own plane."""

    def at(self, point: LatLon) -> tuple[float, float] | None:
        return self.place(point.lat, point.lon)

    def place(self, lat: float, lon: float) -> tuple[float, float]:
        x, y = to_page(np.array([lat]), np.array([lon]))
        return float(x[0]), float(y[0])


def _outlined(outline: CountryOutline, plane: "MercatorPlane | _World") -> str:
    """A country's outline as path data, its holes left open."""
    rings = (ring for polygon in outline.polygons for ring in polygon)
    return "".join(path(plane.place(lat, lon) for lon, lat in ring) + "Z" for ring in rings)


def _circle(plane: MercatorPlane, centre: LatLon, radius_km: float) -> str:
    """The circle as path data; nothing where it holds a pole, which this plane does not have."""
    if radius_km > _QUARTER_KM * (1 - abs(centre.lat) / 90):
        return ""
    lats, lons = _rim(centre, radius_km)
    return path(plane.place(lat, lon) for lat, lon in zip(lats.tolist(), lons.tolist(), strict=True)) + "Z"


def _rim(centre: LatLon, radius_km: float) -> tuple[FloatArray, FloatArray]:
    return destinations(centre.lat, centre.lon, np.linspace(0.0, 360.0, 121)[:-1], radius_km)


def _world_circle(centre: LatLon, radius_km: float) -> str:
    lats, lons = _rim(centre, radius_km)
    pieces = split_at_antimeridian(np.r_[lats, lats[:1]], np.r_[lons, lons[:1]])
    drawn = []
    for lat, lon in pieces:
        x, y = to_page(lat, lon)
        drawn.append(path(zip(x.tolist(), y.tolist(), strict=True)) + ("Z" if len(pieces) == 1 else ""))
    return "".join(drawn)


def _pins(rivals: Sequence[Rival], plane: "MercatorPlane | _World", size: float) -> list[Html]:
    """The answer's pin on top of the others'."""
    drawn = list(_drawn_pins(rivals[:_LETTERED], plane, size))
    return drawn[::-1]


def _drawn_pins(rivals: Sequence[Rival], plane: "MercatorPlane | _World", size: float) -> Iterator[Html]:
    for one in rivals:
        spot = plane.at(one.point) if one.point is not None else None
        if spot is None:
            continue
        x, y = spot
        odds = "" if one.probability is None else f", {percent_words(one.probability)}"
        title = el("title", None, f"{one.letter}: {one.name or 'unnamed'}{odds}")
        if not one.is_answer:
            yield el(
                "g",
                {"class": "pin rival-pin"},
                title,
                el("circle", {"cx": n(x), "cy": n(y), "r": n(0.72 * size)}),
                el("text", {"x": n(x), "y": n(y + 0.3 * size), "font-size": n(0.85 * size), "text-anchor": "middle"},
                   one.letter),
            )  # fmt: skip
            continue
        head = y - 1.9 * size
        drop = (
            f"M{n(x)},{n(y)}C{n(x - 0.35 * size)},{n(y - 0.8 * size)} {n(x - size)},{n(head + 0.9 * size)} "
            f"{n(x - size)},{n(head)}A{n(size)},{n(size)} 0 1 1 {n(x + size)},{n(head)}"
            f"C{n(x + size)},{n(head + 0.9 * size)} {n(x + 0.35 * size)},{n(y - 0.8 * size)} {n(x)},{n(y)}Z"
        )
        yield el(
            "g",
            {"class": "pin answer-pin"},
            title,
            el("path", {"d": drop}),
            el("text", {"x": n(x), "y": n(head + 0.38 * size), "font-size": n(1.1 * size), "text-anchor": "middle"},
               one.letter),
        )  # fmt: skip


def map_credits(grounds: Sequence[Ground]) -> Html:
    """Whom the maps are owed to."""
    names = (part for ground in grounds for part in ground.picture.attribution.split(" · "))
    owed = dict.fromkeys(part for part in names if part)
    return join([f"Maps: {'; '.join(owed)}."]) if owed else Html("")
