"""The picture as a Stable-Diffusion VAE sees it, for users who have one on disk; and which eyes a spec means."""

import json
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from geosleuth.errors import BadInput, require
from geosleuth.photo.eyes import Encoder, Features, Preparation, load_encoder
from geosleuth.photo.eyes.encoder import digest_of, unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

SIDE_PX: Final = 512
"""smileGeo's size of a picture; the usual VAE makes 64 x 64 cells of four numbers of it."""

_CLASS: Final = "AutoencoderKL"
_MIDDLE: Final = (127.5, 127.5, 127.5)


class VaeEncoder:
    """The encoder half of an ``AutoencoderKL`` in a folder that `diffusers` can read; code in it is never run.

    A picture's features are the means of its latent cells. Nothing is drawn at random: a picture has one row of
    features.
    """

    def __init__(self, folder: Path, side_px: int = SIDE_PX) -> None:
        """Remember the folder; a whole Stable-Diffusion folder with a ``vae`` in it will do.

        Raises:
            BadInput: it holds no VAE.
        """
        found = vae_folder(folder)
        if found is None:
            raise BadInput(f"{folder}: no {_CLASS} is in it; give a folder such as one with stabilityai/sd-vae-ft-mse")
        self._folder = found
        self._preparation = Preparation(side_px, side_px, mean=_MIDDLE, deviation=_MIDDLE)
        self._lock = threading.Lock()

    @cached_property
    def name(self) -> str:
        """The folder's name with a fingerprint of its weights and settings, and the pictures' size."""
        kinds = ("*.json", "*.safetensors", "*.bin")
        files = sorted(path for kind in kinds for path in self._folder.glob(kind) if path.is_file())
        return f"{self._folder.resolve().name}@{digest_of(*files)}/{self._preparation.width_px}"

    @cached_property
    def dimension(self) -> int:
        """How many features a picture has; one is looked at to find out."""
        from PIL import Image

        return int(self.features([Image.new("RGB", (64, 64), (127, 127, 127))]).shape[1])

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1.

        Raises:
            BadInput: the folder's VAE can't be loaded.
            MissingExtra: diffusers or torch is not installed.
        """
        if not images:
            return np.empty((0, self.dimension), dtype=np.float32)
        torch = require("torch", extra="weights")
        with self._lock:
            vae = self._vae
        rows = []
        for image in images:
            pixels = np.ascontiguousarray(self._preparation.rows([image]).transpose(0, 3, 1, 2))
            try:
                with torch.inference_mode():
                    rows.append(vae.encode(torch.from_numpy(pixels)).latent_dist.mode().float().numpy().reshape(-1))
            except (ValueError, TypeError, RuntimeError) as error:
                raise self._trouble("its VAE can't look at a picture", error) from error
        together = np.stack(rows)
        if not np.isfinite(together).all():
            raise BadInput(f"{self._folder}: its VAE gives no numbers for a picture")
        return unit_rows(together)

    @cached_property
    def _vae(self) -> Any:
        diffusers = require("diffusers", extra="weights")
        try:
            return diffusers.AutoencoderKL.from_pretrained(str(self._folder), local_files_only=True).eval()
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise self._trouble(f"it can't be loaded as an {_CLASS}", error) from error

    def _trouble(self, what: str, error: Exception) -> BadInput:
        return BadInput(f"{self._folder}: {what}: {' '.join(str(error).split())[:200]}")


def vae_folder(folder: Path) -> Path | None:
    """The folder itself or its ``vae``, whichever holds an ``AutoencoderKL``."""
    for place in (folder, folder / "vae"):
        try:
            settings = json.loads((place / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(settings, dict) and settings.get("_class_name") == _CLASS:
            return place
    return None


def load_picture_encoder(spec: str = "eyes", side_px: int = SIDE_PX) -> Encoder:
    """The bundled eyes for ``eyes``, a VAE for a folder that holds one, or whatever else `load_encoder` knows.

    Raises:
        BadInput: the spec names none of these.
    """
    folder = Path(spec).expanduser()
    if spec != "eyes" and folder.is_dir() and vae_folder(folder) is not None:
        return VaeEncoder(folder, side_px)
    return load_encoder(spec)
