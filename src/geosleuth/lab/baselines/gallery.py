"""A gallery: photos whose places are known, as rows of features, and the networks that make features of pictures.

A folder holds ``features.npy`` (a row a photo), ``places.csv`` (a line a row, with lat and lon, and an id where there
is one), and either ``encoder`` (one line that says what looks at new photos) or the features of the photos in question:
``queries.npy`` and ``queries.csv``, whose column ``pixels`` is what ``geosleuth dataset digests`` writes.

Load only galleries that you trust. What they hold is data, but the encoder that they name may be a TorchScript file,
and that is code: such a file is loaded only where the user names it, too.
"""

import csv
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from geosleuth.geo import FloatArray, LatLon, is_valid
from geosleuth.photo.image_encoder import (
    Features,
    ImageEncoder,
    Preparation,
    TorchEncoder,
    compute_fingerprint,
    is_named,
    load_encoder,
    read_preparation,
    unit_rows,
)
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import read_json
from geosleuth.tools.similar.index_file import format_key, open_for_reading, read_info

SCRIPTED: Final = (".pt", ".ts", ".torchscript")
_SETTINGS: Final = "preprocessor_config.json"
_USUAL_SIDE_PX: Final = 224

_LAT: Final = ("lat", "latitude")
_LON: Final = ("lon", "lng", "longitude")
_ID: Final = ("id", "path", "file", "filename", "image", "name")
_KEY: Final = ("pixels",)


def open_encoder(spec: str, *, trust_code: bool = False) -> ImageEncoder:
    """Return the image encoder of a spec.

    ``bundled``, an ONNX file, a folder that transformers can read, a TorchScript file, or a folder with one ONNX or
    TorchScript file in it. TorchScript runs code of the file's author, so it must be asked for.

    Raises:
        BadInput: it is none of these, or is code that the caller did not ask to run.
    """
    path = _find_encoder_file(spec)
    if path.suffix.lower() in SCRIPTED:
        if not trust_code:
            raise BadInput(
                f"{path} is TorchScript, which runs code when it is loaded; if you trust whoever made it, add "
                "--trust-code (in a model's name: ,trust_code=yes), or save the network as ONNX"
            )
        return ScriptedEncoder(path)
    if path.suffix.lower() in (".pth", ".bin", ".safetensors", ".ckpt"):
        raise BadInput(
            f"{path}: weights alone are no network; save one as ONNX or with torch.jit.trace, or give features"
        )
    return load_encoder(spec if is_named(spec) else str(path))


def is_code(spec: str) -> bool:
    """Return whether an encoder is a file that runs code when it is loaded.

    Raises:
        BadInput: it is a folder without an encoder in it.
    """
    return _find_encoder_file(spec).suffix.lower() in SCRIPTED


def _find_encoder_file(spec: str) -> Path:
    path = Path(spec).expanduser()
    if path.is_dir() and not (path / "config.json").is_file():
        files = sorted(item for item in path.iterdir() if item.suffix.lower() in (".onnx", *SCRIPTED))
        if len(files) != 1:
            names = ", ".join(file.name for file in files[:5]) or "none"
            raise BadInput(
                f"{path}: an encoder's folder holds a transformers model, or one .onnx or .pt file ({names})"
            )
        return files[0]
    return path


class ScriptedEncoder(TorchEncoder):
    """A network that torch.jit saved: NetVLAD, GeM, CosPlace or any other that gives a row for a picture.

    Load only files that you trust. ``preprocessor_config.json`` beside it says how pictures are prepared, as
    transformers writes it; without one they are squeezed into 224 pixels and scaled as is usual for ImageNet.
    """

    def __init__(self, path: Path) -> None:
        """Remember the file.

        Raises:
            BadInput: there is none.
        """
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file; check the path")
        super().__init__(path)

    @cached_property
    def name(self) -> str:
        """The file's name with a fingerprint of its content."""
        settings = self._path.parent / _SETTINGS
        return f"{self._path.stem}@{compute_fingerprint(self._path, *([settings] if settings.is_file() else []))}"

    @cached_property
    def _loaded(self) -> tuple[Any, Preparation]:
        torch = require("torch", extra="weights")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                network = torch.jit.load(str(self._path), map_location="cpu").eval()
            return network, read_preparation(_settings(self._path.parent / _SETTINGS), _USUAL_SIDE_PX)
        except (OSError, RuntimeError, ValueError, TypeError, AttributeError) as error:
            raise self._trouble("it can't be loaded as a TorchScript network", error) from error


