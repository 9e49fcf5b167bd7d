"""City mosaics from Sentinel-2 scenes on disk: a square of ground around a city, the least cloudy scene on top."""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets.dataset import FilePicture, Item
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import replacing, write_bytes_atomically

from .photo_tables import TablePlace, file_name, read_places, writing_table

_JPEG_2000: Final = (".jp2", ".j2k")
ENDINGS: Final = (*_JPEG_2000, ".tif", ".tiff")
_BANDS: Final = ("B04", "B03", "B02")
_PART: Final = re.compile(r"(?P<scene>.*?)_?(?P<part>TCI|SCL|B02|B03|B04)(?:_(?P<metres>10|20|60)m)?$", re.IGNORECASE)
_CLOUDS: Final = re.compile(
    r"<(?:\w{1,40}:)?(?:Cloud_Coverage_Assessment|CLOUDY_PIXEL_PERCENTAGE)[^<>]{0,400}>\s{0,40}(\d{1,9}(?:\.\d{0,20})?)\s{0,40}<",
    re.IGNORECASE,
)
_OFFSET: Final = re.compile(
    r"<(?:BOA|RADIO)_ADD_OFFSET[^<>]{0,400}>\s{0,40}(-?\d{1,9}(?:\.\d{0,20})?)\s{0,40}<", re.IGNORECASE
)
_BASELINE: Final = re.compile(r"_N(\d{4})_")
_LONGEST_XML: Final = 8 * 1024 * 1024

SIDE_PX: Final = 2000
METRES: Final = 10.0
TABLE: Final = "mosaics.csv"
BRIGHTEST: Final = 0.3
"""The reflectance that becomes white, for scenes of reflectance bands."""
_CLOUDY: Final = (1, 3, 8, 9, 10)
"""Classes of the scene classification that hide the ground: defects, cloud shadows, clouds, thin clouds."""
_UNKNOWN_CLOUDS: Final = 0.5
FIELDS: Final = ("epsg", "west_m", "north_m", "metres_a_pixel", "scenes", "clear", "cloudy", "empty")
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scene:
    """One satellite scene.

    ``colours`` is one file of three bytes per pixel, or three files of reflectance (red, green, blue) with ``offset``
    to add before dividing by 10,000. ``classes`` is the scene classification, if there is one; ``cloudy`` the cloud
    share that the product states.
    """

    name: str
    colours: tuple[Path, ...]
    classes: Path | None = None
    offset: float = 0.0
    cloudy: float | None = None


@dataclass(slots=True)
class _Parts:
    files: dict[str, dict[int, Path]] = field(default_factory=dict)

    def add(self, part: str, metres: int, path: Path) -> None:
        self.files.setdefault(part, {}).setdefault(metres, path)

    def finest(self, part: str) -> Path | None:
        found = self.files.get(part, {})
        return found[min(found)] if found else None


def find_scenes(paths: Iterable[Path]) -> list[Scene]:
    """Return the scenes in SAFE folders, in folders of files, or given as files, ordered by name.

    A file whose name ends in TCI, or with three bands of bytes, is a picture as it is; B04, B03, B02 and SCL belong
    together by their common prefix. Other files with one band are skipped.

    Raises:
        BadInput: there are none, or a path does not exist.
    """
    found: dict[str, Scene] = {}
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: no such file or folder; give SAFE folders, GeoTIFF or JPEG 2000 files")
        for scene in _scenes_in(path):
            found.setdefault(scene.name, scene)
    if not found:
        raise BadInput("no scenes found; give SAFE folders, or files named …_TCI or …_B04, _B03, _B02")
    return [found[name] for name in sorted(found)]


