"""Pixels on the page: photos embedded once with boxes over them, and maps with candidates and doubt."""

import io
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.agent import Trajectory, rebuild_album
from geosleuth.agent.display import Box, SeenLine
from geosleuth.answer import Granularity
from geosleuth.answer.answer import percent_words, radius_words
from geosleuth.atlas import Atlas, Picture
from geosleuth.atlas.granular import CountryOutline
from geosleuth.geo import Box as GeoBox
from geosleuth.geo import FloatArray, LatLon, destinations
from geosleuth.photo import Photo, View
from geosleuth.photo.views import FIRST_VIEW_PIXELS
from geosleuth.report.charts import n, path
from geosleuth.report.markup import Html, el, join, name
from geosleuth.report.mercator import MercatorPlane, mercator
from geosleuth.report.worldmap import split_at_antimeridian, to_page
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.tools import ImageInfo

from .digest import FindingDigest, RivalPlace

if TYPE_CHECKING:
    from PIL.Image import Image

Pictures = Callable[[str], View]
"""Gives the pixels of a handle, or raises `BadInput`: ``album.__getitem__``."""

MAX_PHOTOS = 8
_LONGEST_PX = 1400
_CUT_PX = 420
_MOSAIC = 24
_QUALITY = 80
_MARGIN = 0.25

SIZE_PX = (760, 570)
WORLD = (960.0, 467.3)
# Zoom for an unstated radius, and for any radius smaller than a city block.
CLOSEST_ZOOM = 16.5
# Beyond these zooms a map names things finer than the granularity allows.
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


def cut_pictures(trajectory: Trajectory, photos: Sequence[Photo], *, max_pixels: int = FIRST_VIEW_PIXELS) -> Pictures:
    """Return the pictures of a run, cut again from its photos; others, such as maps, are refused.

    Args:
        trajectory: says which part of which photo each handle shows.
        photos: those that the run's album began with, in the same order; of a panorama its cuts.
        max_pixels: what the run's album allowed, see `Method.first_view_pixels`.

    Raises:
        BadInput: these are not the photos of that run.
    """
    rebuilt = rebuild_album(trajectory, photos, max_pixels=max_pixels)

    def picture(handle: str) -> View:
        if handle in rebuilt.missing:
            raise BadInput(f"{handle} is not a part of any of the photos")
        return rebuilt.album[handle]

    return picture


def data_uri(image: "Image", longest_px: int, quality: int = _QUALITY) -> str:
    """Return a picture as the text of a small JPEG, with no metadata of any kind."""
    scale = min(1.0, longest_px / max(image.size))
    size = (max(1, round(image.size[0] * scale)), max(1, round(image.size[1] * scale)))
    stream = io.BytesIO()
    image.resize(size, reducing_gap=3.0).save(stream, "JPEG", quality=quality, optimize=True)
    return uri("image/jpeg", stream.getvalue())


def uri(kind: str, data: bytes) -> str:
    """Return bytes as a data URI."""
    return f"data:{kind};base64,{b64encode(data).decode('ascii')}"


