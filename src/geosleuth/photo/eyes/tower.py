"""The vision towers of CLIP, SigLIP, DINO and the like, from a folder that transformers can read."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.errors import BadInput, require

from .encoder import BATCH, Features, digest_of, pooled, unit_rows
from .preparing import Preparation, preparation_of

if TYPE_CHECKING:
    from PIL.Image import Image

_USUAL_SIDE_PX = 224


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    preparation: Preparation


class TowerEncoder:
    """A vision model in a folder with ``config.json`` and its weights; code in the folder is never run.

    Pictures are prepared here as the folder's image processor describes, so torchvision is not needed. Of a model for
    pictures and text, the picture's embedding is taken.
    """

    def __init__(self, folder: Path) -> None:
        """Remember the folder.

        Raises:
            BadInput: it holds no model.
        """
        if not (folder / "config.json").is_file():
            raise BadInput(f"{folder}: no config.json is in it; give a folder with a transformers model")
        self._folder = folder
        self._lock = threading.Lock()

    @cached_property
    def name(self) -> str:
        """The folder's name with a fingerprint of its weights and settings."""
        kinds = ("*.json", "*.safetensors", "*.bin")
        files = sorted(path for kind in kinds for path in self._folder.glob(kind) if path.is_file())
        return f"{self._folder.resolve().name}@{digest_of(*files)}"

    @cached_property
    def dimension(self) -> int:
        """How many features a picture has; one is looked at to find out."""
        from PIL import Image

        return int(self.features([Image.new("RGB", (64, 64), (127, 127, 127))]).shape[1])

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1.

        Raises:
            BadInput: the folder's model can't be loaded or does not look at pictures.
            MissingExtra: transformers or torch is not installed.
        """
        return unit_rows(self.embeddings(images)) if images else np.empty((0, self.dimension), dtype=np.float32)

    def embeddings(self, images: "Sequence[Image]") -> Features:
        """One row a picture, of the length that the model gives it; at least one picture is needed.

        Raises:
            BadInput: the folder's model can't be loaded or does not look at pictures.
            MissingExtra: transformers or torch is not installed.
        """
        torch = require("torch", extra="weights")
        with self._lock:
            loaded = self._loaded
        rows = []
        for start in range(0, len(images), BATCH):
            given = loaded.preparation.rows(images[start : start + BATCH]).transpose(0, 3, 1, 2)
            try:
                with torch.inference_mode():
                    seen = _look(loaded.model, torch.from_numpy(np.ascontiguousarray(given)))
            except (ValueError, TypeError, RuntimeError) as error:
                raise self._trouble("its model can't look at a picture", error) from error
            rows.append(pooled(seen.float().numpy()))
        together = np.concatenate(rows)
        if together.ndim != 2 or not np.isfinite(together).all():
            raise BadInput(f"{self._folder}: its model gives no row of numbers for a picture")
        return together.astype(np.float32)

    @cached_property
    def _loaded(self) -> _Loaded:
        transformers = require("transformers", extra="weights")
        require("torch", extra="weights")
        try:
            settings = _processor_settings(self._folder)
            model = transformers.AutoModel.from_pretrained(
                str(self._folder), local_files_only=True, trust_remote_code=False
            )
            preparation = preparation_of(settings, _side_px(model.config))
        except (OSError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise self._trouble("it can't be loaded as a vision model", error) from error
        return _Loaded(model.eval(), preparation)

    def _trouble(self, what: str, error: Exception) -> BadInput:
        return BadInput(f"{self._folder}: {what}: {' '.join(str(error).split())[:200]}")


def _look(model: Any, pixels: Any) -> Any:
    if hasattr(model, "get_image_features"):
        found = model.get_image_features(pixel_values=pixels)
    else:
        found = model(pixel_values=pixels)
    if hasattr(found, "ndim"):
        return found
    pooler = getattr(found, "pooler_output", None)
    return found.last_hidden_state if pooler is None else pooler


def _processor_settings(folder: Path) -> Mapping[str, Any]:
    """The image processor's settings, wherever this or an older transformers wrote them."""
    for name in ("preprocessor_config.json", "processor_config.json"):
        if (folder / name).is_file():
            found = json.loads((folder / name).read_text(encoding="utf-8"))
            inner = found.get("image_processor", found) if isinstance(found, dict) else {}
            if isinstance(inner, dict) and "image_mean" in inner:
                return inner
    return {}


def _side_px(config: Any) -> int:
    side = getattr(getattr(config, "vision_config", config), "image_size", None)
    return side if isinstance(side, int) else _USUAL_SIDE_PX
