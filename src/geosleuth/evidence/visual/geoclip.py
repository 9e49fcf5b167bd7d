"""GeoCLIP: how well a picture fits each of 100,000 places, by a CLIP tower and a network that knows coordinates.

The package ``geoclip`` brings the places, the network of coordinates and the layers between the two. The CLIP model is
read from a folder on disk; it must be the one they were trained with (ViT-L/14 of 336 or 224 pixels has the 768 wide
embedding they expect). Nothing is fetched.
"""

import csv
import shlex
import sys
import threading
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.folders import cache_dir
from geosleuth.geo import FloatArray
from geosleuth.photo.image_encoder import TowerEncoder, compute_fingerprint, unit_rows
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import replacing

from .cells import LabelledPoints
from .experts import Rows
from .visual_prior import Distribution, Reach

if TYPE_CHECKING:
    from PIL.Image import Image

TRUST = 0.9
_REACH = Reach(None, TRUST, "GeoCLIP does not say how unlike its own photos a picture is, and was not calibrated here.")
_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class _Between:
    """The two layers that lead from CLIP's embedding to that of places, and how sharply the two are compared."""

    first: Rows
    first_offsets: Rows
    second: Rows
    second_offsets: Rows
    sharpness: float

    def place_embedding(self, embedding: Rows) -> Rows:
        hidden = np.maximum(embedding @ self.first.T + self.first_offsets, 0)
        return unit_rows(hidden @ self.second.T + self.second_offsets)


class GeoClipPrior:
    """A `VisualPrior` from the package ``geoclip`` and a CLIP model on disk."""

    def __init__(self, clip: Path) -> None:
        """Remember where the CLIP model is; nothing is loaded before the first picture.

        Args:
            clip: a folder with a transformers CLIP model.

        Raises:
            BadInput: the folder holds no model.
        """
        self._tower = TowerEncoder(clip)
        self._clip = clip
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name that findings are credited to."""
        return "GeoCLIP"

    def look(self, image: "Image") -> Distribution:
        """Return where a picture may have been taken.

        Raises:
            BadInput: the CLIP model can't be used, or is of another size than GeoCLIP expects.
            MissingExtra: geoclip, torch or transformers is not installed.
        """
        places, shares = self.shares(image)
        return places.spread(shares, _REACH, self.name)

    def check(self) -> None:
        """Find out at once whether what it needs is installed.

        Raises:
            BadInput: geoclip is not installed.
            MissingExtra: torch or transformers is not installed.
        """
        self._package  # noqa: B018  (imported, and kept)

    def shares(self, image: "Image") -> tuple[LabelledPoints, FloatArray]:
        """GeoCLIP's places and how much of the picture's probability each has by its own reckoning; they add up to 1.

        Raises:
            BadInput: the CLIP model can't be used, or is of another size than GeoCLIP expects.
            MissingExtra: geoclip, torch or transformers is not installed.
        """
        with self._lock:
            between, places, gallery = self._between, self._gallery_places, self._gallery
        embedding = self._tower.embeddings([image])
        if embedding.shape[1] != between.first.shape[1]:
            raise BadInput(
                f"{self._clip}: its embedding is {embedding.shape[1]} wide, and GeoCLIP expects "
                f"{between.first.shape[1]}; give the folder of CLIP ViT-L/14"
            )
        fit = between.sharpness * (gallery @ between.place_embedding(embedding)[0])
        weights = np.exp((fit - fit.max()).astype(np.float64))
        return places, weights / weights.sum()

    @cached_property
    def _package(self) -> Any:
        require("torch", extra="weights")
        require("transformers", extra="weights")
        with warnings.catch_warnings():
            # It still uses torch.jit.script, which newer versions of torch call old-fashioned.
            warnings.simplefilter("ignore", DeprecationWarning)
            return _geoclip()

    @cached_property
    def _model_folder(self) -> Path:
        return Path(self._package.__file__).parent / "model"

    @cached_property
    def _between(self) -> _Between:
        state = self._weights("image_encoder_mlp_weights.pth")
        first, first_offsets, second, second_offsets = (
            state[name].float().numpy() for name in ("0.weight", "0.bias", "2.weight", "2.bias")
        )
        sharpness = float(np.exp(float(self._weights("logit_scale_weights.pth"))))
        return _Between(first, first_offsets, second, second_offsets, sharpness)

    @cached_property
    def _gallery_places(self) -> LabelledPoints:
        with (self._model_folder / "gps_gallery" / "coordinates_100K.csv").open(encoding="utf-8", newline="") as stream:
            rows = np.array([(float(row["LAT"]), float(row["LON"])) for row in csv.DictReader(stream)])
        lats, lons = rows[:, 0], rows[:, 1]
        return LabelledPoints(lats, lons, Borders.load().countries(lats, lons))

    @cached_property
    def _gallery(self) -> Rows:
        """The embeddings of all places: a minute of work, so they are kept for the next time."""
        weights = self._model_folder / "weights" / "location_encoder_weights.pth"
        table = self._model_folder / "gps_gallery" / "coordinates_100K.csv"
        kept = cache_dir() / f"geoclip-{compute_fingerprint(weights, table)}.npy"
        if kept.is_file():
            try:
                found = np.load(kept, allow_pickle=False)
                if len(found) == len(self._gallery_places.lats):
                    return np.asarray(found, dtype=np.float32)
            except (OSError, ValueError):
                pass  # made anew below
        gallery = self._embed_places()
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as neighbour, neighbour.open("wb") as stream:
            np.save(stream, gallery.astype(np.float16))
        return gallery

    def _embed_places(self) -> Rows:
        torch = require("torch", extra="weights")
        network = self._package.LocationEncoder(from_pretrained=True).eval()
        points = np.stack([self._gallery_places.lats, self._gallery_places.lons], axis=1).astype(np.float32)
        with torch.inference_mode():
            rows = [
                network(torch.from_numpy(points[start : start + _AT_ONCE])).numpy()
                for start in range(0, len(points), _AT_ONCE)
            ]
        return unit_rows(np.concatenate(rows))

    def _weights(self, name: str) -> Any:
        torch = require("torch", extra="weights")
        try:
            return torch.load(self._model_folder / "weights" / name, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise BadInput(f"geoclip's {name} can't be read; install the package again") from error


def _geoclip() -> Any:
    """The package; it is in none of our extras, since it asks for much that is not needed here."""
    try:
        return import_module("geoclip")
    except ModuleNotFoundError as error:
        missing = error.name or "geoclip"
        command = f"{shlex.quote(sys.executable or 'python3')} -m pip install {missing}"
        raise BadInput(f"this needs {missing}, which is not installed; run: {command}") from error