class Embedded:
    """The photos of a run as the page shows them, each embedded at most once."""

    def __init__(self, trajectory: Trajectory, pictures: Pictures | None, *, legible: bool) -> None:
        """Take the pixels; without ``legible`` so coarsely that no text can be read."""
        self.photos: dict[int, ImageInfo] = {}
        for image in trajectory.task.images:
            if len(self.photos) < MAX_PHOTOS:
                self.photos.setdefault(image.photo, image)
        self._pictures = pictures
        self.legible = legible
        self._uris = {number: found for number, image in self.photos.items() if (found := self._uri(image.handle))}

    def __bool__(self) -> bool:
        return bool(self._uris)

    def _uri(self, handle: str) -> str | None:
        view = self._view(handle)
        if view is None:
            return None
        if not self.legible:
            scale = _MOSAIC / max(view.size)
            size = (max(1, round(view.size[0] * scale)), max(1, round(view.size[1] * scale)))
            return data_uri(view.image.resize(size, reducing_gap=3.0), _MOSAIC)
        return data_uri(view.image, _LONGEST_PX)

    def _view(self, handle: str) -> View | None:
        try:
            return self._pictures(handle) if self._pictures else None
        except BadInput:
            return None

    def figures(self, seen: Sequence[SeenLine]) -> Html:
        """Return every photo with its boxes; a photo without pixels is left out."""
        return join(
            self._figure(number, image, [line for line in seen if line.photo == number])
            for number, image in self.photos.items()
            if number in self._uris
        )

    def _figure(self, number: int, image: ImageInfo, seen: Sequence[SeenLine]) -> Html:
        width, height = image.size
        many = f"Photo {number}" if len(self.photos) > 1 else "The photo"
        label = f"{many} with {len(seen)} pieces of text marked in it" if seen else many
        pixels = {
            "id": f"photo-{number}",
            "href": self._uris[number],
            "width": width,
            "height": height,
            "preserveAspectRatio": "none",
        }
        drawing = el(
            "svg",
            {"class": "photo", "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": label},
            el("image", pixels),
            # Plain boxes first, so that numbered ones lie on top.
            *(_render_box(line, width, height) for line in sorted(seen, key=lambda line: line.number is not None)),
        )
        if not self.legible:
            words = f"{many}, made illegible: text in it could reveal more than the granularity allows."
        else:
            words = _caption(many, seen)
        return el("figure", {"class": "shot"}, drawing, el("figcaption", None, words))

    def part(self, photo: int, box: Box, kind: str, label: str) -> Html | None:
        """Return a part of an embedded photo, drawn from the same pixels once more."""
        image = self.photos.get(photo)
        if image is None or photo not in self._uris or not self.legible:
            return None
        width, height = image.size
        high = (box[3] - box[1]) * height * _MARGIN
        left, top = max(0.0, box[0] * width - high), max(0.0, box[1] * height - high)
        right, bottom = min(float(width), box[2] * width + high), min(float(height), box[3] * height + high)
        across, down = max(1.0, right - left), max(1.0, bottom - top)
        return el(
            "svg",
            {"class": kind, "viewBox": f"{n(left)} {n(top)} {n(across)} {n(down)}", "role": "img", "aria-label": label},
            el("use", {"href": f"#photo-{photo}"}),
        )

    def cut(self, image: ImageInfo) -> Html | None:
        """Return a picture that a tool made, from its own pixels if available, else cut from its photo."""
        if not self.legible:
            return None
        first = self.photos.get(image.photo)
        view = self._view(image.handle)
        if view is not None and (first is None or first.handle != image.handle):
            return el(
                "svg",
                {"class": "cut", "viewBox": f"0 0 {image.size[0]} {image.size[1]}", "role": "img",
                 "aria-label": image.handle},
                el("image", {"href": data_uri(view.image, _CUT_PX), "width": image.size[0], "height": image.size[1]}),
            )  # fmt: skip
        if first is None or first.handle == image.handle:
            return None
        outer, inner = first.box_in_original, image.box_in_original
        across, down = max(1, outer[2] - outer[0]), max(1, outer[3] - outer[1])
        box = (
            (inner[0] - outer[0]) / across,
            (inner[1] - outer[1]) / down,
            (inner[2] - outer[0]) / across,
            (inner[3] - outer[1]) / down,
        )
        return self.part(image.photo, box, "cut", image.handle)


def badges(numbers: Iterable[int]) -> Html:
    """Return the numbers of boxes, as they stand on the photo."""
    return join(el("span", {"class": "badge-number"}, number) for number in numbers)


def _caption(many: str, seen: Sequence[SeenLine]) -> Html:
    named = [line for line in seen if line.number is not None]
    others = len(seen) - len(named)
    parts: list[object] = [f"{many}. "]
    for line in named:
        parts += [el("span", {"class": "key-line"}, badges([line.number or 0]), " ", name(line.text, 60)), " "]
    if others:
        parts.append(
            f"Dashed: {others} more {'line' if others == 1 else 'lines'} of text with little or no weight."
            if named
            else f"Dashed: {others} {'line' if others == 1 else 'lines'} of text that could be read."
        )
    return join(parts)