def _scenes_in(path: Path) -> Iterator[Scene]:
    if path.is_file():
        yield from _loose([path, *_beside(path)])
    elif path.name.upper().endswith(".SAFE"):
        yield from _safe(path)
    else:
        inside = sorted(one for one in path.rglob("*.[sS][aA][fF][eE]") if one.is_dir())
        for one in inside:
            yield from _safe(one)
        files = [one for one in sorted(path.rglob("*")) if one.suffix.lower() in ENDINGS and one.is_file()]
        yield from _loose([one for one in files if not any(one.is_relative_to(safe) for safe in inside)])


def _safe(folder: Path) -> Iterator[Scene]:
    product = _product_info(folder)
    for granule in sorted(one for one in folder.glob("GRANULE/*") if one.is_dir()):
        parts = _Parts()
        for path in sorted(granule.glob("IMG_DATA/**/*")):
            match = _PART.fullmatch(path.stem) if path.suffix.lower() in ENDINGS else None
            if match:
                parts.add(match["part"].upper(), int(match["metres"] or 0), path)
        scene = _scene(f"{folder.name} {granule.name}", parts, product)
        if scene is not None:
            yield scene


def _loose(paths: Iterable[Path]) -> Iterator[Scene]:
    groups: dict[str, _Parts] = {}
    plain: list[Path] = []
    for path in paths:
        match = _PART.fullmatch(path.stem)
        if match:
            group = groups.setdefault(f"{path.parent}/{match['scene']}", _Parts())
            group.add(match["part"].upper(), int(match["metres"] or 0), path)
        else:
            plain.append(path)
    for name, parts in groups.items():
        scene = _scene(name, parts, _ProductInfo.of_name(name))
        if scene is not None:
            yield scene
    for path in plain:
        if _is_picture(path):
            yield Scene(str(path), (path,))


def _beside(path: Path) -> list[Path]:
    """Return the other parts of the scene that a file belongs to."""
    match = _PART.fullmatch(path.stem)
    if match is None:
        return []
    return [
        one
        for one in sorted(path.parent.iterdir())
        if one != path and one.suffix.lower() in ENDINGS
        and (other := _PART.fullmatch(one.stem)) and other["scene"] == match["scene"]
    ]  # fmt: skip


def _scene(name: str, parts: _Parts, product: "_ProductInfo") -> Scene | None:
    classes, picture = parts.finest("SCL"), parts.finest("TCI")
    if picture is not None:
        return Scene(name, (picture,), classes, 0.0, product.cloudy)
    bands = [parts.finest(band) for band in _BANDS]
    if any(band is None for band in bands):
        return None
    return Scene(name, tuple(band for band in bands if band is not None), classes, product.offset, product.cloudy)


@dataclass(frozen=True, slots=True)
class _ProductInfo:
    """What a product's metadata says."""

    cloudy: float | None
    offset: float

    @classmethod
    def of_name(cls, name: str) -> "_ProductInfo":
        """Derive it from the product's name: since processing baseline 04.00 values are 1,000 higher."""
        match = _BASELINE.search(name)
        return cls(None, -1000.0 if match and int(match[1]) >= 400 else 0.0)