def _settings(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    found = read_json(path)
    if not isinstance(found, dict):
        raise TypeError(f"{path.name} holds no settings")
    return found


@dataclass(frozen=True)
class Gallery:
    """Photos with features of length 1, and where each was taken.

    ``pixels`` tells the rows of photos by `picture_key` where that is known: a photo is no evidence for itself.
    ``queries`` are features of photos that may be asked about, by the same key; ``encoder`` looks at all others.
    """

    name: str
    features: Features
    lats: FloatArray
    lons: FloatArray
    ids: tuple[str, ...]
    encoder: ImageEncoder | None
    pixels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    queries: Mapping[str, Features] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.features)


def open_gallery(
    path: Path, queries: Path | None = None, encoder: str | None = None, *, trust_code: bool = False
) -> Gallery:
    """Read an index that ``geosleuth photo index`` made, or a folder with features and places.

    Args:
        path: the index or the folder.
        queries: a folder with ``queries.npy`` and ``queries.csv``, if not the gallery's own.
        encoder: what looks at new photos, in place of what the gallery names; see `open_encoder`.
        trust_code: whether that encoder may be one that runs code; one that the gallery names never may.

    Raises:
        BadInput: it is neither, what is in it does not fit together, or it names an encoder that is code.
    """
    asked = _queries(queries or path, wanted=queries is not None)
    given = None if encoder is None else open_encoder(encoder, trust_code=trust_code)
    gallery = _read_gallery_folder(path, asked, given) if path.is_dir() else _index(path, asked, given)
    if not len(gallery):
        raise BadInput(f"{path}: the gallery holds no photo with a place")
    for row in list(asked.values())[:1]:
        if row.shape[0] != gallery.features.shape[1]:
            raise BadInput(
                f"{queries or path}: queries.npy is {row.shape[0]} wide, and the gallery {gallery.features.shape[1]}"
            )
    return gallery


def _index(path: Path, asked: Mapping[str, Features], given: ImageEncoder | None) -> Gallery:
    query = "SELECT path, lat, lon, pixel_sha256, features FROM photo WHERE features IS NOT NULL ORDER BY root, path"
    ids, points, rows = [], [], []
    pixels: dict[str, tuple[int, ...]] = {}
    with open_for_reading(path) as conn:
        info = read_info(conn, path)
        for number, (name, lat, lon, digest, blob) in enumerate(conn.execute(query)):
            if not is_valid(lat, lon) or not isinstance(blob, bytes) or len(blob) != 2 * info.dimension:
                raise BadInput(f"{path}: the index is damaged; delete it and make it anew")
            ids.append(format_key(name))
            points.append((lat, lon))
            rows.append(np.frombuffer(blob, dtype="<f2"))
            pixels[digest.hex()] = (*pixels.get(digest.hex(), ()), number)
    encoder = _open_named_encoder(path, info.spec) if given is None else given
    if encoder.name != info.encoder:
        raise BadInput(f"{path}: it was made with the encoder {info.encoder!r}, not {encoder.name!r}; make it anew")
    features = unit_rows(np.stack(rows)) if rows else np.empty((0, info.dimension), dtype=np.float32)
    places = np.array(points, dtype=np.float64).reshape(-1, 2)
    return Gallery(path.name, features, places[:, 0], places[:, 1], tuple(ids), encoder, pixels, asked)