def _render_box(line: SeenLine, width: int, height: int) -> Html:
    unit = max(width, height) / 100
    x, y = line.box[0] * width, line.box[1] * height
    across, down = (line.box[2] - line.box[0]) * width, (line.box[3] - line.box[1]) * height
    frame = {"x": n(x), "y": n(y), "width": n(across), "height": n(down), "rx": n(0.4 * unit)}
    title = el("title", None, line.text)
    if line.number is None:
        wide = {"stroke-width": n(0.3 * unit), "stroke-dasharray": f"{n(unit)} {n(0.7 * unit)}"}
        return el(
            "g",
            {"class": "plain-box"},
            title,
            el("rect", {**frame, "class": "casing", "stroke-width": n(0.3 * unit)}),
            el("rect", {**frame, **wide}),
        )
    radius = 1.9 * unit
    cx, cy = max(radius, x), max(radius, y)
    return el(
        "g",
        {"class": "clue-box"},
        title,
        el("rect", {**frame, "class": "casing", "stroke-width": n(0.85 * unit)}),
        el("rect", {**frame, "stroke-width": n(0.45 * unit)}),
        el("circle", {"cx": n(cx), "cy": n(cy), "r": n(radius), "stroke-width": n(0.25 * unit)}),
        el(
            "text",
            {"x": n(cx), "y": n(cy + 0.92 * unit), "font-size": n(2.6 * unit), "text-anchor": "middle"},
            line.number,
        ),
    )


@dataclass(frozen=True, slots=True)
class MapPicture:
    """A drawn map with its title."""

    title: str
    picture: Picture

    @property
    def box(self) -> GeoBox | None:
        """The area shown as a box; None if a service gives only a disc."""
        return self.picture.extent if isinstance(self.picture.extent, GeoBox) else None


async def draw_maps(digest: FindingDigest, atlas: Atlas | None) -> tuple[MapPicture, ...]:
    """Draw maps around an answer's point, closest first; none without a point or without a drawing atlas.

    Their zoom follows from the radius and the granularity.
    """
    point = digest.answer.point
    if point is None or atlas is None:
        return ()
    outline = digest.outline
    if outline is None:
        closest = choose_zoom(point, digest.answer.radius_km or _UNSTATED_KM, digest.granularity)
    else:
        point, closest = fit_box(outline.box, digest.granularity)
    zooms = [("Close up", closest)]
    if closest >= _REGIONAL_BELOW:
        zooms.append(("Around it", _REGIONAL_ZOOM))
    drawn = []
    for title, zoom in zooms:
        try:
            drawn.append(MapPicture(title, await atlas.map(point, zoom=zoom, size=SIZE_PX)))
        except GeosleuthError:
            # The world map still says where it is.
            continue
    return tuple(drawn)


def choose_zoom(point: LatLon, radius_km: float, granularity: Granularity = "exact") -> float:
    """Return the zoom at which the circle takes up about half of a map's height, no closer than allowed."""
    lat = min(abs(point.lat), 85.0)
    wide_m = 2000 * radius_km / _CIRCLE_SHARE
    zoom = math.log2(_EARTH_ROUND_M * math.cos(math.radians(lat)) * SIZE_PX[1] / (_TILE_PX * wide_m))
    return round(min(max(zoom, 1.0), CLOSEST_ZOOM, _CLOSEST[granularity]), 1)


def fit_box(box: GeoBox, granularity: Granularity = "exact") -> tuple[LatLon, float]:
    """Return the centre of a map and the zoom at which a box fills most of it, no closer than allowed."""
    south, north = mercator(box.south), mercator(box.north)
    lat = math.degrees(math.atan(math.sinh((south + north) / 2)))
    width, height = (_BOX_SHARE * side / _TILE_PX for side in SIZE_PX)
    zoom = min(
        math.log2(width * 360 / max(box.width_deg, 1e-6)), math.log2(height * 2 * math.pi / max(north - south, 1e-6))
    )
    return LatLon(lat, box.centre.lon), round(min(max(zoom, 1.0), CLOSEST_ZOOM, _CLOSEST[granularity]), 1)