def _product_info(folder: Path) -> _ProductInfo:
    by_name = _ProductInfo.of_name(folder.name)
    for path in sorted(folder.glob("MTD_MSI*.xml")):
        try:
            text = path.read_bytes()[:_LONGEST_XML].decode("utf-8", "replace")
        except OSError:
            continue
        clouds, offset = _CLOUDS.search(text), _OFFSET.search(text)
        return _ProductInfo(float(clouds[1]) / 100 if clouds else None, float(offset[1]) if offset else by_name.offset)
    return by_name


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a raster file in the format of its extension.

    GDAL would otherwise go by content, and some of its formats are lists of other files, even on the network.
    """
    rasterio = require("rasterio", extra="lab")
    driver = "JP2OpenJPEG" if path.suffix.lower() in _JPEG_2000 else "GTiff"
    # Files beside a raster can name others too, and nothing may be fetched.
    alone = rasterio.Env(GDAL_PAM_ENABLED="NO", CPL_VSIL_CURL_ALLOWED_FILENAME="none")
    with alone, rasterio.open(path, driver=driver) as source:
        yield source


def _is_picture(path: Path) -> bool:
    rasterio = require("rasterio", extra="lab")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            with opened(path) as source:
                kinds: Mapping[int, str] = dict(enumerate(source.dtypes))
                return source.count >= 3 and kinds[0] == "uint8" and source.crs is not None
    except rasterio.errors.RasterioError:
        return False


@dataclass(frozen=True, slots=True)
class Frame:
    """A square on the ground: a UTM zone, its north-west corner in metres, pixels per side and metres per pixel."""

    epsg: int
    west_m: float
    north_m: float
    side_px: int = SIDE_PX
    metres: float = METRES

    def pixel_of(self, point: LatLon) -> tuple[float, float]:
        """Return column and row of a point, from the upper left corner of the upper left pixel."""
        x, y = _utm(self.epsg).transform(point.lon, point.lat)
        return (x - self.west_m) / self.metres, (self.north_m - y) / self.metres


@dataclass(frozen=True, slots=True)
class Mosaic:
    """A square in colours, and the shares of it that are clear, cloudy and empty; ``scenes`` contributed to it."""

    frame: Frame
    pixels: Bytes
    clear: float
    cloudy: float
    empty: float
    scenes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mosaics:
    """The result for several cities: written, already there, and refused with the reason."""

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
    """Return the square around a point, in its UTM zone, on that zone's grid of whole pixels.

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
    """Compose the square: from each scene in turn, least cloudy first, what is clear and still missing.

    What no scene shows clearly is then taken with its clouds; what none shows stays black. A scene's cloudiness here
    comes from its classification; without one from what the product states, or counts as half.

    Raises:
        BadInput: no scene covers any of it, or one can't be read.
        MissingExtra: rasterio is not installed.
    """
    layers = [layer for scene in scenes if (layer := _layer(scene, frame)) is not None]
    if not layers:
        raise BadInput("no scene covers any of this square; give scenes of this area")
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
    """The settings of mosaics.

    Attributes:
        side_px: pixels per side.
        metres: metres per pixel.
        brightest: the reflectance that becomes white.
        most_empty: the share of a square that may be black because no scene covers it.
        georeferenced: write GeoTIFF with coordinates instead of PNG.
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
    """Make a mosaic of each city in a folder, and a table that can be opened as a data set.

    An existing mosaic is kept, unless ``overwrite``. A city that fails is named and the others continue.

    Args:
        cities: their names and centres.
        scenes: see `find_scenes`.
        out: the folder.
        settings: of the mosaics.
        overwrite: replace existing ones.
        progress: called with cities done and cities to do.

    Raises:
        BadInput: the folder can't be written.
        MissingExtra: rasterio is not installed.
    """
    todo = list(cities)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: can't be created: {error.strerror or error}") from error
    known = _known_rows(out / TABLE)
    ending = ".tif" if settings.georeferenced else ".png"
    paths = {city.id: out / file_name(city.id, ending) for city in todo}
    # Existing mosaics are in the table from the start, even late ones.
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
                    f"{mosaic.empty:.0%} of the square is covered by no scene; give more, or allow it with --empty"
                )
            write_mosaic(mosaic, paths[city.id])
        except BadInput as error:
            refused[city.id] = str(error)
            rows.pop(city.id, None)
            continue
        rows[city.id] = _row(mosaic)
        made.append(city.id)
        # After each, so that an interrupted run loses nothing.
        write_table()
    progress(len(todo), len(todo))
    if rows:
        write_table()
    return Mosaics(tuple(made), tuple(kept), refused, out / TABLE if rows else None)


def write_mosaic(mosaic: Mosaic, path: Path) -> None:
    """Write a mosaic as PNG, or as GeoTIFF if the name ends in .tif, atomically.

    Raises:
        BadInput: it can't be written.
    """
    if path.suffix.lower() != ".tif":
        from PIL import Image

        stream = io.BytesIO()
        Image.fromarray(mosaic.pixels).save(stream, "PNG")
        write_bytes_atomically(path, stream.getvalue())
        return
    rasterio = require("rasterio", extra="lab")
    side = mosaic.frame.side_px
    with replacing(path) as neighbour, _explained(path), rasterio.open(
        neighbour, "w", driver="GTiff", width=side, height=side, count=3, dtype="uint8", crs=_crs(mosaic.frame),
        transform=_transform(mosaic.frame), compress="deflate", photometric="RGB",
    ) as sink:  # fmt: skip
        sink.write(mosaic.pixels.transpose(2, 0, 1))


def _layer(scene: Scene, frame: Frame) -> _Layer | None:
    """Return which pixels of the square a scene covers, and which of them are clouds; None if it covers nothing."""
    _, seen = _colours(scene, frame, BRIGHTEST)
    clouds: Mask = np.zeros_like(seen)
    if scene.classes is not None:
        classes = _warped(scene.classes, frame, (1,), smooth=False)[0]
        clouds = np.isin(classes, _CLOUDY)
        seen &= classes != 0
    return _Layer(scene, seen, clouds, scene.classes is not None) if seen.any() else None


def _colours(scene: Scene, frame: Frame, brightest: float) -> tuple[Bytes, Mask]:
    """Return the scene's pixels in the square, and where it has any: no data is 0 in all bands."""
    if len(scene.colours) == 1:
        bands = _warped(scene.colours[0], frame, (1, 2, 3), smooth=True)
        seen: Mask = (bands != 0).any(axis=0)
        return bands.transpose(1, 2, 0).astype(np.uint8), seen
    raw = np.stack([_warped(path, frame, (1,), smooth=True)[0] for path in scene.colours])
    seen = (raw != 0).all(axis=0)
    light = (raw.astype(np.float32) + scene.offset) / 10_000 / brightest
    # 0 is reserved for no data, as in the pictures that come with the products.
    return np.clip(np.rint(light * 255), 1, 255).astype(np.uint8).transpose(1, 2, 0), seen


