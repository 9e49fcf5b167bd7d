"""City mosaics from Sentinel-2: a square of ground around a city, the least cloudy scene on top."""

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from geosleuth.bench.sets.model import FilePicture, Item
from geosleuth.errors import BadInput, require
from geosleuth.files import replacing, write_bytes_atomically
from geosleuth.geo import LatLon

from .places import TablePlace, file_name, read_places
from .scenes import Scene, opened
from .tables import writing_table

SIDE_PX: Final = 2000
METRES: Final = 10.0
TABLE: Final = "mosaics.csv"
BRIGHTEST: Final = 0.3
"""The reflectance that becomes white, where a scene comes as bands of reflectance."""

_CLOUDY: Final = (1, 3, 8, 9, 10)
"""Classes of the scene classification that hide the ground: defects, shadows of clouds, clouds, thin clouds."""

_UNKNOWN_CLOUDS: Final = 0.5
FIELDS: Final = ("epsg", "west_m", "north_m", "metres_a_pixel", "scenes", "clear", "cloudy", "empty")

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Frame:
    """A square on the ground: a UTM zone, its north-west corner in metres, pixels a side and metres a pixel."""

    epsg: int
    west_m: float
    north_m: float
    side_px: int = SIDE_PX
    metres: float = METRES

    def pixel_of(self, point: LatLon) -> tuple[float, float]:
        """Column and row of a point, from the upper left corner of the upper left pixel."""
        x, y = _utm(self.epsg).transform(point.lon, point.lat)
        return (x - self.west_m) / self.metres, (self.north_m - y) / self.metres


@dataclass(frozen=True, slots=True)
class Mosaic:
    """A square in colours, and the shares of it that are clear, cloudy and empty; ``scenes`` gave something to it."""

    frame: Frame
    pixels: Bytes
    clear: float
    cloudy: float
    empty: float
    scenes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mosaics:
    """What came of several cities: written, found finished, and refused with the reason."""

    made: tuple[str, ...]
    kept: tuple[str, ...]
    refused: Mapping[str, str]
    table: Path | None


@dataclass(frozen=True, slots=True)
class _Layer:
    scene: Scene
    seen: Mask
    clouds: Mask
    known: bool

    @property
    def cloudy(self) -> float:
        if self.known and self.seen.any():
            return float(self.clouds[self.seen].mean())
        return _UNKNOWN_CLOUDS if self.scene.cloudy is None else self.scene.cloudy


