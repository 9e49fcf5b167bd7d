"""A visual prior learned from photos with the eyes that look at them; kept in one file."""

import io
import json
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.files import replacing
from geosleuth.geo import FloatArray
from geosleuth.photo.eyes import Encoder, load_encoder

from .areas import Areas
from .experts import Gaussian, Seen, photo_counts
from .linear import Linear
from .model import Distribution
from .network import Layers, Network
from .pooling import pooled
from .reaching import Collection, Familiarity
from .scaling import Rows, Scaling
from .spreading import Guesses, Ints, Places

if TYPE_CHECKING:
    from PIL.Image import Image

FORMAT = 1
_HEADER = "header"
_NAME = "own photos' look"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How good it was on places held out while it was learned: an estimate on the collection itself."""

    photos: int
    country_top1: float
    country_top5: float
    country_calibration: float


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that was learned; ``label`` is the area that each photo of the collection is in."""

    scaling: Scaling
    areas: Areas
    label: Ints
    gaussian: Gaussian
    network: Network
    linear: Linear
    weights: FloatArray
    familiarity: Familiarity
    held_out: HeldOut


class LearnedPrior:
    """A `VisualPrior` learned from a collection of photos; see `learn`.

    It holds the places and features of the collection, 2.6 kB a photo with the bundled eyes: whoever has its file
    knows where those photos were taken.
    """

    def __init__(
        self, encoder: str, spec: str, knowledge: Knowledge, places: Places, features: npt.NDArray[np.float16]
    ) -> None:
        self.encoder, self.spec = encoder, spec
        self.knowledge, self.places, self.features = knowledge, places, features
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """What its findings are credited to."""
        return _NAME

    def __len__(self) -> int:
        """How many photos it was learned from."""
        return len(self.features)

    def look(self, image: "Image") -> Distribution:
        """Where a picture may have been taken.

        Raises:
            BadInput: the encoder it was learned with is gone or was changed.
        """
        with self._lock:
            eyes = self._eyes
        return self.judge(eyes.features([image]))[0]

    def judge(self, features: npt.NDArray[np.floating]) -> list[Distribution]:
        """Where pictures with these features may have been taken, a row a picture."""
        scaled = self.knowledge.scaling.scaled(features)
        shares = self._shares(scaled)
        reaches = self.knowledge.familiarity.reaches(self._collection.unlikeness(scaled))
        label = self.knowledge.label
        return [
            self.places.spread(row[label] / self._photos[label], reach, self.name)
            for row, reach in zip(shares, reaches, strict=True)
        ]

    def guess(self, features: npt.NDArray[np.floating]) -> Guesses:
        """The same for many pictures at once, in short."""
        known = self.knowledge
        scaled = known.scaling.scaled(features)
        reaches = known.familiarity.reaches(self._collection.unlikeness(scaled))
        trust = np.array([reach.trust for reach in reaches])
        return self.places.guess(self._shares(scaled), known.label, trust)

    def holds(self, features: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
        """Whether pictures with these features are in the collection it was learned from."""
        return self._collection.unlikeness(self.knowledge.scaling.scaled(features)).is_itself()

    def _shares(self, scaled: Rows) -> Rows:
        known = self.knowledge
        seen = Seen(scaled, known.scaling.turned(scaled))
        counts = photo_counts(known.label, known.areas)
        prior = np.tile(np.log(counts / counts.sum()).astype(np.float32), (len(seen), 1))
        experts = (known.gaussian, known.network, known.linear)
        return pooled(known.weights, [prior, *(expert.log_shares(seen) for expert in experts)])

    @cached_property
    def _photos(self) -> FloatArray:
        return np.bincount(self.knowledge.label, minlength=len(self.knowledge.areas)).astype(np.float64)

    @cached_property
    def _collection(self) -> Collection:
        return Collection(self.knowledge.scaling.scaled(self.features))

    @cached_property
    def _eyes(self) -> Encoder:
        eyes = load_encoder(self.spec)
        if eyes.name != self.encoder:
            raise BadInput(
                f"the prior was learned with the encoder {self.encoder!r}, not {eyes.name!r}; "
                "learn it anew with: geosleuth prior learn FOLDER"
            )
        return eyes

    def save(self, path: Path) -> None:
        """Write it to a file, which is whole or not there.

        Raises:
            BadInput: it can't be written.
        """
        known = self.knowledge
        header = {
            "format": FORMAT,
            "encoder": self.encoder,
            "spec": self.spec,
            "codes": list(known.areas.codes),
            "missing": known.familiarity.missing,
            "networks": len(known.network.members),
            "held_out": asdict(known.held_out),
        }
        arrays: dict[str, npt.NDArray[Any]] = {
            _HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            "middle": known.scaling.middle,
            "spread": known.scaling.spread,
            "directions": known.scaling.directions,
            "area_country": known.areas.country,
            "area_centres": known.areas.centres,
            "label": known.label.astype(np.int32),
            "gaussian_weights": known.gaussian.weights,
            "gaussian_offsets": known.gaussian.offsets,
            "linear_weights": known.linear.weights,
            "linear_offsets": known.linear.offsets,
            "linear_within": known.linear.within,
            "expert_weights": known.weights,
            "turned": known.familiarity.turned,
            "away": known.familiarity.away,
            "lats": self.places.lats,
            "lons": self.places.lons,
            "countries": self.places.countries,
            "features": self.features,
        }
        for number, member in enumerate(known.network.members):
            for part in Layers.__slots__:
                arrays[f"network_{number}_{part}"] = getattr(member, part)
        with replacing(path) as neighbour, neighbour.open("wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]  # the stubs take every keyword for allow_pickle

    @classmethod
    def load(cls, path: Path) -> "LearnedPrior":
        """Read one from a file.

        Raises:
            BadInput: there is none, it is of another version, or it is damaged.
        """
        if not path.is_file():
            raise BadInput(f"{path}: there is no prior; learn one with: geosleuth prior learn FOLDER")
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                header = json.loads(bytes(arrays[_HEADER]))
                if header["format"] != FORMAT:
                    raise BadInput(f"{path}: the prior is of format {header['format']}, not {FORMAT}; learn it anew")
                return cls(header["encoder"], header["spec"], *_read(header, arrays))
        except OSError as error:
            raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
        except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise BadInput(f"{path}: this is no prior, or a damaged one; learn it anew") from error


def _read(
    header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> tuple[Knowledge, Places, npt.NDArray[np.float16]]:
    members = tuple(
        Layers(*(arrays[f"network_{number}_{part}"] for part in Layers.__slots__))
        for number in range(int(header["networks"]))
    )
    label = arrays["label"].astype(np.int64)
    areas = Areas(tuple(header["codes"]), arrays["area_country"], arrays["area_centres"])
    places = Places(arrays["lats"], arrays["lons"], arrays["countries"])
    features = arrays["features"]
    if not len(label) == len(places.lats) == len(places.countries) == len(features) or label.max() >= len(areas):
        raise ValueError("its parts do not fit together")
    knowledge = Knowledge(
        Scaling(arrays["middle"], arrays["spread"], arrays["directions"]),
        areas,
        label,
        Gaussian(arrays["gaussian_weights"], arrays["gaussian_offsets"]),
        Network(members),
        Linear(arrays["linear_weights"], arrays["linear_offsets"], arrays["linear_within"], areas.country),
        arrays["expert_weights"],
        Familiarity(arrays["turned"], arrays["away"], float(header["missing"])),
        HeldOut(**header["held_out"]),
    )
    return knowledge, places, features