def _warped(path: Path, frame: Frame, bands: tuple[int, ...], *, smooth: bool) -> npt.NDArray[Any]:
    """Return bands of a file in the square's own grid; only that area is read."""
    vrt = require("rasterio.vrt", extra="lab")
    ways = require("rasterio.enums", extra="lab").Resampling
    with _explained(path), opened(path) as source:
        if source.crs is None:
            raise BadInput(f"{path}: the file has no georeference")
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
    """Turn rasterio's errors into one line."""
    errors = require("rasterio.errors", extra="lab")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.NotGeoreferencedWarning)
            yield
    except errors.RasterioError as error:
        raise BadInput(f"{path}: can't be read as a satellite picture: {' '.join(str(error).split())[:200]}") from error


def _crs(frame: Frame) -> Any:
    return require("rasterio.crs", extra="lab").CRS.from_epsg(frame.epsg)


def _transform(frame: Frame) -> Any:
    step = frame.metres
    return require("rasterio", extra="lab").Affine(step, 0.0, frame.west_m, 0.0, -step, frame.north_m)


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
    """Return the rows that an earlier run wrote."""
    if not table.is_file():
        return {}
    return {name: {key: one.fields[key] for key in FIELDS if key in one.fields}
            for name, one in read_places(table).items()}  # fmt: skip


def _write_table(table: Path, rows: Sequence[tuple[TablePlace, Path, Mapping[str, str]]]) -> None:
    names = dict.fromkeys(name for city, _, _ in rows for name in city.fields)
    with writing_table(table, (*names, *FIELDS)) as write:
        for city, path, more in rows:
            write(Item(city.id, FilePicture(path), city.truth, city.fields), more)