def _read_gallery_folder(path: Path, asked: Mapping[str, Features], given: ImageEncoder | None) -> Gallery:
    features = read_matrix(path / "features.npy")
    places = path / "places.csv"
    points, ids = [], []
    pixels: dict[str, tuple[int, ...]] = {}
    for number, (where, row) in enumerate(_read_gallery_rows(places)):
        points.append(_parse_gallery_point(row, where))
        ids.append(_cell(row, _ID) or str(number))
        if key := _cell(row, _KEY):
            pixels[key.lower()] = (*pixels.get(key.lower(), ()), number)
    if len(points) != len(features):
        raise BadInput(f"{places}: {len(points)} places for {len(features)} rows of features.npy; each row needs one")
    encoder = given
    told = path / "encoder"
    if encoder is None and told.is_file():
        spec = told.read_text(encoding="utf-8", errors="replace").strip()
        beside = path / spec
        encoder = _open_named_encoder(path, str(beside) if not is_named(spec) and beside.exists() else spec)
    elif encoder is None and not asked:
        raise BadInput(
            f"{path}: nothing says how photos are looked at; put the encoder's path into a file named 'encoder', or "
            "the photos' features into queries.npy and queries.csv"
        )
    lats, lons = np.array([point.lat for point in points]), np.array([point.lon for point in points])
    return Gallery(path.name, unit_rows(features), lats, lons, tuple(ids), encoder, pixels, asked)


def _open_named_encoder(path: Path, spec: str) -> ImageEncoder:
    """Return the encoder that a gallery names; a gallery from elsewhere must not run code by it."""
    if is_code(spec):
        raise BadInput(
            f"{path}: its encoder is a TorchScript file, which is code; if you trust it, add "
            f",encoder={spec},trust_code=yes"
        )
    return open_encoder(spec)


def _queries(folder: Path, *, wanted: bool) -> dict[str, Features]:
    matrix, table = folder / "queries.npy", folder / "queries.csv"
    if not wanted and not matrix.is_file():
        return {}
    features = unit_rows(read_matrix(matrix))
    keys = []
    for where, row in _read_gallery_rows(table):
        key = _cell(row, _KEY)
        if key is None:
            raise BadInput(f"{where}: the column pixels is missing or empty; geosleuth dataset digests writes it")
        keys.append(key.lower())
    if len(keys) != len(features):
        raise BadInput(f"{table}: {len(keys)} lines for {len(features)} rows of queries.npy; each row needs one")
    return dict(zip(keys, features, strict=True))


def read_matrix(path: Path) -> npt.NDArray[np.floating]:
    """A matrix of features, a row a photo, as numpy saves it; code in the file is never run.

    Raises:
        BadInput: there is none, or it holds something else.
    """
    try:
        found: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise BadInput(
            f"{path}: there is no such matrix; a gallery is an index, or a folder with features.npy"
        ) from error
    except (OSError, ValueError, EOFError) as error:
        raise BadInput(f"{path}: this is no matrix that numpy.save wrote") from error
    if not isinstance(found, np.ndarray) or found.ndim != 2 or not np.issubdtype(found.dtype, np.floating):
        raise BadInput(f"{path}: features are a matrix of floating-point numbers, a row a photo")
    if not np.isfinite(found).all():
        raise BadInput(f"{path}: some features are not finite numbers")
    return found


def _read_gallery_rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            for row in rows:
                yield (
                    f"{path}, line {rows.line_num}",
                    {name.strip().casefold(): value for name, value in row.items() if name and value},
                )
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path}: this is no CSV table in UTF-8: {error}") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def _cell(row: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((row[name].strip() for name in names if row.get(name, "").strip()), None)


def _parse_gallery_point(row: Mapping[str, str], where: str) -> LatLon:
    lat, lon = _cell(row, _LAT) or "", _cell(row, _LON) or ""
    try:
        return LatLon(float(lat), float(lon))
    except ValueError as error:
        raise BadInput(f"{where}: {lat[:30]!r}, {lon[:30]!r} is no point; columns lat and lon, in degrees") from error