def frame_around(centre: LatLon, side_px: int = SIDE_PX, metres: float = METRES) -> Frame:
    """The square around a point, in the UTM zone that the point lies in, on that zone's grid of whole pixels.

    Raises:
        BadInput: it lies too near a pole for UTM.
    """
    if not -80 <= centre.lat <= 84:
        raise BadInput(f"{centre.lat:.2f}, {centre.lon:.2f}: UTM reaches from 80 degrees south to 84 north")
    zone = min(60, int((centre.lon + 180) // 6) + 1)
    epsg = (32600 if centre.lat >= 0 else 32700) + zone
    x, y = _utm(epsg).transform(centre.lon, centre.lat)
    half = side_px * metres / 2
    return Frame(epsg, round((x - half) / metres) * metres, round((y + half) / metres) * metres, side_px, metres)


def make_mosaic(scenes: Sequence[Scene], frame: Frame, *, brightest: float = BRIGHTEST) -> Mosaic:
    """The square in colours: from each scene in turn, least cloudy here first, what is clear and not yet there.

    What no scene shows clearly is then taken as it is, clouds and all; what none shows stays black. How cloudy a scene
    is here comes from its classification; without one from what the product states, or counts as half.

    Raises:
        BadInput: no scene shows any of it, or one can't be read.
        MissingExtra: rasterio is not installed.
    """
    layers = [layer for scene in scenes if (layer := _layer(scene, frame)) is not None]
    if not layers:
        raise BadInput("no scene shows any of this square")
    layers.sort(key=lambda layer: (layer.cloudy, layer.scene.name))
    pixels: Bytes = np.zeros((frame.side_px, frame.side_px, 3), dtype=np.uint8)
    done: Mask = np.zeros(pixels.shape[:2], dtype=np.bool_)
    used: dict[str, None] = {}
    clear = 0
    for with_clouds in (False, True):
        for layer in layers:
            wanted = layer.seen & ~done & (layer.clouds if with_clouds else ~layer.clouds)
            if not wanted.any():
                continue
            pixels[wanted] = _colours(layer.scene, frame, brightest)[0][wanted]
            done |= wanted
            used[layer.scene.name] = None
        if not with_clouds:
            clear = int(done.sum())
    total = done.size
    return Mosaic(
        frame, pixels, clear / total, (int(done.sum()) - clear) / total, 1 - int(done.sum()) / total, tuple(used)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MosaicSettings:
    """What mosaics are like.

    Attributes:
        side_px: pixels a side.
        metres: metres a pixel.
        brightest: the reflectance that becomes white.
        most_empty: the share of a square that may be black because no scene shows it.
        georeferenced: write GeoTIFF, which says where it lies, instead of PNG.
    """

    side_px: int = SIDE_PX
    metres: float = METRES
    brightest: float = BRIGHTEST
    most_empty: float = 0.05
    georeferenced: bool = False


_USUAL = MosaicSettings()


def make_mosaics(
    cities: Iterable[TablePlace],
    scenes: Sequence[Scene],
    out: Path,
    *,
    settings: MosaicSettings = _USUAL,
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Mosaics:
    """A mosaic of each city in a folder, and a table that can be opened as a data set.

    A mosaic that is there already is finished and kept, unless ``overwrite``. A city that can't be made is named and
    the others go on.

    Args:
        cities: what is called how, and where its middle is.
        scenes: see `find_scenes`.
        out: the folder.
        settings: what they are like.
        overwrite: make anew what is there.
        progress: called with cities done and cities to do.

    Raises:
        BadInput: the folder can't be written.
        MissingExtra: rasterio is not installed.
    """
    todo = list(cities)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: can't be made: {error.strerror or error}") from error
    known = _known_rows(out / TABLE)
    ending = ".tif" if settings.georeferenced else ".png"
    paths = {city.id: out / file_name(city.id, ending) for city in todo}
    # What is there stands in the table from the first on, also what comes late in the order.
    rows = {name: known[name] for name, path in paths.items() if name in known and path.is_file()}
    made, kept, refused = [], [], {}

    def write_table() -> None:
        finished = [city for city in todo if city.id in rows]
        _write_table(out / TABLE, [(city, paths[city.id], rows[city.id]) for city in finished])

    for number, city in enumerate(todo):
        progress(number, len(todo))
        if city.id in rows and not overwrite:
            kept.append(city.id)
            continue
        try:
            frame = frame_around(city.truth.point, settings.side_px, settings.metres)
            mosaic = make_mosaic(scenes, frame, brightest=settings.brightest)
            if mosaic.empty > settings.most_empty:
                raise BadInput(
                    f"{mosaic.empty:.0%} of the square is shown by no scene; give more, or allow it with --empty"
                )
            write_mosaic(mosaic, paths[city.id])
        except BadInput as error:
            refused[city.id] = str(error)
            rows.pop(city.id, None)
            continue
        rows[city.id] = _row(mosaic)
        made.append(city.id)
        # After each, so that a run that is cut off loses nothing.
        write_table()
    progress(len(todo), len(todo))
    if rows:
        write_table()
    return Mosaics(tuple(made), tuple(kept), refused, out / TABLE if rows else None)


def write_mosaic(mosaic: Mosaic, path: Path) -> None:
    """Write a mosaic as PNG, or as GeoTIFF where the name ends in .tif; whole or not at all.

    Raises:
        BadInput: it can't be written.
    """
    if path.suffix.lower() != ".tif":
        from PIL import Image

        stream = io.BytesIO()
        Image.fromarray(mosaic.pixels).save(stream, "PNG")
        write_bytes_atomically(path, stream.getvalue())
        return
    rasterio = require("rasterio", extra="bench")
    side = mosaic.frame.side_px
    with replacing(path) as neighbour, _explained(path), rasterio.open(
        neighbour, "w", driver="GTiff", width=side, height=side, count=3, dtype="uint8", crs=_crs(mosaic.frame),
        transform=_transform(mosaic.frame), compress="deflate", photometric="RGB",
    ) as sink:  # fmt: skip
        sink.write(mosaic.pixels.transpose(2, 0, 1))


def _layer(scene: Scene, frame: Frame) -> _Layer | None:
    """Which pixels of the square a scene shows, and which of them are clouds; None where it shows nothing."""
    _, seen = _colours(scene, frame, BRIGHTEST)
    clouds: Mask = np.zeros_like(seen)
    if scene.classes is not None:
        classes = _warped(scene.classes, frame, (1,), smooth=False)[0]
        clouds = np.isin(classes, _CLOUDY)
        seen &= classes != 0
    return _Layer(scene, seen, clouds, scene.classes is not None) if seen.any() else None


def _colours(scene: Scene, frame: Frame, brightest: float) -> tuple[Bytes, Mask]:
    """The scene's pixels in the square, and where it has any: no data is 0 in all bands."""
    if len(scene.colours) == 1:
        bands = _warped(scene.colours[0], frame, (1, 2, 3), smooth=True)
        seen: Mask = (bands != 0).any(axis=0)
        return bands.transpose(1, 2, 0).astype(np.uint8), seen
    raw = np.stack([_warped(path, frame, (1,), smooth=True)[0] for path in scene.colours])
    seen = (raw != 0).all(axis=0)
    light = (raw.astype(np.float32) + scene.offset) / 10_000 / brightest
    # 0 is kept for no data, as in the pictures that come with the products.
    return np.clip(np.rint(light * 255), 1, 255).astype(np.uint8).transpose(1, 2, 0), seen


def _warped(path: Path, frame: Frame, bands: tuple[int, ...], *, smooth: bool) -> npt.NDArray[Any]:
    """Bands of a file in the square's own grid; only what lies there is read."""
    vrt = require("rasterio.vrt", extra="bench")
    ways = require("rasterio.enums", extra="bench").Resampling
    with _explained(path), opened(path) as source:
        if source.crs is None:
            raise BadInput(f"{path}: the file does not say where it lies on Earth")
        if source.count < max(bands):
            raise BadInput(f"{path}: {source.count} bands where {max(bands)} are needed")
        with vrt.WarpedVRT(
            source, crs=_crs(frame), transform=_transform(frame), width=frame.side_px, height=frame.side_px,
            resampling=ways.bilinear if smooth else ways.nearest, src_nodata=0, nodata=0,
        ) as view:  # fmt: skip
            found: npt.NDArray[Any] = view.read(bands)
            return found


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What rasterio can't do as one line."""
    errors = require("rasterio.errors", extra="bench")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.NotGeoreferencedWarning)
            yield
    except errors.RasterioError as error:
        raise BadInput(
            f"{path}: can't be read as a picture from above: {' '.join(str(error).split())[:200]}"
        ) from error


def _crs(frame: Frame) -> Any:
    return require("rasterio.crs", extra="bench").CRS.from_epsg(frame.epsg)


def _transform(frame: Frame) -> Any:
    step = frame.metres
    return require("rasterio", extra="bench").Affine(step, 0.0, frame.west_m, 0.0, -step, frame.north_m)


def _utm(epsg: int) -> Any:
    from pyproj import Transformer

    return Transformer.from_crs(4326, epsg, always_xy=True)


def _row(mosaic: Mosaic) -> dict[str, str]:
    frame = mosaic.frame
    values = (
        str(frame.epsg), f"{frame.west_m:g}" if frame.west_m % 1 else str(int(frame.west_m)),
        f"{frame.north_m:g}" if frame.north_m % 1 else str(int(frame.north_m)), f"{frame.metres:g}",
        str(len(mosaic.scenes)), f"{mosaic.clear:.4f}", f"{mosaic.cloudy:.4f}", f"{mosaic.empty:.4f}",
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


def _known_rows(table: Path) -> dict[str, Mapping[str, str]]:
    """What an earlier run wrote."""
    if not table.is_file():
        return {}
    return {name: {key: one.fields[key] for key in FIELDS if key in one.fields}
            for name, one in read_places(table).items()}  # fmt: skip


def _write_table(table: Path, rows: Sequence[tuple[TablePlace, Path, Mapping[str, str]]]) -> None:
    names = dict.fromkeys(name for city, _, _ in rows for name in city.fields)
    with writing_table(table, (*names, *FIELDS)) as write:
        for city, path, more in rows:
            write(Item(city.id, FilePicture(path), city.truth, city.fields), more)
