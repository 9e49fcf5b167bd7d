"""City mosaics from Sentinel-2 scenes on disk: a square of ground around a city, the least cloudy scene on top."""

import glob
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import write_bytes_atomically

from .finished import FinishedSet, make_each
from .photo_tables import TablePlace

_JPEG_2000: Final = (".jp2", ".j2k")
ENDINGS: Final = (*_JPEG_2000, ".tif", ".tiff")
_PICTURE: Final = re.compile(r"TCI(_\d\dm)?$", re.IGNORECASE)
SIDE_PX: Final = 2000
METRES: Final = 10.0
TABLE: Final = "mosaics.csv"
# Scene classes in which the ground is hidden: defects, cloud shadows, clouds and thin clouds.
_CLOUDY: Final = (1, 3, 8, 9, 10)
_UNKNOWN_CLOUDS: Final = 0.5
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SatelliteScene:
    """One satellite scene: a picture in true colour, and its scene classification, if there is one."""

    picture: Path
    classes: Path | None = None


def find_scenes(paths: Iterable[Path]) -> list[SatelliteScene]:
    """Return the scenes in SAFE folders, in folders of files, or given as files, ordered by name.

    A scene is a file named …TCI, the true colour that comes with every product, with the file …SCL of the same folder
    or granule. The finest of several resolutions is taken.

    Raises:
        BadInput: there are none, or a path does not exist.
    """
    found: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: no such file or folder; give SAFE folders, GeoTIFF or JPEG 2000 files")
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.suffix.lower() in ENDINGS and file.is_file() and _PICTURE.search(file.stem):
                # R10m sorts before R20m.
                found.setdefault(_PICTURE.sub("", str(_find_granule(file) / file.stem)), file)
    if not found:
        raise BadInput("no scenes found; give SAFE folders, or files in true colour named …_TCI")
    return [SatelliteScene(found[name], _find_scene_classes(found[name])) for name in sorted(found)]


def _find_granule(picture: Path) -> Path:
    """Return the folder that holds all files of a scene, with or without subfolders per resolution."""
    return picture.parent.parent if re.fullmatch(r"R\d\dm", picture.parent.name) else picture.parent


def _find_scene_classes(picture: Path) -> Path | None:
    name = glob.escape(_PICTURE.sub("", picture.stem))
    beside = sorted(_find_granule(picture).rglob(f"{name}SCL*"))
    return next((path for path in beside if path.suffix.lower() in ENDINGS), None)


@contextmanager
def _open_raster(path: Path) -> Iterator[Any]:
    """Open a raster file in the format of its extension.

    GDAL would otherwise go by content, and some of its formats are lists of other files, even on the network.
    """
    rasterio = require("rasterio", extra="lab")
    driver = "JP2OpenJPEG" if path.suffix.lower() in _JPEG_2000 else "GTiff"
    # Files beside a raster can name others too, and nothing may be fetched.
    alone = rasterio.Env(GDAL_PAM_ENABLED="NO", CPL_VSIL_CURL_ALLOWED_FILENAME="none")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            with alone, rasterio.open(path, driver=driver) as source:
                yield source
    except rasterio.errors.RasterioError as error:
        raise BadInput(f"{path}: can't be read as a satellite picture: {' '.join(str(error).split())[:200]}") from error


@dataclass(frozen=True, slots=True)
class Frame:
    """A square on the ground: a UTM zone, its north-west corner in metres, pixels per side and metres per pixel."""

    epsg: int
    west_m: float
    north_m: float
    side_px: int = SIDE_PX
    metres: float = METRES


@dataclass(frozen=True, slots=True)
class Mosaic:
    """A square in colours, and the shares of it that are clear, cloudy and empty; ``scenes`` contributed to it."""

    frame: Frame
    pixels: npt.NDArray[np.uint8]
    clear: float
    cloudy: float
    empty: float
    scenes: tuple[SatelliteScene, ...]

    def fields(self) -> dict[str, str]:
        """Return what a table says of it."""
        frame = self.frame
        shares = {name: f"{getattr(self, name):.4f}" for name in ("clear", "cloudy", "empty")}
        corner = {"epsg": str(frame.epsg), "west_m": f"{frame.west_m:.12g}", "north_m": f"{frame.north_m:.12g}"}
        return {**corner, "metres_a_pixel": f"{frame.metres:g}", "scenes": str(len(self.scenes)), **shares}


