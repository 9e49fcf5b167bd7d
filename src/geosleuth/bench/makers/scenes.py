"""Sentinel-2 scenes on disk: SAFE folders, and GeoTIFF or JPEG 2000 files, as colours with a mask of clouds beside."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from geosleuth.errors import BadInput, require

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


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture from above.

    ``colours`` is one file of three bytes a pixel, or three files of reflectance (red, green, blue) with ``offset`` to
    be added before they are divided by 10,000. ``classes`` is the scene classification, where there is one; ``cloudy``
    the share of clouds that the product states.
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
    """The scenes in SAFE folders, in folders of files, or given as files, in the order of their names.

    A file whose name ends in TCI, or with three bands of bytes, is a picture as it is; B04, B03 and B02 belong together
    by what stands in front, and so does SCL. Other files that hold one band are passed over.

    Raises:
        BadInput: there are none, or a path is not there.
    """
    found: dict[str, Scene] = {}
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: there is no such file or folder; give SAFE folders, GeoTIFF or JPEG 2000 files")
        for scene in _scenes_in(path):
            found.setdefault(scene.name, scene)
    if not found:
        raise BadInput("no scenes were found; give SAFE folders, or files named …_TCI or …_B04, _B03, _B02")
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
    told = _told(folder)
    for granule in sorted(one for one in folder.glob("GRANULE/*") if one.is_dir()):
        parts = _Parts()
        for path in sorted(granule.glob("IMG_DATA/**/*")):
            match = _PART.fullmatch(path.stem) if path.suffix.lower() in ENDINGS else None
            if match:
                parts.add(match["part"].upper(), int(match["metres"] or 0), path)
        scene = _scene(f"{folder.name} {granule.name}", parts, told)
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
        scene = _scene(name, parts, _Told.of_name(name))
        if scene is not None:
            yield scene
    for path in plain:
        if _is_picture(path):
            yield Scene(str(path), (path,))


def _beside(path: Path) -> list[Path]:
    """The other parts of the scene that a file is given for."""
    match = _PART.fullmatch(path.stem)
    if match is None:
        return []
    return [
        one
        for one in sorted(path.parent.iterdir())
        if one != path and one.suffix.lower() in ENDINGS
        and (other := _PART.fullmatch(one.stem)) and other["scene"] == match["scene"]
    ]  # fmt: skip


def _scene(name: str, parts: _Parts, told: "_Told") -> Scene | None:
    classes, picture = parts.finest("SCL"), parts.finest("TCI")
    if picture is not None:
        return Scene(name, (picture,), classes, 0.0, told.cloudy)
    bands = [parts.finest(band) for band in _BANDS]
    if any(band is None for band in bands):
        return None
    return Scene(name, tuple(band for band in bands if band is not None), classes, told.offset, told.cloudy)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a product says of itself."""

    cloudy: float | None
    offset: float

    @classmethod
    def of_name(cls, name: str) -> "_Told":
        """From the product's name alone: since processing baseline 04.00 values lie 1,000 higher."""
        match = _BASELINE.search(name)
        return cls(None, -1000.0 if match and int(match[1]) >= 400 else 0.0)


def _told(folder: Path) -> _Told:
    by_name = _Told.of_name(folder.name)
    for path in sorted(folder.glob("MTD_MSI*.xml")):
        try:
            text = path.read_bytes()[:_LONGEST_XML].decode("utf-8", "replace")
        except OSError:
            continue
        clouds, offset = _CLOUDS.search(text), _OFFSET.search(text)
        return _Told(float(clouds[1]) / 100 if clouds else None, float(offset[1]) if offset else by_name.offset)
    return by_name


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A raster file, read as what its ending says it is.

    GDAL goes by the content otherwise, and some formats that it knows are lists of other files, also on the net.
    """
    rasterio = require("rasterio", extra="bench")
    driver = "JP2OpenJPEG" if path.suffix.lower() in _JPEG_2000 else "GTiff"
    # Files beside a raster can name others too, and nothing may be fetched.
    alone = rasterio.Env(GDAL_PAM_ENABLED="NO", CPL_VSIL_CURL_ALLOWED_FILENAME="none")
    with alone, rasterio.open(path, driver=driver) as source:
        yield source


def _is_picture(path: Path) -> bool:
    rasterio = require("rasterio", extra="bench")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            with opened(path) as source:
                kinds: Mapping[int, str] = dict(enumerate(source.dtypes))
                return source.count >= 3 and kinds[0] == "uint8" and source.crs is not None
    except rasterio.errors.RasterioError:
        return False