def map_figure(drawn: MapPicture, digest: FindingDigest, *, close: bool) -> Html:
    """Return one map with the circle and the pins."""
    box, point = drawn.box, digest.answer.point
    width, height = SIZE_PX
    over: list[Html] = []
    if box is not None and point is not None:
        plane = MercatorPlane(box, width, height)
        radius_km, outline = digest.answer.radius_km, digest.outline
        if outline is not None:
            over.append(el("path", {"class": "doubt", "d": _build_outline_path(outline, plane)}))
        elif radius_km is not None and (circle := _circle(plane, point, radius_km)):
            over.append(el("path", {"class": "doubt", "d": circle}))
        over += _pins(digest.pins, plane, size=15 if close else 38)
    words = f"{drawn.title}: map with the place"
    if digest.outline is not None:
        words = f"{drawn.title}: map with the outline of {digest.outline.name}"
    elif digest.answer.radius_km is not None:
        words += f" and a circle of {radius_words(digest.answer.radius_km)} around it"
    return el(
        "figure",
        {"class": "ground"},
        el(
            "svg",
            {"class": "map-drawing", "viewBox": f"0 0 {width} {height}", "role": "img", "aria-label": words},
            el("image", {"href": uri("image/png", drawn.picture.png), "width": width, "height": height}),
            *over,
        ),
    )


def world_figure(digest: FindingDigest) -> Html:
    """Return the whole world with all candidates on it; needs `render_shared_symbols` on the page."""
    point, radius_km = digest.answer.point, digest.answer.radius_km
    over: list[Html] = []
    if digest.outline is not None:
        over.append(el("path", {"class": "doubt", "d": _build_outline_path(digest.outline, _World())}))
    elif point is not None and radius_km is not None and radius_km >= _SEEN_ON_WORLD_KM:
        over.append(el("path", {"class": "doubt", "d": _world_circle(point, radius_km)}))
    over += _pins(digest.pins, _World(), size=28)
    if point is None:
        words = "World map with weak candidates" if over else "World map with no place marked"
    else:
        words = f"World map with {digest.place}" if digest.wide else "World map with the place marked"
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

    def project(self, point: LatLon) -> tuple[float, float] | None:
        return self.place(point.lat, point.lon)

    def place(self, lat: float, lon: float) -> tuple[float, float]:
        x, y = to_page(np.array([lat]), np.array([lon]))
        return float(x[0]), float(y[0])


def _build_outline_path(outline: CountryOutline, plane: "MercatorPlane | _World") -> str:
    """Return a country's outline as path data, its holes left open."""
    rings = (ring for polygon in outline.polygons for ring in polygon)
    return "".join(path(plane.place(lat, lon) for lon, lat in ring) + "Z" for ring in rings)


def _circle(plane: MercatorPlane, centre: LatLon, radius_km: float) -> str:
    """Return the circle as path data; nothing where it holds a pole, which this plane does not have."""
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


def _pins(rivals: Sequence[RivalPlace], plane: "MercatorPlane | _World", size: float) -> list[Html]:
    """Return the answer's pin on top of the others'."""
    drawn = list(_draw_pins(rivals[:_LETTERED], plane, size))
    return drawn[::-1]


def _draw_pins(rivals: Sequence[RivalPlace], plane: "MercatorPlane | _World", size: float) -> Iterator[Html]:
    for rival in rivals:
        spot = plane.project(rival.point) if rival.point is not None else None
        if spot is None:
            continue
        x, y = spot
        odds = "" if rival.probability is None else f", {percent_words(rival.probability)}"
        title = el("title", None, f"{rival.letter}: {rival.name or 'unnamed'}{odds}")
        if not rival.is_answer:
            yield el(
                "g",
                {"class": "pin rival-pin"},
                title,
                el("circle", {"cx": n(x), "cy": n(y), "r": n(0.72 * size)}),
                el("text", {"x": n(x), "y": n(y + 0.3 * size), "font-size": n(0.85 * size), "text-anchor": "middle"},
                   rival.letter),
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
               rival.letter),
        )  # fmt: skip


def map_credits(maps: Sequence[MapPicture]) -> Html:
    """Return the credits of maps."""
    names = (part for item in maps for part in item.picture.attribution.split(" · "))
    owed = dict.fromkeys(part for part in names if part)
    return join([f"Maps: {'; '.join(owed)}."]) if owed else Html("")