def frame_around(centre: LatLon, side_px: int = SIDE_PX, metres: float = METRES) -> Frame:
    """Return the square around a point, in its UTM zone, on that zone's grid of whole pixels.

    Raises:
        BadInput: it lies too near a pole for UTM.
    """
    from pyproj import Transformer

    if not -80 <= centre.lat <= 84:
        raise BadInput(f"{centre.lat:.2f}, {centre.lon:.2f}: UTM reaches from 80 degrees south to 84 north")
    zone = min(60, int((centre.lon + 180) // 6) + 1)
    epsg = (32600 if centre.lat >= 0 else 32700) + zone
    x, y = Transformer.from_crs(4326, epsg, always_xy=True).transform(centre.lon, centre.lat)
    half = side_px * metres / 2
    return Frame(epsg, round((x - half) / metres) * metres, round((y + half) / metres) * metres, side_px, metres)


def make_mosaic(scenes: Sequence[SatelliteScene], frame: Frame) -> Mosaic:
    """Compose the square: from each scene in turn, least cloudy first, what is clear and still missing.

    What no scene shows clearly is then taken with its clouds; what none shows stays black. A scene without a
    classification counts as half cloudy.

    Raises:
        BadInput: no scene covers any of it, or one can't be read.
        MissingExtra: rasterio is not installed.
    """
    layers = []
    for scene in scenes:
        colours = _read_warped(scene.picture, frame, (1, 2, 3), is_smooth=True)
        # No data is 0 in all bands.
        seen: Mask = (colours != 0).any(axis=0)
        clouds: Mask = np.zeros_like(seen)
        share = _UNKNOWN_CLOUDS
        if scene.classes is not None and seen.any():
            classes = _read_warped(scene.classes, frame, (1,), is_smooth=False)[0]
            clouds, seen = np.isin(classes, _CLOUDY), seen & (classes != 0)
            share = float(clouds[seen].mean()) if seen.any() else share
        if seen.any():
            layers.append((share, str(scene.picture), scene, colours.transpose(1, 2, 0), seen, clouds))
    if not layers:
        raise BadInput("no scene covers any of this square; give scenes of this area")
    pixels = np.zeros((frame.side_px, frame.side_px, 3), dtype=np.uint8)
    done: Mask = np.zeros(pixels.shape[:2], dtype=np.bool_)
    used: dict[SatelliteScene, None] = {}
    filled = []
    for with_clouds in (False, True):
        for _, _, scene, colours, seen, clouds in sorted(layers, key=lambda layer: layer[:2]):
            wanted = seen & ~done & (clouds if with_clouds else ~clouds)
            if wanted.any():
                pixels[wanted] = colours[wanted]
                done |= wanted
                used[scene] = None
        filled.append(float(done.mean()))
    return Mosaic(frame, pixels, filled[0], filled[1] - filled[0], 1 - filled[1], tuple(used))


def make_mosaics(
    cities: Iterable[TablePlace],
    scenes: Sequence[SatelliteScene],
    out: Path,
    *,
    side_px: int = SIDE_PX,
    metres: float = METRES,
    most_empty: float = 0.05,
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> FinishedSet:
    """Make a mosaic of each city in a folder, and a table that can be opened as a data set.

    Args:
        cities: their names and centres.
        scenes: see `find_scenes`.
        out: the folder.
        side_px: pixels per side.
        metres: metres per pixel.
        most_empty: the share of a square that may be black because no scene covers it.
        overwrite: replace existing ones.
        progress: called with cities done and cities to do.

    Raises:
        BadInput: the folder can't be written.
        MissingExtra: rasterio is not installed.
    """
    places = {city.id: city for city in cities}

    def make(name: str, path: Path) -> dict[str, str]:
        from PIL import Image

        mosaic = make_mosaic(scenes, frame_around(places[name].truth.point, side_px, metres))
        if mosaic.empty > most_empty:
            raise BadInput(
                f"{mosaic.empty:.0%} of the square is covered by no scene; give more, or allow it with --empty"
            )
        stream = io.BytesIO()
        Image.fromarray(mosaic.pixels).save(stream, "PNG")
        write_bytes_atomically(path, stream.getvalue())
        return mosaic.fields()

    return make_each(places, make, out / TABLE, ".png", places, overwrite=overwrite, progress=progress)


def _read_warped(path: Path, frame: Frame, bands: tuple[int, ...], *, is_smooth: bool) -> npt.NDArray[Any]:
    """Return bands of a file on the square's own grid; only that area is read."""
    rasterio, vrt = require("rasterio", extra="lab"), require("rasterio.vrt", extra="lab")
    ways = require("rasterio.enums", extra="lab").Resampling
    with _open_raster(path) as source:
        if source.crs is None:
            raise BadInput(f"{path}: the file has no georeference")
        if source.count < max(bands) or source.dtypes[0] != "uint8":
            raise BadInput(f"{path}: not a picture of {max(bands)} bands of bytes")
        with vrt.WarpedVRT(
            source,
            crs=f"EPSG:{frame.epsg}",
            transform=rasterio.Affine(frame.metres, 0.0, frame.west_m, 0.0, -frame.metres, frame.north_m),
            width=frame.side_px,
            height=frame.side_px,
            resampling=ways.bilinear if is_smooth else ways.nearest,
            src_nodata=0,
            nodata=0,
        ) as view:
            found: npt.NDArray[Any] = view.read(bands)
            return found
